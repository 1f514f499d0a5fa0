"""What a person sends, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from activities.messages import AskCommand, DecideCommand, Decided
from activities.review import ReviewActivities
from leadproof.domain.errors import PolicyRefused
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.policy import Policy, Queue
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.proofs import sign_decision
from leadproof.domain.review import DecisionVerdict, ReviewItem, parse_decision
from leadproof.domain.steps import Question
from leadproof.rulebook import Rulebook
from tests.activities.room import Room
from tests.boundary.target import Stop, is_lost
from tests.boundary.world import POLICY, TARGET, World
from tests.ledger.steps import answered, claim, won
from tests.support.ledgers import a_lead_event, a_mutation, planned

KEY = "a-decision-key-of-the-tests"


class Nobody:
    async def identity(self, workflow_id: str, run_id: str, *, via: str, place: str) -> str:
        return "nobody"


class NoBareSignals(Rulebook):
    """A policy whose questions are answered through the review only."""

    def policy(self, version: str) -> Policy:
        return super().policy(version).model_copy(update={"queues": {"default": Queue(raw_signals_count=False)}})


class Windowed(Rulebook):
    """A policy that gives up what nobody has decided in two days."""

    def policy(self, version: str) -> Policy:
        window = Queue(due_hours=4, abandon_after_hours=48)
        return super().policy(version).model_copy(update={"queues": {"default": window}})


class Reviews:
    """The activities of a review over a world that waits for an approval."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.world = World(room.ledger, room.clock)
        self.event_key = self.world.update(reason=Reason.NEEDS_APPROVAL).event_key
        rulebook = Rulebook(room.ledger, parse_policy)
        self._activities = ReviewActivities(room.ledger, rulebook, room.clock, Nobody(), KEY)
        self._strict = ReviewActivities(
            room.ledger, NoBareSignals(room.ledger, parse_policy), room.clock, Nobody(), KEY
        )
        self._environment = ActivityEnvironment()

    def ask(self, reason: Reason = Reason.NEEDS_APPROVAL, *, event: bool = False) -> ReviewItem:
        key = None if event else self.world.key
        command = AskCommand(event_key=self.event_key, mutation_key=key, reason=reason)
        book = self._environment.run(self._activities.open_review, command)
        item = book.event_review if event else book.views[0].review
        assert item is not None
        return item

    def send(self, *sent: Any, sender: str | None = "somebody") -> Decided:
        command = DecideCommand(event_key=self.event_key, sent=list(sent), sender=sender)
        return self._environment.run(self._activities.apply_decision, command)

    def send_where_no_signal_counts(self, *sent: Any) -> Decided:
        command = DecideCommand(event_key=self.event_key, sent=list(sent), sender="somebody")
        return self._environment.run(self._strict.apply_decision, command)

    def pending(self) -> Decided:
        return self._environment.run(self._activities.apply_decision, DecideCommand(event_key=self.event_key))


@pytest.fixture
def reviews(room: Room) -> Reviews:
    return Reviews(room)


def approve(item: ReviewItem, **more: Any) -> dict[str, Any]:
    return {"review_id": item.review_id, "version": item.version, "decision": "approve", "reason": "fine"} | more


def verdict(decided: Decided) -> DecisionVerdict:
    (answer,) = decided.answers
    return answer.verdict


def test_an_approval_lets_the_mutation_be_written(reviews: Reviews) -> None:
    decided = reviews.send(approve(reviews.ask()))
    assert verdict(decided) is DecisionVerdict.APPLIED
    assert (reviews.world.mutation.reason, decided.book.views[0].review) == (Reason.APPROVED, None)
    assert reviews.world.run().status is Status.OBSERVED


def test_a_question_that_is_open_is_found_and_not_asked_twice(reviews: Reviews) -> None:
    assert reviews.ask() == reviews.ask()


def test_who_sends_it_bare_is_recorded_as_temporal_knows_him(reviews: Reviews) -> None:
    decided = reviews.send(approve(reviews.ask(), reviewer="the boss"), sender="mallory")
    row = reviews.room.ledger.decision(decided.answers[0].decision_id)
    assert row is not None
    assert (row.reviewer, row.via) == ("temporal:mallory", "signal")


def test_a_proof_says_who_decided_and_one_that_does_not_fit_decides_nothing(reviews: Reviews) -> None:
    body = approve(reviews.ask(), decision_id="d-1", reviewer="api:dana")
    forged = body | {"proof": sign_decision(body, "another key")}
    assert verdict(reviews.send(forged)) is DecisionVerdict.MALFORMED
    assert reviews.world.mutation.reason is Reason.NEEDS_APPROVAL
    assert verdict(reviews.send(body | {"proof": sign_decision(body, KEY)})) is DecisionVerdict.APPLIED
    row = reviews.room.ledger.decision("d-1")
    assert row is not None
    assert row.reviewer == "api:dana"


