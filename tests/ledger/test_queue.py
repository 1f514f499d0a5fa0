"""One record at a time: who holds it, who waits, in which order, and what a newer event makes of an older one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Difference, Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.review import Decision, DecisionVerdict
from leadproof.domain.steps import ClaimResult
from tests.ledger.steps import (
    QUESTION,
    answered,
    attempts,
    claim,
    decide,
    divergent,
    done,
    found_absent,
    now,
    observed,
    settled,
    uncertain,
    won,
)
from tests.support.ledgers import START, HandClock, OwnedLedger, a_lead_event, a_mutation, planned

RECORD = "9" * 64


def of_one_record(ledger: OwnedLedger, occurred: int, **changes: Any) -> Mutation:
    """A fresh mutation of an event that occurred so many minutes after the start; all of one record."""
    event = a_lead_event(f"{occurred}", occurred_at=START + timedelta(minutes=occurred))
    return planned(ledger, event, a_mutation(event, **({"target_record": RECORD} | changes)))[0]


def test_a_record_has_one_holder_and_the_others_wait(ledger: OwnedLedger) -> None:
    holder, other = of_one_record(ledger, 1), of_one_record(ledger, 2)
    won(ledger, holder)
    waits = claim(ledger, other)
    assert (waits.result, waits.attempt) == (ClaimResult.WAITS, None)
    assert (waits.mutation.status, waits.mutation.reason, waits.mutation.version) == (
        Status.RESERVED,
        Reason.WAITS,
        2,
    )
    assert attempts(ledger, other) == ()
    assert now(ledger, other) == waits.mutation
    assert ledger.waiting(holder.mutation_key) == (waits.mutation,)
    again = claim(ledger, waits.mutation)
    assert (again.result, again.mutation.version) == (ClaimResult.WAITS, 3)


@pytest.mark.parametrize("status", [Status.UNCERTAIN, Status.DIVERGENT])
def test_what_is_uncertain_or_divergent_keeps_its_record(ledger: OwnedLedger, clock: HandClock, status: Status) -> None:
    holder, other = of_one_record(ledger, 1), of_one_record(ledger, 2)
    if status is Status.UNCERTAIN:
        uncertain(ledger, holder)
    else:
        divergent(ledger, clock, holder)
    assert claim(ledger, other).result is ClaimResult.WAITS


def test_two_sources_of_one_provider_record_are_one_record(ledger: OwnedLedger) -> None:
    first = of_one_record(ledger, 1, target_record="a" * 64, provider_record_id="501")
    second = of_one_record(ledger, 2, target_record="b" * 64, provider_record_id="501")
    third = of_one_record(ledger, 3, target_record="c" * 64, provider_record_id="502")
    won(ledger, first)
    assert claim(ledger, second).result is ClaimResult.WAITS
    assert claim(ledger, third).result is ClaimResult.WON


def test_another_object_tenant_or_system_is_another_record(ledger: OwnedLedger) -> None:
    won(ledger, of_one_record(ledger, 1))
    for number, changes in enumerate(
        ({"target_object": "company"}, {"tenant": "other"}, {"environment": "prod"}, {"target_system": "salesforce"}), 2
    ):
        assert claim(ledger, of_one_record(ledger, number, **changes)).result is ClaimResult.WON


@pytest.mark.parametrize("end", [Status.OBSERVED, Status.REJECTED])
def test_who_frees_a_record_wakes_the_first_by_the_time_of_its_event(
    ledger: OwnedLedger, clock: HandClock, end: Status
) -> None:
    holder = of_one_record(ledger, 1)
    answered(ledger, won(ledger, holder))
    later, sooner = of_one_record(ledger, 9), of_one_record(ledger, 3)
    for waiting in (later, sooner):
        clock.forward(1)
        claim(ledger, waiting)
    assert [m.mutation_key for m in ledger.waiting(holder.mutation_key)] == [sooner.mutation_key, later.mutation_key]
    freed = settled(ledger, holder, end)
    assert freed.wake == sooner.event_key


def test_a_move_that_keeps_the_record_wakes_nobody(ledger: OwnedLedger) -> None:
    holder = of_one_record(ledger, 1)
    won(ledger, holder)
    claim(ledger, of_one_record(ledger, 2))
    assert settled(ledger, holder, Status.UNCERTAIN).wake is None


def test_nobody_overtakes_who_asked_before_while_its_turn_is_young(ledger: OwnedLedger, clock: HandClock) -> None:
    holder, first, second = (of_one_record(ledger, minute) for minute in (1, 2, 3))
    answered(ledger, won(ledger, holder))
    claim(ledger, first)
    clock.forward(3600)  # the wait may be long: its turn begins when the record is freed
    observed(ledger, clock, holder)
    overtaking = claim(ledger, second)
    assert overtaking.result is ClaimResult.WAITS
    assert overtaking.mutation.reason is Reason.WAITS
    assert attempts(ledger, second) == ()
    assert claim(ledger, now(ledger, first)).result is ClaimResult.WON


def test_who_does_not_claim_within_a_minute_of_its_turn_is_passed_over(ledger: OwnedLedger, clock: HandClock) -> None:
    holder, first, second = (of_one_record(ledger, minute) for minute in (1, 2, 3))
    answered(ledger, won(ledger, holder))
    claim(ledger, first)
    clock.forward(600)
    observed(ledger, clock, holder)
    clock.forward(59.9)
    assert claim(ledger, second).result is ClaimResult.WAITS
    clock.forward(0.1)
    assert claim(ledger, now(ledger, second)).result is ClaimResult.WON


def test_who_has_just_asked_keeps_its_place_also_where_nobody_has_freed_the_record(
    ledger: OwnedLedger, clock: HandClock
) -> None:
    """The first is kept waiting by the target's own id of the record, which the second does not know."""
    won(ledger, of_one_record(ledger, 1, target_record="1" * 64, provider_record_id="501"))
    first, second = of_one_record(ledger, 2, provider_record_id="501"), of_one_record(ledger, 3)
    assert claim(ledger, first).result is ClaimResult.WAITS
    clock.forward(59.9)
    assert claim(ledger, second).result is ClaimResult.WAITS
    clock.forward(0.1)
    assert claim(ledger, now(ledger, second)).result is ClaimResult.WON


