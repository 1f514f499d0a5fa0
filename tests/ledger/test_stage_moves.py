"""A decision that takes a stage backward: two mutations, made at once, one after the other on the same record."""

from __future__ import annotations

from typing import Any

from leadproof.domain import keys
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Difference, Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.review import Decision, DecisionVerdict
from leadproof.domain.steps import Applied, ClaimResult
from tests.domain.samples import POLICY
from tests.ledger.steps import answered, attempts, claim, decide, divergent, now, observed, won
from tests.support.ledgers import POLICY_VERSION, HandClock, OwnedLedger, a_lead_event, a_mutation, planned

STAGE = "lifecycle_stage"
TEXT = POLICY.replace('version = "1"', f'version = "{POLICY_VERSION}"')
RECORD = "9" * 64
INTENT = {"owner": "501", STAGE: "marketingqualifiedlead"}
SHOWN = {"owner": "503", STAGE: "customer"}


def decided(
    ledger: OwnedLedger,
    clock: HandClock,
    kind: Decision = Decision.OVERWRITE,
    *,
    text: str | None = TEXT,
    shown: dict[str, Any] = SHOWN,
) -> tuple[Mutation, Applied]:
    """A mutation over which a higher stage stands, and the decision about it."""
    if text is not None:
        ledger.load_policy(parse_policy(text))
    event = a_lead_event("1")
    (parent,) = planned(ledger, event, a_mutation(event, fields=INTENT, target_record=RECORD))
    lost = (Difference(field=STAGE, intended=INTENT[STAGE], observed=INTENT[STAGE], lost="lead"),)
    item = divergent(ledger, clock, parent, Reason.OVERWROTE_UNSEEN_EDIT, lost, fields=shown)
    return parent, decide(ledger, item, kind)


def rows(ledger: OwnedLedger, parent: Mutation) -> tuple[Mutation, ...]:
    return ledger.mutations_of(parent.event_key)


def test_an_overwrite_empties_the_stage_and_then_writes_the_intent(ledger: OwnedLedger, clock: HandClock) -> None:
    parent, applied = decided(ledger, clock)
    standing, clear, written = rows(ledger, parent)
    assert standing.status is Status.SUPERSEDED
    assert clear.mutation_key == keys.derived_key(parent.mutation_key, "reverse")
    assert written.mutation_key == keys.derived_key(parent.mutation_key, "overwrite")
    assert applied.derived == written
    assert {clear.parent_key, written.parent_key} == {parent.mutation_key}
    assert (clear.action_kind, clear.intent.fields, clear.base_state) == ("clear_stage", {STAGE: None}, SHOWN)
    assert (clear.reason, clear.depends_on) == (Reason.APPROVED, ())
    assert (written.action_kind, written.intent.fields) == ("qualify", INTENT)
    assert written.base_state == {**SHOWN, STAGE: None}
    assert (written.reason, written.depends_on) == (Reason.DEPENDS, (clear.mutation_key,))
    assert len({parent.fingerprint, clear.fingerprint}) == 2


def test_a_restore_of_a_lower_stage_alone_is_clear_stage_and_set_stage(ledger: OwnedLedger, clock: HandClock) -> None:
    parent, applied = decided(ledger, clock, Decision.RESTORE, shown=INTENT)
    _, clear, written = rows(ledger, parent)
    assert [clear.action_kind, written.action_kind] == [ActionKind.CLEAR_STAGE, ActionKind.SET_STAGE]
    assert written.intent.fields == {STAGE: "lead"}
    assert applied.derived == written
    again = ledger.apply_decision("d1", quiescence=clock.now() - clock.now())
    assert (again.verdict, again.derived) == (DecisionVerdict.APPLIED, written)


def test_a_move_forward_or_none_is_one_mutation(ledger: OwnedLedger, clock: HandClock) -> None:
    parent, _ = decided(ledger, clock, shown={"owner": "503", STAGE: "lead"})
    _, written = rows(ledger, parent)
    assert (written.action_kind, written.depends_on, written.reason) == ("qualify", (), Reason.APPROVED)


