"""One step of a mutation: by the table of transitions, by compare-and-set, with its evidence and its question."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from leadproof.domain.errors import IllegalTransition, NotFound
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import FINAL, AnswerClass, Difference, Mutation, Reason, Status, legal
from leadproof.domain.steps import Settlement
from tests.ledger.steps import (
    QUESTION,
    answered,
    claim,
    divergent,
    done,
    now,
    observed,
    settled,
    uncertain,
    won,
)
from tests.support.ledgers import (
    HandClock,
    OwnedLedger,
    a_lead_event,
    a_mutation,
    an_observation,
    planned,
)


def fresh(ledger: OwnedLedger, record: str = "1", **changes: Any) -> Mutation:
    event = a_lead_event(record)
    return planned(ledger, event, a_mutation(event, **changes))[0]


def standing_in(ledger: OwnedLedger, clock: HandClock, status: Status) -> Mutation:
    """A mutation in a status, brought there by steps that the table allows."""
    mutation = fresh(ledger)
    if status is Status.RESERVED:
        return mutation
    if status is Status.SUPERSEDED:
        return settled(ledger, mutation, Status.SUPERSEDED, Reason.NEWER_EVENT).mutation
    submitted = won(ledger, mutation)
    if status is Status.SUBMITTED:
        return submitted
    if status is Status.ABANDONED:
        return settled(ledger, mutation, Status.ABANDONED, Reason.ERASED).mutation
    return settled(ledger, mutation, status).mutation


@pytest.mark.parametrize("before", Status)
def test_the_table_of_transitions_holds_for_every_move(ledger: OwnedLedger, clock: HandClock, before: Status) -> None:
    mutation = standing_in(ledger, clock, before)
    for after in Status:
        for reason in (None, Reason.RETRY, Reason.NEWER_EVENT, Reason.DEPENDENCY, Reason.ERASED, Reason.MERGED):
            allowed = after is not Status.SUBMITTED and after is not before and legal(before, after, reason)
            if allowed or (after is before and before not in FINAL):
                continue
            with pytest.raises(IllegalTransition):
                ledger.settle(
                    mutation.mutation_key,
                    version=mutation.version,
                    step=Settlement(status=after, reason=reason),
                )
            assert now(ledger, mutation) == mutation


def test_nothing_but_a_claim_submits(ledger: OwnedLedger, clock: HandClock) -> None:
    for before in (Status.RESERVED, Status.UNCERTAIN):
        mutation = standing_in(ledger, clock, before) if before is Status.RESERVED else now(ledger, fresh(ledger, "2"))
        if before is Status.UNCERTAIN:
            uncertain(ledger, mutation)
            mutation = now(ledger, mutation)
        with pytest.raises(IllegalTransition, match="claim"):
            ledger.settle(mutation.mutation_key, version=mutation.version, step=Settlement(status=Status.SUBMITTED))


def test_of_two_steps_from_one_reading_one_is_stored(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation = won(ledger, fresh(ledger))
    step = Settlement(status=Status.OBSERVED, observation=an_observation(mutation, clock.now()))
    first = ledger.settle(mutation.mutation_key, version=mutation.version, step=step)
    lost = ledger.settle(
        mutation.mutation_key,
        version=mutation.version,
        step=Settlement(status=Status.UNCERTAIN, observation=an_observation(mutation, clock.now(), "unknown")),
    )
    assert first.won
    assert not lost.won
    assert lost.mutation == first.mutation == now(ledger, mutation)
    receipts = ledger.receipts(mutation.mutation_key)
    assert receipts is not None
    assert len(receipts.observations) == 1


def test_observations_are_numbered_and_kept_as_they_were_read(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation = won(ledger, fresh(ledger))
    differences = (Difference(field="stage", intended="lead", observed=None, changed_by="person:7"),)
    for verdict in ("unknown", "one", "one"):
        clock.forward(1)
        seen = an_observation(mutation, clock.now(), verdict, raw={"hs": "x"}).model_copy(
            update={"differences": differences}
        )
        mutation = settled(ledger, mutation, Status.SUBMITTED, observation=seen).mutation
    receipts = ledger.receipts(mutation.mutation_key)
    assert receipts is not None
    assert [observation.number for observation in receipts.observations] == [1, 2, 3]
    last = receipts.observations[-1]
    assert last == seen.model_copy(update={"number": 3})
    assert last.read_at == clock.now()


def test_the_latest_state_is_kept_for_reading_and_a_read_that_saw_nothing_is_none(
    ledger: OwnedLedger, clock: HandClock
) -> None:
    mutation = won(ledger, fresh(ledger))
    seen = an_observation(mutation, clock.now())
    mutation = settled(ledger, mutation, Status.UNCERTAIN, observation=seen).mutation
    assert mutation.observed_state == seen.state
    unseen = an_observation(mutation, clock.now(), "unknown")
    mutation = settled(ledger, mutation, Status.UNCERTAIN, observation=unseen).mutation
    assert mutation.observed_state == seen.state
    absent = an_observation(mutation, clock.now(), "absent")
    mutation = settled(ledger, mutation, Status.UNCERTAIN, observation=absent).mutation
    assert mutation.observed_state == {"presence": "absent"}


def test_an_added_observation_keeps_the_reason_and_raises_the_version(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation = fresh(ledger)
    divergent(ledger, clock, mutation, Reason.MERGED)
    before = now(ledger, mutation)
    after = settled(
        ledger, mutation, Status.DIVERGENT, observation=an_observation(mutation, clock.now(), "unknown")
    ).mutation
    assert (after.reason, after.version) == (Reason.MERGED, before.version + 1)


def test_a_base_that_moved_on_and_a_record_that_was_found_are_kept(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation = won(ledger, fresh(ledger))
    step: dict[str, Any] = {"base_state": {"lead_status": "open"}, "provider_record_id": "501"}
    moved = settled(ledger, mutation, Status.SUBMITTED, **step).mutation
    assert (moved.base_state, moved.provider_record_id) == ({"lead_status": "open"}, "501")
    assert now(ledger, mutation) == moved


def test_a_record_that_another_holds_does_not_make_a_step_fail(ledger: OwnedLedger) -> None:
    answered(ledger, won(ledger, fresh(ledger, "1")), provider_record_id="501")
    mutation = won(ledger, fresh(ledger, "2"))
    moved = settled(ledger, mutation, Status.UNCERTAIN, provider_record_id="501").mutation
    assert (moved.status, moved.provider_record_id) == (Status.UNCERTAIN, None)
    assert now(ledger, mutation) == moved


class TestQuestions:
    """An item is opened with a move, and closed by the evidence that answers it."""

    def test_a_question_opens_an_item_and_the_event_is_in_review(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger)
        item = uncertain(ledger, mutation)
        assert (item.subject, item.mutation_key, item.event_key) == (
            mutation.mutation_key,
            mutation.mutation_key,
            mutation.event_key,
        )
        assert (item.round, item.version, item.state, item.queue) == (1, 1, "open", "default")
        assert (item.opened_at, item.due_at) == (clock.now(), QUESTION.due_at)
        assert ledger.review_of(mutation.mutation_key) == ledger.review(item.review_id) == item
        assert outcome(ledger, mutation) is Outcome.REVIEW

    def test_one_item_at_a_time(self, ledger: OwnedLedger) -> None:
        mutation = fresh(ledger)
        item = uncertain(ledger, mutation)
        again = settled(ledger, mutation, Status.UNCERTAIN, question=QUESTION)
        assert again.review == item
        assert ledger.open_review(mutation.mutation_key, QUESTION) == item

    def test_evidence_that_answers_closes_the_item(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger)
        item = uncertain(ledger, mutation)
        at = clock.forward(60)
        found = observed(ledger, clock, mutation)
        assert found.review is None
        closed = ledger.review(item.review_id)
        assert closed is not None
        assert (closed.state, closed.closed_at, closed.version) == ("resolved", at, 2)
        assert outcome(ledger, mutation) is Outcome.DONE

    def test_a_later_question_is_a_new_round(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger)
        first = uncertain(ledger, mutation)
        moved = settled(ledger, mutation, Status.DIVERGENT, Reason.MERGED, question=QUESTION)
        assert moved.review is not None
        assert (moved.review.round, moved.review.state) == (2, "open")
        assert moved.review.review_id != first.review_id
        receipts = ledger.receipts(mutation.mutation_key)
        assert receipts is not None
        assert receipts.review == moved.review


class TestReasons:
    """A change of reason alone is no transition, but the version rises."""

    def test_the_reason_changes(self, ledger: OwnedLedger) -> None:
        mutation = fresh(ledger, reason=Reason.DEPENDS)
        renamed = ledger.rename_reason(mutation.mutation_key, version=1, reason=None)
        assert renamed.won
        assert (renamed.mutation.status, renamed.mutation.reason, renamed.mutation.version) == (
            Status.RESERVED,
            None,
            2,
        )
        lost = ledger.rename_reason(mutation.mutation_key, version=1, reason=Reason.WAITS)
        assert (lost.won, lost.mutation) == (False, renamed.mutation)

    def test_an_approval_is_given_by_a_decision_only(self, ledger: OwnedLedger) -> None:
        mutation = fresh(ledger, reason=Reason.NEEDS_APPROVAL)
        with pytest.raises(IllegalTransition, match="decision"):
            ledger.rename_reason(mutation.mutation_key, version=1, reason=None)
        with pytest.raises(IllegalTransition, match="decision"):
            ledger.settle(
                mutation.mutation_key,
                version=1,
                step=Settlement(status=Status.RESERVED, reason=Reason.APPROVED),
            )

    def test_what_is_final_keeps_its_reason(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = done(ledger, clock, fresh(ledger))
        with pytest.raises(IllegalTransition):
            ledger.rename_reason(mutation.mutation_key, version=mutation.version, reason=Reason.ALREADY_SO)


def outcome(ledger: OwnedLedger, mutation: Mutation) -> Outcome:
    lead = ledger.lead(mutation.event_key)
    assert lead is not None
    return lead.outcome


def test_unknown_keys_are_named(ledger: OwnedLedger) -> None:
    with pytest.raises(NotFound, match="no mutation stands under unknown"):
        ledger.settle("unknown", version=1, step=Settlement(status=Status.OBSERVED))
    with pytest.raises(NotFound, match="no mutation stands under unknown"):
        ledger.rename_reason("unknown", version=1, reason=None)


def test_what_is_stored_comes_back_in_utc(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation = won(ledger, fresh(ledger))
    assert mutation.updated_at.utcoffset() == timedelta(0)
    assert mutation.updated_at == clock.now()


def test_a_refusal_that_left_the_record_unchanged_frees_it(ledger: OwnedLedger) -> None:
    mutation = answered(ledger, won(ledger, fresh(ledger)), AnswerClass.REFUSES_THIS)
    other = fresh(ledger, "2", target_record=mutation.target_record)
    settled(ledger, mutation, Status.REJECTED, Reason.REFUSES_THIS, question=QUESTION)
    assert claim(ledger, other).result == "won"
    assert outcome(ledger, mutation) is Outcome.REVIEW
