"""Applying a decision: one wins, every other is kept with its verdict, all in one transaction."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from leadproof.domain import keys
from leadproof.domain.errors import NotFound
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Difference, Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.review import Decision, DecisionVerdict, ReviewItem
from leadproof.domain.shown import shown_digest
from leadproof.domain.steps import Arrival
from tests.ledger.steps import (
    QUESTION,
    QUIESCENCE,
    QUIET,
    answered,
    claim,
    decide,
    decision,
    divergent,
    found_absent,
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


def item_now(ledger: OwnedLedger, item: ReviewItem) -> ReviewItem:
    standing = ledger.review(item.review_id)
    assert standing is not None
    return standing


def outcome(ledger: OwnedLedger, event_key: str) -> Outcome:
    lead = ledger.lead(event_key)
    assert lead is not None
    return lead.outcome


def needs_approval(ledger: OwnedLedger, record: str = "1") -> tuple[Mutation, ReviewItem]:
    mutation = fresh(ledger, record, reason=Reason.NEEDS_APPROVAL)
    return mutation, ledger.open_review(mutation.mutation_key, QUESTION)


def rejected(ledger: OwnedLedger) -> tuple[Mutation, ReviewItem]:
    mutation = answered(ledger, won(ledger, fresh(ledger)), AnswerClass.REFUSES_THIS)
    asked = settled(ledger, mutation, Status.REJECTED, Reason.REFUSES_THIS, question=QUESTION)
    assert asked.review is not None
    return asked.mutation, asked.review


class TestEffects:
    """What each decision does to the mutation."""

    def test_approve(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation, item = needs_approval(ledger)
        assert outcome(ledger, mutation.event_key) is Outcome.REVIEW
        at = clock.forward(5)
        applied = decide(ledger, item, Decision.APPROVE)
        assert applied.verdict is DecisionVerdict.APPLIED
        assert applied.mutation == now(ledger, mutation)
        assert (applied.mutation.status, applied.mutation.reason) == (Status.RESERVED, Reason.APPROVED)
        assert applied.review == item_now(ledger, item)
        assert (applied.review.state, applied.review.closed_at, applied.review.version) == ("decided", at, 2)
        assert outcome(ledger, mutation.event_key) is Outcome.WORKING

    def test_retry_of_what_was_refused(self, ledger: OwnedLedger) -> None:
        mutation, item = rejected(ledger)
        applied = decide(ledger, item, Decision.RETRY)
        assert applied.mutation is not None
        assert (applied.mutation.status, applied.mutation.reason) == (Status.REJECTED, Reason.RETRY)
        assert outcome(ledger, mutation.event_key) is Outcome.WORKING

    def test_accept(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger)
        applied = decide(ledger, divergent(ledger, clock, mutation), Decision.ACCEPT)
        assert applied.mutation is not None
        assert (applied.mutation.status, applied.derived) == (Status.SUPERSEDED, None)
        assert outcome(ledger, mutation.event_key) is Outcome.SUPERSEDED

    @pytest.mark.parametrize("stand", ["needs_approval", "rejected", "uncertain", "divergent"])
    def test_abandon(self, ledger: OwnedLedger, clock: HandClock, stand: str) -> None:
        if stand == "needs_approval":
            mutation, item = needs_approval(ledger)
        elif stand == "rejected":
            mutation, item = rejected(ledger)
        else:
            mutation = fresh(ledger)
            item = uncertain(ledger, mutation) if stand == "uncertain" else divergent(ledger, clock, mutation)
        clock.forward(QUIET)
        applied = decide(ledger, item, Decision.ABANDON)
        assert applied.verdict is DecisionVerdict.APPLIED
        standing = now(ledger, mutation)
        assert standing.status is Status.ABANDONED
        assert (standing.reason is Reason.DECLINED) is (stand == "needs_approval")
        assert outcome(ledger, mutation.event_key) is Outcome.ABANDONED

    def test_overwrite_derives_a_mutation_that_writes_the_intent_again(
        self, ledger: OwnedLedger, clock: HandClock
    ) -> None:
        mutation = fresh(ledger, fields={"lead_status": "qualified", "tags": ["a", "b"]})
        item = divergent(ledger, clock, mutation, record_id="501", external_id=None)
        at = clock.forward(9)
        applied = decide(ledger, item, Decision.OVERWRITE)
        derived, parent = applied.derived, now(ledger, mutation)
        assert parent.status is Status.SUPERSEDED
        assert derived is not None
        assert derived == now(ledger, derived)
        assert derived.mutation_key == keys.derived_key(mutation.mutation_key, "overwrite")
        assert (derived.parent_key, derived.event_key) == (mutation.mutation_key, mutation.event_key)
        assert (derived.status, derived.reason, derived.version) == (Status.RESERVED, Reason.APPROVED, 1)
        assert derived.created_at == at
        assert derived.fingerprint == mutation.fingerprint
        assert derived.base_state == {"lead_status": "open"}  # what the decision was shown
        assert derived.provider_record_id == "501"
        intent = derived.intent
        assert (intent.fields, intent.creates, intent.mutation_key) == (
            mutation.intent.fields,
            False,
            derived.mutation_key,
        )
        assert (intent.record.provider_record_id, intent.record.linked, intent.base_read_at) == ("501", False, None)
        assert (derived.acceptance_receipt, derived.observed_state, derived.differences) == (None, None, ())
        assert outcome(ledger, mutation.event_key) is Outcome.WORKING

    def test_overwrite_of_a_create_creates_nothing(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger, action=ActionKind.CREATE)
        derived = decide(ledger, divergent(ledger, clock, mutation, record_id="501"), Decision.OVERWRITE).derived
        assert derived is not None
        assert not derived.creates
        assert (derived.action_kind, derived.intent.creates) == (ActionKind.UPDATE, False)

    def test_restore_puts_back_what_was_replaced_unseen(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger, fields={"lead_status": "qualified", "stage": "lead", "owner": "7", "tags": ["x"]})
        differences = (
            Difference(field="lead_status", intended="qualified", observed="qualified", lost="open"),
            Difference(field="tags", intended=["x"], observed=["x"], lost=["y", "z"]),
            Difference(field="owner", intended="7", observed="7", lost=None),  # a person had cleared it
            Difference(field="stage", intended="lead", observed="customer"),  # an ordinary difference
        )
        item = divergent(ledger, clock, mutation, Reason.OVERWROTE_UNSEEN_EDIT, differences)
        derived = decide(ledger, item, Decision.RESTORE).derived
        assert derived is not None
        assert derived.mutation_key == keys.derived_key(mutation.mutation_key, "restore")
        assert derived.intent.fields == {"lead_status": "open", "tags": ["y", "z"], "owner": None}
        assert derived.fingerprint != mutation.fingerprint
        answered(ledger, won(ledger, derived))
        observed(ledger, clock, derived)
        assert outcome(ledger, mutation.event_key) is Outcome.DONE  # answered by an observed derived mutation

    def test_restore_of_nothing_is_impossible(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger)
        item = divergent(ledger, clock, mutation, Reason.OVERWROTE_UNSEEN_EDIT)
        applied = decide(ledger, item, Decision.RESTORE)
        assert applied.verdict is DecisionVerdict.IMPOSSIBLE
        assert applied.why == "there is nothing to put back; possible: accept, overwrite, abandon"
        assert (now(ledger, mutation).status, item_now(ledger, item)) == (Status.DIVERGENT, item)


class TestVerdicts:
    """Every decision that is not applied is kept with why."""

    def test_a_decision_that_was_applied_answers_the_same_again(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger)
        applied = decide(ledger, divergent(ledger, clock, mutation), Decision.OVERWRITE)
        clock.forward(60)
        again = ledger.apply_decision("d1", quiescence=QUIESCENCE)
        assert again == applied
        assert len(ledger.mutations_of(mutation.event_key)) == 2

    @pytest.mark.parametrize("second", [Decision.APPROVE, Decision.ABANDON])
    def test_a_second_decision_is_repeated(self, ledger: OwnedLedger, second: Decision) -> None:
        mutation, item = needs_approval(ledger)
        decide(ledger, item, Decision.APPROVE, "d1")
        standing = now(ledger, mutation)
        applied = decide(ledger, item, second, "d2")
        assert applied.verdict is DecisionVerdict.REPEATED
        assert applied.why == "the question was already decided: ann decided approve at 2026-03-02T09:00:00Z"
        assert (applied.mutation, applied.review) == (standing, item_now(ledger, item))
        assert now(ledger, mutation) == standing
        row = ledger.decision("d2")
        assert row is not None
        assert (row.verdict, row.decision) == (DecisionVerdict.REPEATED, second)

    def test_one_that_was_on_its_way_is_repeated_at_once(self, ledger: OwnedLedger) -> None:
        mutation, item = needs_approval(ledger)
        for name, kind in (("d1", Decision.APPROVE), ("d2", Decision.ABANDON)):
            ledger.record_decision(decision(item, kind, name), reviewer="ann", via="test")
        assert [row.decision_id for row in ledger.pending_decisions(mutation.event_key)] == ["d1", "d2"]
        ledger.apply_decision("d1", quiescence=QUIESCENCE)
        assert ledger.pending_decisions(mutation.event_key) == ()
        row = ledger.decision("d2")
        assert row is not None
        assert row.verdict is DecisionVerdict.REPEATED
        assert ledger.apply_decision("d2", quiescence=QUIESCENCE).verdict is DecisionVerdict.REPEATED

    def test_a_question_that_evidence_answered_is_stale(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger)
        item = uncertain(ledger, mutation)
        ledger.record_decision(decision(item, Decision.ABANDON), reviewer="ann", via="test")
        observed(ledger, clock, mutation)
        assert ledger.apply_decision("d1", quiescence=QUIESCENCE).verdict is DecisionVerdict.STALE
        assert decide(ledger, item, Decision.ABANDON, "d2").verdict is DecisionVerdict.STALE
        assert now(ledger, mutation).status is Status.OBSERVED

    def test_another_version_than_the_items_is_stale(self, ledger: OwnedLedger) -> None:
        _, item = needs_approval(ledger)
        assert decide(ledger, item, Decision.APPROVE, version=2).verdict is DecisionVerdict.STALE
        assert item_now(ledger, item).state == "open"

    def test_a_state_that_moved_since_it_was_shown_is_stale(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger)
        item = divergent(ledger, clock, mutation)
        shown = shown_digest(item, now(ledger, mutation))
        seen = an_observation(mutation, clock.now(), fields={"lead_status": "someone else's"})
        settled(ledger, mutation, Status.DIVERGENT, observation=seen)
        assert decide(ledger, item, Decision.OVERWRITE, shown_digest=shown).verdict is DecisionVerdict.STALE
        shown = shown_digest(item, now(ledger, mutation))
        assert decide(ledger, item, Decision.OVERWRITE, "d2", shown_digest=shown).verdict is DecisionVerdict.APPLIED

    @pytest.mark.parametrize("kind", [Decision.RETRY, Decision.ACCEPT, Decision.OVERWRITE, Decision.PLAN_AGAIN])
    def test_what_the_question_does_not_allow_is_impossible(self, ledger: OwnedLedger, kind: Decision) -> None:
        mutation, item = needs_approval(ledger)
        applied = decide(ledger, item, kind)
        assert applied.verdict is DecisionVerdict.IMPOSSIBLE
        assert (applied.why or "").endswith("; possible: approve, abandon")
        assert (item_now(ledger, item), now(ledger, mutation).reason) == (item, Reason.NEEDS_APPROVAL)

    def test_retry_without_established_absence_is_impossible(self, ledger: OwnedLedger, clock: HandClock) -> None:
        mutation = fresh(ledger)
        item = uncertain(ledger, mutation)
        assert decide(ledger, item, Decision.RETRY).verdict is DecisionVerdict.IMPOSSIBLE
        found_absent(ledger, clock, mutation)
        assert decide(ledger, item, Decision.RETRY, "d2").verdict is DecisionVerdict.APPLIED

    def test_a_question_that_does_not_stand_here(self, ledger: OwnedLedger) -> None:
        _, item = needs_approval(ledger)
        unknown = decision(item, Decision.APPROVE, review_id="unknown")
        ledger.record_decision(unknown, reviewer="ann", via="test")
        assert ledger.apply_decision("d1", quiescence=QUIESCENCE).verdict is DecisionVerdict.IMPOSSIBLE
        with pytest.raises(NotFound):
            ledger.apply_decision("never recorded", quiescence=QUIESCENCE)


class TestPending:
    """While a request of ours can still change the record, nothing gives it up or passes it on."""

    def test_abandon_waits_for_the_quiescence_of_an_unanswered_attempt(
        self, ledger: OwnedLedger, clock: HandClock
    ) -> None:
        mutation = fresh(ledger)
        item = uncertain(ledger, mutation)
        until = clock.now() + timedelta(seconds=QUIET)
        applied = decide(ledger, item, Decision.ABANDON)
        assert (applied.verdict, applied.until) == (DecisionVerdict.PENDING, until)
        assert applied.why
        assert (now(ledger, mutation).status, item_now(ledger, item)) == (Status.UNCERTAIN, item)
        clock.forward(QUIET - 0.001)
        assert ledger.apply_decision("d1", quiescence=QUIESCENCE).verdict is DecisionVerdict.PENDING
        assert [row.decision_id for row in ledger.pending_decisions(mutation.event_key)] == ["d1"]
        clock.forward(0.001)
        assert ledger.apply_decision("d1", quiescence=QUIESCENCE).verdict is DecisionVerdict.APPLIED

    @pytest.mark.parametrize("kind", [Decision.ACCEPT, Decision.OVERWRITE, Decision.RESTORE, Decision.ABANDON])
    def test_so_does_whatever_leaves_a_divergent_mutation(
        self, ledger: OwnedLedger, clock: HandClock, kind: Decision
    ) -> None:
        mutation, item = self.unanswered(ledger, clock, ours=False)
        assert decide(ledger, item, kind).verdict is DecisionVerdict.PENDING
        assert claim(ledger, fresh(ledger, "2", target_record=mutation.target_record)).result == "waits"

    def test_not_when_a_read_back_showed_that_it_landed(self, ledger: OwnedLedger, clock: HandClock) -> None:
        _, item = self.unanswered(ledger, clock, ours=True)
        assert decide(ledger, item, Decision.ACCEPT).verdict is DecisionVerdict.APPLIED

    def unanswered(self, ledger: OwnedLedger, clock: HandClock, *, ours: bool) -> tuple[Mutation, ReviewItem]:
        mutation = fresh(ledger)
        won(ledger, mutation)
        marker = mutation.mutation_key if ours else "another"
        lost = (Difference(field="lead_status", intended="qualified", observed="qualified", lost="open"),)
        asked = settled(
            ledger,
            mutation,
            Status.DIVERGENT,
            Reason.OVERWROTE_UNSEEN_EDIT,
            observation=an_observation(mutation, clock.now(), marker=marker, ours=ours),
            differences=lost,
            question=QUESTION,
        )
        assert asked.review is not None
        return mutation, asked.review


class TestEvents:
    """Decisions about an event: it is planned again, or given up."""

    def asked(self, ledger: OwnedLedger) -> tuple[str, ReviewItem]:
        event = a_lead_event("1")
        ledger.admit([Arrival(event=event)])
        return event.event_key, ledger.open_event_review(event.event_key, QUESTION)

    def test_plan_again(self, ledger: OwnedLedger) -> None:
        key, item = self.asked(ledger)
        assert outcome(ledger, key) is Outcome.REVIEW
        applied = decide(ledger, item, Decision.PLAN_AGAIN)
        assert (applied.verdict, applied.mutation) == (DecisionVerdict.APPLIED, None)
        assert (outcome(ledger, key), item_now(ledger, item).state) == (Outcome.WORKING, "decided")
        again = ledger.open_event_review(key, QUESTION)
        assert (again.round, outcome(ledger, key)) == (2, Outcome.REVIEW)

    def test_abandon(self, ledger: OwnedLedger) -> None:
        key, item = self.asked(ledger)
        decide(ledger, item, Decision.ABANDON)
        assert outcome(ledger, key) is Outcome.ABANDONED

    def test_a_decision_about_a_mutation_is_impossible(self, ledger: OwnedLedger) -> None:
        _, item = self.asked(ledger)
        assert decide(ledger, item, Decision.RETRY).verdict is DecisionVerdict.IMPOSSIBLE

    def test_abandon_of_a_run_that_failed_gives_every_open_mutation_up(
        self, ledger: OwnedLedger, clock: HandClock
    ) -> None:
        event = a_lead_event("1")
        sent = a_mutation(event, target_record="a" * 64)
        waiting = a_mutation(event, action=ActionKind.UPDATE, ordinal=1, target_record="b" * 64)
        planned(ledger, event, sent, waiting)
        won(ledger, sent)
        item = ledger.open_event_review(event.event_key, QUESTION)
        applied = decide(ledger, item, Decision.ABANDON)
        assert (applied.verdict, applied.until) == (
            DecisionVerdict.PENDING,
            clock.now() + timedelta(seconds=QUIET),
        )
        clock.forward(QUIET)
        assert ledger.apply_decision("d1", quiescence=QUIESCENCE).verdict is DecisionVerdict.APPLIED
        assert {m.status for m in ledger.mutations_of(event.event_key)} == {Status.ABANDONED}
        assert now(ledger, waiting).reason is Reason.DECLINED
        assert outcome(ledger, event.event_key) is Outcome.ABANDONED

    def test_who_waits_for_any_of_the_records_that_it_held_is_named(
        self, ledger: OwnedLedger, clock: HandClock
    ) -> None:
        event = a_lead_event("1")
        held = ("a" * 64, "b" * 64)
        kinds = (ActionKind.QUALIFY, ActionKind.UPDATE)
        both = [a_mutation(event, action=k, ordinal=n, target_record=held[n]) for n, k in enumerate(kinds)]
        for mutation in planned(ledger, event, *both):
            answered(ledger, won(ledger, mutation), AnswerClass.NOT_SENT)
        waiting = []
        for number, record in enumerate(held):
            other = a_lead_event(f"other {number}")
            claim(ledger, planned(ledger, other, a_mutation(other, target_record=record))[0])
            waiting.append(other.event_key)
        applied = decide(ledger, ledger.open_event_review(event.event_key, QUESTION), Decision.ABANDON)
        assert (applied.verdict, applied.wakes) == (DecisionVerdict.APPLIED, tuple(waiting))

    def test_what_was_done_before_stays_done(self, ledger: OwnedLedger, clock: HandClock) -> None:
        event = a_lead_event("1")
        first = a_mutation(event, target_record="a" * 64)
        second = a_mutation(event, action=ActionKind.UPDATE, ordinal=1, target_record="b" * 64)
        planned(ledger, event, first, second)
        answered(ledger, won(ledger, first))
        observed(ledger, clock, first)
        decide(ledger, ledger.open_event_review(event.event_key, QUESTION), Decision.ABANDON)
        assert now(ledger, first).status is Status.OBSERVED
        assert outcome(ledger, event.event_key) is Outcome.PARTLY
