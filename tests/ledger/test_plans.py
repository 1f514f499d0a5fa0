"""Recording a plan: all of it or nothing, once."""

from __future__ import annotations

import pytest

from leadproof.domain import keys
from leadproof.domain.errors import MalformedPlan, NotFound
from leadproof.domain.events import LeadEvent, Outcome
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.plan import Action, ActionKind, GuardedAction, Verdict
from leadproof.domain.steps import Arrival, Question, Reservation
from tests.ledger.steps import QUESTION, done
from tests.support.ledgers import START, HandClock, OwnedLedger, a_lead_event, a_mutation, a_plan, planned


def admitted(ledger: OwnedLedger, record: str = "1") -> LeadEvent:
    event = a_lead_event(record)
    ledger.admit([Arrival(event=event)])
    return event


def two(event: LeadEvent) -> tuple[Mutation, Mutation]:
    first = a_mutation(event, reason=Reason.NEEDS_APPROVAL)
    second = a_mutation(
        event, action=ActionKind.UPDATE, ordinal=1, depends_on=(first.mutation_key,), reason=Reason.DEPENDS
    )
    return first, second


def test_a_plan_reserves_its_mutations_in_order(ledger: OwnedLedger, clock: HandClock) -> None:
    event = admitted(ledger)
    mutations = two(event)
    at = clock.forward(3)
    recorded = ledger.record_plan(a_plan(event, mutations), mutations)
    expected = tuple(m.model_copy(update={"created_at": at, "updated_at": at}) for m in mutations)
    assert recorded.mutations == expected == ledger.mutations_of(event.event_key)
    assert set(recorded.reservations.values()) == {Reservation.WON}
    assert recorded.plan == a_plan(event, mutations) == ledger.plan_of(event.event_key, event.policy_version)
    assert (recorded.conflict, recorded.closed) == (None, None)


def test_the_plan_that_stands_is_taken(ledger: OwnedLedger) -> None:
    event = admitted(ledger)
    first = a_mutation(event)
    ledger.record_plan(a_plan(event, [first]), [first])
    other = a_mutation(event, action=ActionKind.UPDATE)
    again = ledger.record_plan(a_plan(event, [other], summary="another plan"), [other])
    assert again.plan == a_plan(event, [first])
    assert [m.mutation_key for m in again.mutations] == [first.mutation_key]
    assert again.reservations == {}
    assert ledger.mutation(other.mutation_key) is None


def test_a_key_that_stands_with_the_same_fingerprint_is_taken_as_it_is(ledger: OwnedLedger, clock: HandClock) -> None:
    event = admitted(ledger)
    mutation = a_mutation(event)
    ledger.record_plan(a_plan(event, [mutation]), [mutation])
    done(ledger, clock, mutation)
    stray = a_lead_event("2")
    ledger.admit([Arrival(event=stray)])
    fresh = a_mutation(stray, mutation_key=mutation.mutation_key, fingerprint=mutation.fingerprint)
    recorded = ledger.record_plan(a_plan(stray, [fresh]), [fresh])
    assert recorded.reservations == {mutation.mutation_key: Reservation.REPLAY}
    standing = ledger.mutation(mutation.mutation_key)
    assert standing is not None
    assert (standing.status, standing.event_key) == (Status.OBSERVED, event.event_key)


def test_a_key_that_stands_with_another_fingerprint_undoes_all(ledger: OwnedLedger) -> None:
    event, stray = admitted(ledger, "1"), admitted(ledger, "2")
    mutation = a_mutation(event)
    ledger.record_plan(a_plan(event, [mutation]), [mutation])
    fresh = a_mutation(stray)
    taken = a_mutation(stray, action=ActionKind.UPDATE, mutation_key=mutation.mutation_key, fingerprint="f" * 64)
    recorded = ledger.record_plan(a_plan(stray, [fresh, taken]), [fresh, taken])
    assert (recorded.plan, recorded.conflict) == (None, mutation.mutation_key)
    assert ledger.plan_of(stray.event_key, stray.policy_version) is None
    assert ledger.mutation(fresh.mutation_key) is None


@pytest.mark.parametrize("outcome", [Outcome.GONE, Outcome.ABANDONED])
def test_a_final_event_is_not_planned(ledger: OwnedLedger, outcome: Outcome) -> None:
    event = admitted(ledger)
    ledger.close_event(event.event_key, outcome)
    recorded = ledger.record_plan(a_plan(event, [a_mutation(event)]), [a_mutation(event)])
    assert (recorded.plan, recorded.closed) == (None, outcome)
    assert ledger.mutations_of(event.event_key) == ()


def test_a_plan_without_mutations_closes_the_event(ledger: OwnedLedger) -> None:
    event = admitted(ledger)
    recorded = ledger.record_plan(a_plan(event), [])
    lead = ledger.lead(event.event_key)
    assert recorded.closed is Outcome.NOTHING_TO_DO
    assert lead is not None
    assert lead.outcome is Outcome.NOTHING_TO_DO
    assert ledger.record_plan(a_plan(event), []).closed is Outcome.NOTHING_TO_DO