@pytest.mark.parametrize("other", [{"decision": "abandon"}, {"version": 7}])
def test_a_decision_under_the_id_of_another_one_is_none(reviews: Reviews, other: dict[str, Any]) -> None:
    body = approve(reviews.ask(), decision_id="d-1")
    assert verdict(reviews.send(body)) is DecisionVerdict.APPLIED

    (answer,) = reviews.send(body | other).answers
    assert (answer.verdict, answer.why) == (
        DecisionVerdict.MALFORMED,
        "its decision_id stands for another decision",
    )
    assert verdict(reviews.send(body)) is DecisionVerdict.APPLIED


def test_a_bare_signal_that_does_not_count_takes_no_decision_from_the_review(reviews: Reviews) -> None:
    body = approve(reviews.ask())
    told = "the queue 'default' takes decisions through the review only, not as a bare signal"
    for _ in range(2):
        (answer,) = reviews.send_where_no_signal_counts(body).answers
        assert (answer.verdict, answer.why) == (DecisionVerdict.IMPOSSIBLE, told)
    assert reviews.world.mutation.reason is Reason.NEEDS_APPROVAL

    signed = {**parse_decision([body]).model_dump(mode="json"), "reviewer": "api:dana"}
    proved = reviews.send_where_no_signal_counts(signed | {"proof": sign_decision(signed, KEY)})
    assert verdict(proved) is DecisionVerdict.APPLIED


def test_a_bare_signal_that_does_not_count_ends_no_decision_that_is_pending(reviews: Reviews) -> None:
    reviews.send(approve(reviews.ask()))
    reviews.world.target.replies.append(is_lost)
    reviews.world.submit()
    body = approve(reviews.ask(Reason.RUN_FAILED, event=True), decision="abandon", decision_id="d-1")
    assert verdict(reviews.send(body)) is DecisionVerdict.PENDING

    assert verdict(reviews.send_where_no_signal_counts(body)) is DecisionVerdict.IMPOSSIBLE
    reviews.room.clock.forward(1000)
    assert verdict(reviews.pending()) is DecisionVerdict.APPLIED