def test_a_row_that_never_asked_stands_in_no_queue(ledger: OwnedLedger) -> None:
    of_one_record(ledger, 1)
    assert claim(ledger, of_one_record(ledger, 2)).result is ClaimResult.WON


def test_the_earlier_event_goes_before_one_that_waits(ledger: OwnedLedger, clock: HandClock) -> None:
    holder = of_one_record(ledger, 1)
    answered(ledger, won(ledger, holder))
    claim(ledger, of_one_record(ledger, 5))
    observed(ledger, clock, holder)
    assert claim(ledger, of_one_record(ledger, 2)).result is ClaimResult.WON


def test_mutations_of_one_event_go_in_their_order(ledger: OwnedLedger, clock: HandClock) -> None:
    holder = of_one_record(ledger, 1)
    answered(ledger, won(ledger, holder))
    event = a_lead_event("2", occurred_at=START + timedelta(minutes=2))
    first = a_mutation(event, target_record=RECORD)
    second = a_mutation(event, target_record=RECORD, action=ActionKind.UPDATE, ordinal=1)
    planned(ledger, event, first, second)
    claim(ledger, second)
    claim(ledger, first)
    observed(ledger, clock, holder)
    assert claim(ledger, now(ledger, second)).result is ClaimResult.WAITS
    assert claim(ledger, now(ledger, first)).result is ClaimResult.WON


def test_a_retry_that_meets_a_holder_waits_where_it_stands(ledger: OwnedLedger) -> None:
    refused = of_one_record(ledger, 1)
    answered(ledger, won(ledger, refused), AnswerClass.REFUSES_THIS)
    settled(ledger, refused, Status.REJECTED, Reason.REFUSES_THIS, question=QUESTION)
    item = ledger.review_of(refused.mutation_key)
    assert item is not None
    decide(ledger, item, Decision.RETRY)
    won(ledger, of_one_record(ledger, 2))
    waits = claim(ledger, now(ledger, refused), 2)
    assert waits.result is ClaimResult.WAITS
    assert (waits.mutation.status, waits.mutation.reason) == (Status.REJECTED, Reason.RETRY)
    assert waits.mutation == now(ledger, refused)