def test_a_plan_of_which_all_was_refused_is_refused(ledger: OwnedLedger) -> None:
    event = admitted(ledger)
    action = Action(kind=ActionKind.UPDATE, target_system="hubspot", fields={"stage": "lead"}, reason="so")
    refused = GuardedAction(action=action, verdict=Verdict.REFUSED, why="not allowed")
    plan = a_plan(event, guarded=(refused,))
    assert ledger.record_plan(plan, []).closed is Outcome.REFUSED
    assert ledger.plan_of(event.event_key, event.policy_version) == plan


@pytest.mark.parametrize("reason", ["planner", "key_conflict", "run_failed"])
def test_no_plan_is_recorded_while_a_person_is_asked_whether_there_is_to_be_one(
    ledger: OwnedLedger, reason: str
) -> None:
    event = admitted(ledger)
    item = ledger.open_event_review(event.event_key, Question(reason=reason, queue="default", due_at=START))
    recorded = ledger.record_plan(a_plan(event, [a_mutation(event)]), [a_mutation(event)])
    assert (recorded.plan, recorded.mutations, recorded.closed) == (None, (), None)
    lead, standing = ledger.lead(event.event_key), ledger.review(item.review_id)
    assert lead is not None
    assert standing is not None
    assert (lead.outcome, standing.state) == (Outcome.REVIEW, "open")
    assert ledger.mutations_of(event.event_key) == ()


def test_a_plan_answers_the_question_of_a_source_that_was_down(ledger: OwnedLedger) -> None:
    event = admitted(ledger)
    item = ledger.open_event_review(event.event_key, Question(reason="source_down", queue="default", due_at=START))
    recorded = ledger.record_plan(a_plan(event, [a_mutation(event)]), [a_mutation(event)])
    lead, closed = ledger.lead(event.event_key), ledger.review(item.review_id)
    assert recorded.closed is None
    assert lead is not None
    assert closed is not None
    assert (lead.outcome, closed.state) == (Outcome.WORKING, "resolved")


def test_what_is_no_plan_of_its_event_is_refused(ledger: OwnedLedger) -> None:
    event, other = admitted(ledger, "1"), admitted(ledger, "2")
    mutation = a_mutation(event)
    with pytest.raises(MalformedPlan, match="same key"):
        ledger.record_plan(a_plan(event), [mutation, mutation])
    with pytest.raises(MalformedPlan, match="fresh"):
        ledger.record_plan(a_plan(event), [a_mutation(other)])
    with pytest.raises(MalformedPlan, match="fresh"):
        ledger.record_plan(a_plan(event), [a_mutation(event, status=Status.OBSERVED)])
    with pytest.raises(NotFound):
        ledger.record_plan(a_plan(a_lead_event("unknown")), [])


def derived(parent: Mutation) -> Mutation:
    key = keys.derived_key(parent.mutation_key, "reverse")
    return parent.model_copy(update={"mutation_key": key, "parent_key": parent.mutation_key, "status": Status.RESERVED})


def test_a_derived_mutation_is_reserved_once_and_opens_the_event(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("1")
    (mutation,) = planned(ledger, event, a_mutation(event))
    done(ledger, clock, mutation)
    fresh = derived(mutation)
    assert ledger.lead(event.event_key).outcome is Outcome.DONE  # type: ignore[union-attr]
    result, row = ledger.reserve(fresh)
    assert (result, row.status, row.version) == (Reservation.WON, Status.RESERVED, 1)
    assert ledger.lead(event.event_key).outcome is Outcome.WORKING  # type: ignore[union-attr]
    assert ledger.reserve(fresh) == (Reservation.REPLAY, row)
    assert ledger.reserve(fresh.model_copy(update={"fingerprint": "f" * 64})) == (Reservation.CONFLICT, row)
    assert [m.mutation_key for m in ledger.mutations_of(event.event_key)] == [mutation.mutation_key, fresh.mutation_key]


def test_only_a_fresh_derived_mutation_is_reserved_outside_a_plan(ledger: OwnedLedger) -> None:
    event = a_lead_event("1")
    (mutation,) = planned(ledger, event, a_mutation(event))
    with pytest.raises(MalformedPlan):
        ledger.reserve(a_mutation(event, action=ActionKind.UPDATE))
    with pytest.raises(MalformedPlan):
        ledger.reserve(derived(mutation).model_copy(update={"status": Status.OBSERVED}))


def test_a_question_about_a_planned_event_stays_open_while_a_mutation_asks(ledger: OwnedLedger) -> None:
    event = a_lead_event("1")
    (mutation,) = planned(ledger, event, a_mutation(event, reason=Reason.NEEDS_APPROVAL))
    ledger.open_review(mutation.mutation_key, QUESTION)
    again = ledger.record_plan(a_plan(event), [])
    assert again.mutations[0].mutation_key == mutation.mutation_key
    assert ledger.review_of(mutation.mutation_key) is not None