def test_a_bare_signal_that_does_not_count_is_never_pending(reviews: Reviews, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a run that begins when its worker was killed there would apply it."""
    body, ledger = approve(reviews.ask()), type(reviews.room.ledger)
    record = ledger.record_decision

    def last_step(*sent: Any, **more: Any) -> None:
        record(*sent, **more)
        raise Stop

    with monkeypatch.context() as patched:
        patched.setattr(ledger, "record_decision", last_step)
        with pytest.raises(Stop):
            reviews.send_where_no_signal_counts(body)
    assert reviews.pending().answers == ()
    assert reviews.world.mutation.reason is Reason.NEEDS_APPROVAL


@pytest.mark.parametrize("sent", [(), ("approve",), ({"decision": "approve"},), ({}, {}), (None,)])
def test_what_is_no_decision_is_recorded_as_such_and_changes_nothing(reviews: Reviews, sent: tuple[Any, ...]) -> None:
    reviews.ask()
    decided = reviews.send(*sent)
    assert verdict(decided) is DecisionVerdict.MALFORMED
    row = reviews.room.ledger.decision(decided.answers[0].decision_id)
    assert row is not None
    assert row.verdict is DecisionVerdict.MALFORMED
    assert reviews.world.mutation.reason is Reason.NEEDS_APPROVAL


def test_an_answer_to_another_leads_question_is_none(reviews: Reviews) -> None:
    item = reviews.ask()
    reviews.event_key = reviews.room.admit("55")
    assert verdict(reviews.send(approve(item))) is DecisionVerdict.MALFORMED
    assert reviews.world.mutation.reason is Reason.NEEDS_APPROVAL


def test_giving_up_an_event_waits_until_none_of_its_requests_can_land_any_more(reviews: Reviews) -> None:
    reviews.send(approve(reviews.ask()))
    reviews.world.target.replies.append(is_lost)
    reviews.world.submit()
    item = reviews.ask(Reason.RUN_FAILED, event=True)
    quiet = reviews.world.attempts[0].send_before + TARGET.quiescence
    decided = reviews.send(approve(item, decision="abandon"))
    assert (verdict(decided), decided.answers[0].until) == (DecisionVerdict.PENDING, quiet)
    reviews.room.clock.forward((quiet - reviews.room.clock.now() - timedelta(seconds=1)).total_seconds())
    assert verdict(reviews.pending()) is DecisionVerdict.PENDING
    reviews.room.clock.forward(1)
    assert verdict(reviews.pending()) is DecisionVerdict.APPLIED
    lead = reviews.room.ledger.lead(reviews.event_key)
    assert lead is not None
    assert lead.outcome is Outcome.ABANDONED


def test_who_waits_for_any_record_that_a_decision_frees_is_named_by_its_workflow(reviews: Reviews) -> None:
    ledger, records = reviews.room.ledger, ("a" * 64, "b" * 64)
    event = a_lead_event("102", policy_version=POLICY.version)
    kinds = (ActionKind.QUALIFY, ActionKind.UPDATE)
    held = [a_mutation(event, action=kinds[n], ordinal=n, target_record=record) for n, record in enumerate(records)]
    for mutation in planned(ledger, event, *held):
        answered(ledger, won(ledger, mutation), AnswerClass.NOT_SENT)
    waiting = [a_lead_event(f"{n}", policy_version=POLICY.version) for n in (103, 104)]
    for other, record in zip(waiting, records, strict=True):
        claim(ledger, planned(ledger, other, a_mutation(other, target_record=record))[0])
    reviews.event_key = event.event_key
    book = reviews.send(approve(reviews.ask(Reason.RUN_FAILED, event=True), decision="abandon")).book
    assert [book.wake, *book.also_wake] == [f"lead:{other.event_key}" for other in waiting]


def test_what_is_no_decision_is_kept_with_its_question_and_told_what_is_possible(
    reviews: Reviews,
) -> None:
    item = reviews.ask()
    (answer,) = reviews.send({"review_id": item.review_id, "version": 1}).answers
    assert (answer.verdict, answer.why) == (
        DecisionVerdict.MALFORMED,
        "missing or wrong: decision; a decision is one of approve, retry, accept, overwrite, restore, abandon, "
        "plan_again; possible: approve, abandon",
    )
    ledger = reviews.room.ledger
    (kept,) = ledger.decisions_of(reviews.event_key)
    receipts = ledger.receipts(reviews.world.key)
    assert receipts is not None
    assert receipts.decisions == (kept,)
    assert (kept.review_id, kept.verdict, kept.reason) == (item.review_id, DecisionVerdict.MALFORMED, answer.why)


@pytest.mark.parametrize("named", ["0" * 64, "\ud800", "\x00", None, ["x"], {"$ne": ""}])
def test_what_names_no_question_of_the_lead_is_kept_under_none(reviews: Reviews, named: Any) -> None:
    reviews.ask()
    (answer,) = reviews.send({"review_id": named}).answers
    row = reviews.room.ledger.decision(answer.decision_id)
    assert row is not None
    assert (row.review_id, row.verdict) == (None, DecisionVerdict.MALFORMED)
    assert "possible" not in (row.reason or "")


def test_a_question_of_another_lead_is_not_told_of(reviews: Reviews) -> None:
    event = a_lead_event("another")
    (other,) = planned(reviews.room.ledger, event, a_mutation(event, reason=Reason.NEEDS_APPROVAL))
    question = Question(reason=Reason.NEEDS_APPROVAL, queue="default", due_at=reviews.room.clock.now())
    item = reviews.room.ledger.open_review(other.mutation_key, question)
    (answer,) = reviews.send({"review_id": item.review_id, "version": 1}).answers
    assert "possible" not in (answer.why or "")
    assert reviews.room.ledger.decisions_of(event.event_key) == ()


def windowed(room: Room, parse: Callable[[str], Policy] = parse_policy) -> ReviewActivities:
    return ReviewActivities(room.ledger, Windowed(room.ledger, parse), room.clock, Nobody(), KEY)


def unreadable(text: str) -> Policy:
    raise PolicyRefused("this code no longer reads it")


@pytest.mark.parametrize("event", [False, True])
def test_at_the_end_of_its_window_a_question_is_decided_by_the_policy(reviews: Reviews, event: bool) -> None:
    room, environment = reviews.room, ActivityEnvironment()
    activities = windowed(room)
    key = None if event else reviews.world.key
    command = AskCommand(event_key=reviews.event_key, mutation_key=key, reason=Reason.NEEDS_APPROVAL)
    book = environment.run(activities.open_review, command)
    item = book.event_review if event else book.views[0].review
    assert item is not None
    assert item.expires_at == room.clock.now() + timedelta(hours=48)
    assert item.due_at == room.clock.now() + timedelta(hours=4)
    room.clock.forward(48 * 3600)
    decided = environment.run(activities.apply_decision, DecideCommand(event_key=reviews.event_key))
    assert verdict(decided) is DecisionVerdict.APPLIED
    assert decided.book.outcome is Outcome.ABANDONED
    assert environment.run(activities.apply_decision, DecideCommand(event_key=reviews.event_key)).answers == ()


def test_under_a_policy_that_can_no_longer_be_read_a_question_stays_open(reviews: Reviews) -> None:
    room, environment = reviews.room, ActivityEnvironment()
    command = AskCommand(event_key=reviews.event_key, mutation_key=reviews.world.key, reason=Reason.NEEDS_APPROVAL)
    environment.run(windowed(room).open_review, command)
    room.clock.forward(50 * 3600)
    with suppress(PolicyRefused):  # what its effects are worth is not told either
        environment.run(windowed(room, unreadable).apply_decision, DecideCommand(event_key=reviews.event_key))
    assert room.ledger.decisions_of(reviews.event_key) == ()
    assert room.ledger.review_of(reviews.world.key) is not None
