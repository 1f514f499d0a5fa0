"""What the ledger does, and refuses to do, with the effects of shadow mode."""

from __future__ import annotations

import pytest

from leadproof.domain.errors import IllegalTransition
from leadproof.domain.events import LeadEvent, Outcome
from leadproof.domain.mutation import Difference, Mutation, Observation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.steps import ClaimResult
from tests.ledger.steps import attempts, claim, now, settled
from tests.support.ledgers import HandClock, OwnedLedger, a_lead_event, a_mutation, an_observation, planned

SHADOW = "test-shadow"
OTHERWISE = (Difference(field="lead_status", intended="qualified", observed="open", changed_by="person:9"),)


def two(ledger: OwnedLedger) -> tuple[LeadEvent, Mutation, Mutation]:
    """An effect that a person would have had to approve, and one that depends on it."""
    event = a_lead_event(environment=SHADOW)
    first = a_mutation(event, reason=Reason.NEEDS_APPROVAL)
    second = a_mutation(
        event, action=ActionKind.UPDATE, ordinal=1, depends_on=(first.mutation_key,), reason=Reason.DEPENDS
    )
    first, second = planned(ledger, event, first, second)
    return event, first, second


def seen(mutation: Mutation, clock: HandClock, verdict: str = "one") -> Observation:
    return an_observation(mutation, clock.now(), verdict, fields={"lead_status": "open"}, marker=None, ours=False)


def test_what_stood_later_is_kept_with_the_end_of_the_effect(ledger: OwnedLedger, clock: HandClock) -> None:
    event, first, second = two(ledger)
    done = settled(
        ledger, first, Status.ABANDONED, Reason.SHADOW, observation=seen(first, clock), differences=OTHERWISE
    )
    assert (done.mutation.status, done.mutation.reason) == (Status.ABANDONED, Reason.SHADOW)
    assert done.mutation.differences == OTHERWISE
    assert done.mutation.observed_state is not None
    assert done.mutation.observed_state["fields"] == {"lead_status": "open"}
    assert (done.review, done.outcome) == (None, Outcome.WORKING)
    assert now(ledger, second).status is Status.RESERVED
    last = settled(ledger, second, Status.ABANDONED, Reason.SHADOW, observation=seen(second, clock))
    assert last.outcome is Outcome.ABANDONED
    receipts = ledger.receipts(first.mutation_key)
    assert receipts is not None
    assert [observation.verdict for observation in receipts.observations] == ["one"]
    assert event.event_key == receipts.mutation.event_key


def test_a_look_that_says_nothing_is_kept_and_changes_nothing_else(ledger: OwnedLedger, clock: HandClock) -> None:
    _, first, _ = two(ledger)
    again = settled(ledger, first, Status.RESERVED, observation=an_observation(first, clock.now(), "unknown")).mutation
    assert (again.status, again.reason, again.observed_state) == (Status.RESERVED, Reason.NEEDS_APPROVAL, None)
    assert again.version == first.version + 1


@pytest.mark.parametrize("reason", [None, Reason.APPROVED, Reason.WAITS])
def test_an_effect_of_shadow_mode_is_never_claimed(ledger: OwnedLedger, reason: Reason | None) -> None:
    event = a_lead_event(environment=SHADOW)
    (mutation,) = planned(ledger, event, a_mutation(event, reason=reason))
    assert claim(ledger, mutation).result is ClaimResult.NOT_YET
    assert (now(ledger, mutation), attempts(ledger, mutation)) == (mutation, ())


def test_what_has_ended_in_shadow_mode_has_ended(ledger: OwnedLedger, clock: HandClock) -> None:
    _, first, _ = two(ledger)
    done = settled(ledger, first, Status.ABANDONED, Reason.SHADOW, observation=seen(first, clock)).mutation
    assert claim(ledger, done).result is ClaimResult.LOST
    with pytest.raises(IllegalTransition):
        settled(ledger, done, Status.OBSERVED)
