"""The end of a question's window: what nobody has decided in time, the policy decides, once and as a person would."""

from __future__ import annotations

from datetime import timedelta

import pytest

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Mutation, Reason, Status
from leadproof.domain.review import BY_TIMER, Decision, DecisionVerdict, ReviewItem, ReviewState, expiry_of
from leadproof.domain.steps import Applied, Arrival, Question
from tests.ledger.steps import QUIESCENCE, QUIET, answered, decide, decision, now, settled, won
from tests.support.ledgers import (
    POLICY_VERSION,
    START,
    HandClock,
    OwnedLedger,
    a_lead_event,
    a_mutation,
    planned,
)

HOURS = 48
WINDOW = timedelta(hours=HOURS)
IN_TIME = WINDOW.total_seconds() - 1
ASKED = Question(
    reason=Reason.NEEDS_APPROVAL, queue="default", due_at=START + timedelta(hours=24), expires_at=START + WINDOW
)


def asked(ledger: OwnedLedger, question: Question = ASKED) -> tuple[Mutation, ReviewItem]:
    event = a_lead_event("1")
    (mutation,) = planned(ledger, event, a_mutation(event, reason=Reason.NEEDS_APPROVAL))
    return mutation, ledger.open_review(mutation.mutation_key, question)


def expired(ledger: OwnedLedger, event_key: str) -> list[Applied]:
    """What a run does when the timer fires."""
    ledger.expire(event_key)
    rows = ledger.pending_decisions(event_key)
    return [ledger.apply_decision(row.decision_id, quiescence=QUIESCENCE) for row in rows]


def item_now(ledger: OwnedLedger, item: ReviewItem) -> ReviewItem:
    standing = ledger.review(item.review_id)
    assert standing is not None
    return standing


def test_what_nobody_decided_is_abandoned_by_the_policy_once(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation, item = asked(ledger)
    assert item.expires_at == START + WINDOW
    clock.forward(IN_TIME)
    assert expired(ledger, mutation.event_key) == []
    at = clock.forward(1)
    (applied,) = expired(ledger, mutation.event_key)
    assert applied.verdict is DecisionVerdict.APPLIED
    closed = item_now(ledger, item)
    assert (closed.state, closed.closed_at) == (ReviewState.EXPIRED, at)
    assert (now(ledger, mutation).status, now(ledger, mutation).reason) == (Status.ABANDONED, Reason.DECLINED)
    (row,) = ledger.decisions_of(mutation.event_key)
    assert (row.decision, row.reviewer, row.via) == (Decision.ABANDON, f"policy:{POLICY_VERSION}", BY_TIMER)
    assert (row.verdict, row.decided_at) == (DecisionVerdict.APPLIED, at)
    lead = ledger.lead(mutation.event_key)
    assert lead is not None
    assert lead.outcome is Outcome.ABANDONED
    assert expired(ledger, mutation.event_key) == []
    again = ledger.apply_decision(row.decision_id, quiescence=QUIESCENCE)
    assert again.verdict is DecisionVerdict.APPLIED
    assert ledger.decisions_of(mutation.event_key) == (row,)


def test_what_somebody_sent_under_the_policys_id_keeps_no_question_open(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation, item = asked(ledger)
    name = expiry_of(item, POLICY_VERSION, clock.now()).decision_id
    assert decide(ledger, item, Decision.RETRY, name).verdict is DecisionVerdict.IMPOSSIBLE
    clock.forward(WINDOW.total_seconds())
    assert [one.verdict for one in expired(ledger, mutation.event_key)] == [DecisionVerdict.APPLIED]
    assert item_now(ledger, item).state is ReviewState.EXPIRED
    assert ledger.expire(mutation.event_key) == ()


def test_a_question_without_a_window_stays_open(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation, item = asked(ledger, ASKED.model_copy(update={"expires_at": None}))
    clock.forward(WINDOW.total_seconds() * 100)
    assert expired(ledger, mutation.event_key) == []
    assert item_now(ledger, item).state is ReviewState.OPEN


def test_a_person_who_was_first_wins_and_the_policy_is_told(ledger: OwnedLedger, clock: HandClock) -> None:
    """Both stand in the ledger, and nothing has been applied yet: no worker was there."""
    mutation, item = asked(ledger)
    clock.forward(IN_TIME)
    ledger.record_decision(decision(item, Decision.APPROVE), reviewer="ann", via="api")
    clock.forward(1)
    first, second = expired(ledger, mutation.event_key)
    assert (first.decision_id, first.verdict) == ("d1", DecisionVerdict.APPLIED)
    assert second.verdict is DecisionVerdict.REPEATED
    assert second.why == "the question was already decided: ann decided approve at 2026-03-04T08:59:59Z"
    assert item_now(ledger, item).state is ReviewState.DECIDED
    assert now(ledger, mutation).reason is Reason.APPROVED


def test_a_person_who_comes_later_is_told_who_decided_what(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation, item = asked(ledger)
    clock.forward(WINDOW.total_seconds())
    expired(ledger, mutation.event_key)
    late = decide(ledger, item, Decision.APPROVE)
    assert late.verdict is DecisionVerdict.REPEATED
    assert late.why == (
        f"the question was already decided: policy:{POLICY_VERSION} decided abandon at 2026-03-04T09:00:00Z"
    )


def test_an_unanswered_attempt_is_waited_for_as_with_a_person(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("1")
    (mutation,) = planned(ledger, event, a_mutation(event))
    claimed = won(ledger, mutation)
    answered(ledger, claimed, AnswerClass.UNCERTAIN)
    window = ASKED.model_copy(update={"expires_at": START + timedelta(seconds=5)})
    item = settled(ledger, mutation, Status.UNCERTAIN, question=window).review
    assert item is not None
    clock.forward(5)
    for _ in range(2):
        (pending,) = expired(ledger, mutation.event_key)
        assert (pending.verdict, pending.until) == (DecisionVerdict.PENDING, START + timedelta(seconds=QUIET))
    clock.forward(QUIET - 5)
    (applied,) = expired(ledger, mutation.event_key)
    assert applied.verdict is DecisionVerdict.APPLIED
    assert now(ledger, mutation).status is Status.ABANDONED
    assert item_now(ledger, item).state is ReviewState.EXPIRED
    assert len(ledger.decisions_of(mutation.event_key)) == 1


def test_a_question_that_allows_no_abandon_stays_open(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("1")
    (mutation,) = planned(ledger, event, a_mutation(event, reason=Reason.WAITS))
    item = ledger.open_review(mutation.mutation_key, ASKED)
    ledger.rename_reason(mutation.mutation_key, version=1, reason=None)  # nothing is in the way of its write any more
    clock.forward(WINDOW.total_seconds())
    assert ledger.expire(event.event_key) == ()
    assert item_now(ledger, item).state is ReviewState.OPEN


@pytest.mark.parametrize("days", [2, 200])
def test_a_question_about_an_event_expires_whenever_somebody_looks(
    ledger: OwnedLedger, clock: HandClock, days: int
) -> None:
    event = a_lead_event("1")
    ledger.admit([Arrival(event=event)])
    item = ledger.open_event_review(event.event_key, ASKED.model_copy(update={"reason": Reason.PLANNER}))
    clock.forward(timedelta(days=days).total_seconds())
    (applied,) = expired(ledger, event.event_key)
    assert applied.verdict is DecisionVerdict.APPLIED
    assert item_now(ledger, item).state is ReviewState.EXPIRED
    lead = ledger.lead(event.event_key)
    assert lead is not None
    assert lead.outcome is Outcome.ABANDONED