def test_where_the_policy_does_not_permit_both_halves_it_is_impossible_and_says_why(
    ledger: OwnedLedger, clock: HandClock
) -> None:
    text = TEXT.replace('kind = "clear_stage"', 'kind = "update"').replace("clear_stage = 60", "update = 60")
    parent, applied = decided(ledger, clock, text=text)
    assert applied.verdict is DecisionVerdict.IMPOSSIBLE
    assert applied.why == (
        "the stage would move backward, and the policy does not permit clear_stage and set_stage; "
        "possible: accept, abandon"
    )
    (standing,) = rows(ledger, parent)
    assert (standing.status, applied.review and applied.review.state) == (Status.DIVERGENT, "open")


def test_nor_is_it_made_under_a_policy_that_is_not_there(ledger: OwnedLedger, clock: HandClock) -> None:
    _, applied = decided(ledger, clock, text=None)
    assert applied.verdict is DecisionVerdict.IMPOSSIBLE


def test_both_keep_the_record_one_after_the_other(ledger: OwnedLedger, clock: HandClock) -> None:
    parent, _ = decided(ledger, clock)
    _, clear, written = rows(ledger, parent)
    event = a_lead_event("2")
    (other,) = planned(ledger, event, a_mutation(event, target_record=RECORD))
    assert claim(ledger, other).result is ClaimResult.WAITS
    assert claim(ledger, written).result is ClaimResult.NOT_YET
    answered(ledger, won(ledger, clear))
    assert observed(ledger, clock, clear).mutation.status is Status.OBSERVED
    clock.forward(3600)
    assert claim(ledger, now(ledger, other)).result is ClaimResult.WAITS
    answered(ledger, won(ledger, now(ledger, written)))
    assert observed(ledger, clock, now(ledger, written)).wake == event.event_key
    lead = ledger.lead(parent.event_key)
    assert lead is not None
    assert lead.outcome is Outcome.DONE


def test_what_waited_for_the_parent_waits_for_what_was_decided(ledger: OwnedLedger, clock: HandClock) -> None:
    ledger.load_policy(parse_policy(TEXT))
    event = a_lead_event("1")
    parent = a_mutation(event, fields=INTENT, target_record=RECORD)
    needs: dict[str, Any] = {"depends_on": (parent.mutation_key,), "reason": Reason.DEPENDS}
    dependent = a_mutation(event, action=ActionKind.LINK, ordinal=1, target_record="8" * 64, **needs)
    planned(ledger, event, parent, dependent)
    applied = decide(ledger, divergent(ledger, clock, parent, fields=SHOWN), Decision.OVERWRITE)
    assert applied.derived is not None
    assert now(ledger, dependent).depends_on == (applied.derived.mutation_key,)


def test_an_emptying_that_is_given_up_takes_the_other_half_with_it(ledger: OwnedLedger, clock: HandClock) -> None:
    parent, _ = decided(ledger, clock)
    _, clear, written = rows(ledger, parent)
    event = a_lead_event("2")
    (other,) = planned(ledger, event, a_mutation(event, target_record=RECORD))
    claim(ledger, other)
    item = divergent(ledger, clock, clear, fields={**SHOWN, STAGE: "opportunity"})
    applied = decide(ledger, item, Decision.ABANDON, "d2")
    assert applied.wakes == (event.event_key,)
    assert (now(ledger, written).status, now(ledger, written).reason) == (Status.ABANDONED, Reason.DEPENDENCY)
    assert claim(ledger, now(ledger, other)).result is ClaimResult.WON


def test_an_emptying_that_is_decided_again_does_not_wait_for_what_waits_for_it(
    ledger: OwnedLedger, clock: HandClock
) -> None:
    parent, _ = decided(ledger, clock)
    _, clear, written = rows(ledger, parent)
    clock.forward(1)
    item = divergent(ledger, clock, clear, fields={**SHOWN, STAGE: "opportunity"})
    again = decide(ledger, item, Decision.OVERWRITE, "d2").derived
    assert again is not None
    assert (again.intent.fields, now(ledger, written).depends_on) == ({STAGE: None}, (again.mutation_key,))
    answered(ledger, won(ledger, again))
    observed(ledger, clock, again)
    assert won(ledger, now(ledger, written)).status is Status.SUBMITTED
    assert [a.outcome for a in attempts(ledger, clear)] == [AnswerClass.NOT_SENT]
