"""What a run does with the ledger, for tests that begin in the middle of a mutation's life."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from leadproof.domain.mutation import AnswerClass, Attempt, Difference, Mutation, Reason, Status
from leadproof.domain.review import Decision, ReviewDecision, ReviewItem
from leadproof.domain.steps import Applied, Claim, ClaimResult, Question, Settled, Settlement
from leadproof.ledger.store import SqlLedger
from tests.support.ledgers import START, HandClock, an_answer, an_observation

SEND_WITHIN = timedelta(seconds=10)
QUIESCENCE = timedelta(seconds=130)
QUIET = (SEND_WITHIN + QUIESCENCE).total_seconds()
"""So many seconds after a claim its request can no longer change the target."""

QUESTION = Question(reason="uncertain", queue="default", due_at=START + timedelta(hours=24))


def claim(ledger: SqlLedger, mutation: Mutation, number: int = 1, **changes: Any) -> Claim:
    values = {"version": mutation.version, "number": number} | changes
    return ledger.claim(mutation.mutation_key, send_within=SEND_WITHIN, quiescence=QUIESCENCE, **values)


def won(ledger: SqlLedger, mutation: Mutation, number: int = 1) -> Mutation:
    claimed = claim(ledger, mutation, number)
    assert claimed.result is ClaimResult.WON, claimed.result
    return claimed.mutation


def answered(
    ledger: SqlLedger, mutation: Mutation, outcome: AnswerClass = AnswerClass.ACCEPTED, number: int = 1, **changes: Any
) -> Mutation:
    ledger.store_answer(mutation.mutation_key, number, an_answer(outcome, **changes), request_digest="d" * 64)
    return now(ledger, mutation)


def now(ledger: SqlLedger, mutation: Mutation) -> Mutation:
    """The row as it stands."""
    standing = ledger.mutation(mutation.mutation_key)
    assert standing is not None
    return standing


def attempts(ledger: SqlLedger, mutation: Mutation) -> tuple[Attempt, ...]:
    return ledger.attempts_of(mutation.mutation_key)


def settled(
    ledger: SqlLedger, mutation: Mutation, status: Status, reason: Reason | None = None, **step: Any
) -> Settled:
    """Settle from the row as it stands."""
    done = ledger.settle(
        mutation.mutation_key,
        version=now(ledger, mutation).version,
        step=Settlement(status=status, reason=reason, **step),
    )
    assert done.won
    return done


def observed(ledger: SqlLedger, clock: HandClock, mutation: Mutation) -> Settled:
    return settled(ledger, mutation, Status.OBSERVED, observation=an_observation(mutation, clock.now()))


def done(ledger: SqlLedger, clock: HandClock, mutation: Mutation) -> Mutation:
    """The whole undisturbed life of a fresh mutation."""
    answered(ledger, won(ledger, mutation))
    return observed(ledger, clock, mutation).mutation


def divergent(
    ledger: SqlLedger,
    clock: HandClock,
    mutation: Mutation,
    reason: Reason | None = Reason.CHANGED_BEFORE_WRITE,
    differences: tuple[Difference, ...] = (Difference(field="lead_status", intended="qualified", observed="open"),),
    **state: Any,
) -> ReviewItem:
    """A fresh mutation that was claimed, not sent, and found to differ; the question about it."""
    answered(ledger, won(ledger, mutation), AnswerClass.NOT_SENT)
    seen = {"fields": {"lead_status": "open"}, "marker": None, "ours": False} | state
    asked = settled(
        ledger,
        mutation,
        Status.DIVERGENT,
        reason,
        observation=an_observation(mutation, clock.now(), **seen),
        differences=differences,
        question=QUESTION,
    )
    assert asked.review is not None
    return asked.review


def uncertain(ledger: SqlLedger, mutation: Mutation) -> ReviewItem:
    """A fresh mutation whose first attempt is unanswered; the question about it."""
    answered(ledger, won(ledger, mutation), AnswerClass.UNCERTAIN)
    asked = settled(ledger, mutation, Status.UNCERTAIN, question=QUESTION)
    assert asked.review is not None
    return asked.review


def found_absent(ledger: SqlLedger, clock: HandClock, mutation: Mutation) -> Mutation:
    """A read-back that finds nothing of the mutation, after its quiescence."""
    clock.forward(QUIET)
    standing = now(ledger, mutation)
    absent = an_observation(mutation, clock.now(), "absent")
    return settled(ledger, mutation, standing.status, observation=absent).mutation


def decision(item: ReviewItem, kind: Decision, name: str = "d1", **changes: Any) -> ReviewDecision:
    values: dict[str, Any] = {
        "decision_id": name,
        "review_id": item.review_id,
        "version": item.version,
        "decision": kind,
    }
    return ReviewDecision(**(values | changes))


def decide(ledger: SqlLedger, item: ReviewItem, kind: Decision, name: str = "d1", **changes: Any) -> Applied:
    """Record a decision and apply it."""
    recorded = ledger.record_decision(decision(item, kind, name, **changes), reviewer="ann", via="test")
    return ledger.apply_decision(recorded.decision_id, quiescence=QUIESCENCE)
