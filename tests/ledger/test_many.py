"""Many questions at once: which they are, and their decisions kept all together or not at all."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import ValidationError

from leadproof.domain.mutation import Mutation, Reason
from leadproof.domain.review import Decision, DecisionVerdict, ReviewItem
from leadproof.domain.steps import Question
from tests.ledger.steps import decide, decision
from tests.support.ledgers import START, HandClock, OwnedLedger, a_lead_event, a_mutation, planned


def asked(ledger: OwnedLedger, record: str, hours: int, queue: str = "default") -> tuple[ReviewItem, Mutation]:
    event = a_lead_event(record)
    (mutation,) = planned(ledger, event, a_mutation(event, reason=Reason.NEEDS_APPROVAL))
    question = Question(reason=Reason.NEEDS_APPROVAL, queue=queue, due_at=START + timedelta(hours=hours))
    return ledger.open_review(mutation.mutation_key, question), mutation


def test_the_open_questions_of_a_reason_are_found_due_first(ledger: OwnedLedger) -> None:
    late, early = asked(ledger, "1", 3), asked(ledger, "2", 1)
    other = asked(ledger, "3", 2, "enterprise")
    decided, _ = asked(ledger, "4", 1)
    decide(ledger, decided, Decision.APPROVE)
    ledger.open_event_review(other[0].event_key, Question(reason=Reason.PLANNER, queue="default", due_at=START))

    assert ledger.questions_of(Reason.NEEDS_APPROVAL, limit=9) == (early, other, late)
    assert ledger.questions_of(Reason.NEEDS_APPROVAL, limit=2) == (early, other)
    assert ledger.questions_of(Reason.NEEDS_APPROVAL, queue="enterprise", limit=9) == (other,)
    assert ledger.questions_of(Reason.NEEDS_APPROVAL, target_system="salesforce", limit=9) == ()
    assert ledger.questions_of(Reason.NEEDS_APPROVAL, queue="default", target_system="hubspot", limit=9) == (
        early,
        late,
    )
    assert ledger.questions_of(Reason.REFUSES_THIS, limit=9) == ()


def test_decisions_are_kept_together_and_found_by_what_their_ids_begin_with(
    ledger: OwnedLedger, clock: HandClock
) -> None:
    items = [asked(ledger, record, 1)[0] for record in ("1", "2")]
    decisions = [decision(item, Decision.APPROVE, f"{'a' * 64}.{item.review_id}") for item in items]
    rows = ledger.record_decisions(decisions, reviewer="ann", via="test")
    assert [row.review_id for row in rows] == [item.review_id for item in items]
    assert {row.verdict for row in rows} == {DecisionVerdict.PENDING}
    clock.forward(5)
    assert ledger.record_decisions(decisions, reviewer="bob", via="test") == rows
    assert set(ledger.decisions_like("a" * 64)) == set(rows)
    assert ledger.decisions_like("a" * 63) == ()
    assert ledger.decisions_like("b" * 64) == ()
    assert ledger.record_decisions([], reviewer="ann", via="test") == ()


def test_where_one_cannot_be_kept_none_is(ledger: OwnedLedger) -> None:
    good, _ = asked(ledger, "1", 1)
    broken = decision(good, Decision.APPROVE, "d2").model_copy(update={"version": "none"})
    with pytest.raises(ValidationError):
        ledger.record_decisions([decision(good, Decision.APPROVE), broken], reviewer="ann", via="test")
    assert ledger.decision("d1") is None