class TestNewerEvents:
    """An older event's mutation is superseded by a newer one that was observed with all of its fields."""

    def test_all_of_its_fields_were_set(self, ledger: OwnedLedger, clock: HandClock) -> None:
        older = of_one_record(ledger, 1, fields={"lead_status": "new"})
        done(ledger, clock, of_one_record(ledger, 2, fields={"lead_status": "qualified", "owner": "7"}))
        superseded = claim(ledger, older)
        assert (superseded.result, superseded.attempt) == (ClaimResult.SUPERSEDED, None)
        assert (superseded.mutation.status, superseded.mutation.reason) == (Status.SUPERSEDED, Reason.NEWER_EVENT)
        assert attempts(ledger, older) == ()
        lead = ledger.lead(older.event_key)
        assert lead is not None
        assert lead.outcome is Outcome.SUPERSEDED

    def test_a_field_was_not_set(self, ledger: OwnedLedger, clock: HandClock) -> None:
        older = of_one_record(ledger, 1, fields={"lead_status": "new", "stage": "lead"})
        done(ledger, clock, of_one_record(ledger, 2, fields={"lead_status": "qualified"}))
        won = claim(ledger, older)
        assert won.result is ClaimResult.WON
        assert won.newer == {"lead_status": "qualified"}  # what the check has to leave alone

    def test_of_several_newer_events_the_newest_says_what_stands(self, ledger: OwnedLedger, clock: HandClock) -> None:
        older = of_one_record(ledger, 1, fields={"lead_status": "new", "stage": "lead"})
        done(ledger, clock, of_one_record(ledger, 3, fields={"lead_status": "won"}))
        done(ledger, clock, of_one_record(ledger, 4, fields={"owner": "7"}))
        assert claim(ledger, older).newer == {"lead_status": "won", "owner": "7"}

    def test_an_older_event_supersedes_nothing(self, ledger: OwnedLedger, clock: HandClock) -> None:
        newer = of_one_record(ledger, 2)
        done(ledger, clock, of_one_record(ledger, 1))
        assert claim(ledger, newer).result is ClaimResult.WON

    def test_events_of_one_moment_are_ordered_by_their_keys(self, ledger: OwnedLedger, clock: HandClock) -> None:
        events = sorted((a_lead_event("1"), a_lead_event("2")), key=lambda event: event.event_key)
        older, newer = (planned(ledger, e, a_mutation(e, target_record=RECORD))[0] for e in events)
        done(ledger, clock, newer)
        assert claim(ledger, older).result is ClaimResult.SUPERSEDED

    @pytest.mark.parametrize(("field", "told"), [("lead_status", True), ("stage", False)])
    def test_an_approval_that_leads_to_no_write_says_so(
        self, ledger: OwnedLedger, clock: HandClock, field: str, told: bool
    ) -> None:
        older = of_one_record(ledger, 1, fields={field: "new"}, reason=Reason.NEEDS_APPROVAL)
        item = ledger.open_review(older.mutation_key, QUESTION)
        done(ledger, clock, of_one_record(ledger, 2, fields={"lead_status": "qualified"}))
        applied = decide(ledger, item, Decision.APPROVE)
        assert applied.verdict is DecisionVerdict.APPLIED
        assert applied.why == ("a newer event has set the same already, so nothing is written" if told else None)
        yields = claim(ledger, now(ledger, older)).result is ClaimResult.SUPERSEDED
        assert yields is told

    def test_who_yields_in_its_turn_wakes_the_next_in_line(self, ledger: OwnedLedger, clock: HandClock) -> None:
        older, holder, newer = (of_one_record(ledger, minute) for minute in (1, 2, 3))
        won(ledger, holder)
        for waiting in (older, newer):
            assert claim(ledger, waiting).result is ClaimResult.WAITS
        answered(ledger, now(ledger, holder))
        assert observed(ledger, clock, holder).wake == older.event_key
        superseded = claim(ledger, now(ledger, older))
        assert (superseded.result, superseded.wake) == (ClaimResult.SUPERSEDED, newer.event_key)
        assert claim(ledger, now(ledger, newer)).result is ClaimResult.WON

    def test_dependents_are_abandoned(self, ledger: OwnedLedger, clock: HandClock) -> None:
        event = a_lead_event("1")
        older = a_mutation(event, target_record=RECORD)
        dependent = a_mutation(event, action=ActionKind.UPDATE, ordinal=1, depends_on=(older.mutation_key,))
        planned(ledger, event, older, dependent)
        done(ledger, clock, of_one_record(ledger, 2))
        claim(ledger, older)
        standing = now(ledger, dependent)
        assert (standing.status, standing.reason) == (Status.ABANDONED, Reason.DEPENDENCY)

    def test_a_rejected_one_is_superseded_when_it_is_retried(self, ledger: OwnedLedger, clock: HandClock) -> None:
        refused = of_one_record(ledger, 1)
        answered(ledger, won(ledger, refused), AnswerClass.REFUSES_THIS)
        settled(ledger, refused, Status.REJECTED, Reason.REFUSES_THIS, question=QUESTION)
        done(ledger, clock, of_one_record(ledger, 2))
        item = ledger.review_of(refused.mutation_key)
        assert item is not None
        decide(ledger, item, Decision.RETRY)
        assert claim(ledger, now(ledger, refused), 2).result is ClaimResult.SUPERSEDED

    def test_a_further_attempt_is_never_superseded(self, ledger: OwnedLedger, clock: HandClock) -> None:
        """It holds the record, so nothing newer was observed since; its own evidence decides."""
        older = of_one_record(ledger, 1)
        won(ledger, older)
        assert won(ledger, found_absent(ledger, clock, older), 2).status is Status.SUBMITTED


