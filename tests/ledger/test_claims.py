"""Who may send, once; and the answer that is kept."""

from __future__ import annotations

from datetime import timedelta

import pytest

from leadproof.domain.errors import NotFound
from leadproof.domain.mutation import AnswerClass, Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.review import Decision
from leadproof.domain.steps import ClaimResult
from tests.ledger.steps import (
    QUESTION,
    QUIET,
    SEND_WITHIN,
    answered,
    attempts,
    claim,
    decide,
    divergent,
    done,
    found_absent,
    now,
    settled,
    uncertain,
    won,
)
from tests.support.ledgers import (
    HandClock,
    OwnedLedger,
    a_lead_event,
    a_mutation,
    an_answer,
    an_observation,
    planned,
)


def fresh(ledger: OwnedLedger, record: str = "1", **changes: object) -> Mutation:
    event = a_lead_event(record)
    return planned(ledger, event, a_mutation(event, **changes))[0]  # type: ignore[arg-type]


def test_a_claim_inserts_the_attempt_and_submits_the_row(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation = fresh(ledger)
    at = clock.forward(1)
    claimed = claim(ledger, mutation)
    assert claimed.result is ClaimResult.WON
    assert claimed.attempt is not None
    assert (claimed.attempt.number, claimed.attempt.started_at) == (1, at)
    assert claimed.attempt.send_before == at + SEND_WITHIN
    assert attempts(ledger, mutation) == (claimed.attempt,)
    assert (claimed.mutation.status, claimed.mutation.version, claimed.mutation.reason) == (Status.SUBMITTED, 2, None)
    assert now(ledger, mutation) == claimed.mutation


def test_the_second_claim_of_one_reading_is_lost(ledger: OwnedLedger) -> None:
    mutation = fresh(ledger)
    won(ledger, mutation)
    lost = claim(ledger, mutation)
    assert (lost.result, lost.attempt) == (ClaimResult.LOST, None)
    assert lost.mutation == now(ledger, mutation)
    assert len(attempts(ledger, mutation)) == 1


@pytest.mark.parametrize(("version", "number"), [(2, 1), (1, 2), (1, 0)])
def test_another_reading_than_the_row_claims_nothing(ledger: OwnedLedger, version: int, number: int) -> None:
    mutation = fresh(ledger)
    assert claim(ledger, mutation, number, version=version).result is ClaimResult.LOST
    assert attempts(ledger, mutation) == ()
    assert now(ledger, mutation) == mutation


def test_what_needs_an_approval_is_claimed_after_it(ledger: OwnedLedger) -> None:
    mutation = fresh(ledger, reason=Reason.NEEDS_APPROVAL)
    assert claim(ledger, mutation).result is ClaimResult.NOT_YET
    item = ledger.open_review(mutation.mutation_key, QUESTION)
    decide(ledger, item, Decision.APPROVE)
    approved = now(ledger, mutation)
    assert (approved.status, approved.reason, approved.version) == (Status.RESERVED, Reason.APPROVED, 2)
    assert won(ledger, approved).reason is None  # the claim consumes it


def test_what_depends_on_another_is_claimed_after_it_is_observed(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("1")
    first = a_mutation(event)
    second = a_mutation(event, action=ActionKind.UPDATE, ordinal=1, depends_on=(first.mutation_key,))
    planned(ledger, event, first, second)
    assert claim(ledger, second).result is ClaimResult.NOT_YET
    won(ledger, first)
    assert claim(ledger, second).result is ClaimResult.NOT_YET
    answered(ledger, first)
    settled(ledger, first, Status.OBSERVED, observation=an_observation(first, clock.now()))
    assert claim(ledger, now(ledger, second)).result is ClaimResult.WON


class TestFurtherAttempts:
    """From `submitted` and `uncertain`: only when every earlier attempt provably changed nothing."""

    @pytest.mark.parametrize("outcome", [AnswerClass.NOT_SENT, AnswerClass.NOT_APPLIED])
    def test_after_an_answer_that_says_so(self, ledger: OwnedLedger, outcome: AnswerClass) -> None:
        mutation = answered(ledger, won(ledger, fresh(ledger)), outcome)
        again = won(ledger, mutation, 2)
        assert (again.status, again.version) == (Status.SUBMITTED, mutation.version + 1)
        assert [attempt.number for attempt in attempts(ledger, mutation)] == [1, 2]

    @pytest.mark.parametrize(
        "outcome",
        [
            None,
            AnswerClass.UNCERTAIN,
            AnswerClass.ACCEPTED,
            AnswerClass.REFUSES_THIS,
            AnswerClass.REFUSES_US,
        ],
    )
    def test_not_after_any_other_until_it_is_found_absent_past_its_quiescence(
        self, ledger: OwnedLedger, clock: HandClock, outcome: AnswerClass | None
    ) -> None:
        mutation = won(ledger, fresh(ledger))
        if outcome is not None:
            mutation = answered(ledger, mutation, outcome)
        early = an_observation(mutation, clock.now(), "absent")
        mutation = settled(ledger, mutation, Status.UNCERTAIN, observation=early).mutation
        assert claim(ledger, mutation, 2).result is ClaimResult.NOT_YET
        clock.forward(QUIET - 0.001)
        late = an_observation(mutation, clock.now(), "absent")
        mutation = settled(ledger, mutation, Status.UNCERTAIN, observation=late).mutation
        assert claim(ledger, mutation, 2).result is ClaimResult.NOT_YET
        clock.forward(0.001)
        assert claim(ledger, mutation, 2).result is ClaimResult.NOT_YET  # it was absent before, not after
        absent = an_observation(mutation, clock.now(), "absent")
        mutation = settled(ledger, mutation, Status.UNCERTAIN, observation=absent).mutation
        assert won(ledger, mutation, 2).status is Status.SUBMITTED

    @pytest.mark.parametrize("verdict", ["unknown", "one", "removed", "several"])
    def test_a_later_read_that_does_not_say_absent_takes_it_back(
        self, ledger: OwnedLedger, clock: HandClock, verdict: str
    ) -> None:
        mutation = won(ledger, fresh(ledger))
        mutation = found_absent(ledger, clock, mutation)
        seen = an_observation(mutation, clock.now(), verdict)
        mutation = settled(ledger, mutation, Status.SUBMITTED, observation=seen).mutation
        assert claim(ledger, mutation, 2).result is ClaimResult.NOT_YET

    def test_a_create_that_was_answered_with_a_record_is_never_sent_again(
        self, ledger: OwnedLedger, clock: HandClock
    ) -> None:
        mutation = answered(ledger, won(ledger, fresh(ledger, action=ActionKind.CREATE)), provider_record_id="501")
        mutation = found_absent(ledger, clock, mutation)
        assert claim(ledger, mutation, 2).result is ClaimResult.NOT_YET

    def test_the_number_is_the_next_one(self, ledger: OwnedLedger) -> None:
        mutation = answered(ledger, won(ledger, fresh(ledger)), AnswerClass.NOT_SENT)
        assert claim(ledger, mutation, 1).result is ClaimResult.LOST
        assert claim(ledger, mutation, 3).result is ClaimResult.LOST
        assert len(attempts(ledger, mutation)) == 1

    def test_a_claim_that_evidence_elects_closes_the_open_question(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger)
        item = uncertain(ledger, mutation)
        won(ledger, found_absent(ledger, clock, mutation), 2)
        closed = ledger.review(item.review_id)
        lead = ledger.lead(mutation.event_key)
        assert closed is not None
        assert lead is not None
        assert (closed.state, lead.outcome) == ("resolved", "working")


class TestRejected:
    """What was refused is sent again by decision only."""

    def rejected(self, ledger: OwnedLedger, outcome: AnswerClass = AnswerClass.REFUSES_THIS) -> Mutation:
        mutation = answered(ledger, won(ledger, fresh(ledger)), outcome)
        return settled(ledger, mutation, Status.REJECTED, Reason.REFUSES_THIS, question=QUESTION).mutation

    def test_not_without_the_decision(self, ledger: OwnedLedger) -> None:
        assert claim(ledger, self.rejected(ledger), 2).result is ClaimResult.NOT_YET

    @pytest.mark.parametrize("outcome", [AnswerClass.REFUSES_THIS, AnswerClass.REFUSES_US, AnswerClass.NOT_APPLIED])
    def test_retry_is_consumed_by_the_claim(self, ledger: OwnedLedger, outcome: AnswerClass) -> None:
        mutation = self.rejected(ledger, outcome)
        item = ledger.review_of(mutation.mutation_key)
        assert item is not None
        decide(ledger, item, Decision.RETRY)
        standing = now(ledger, mutation)
        assert (standing.status, standing.reason) == (Status.REJECTED, Reason.RETRY)
        claimed = won(ledger, standing, 2)
        assert (claimed.status, claimed.reason) == (Status.SUBMITTED, None)

    def test_an_unanswered_attempt_before_the_refusal_must_be_quiet(
        self, ledger: OwnedLedger, clock: HandClock
    ) -> None:
        mutation = won(ledger, fresh(ledger))
        mutation = settled(ledger, mutation, Status.REJECTED, Reason.REFUSES_THIS, question=QUESTION).mutation
        item = ledger.review_of(mutation.mutation_key)
        assert item is not None
        decide(ledger, item, Decision.RETRY)
        assert claim(ledger, now(ledger, mutation), 2).result is ClaimResult.NOT_YET
        assert won(ledger, found_absent(ledger, clock, mutation), 2).status is Status.SUBMITTED


def test_retry_of_an_uncertain_mutation_is_consumed_too(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation = fresh(ledger)
    item = uncertain(ledger, mutation)
    found_absent(ledger, clock, mutation)
    decide(ledger, item, Decision.RETRY)
    standing = now(ledger, mutation)
    assert (standing.status, standing.reason) == (Status.UNCERTAIN, Reason.RETRY)
    assert won(ledger, standing, 2).reason is None


def test_what_is_divergent_or_final_is_claimed_by_nobody(ledger: OwnedLedger, clock: HandClock) -> None:
    observed = done(ledger, clock, fresh(ledger, "1"))
    mutation = fresh(ledger, "2")
    divergent(ledger, clock, mutation)
    for standing in (observed, now(ledger, mutation)):
        assert claim(ledger, standing, 2).result is ClaimResult.LOST
        assert len(attempts(ledger, standing)) == 1


def test_the_claim_names_the_record_where_the_intent_does(ledger: OwnedLedger) -> None:
    mutation = fresh(ledger, provider_record_id="501")
    assert won(ledger, mutation).provider_record_id == "501"


def test_unknown_keys_are_named(ledger: OwnedLedger) -> None:
    mutation = a_mutation(a_lead_event("1"))
    with pytest.raises(NotFound, match=mutation.mutation_key):
        claim(ledger, mutation)
    with pytest.raises(NotFound, match=mutation.mutation_key):
        ledger.store_answer(mutation.mutation_key, 1, an_answer(), request_digest=None)
    standing = fresh(ledger)
    with pytest.raises(NotFound, match="no attempt 1"):
        ledger.store_answer(standing.mutation_key, 1, an_answer(), request_digest=None)


class TestAnswers:
    """An attempt is completed once; its answer is the acceptance receipt; no index makes it fail."""

    def test_an_answer_completes_the_attempt_and_is_the_receipt(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = won(ledger, fresh(ledger))
        clock.forward(2)
        answer = an_answer(provider_record_id="501", correlation_id="c-1", detail="fine")
        ledger.store_answer(mutation.mutation_key, 1, answer, request_digest="a" * 64)
        (attempt,) = attempts(ledger, mutation)
        assert (attempt.outcome, attempt.ended_at, attempt.http_status) == (AnswerClass.ACCEPTED, clock.now(), 200)
        assert (attempt.correlation_id, attempt.request_digest, attempt.answer) == ("c-1", "a" * 64, answer)
        standing = now(ledger, mutation)
        assert (standing.acceptance_receipt, standing.provider_record_id) == (answer, "501")
        assert (standing.version, standing.status) == (mutation.version, Status.SUBMITTED)

    def test_a_completed_attempt_never_changes(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = answered(ledger, won(ledger, fresh(ledger)), AnswerClass.NOT_APPLIED)
        before = ledger.receipts(mutation.mutation_key)
        clock.forward(1)
        answered(ledger, mutation, AnswerClass.ACCEPTED, provider_record_id="501")
        assert ledger.receipts(mutation.mutation_key) == before

    def test_a_late_answer_of_an_earlier_attempt_is_not_the_latest(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = found_absent(ledger, clock, won(ledger, fresh(ledger)))
        answered(ledger, won(ledger, mutation, 2), AnswerClass.NOT_APPLIED, number=2)
        standing = answered(ledger, mutation, AnswerClass.ACCEPTED, number=1, provider_record_id="501")
        assert standing.acceptance_receipt is not None
        assert standing.acceptance_receipt.outcome is AnswerClass.NOT_APPLIED
        assert standing.provider_record_id == "501"
        assert [attempt.outcome for attempt in attempts(ledger, mutation)] == ["accepted", "not_applied"]

    def test_a_record_that_another_mutation_holds_is_not_named_twice(self, ledger: OwnedLedger) -> None:
        answered(ledger, won(ledger, fresh(ledger, "1")), provider_record_id="501")
        second = answered(ledger, won(ledger, fresh(ledger, "2")), provider_record_id="501")
        assert second.provider_record_id is None
        assert second.acceptance_receipt is not None
        assert second.acceptance_receipt.provider_record_id == "501"

    def test_the_record_that_was_asked_for_stays_named(self, ledger: OwnedLedger) -> None:
        mutation = won(ledger, fresh(ledger, provider_record_id="501"))
        assert answered(ledger, mutation, provider_record_id="777").provider_record_id == "501"


def test_send_before_counts_from_inside_the_claim(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation = fresh(ledger)
    clock.forward(7)
    claimed = ledger.claim(
        mutation.mutation_key, version=1, number=1, send_within=timedelta(seconds=3), quiescence=timedelta(0)
    )
    assert claimed.attempt is not None
    assert claimed.attempt.send_before == clock.now() + timedelta(seconds=3)