class TestHeirs:
    """A derived mutation takes the hold of its parent over, and nobody comes in between."""

    def test_nobody_overtakes_the_heir_however_long_it_takes(self, ledger: OwnedLedger, clock: HandClock) -> None:
        parent, other = of_one_record(ledger, 1), of_one_record(ledger, 0)
        item = divergent(ledger, clock, parent)
        applied = decide(ledger, item, Decision.OVERWRITE)
        heir = applied.derived
        assert heir is not None
        assert applied.wakes == ()
        clock.forward(3600)
        assert claim(ledger, other).result is ClaimResult.WAITS  # although its event is the older one
        assert claim(ledger, heir).result is ClaimResult.WON

    def test_the_hold_by_the_targets_own_id_passes_too(self, ledger: OwnedLedger, clock: HandClock) -> None:
        parent = of_one_record(ledger, 1, target_record="a" * 64, provider_record_id="501")
        other = of_one_record(ledger, 0, target_record="b" * 64, provider_record_id="501")
        decide(ledger, divergent(ledger, clock, parent), Decision.OVERWRITE)
        assert claim(ledger, other).result is ClaimResult.WAITS

    def test_the_heir_of_an_heir(self, ledger: OwnedLedger, clock: HandClock) -> None:
        parent, other = of_one_record(ledger, 1), of_one_record(ledger, 2)
        heir = decide(ledger, divergent(ledger, clock, parent), Decision.OVERWRITE).derived
        assert heir is not None
        second = decide(ledger, divergent(ledger, clock, heir), Decision.OVERWRITE, "d2").derived
        assert second is not None
        assert second.parent_key == heir.mutation_key
        assert claim(ledger, other).result is ClaimResult.WAITS
        assert won(ledger, second).status is Status.SUBMITTED

    def test_when_the_heir_is_done_the_first_in_the_queue_is_woken(self, ledger: OwnedLedger, clock: HandClock) -> None:
        parent, other = of_one_record(ledger, 1), of_one_record(ledger, 2)
        lost = (Difference(field="lead_status", intended="qualified", observed="qualified", lost="open"),)
        item = divergent(ledger, clock, parent, Reason.OVERWROTE_UNSEEN_EDIT, lost)
        heir = decide(ledger, item, Decision.RESTORE).derived
        assert heir is not None
        claim(ledger, other)
        answered(ledger, won(ledger, heir))
        assert observed(ledger, clock, heir).wake == other.event_key
        assert claim(ledger, now(ledger, other)).result is ClaimResult.WON

    def test_a_decision_without_an_heir_wakes_the_first(self, ledger: OwnedLedger, clock: HandClock) -> None:
        for number, kind in enumerate((Decision.ACCEPT, Decision.ABANDON)):
            record = f"{number}" * 64
            holder = of_one_record(ledger, 10 * number + 1, target_record=record)
            waiting = of_one_record(ledger, 10 * number + 2, target_record=record)
            item = divergent(ledger, clock, holder)
            claim(ledger, waiting)
            assert decide(ledger, item, kind, kind.value).wakes == (waiting.event_key,)
