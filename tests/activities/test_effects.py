"""What a step of the write boundary tells the run to do next."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.effects import EffectActivities
from activities.messages import Book, LookCommand, WriteCommand
from leadproof.adapters import Adapters
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Answer, AnswerClass, Reason, Status
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.progress import Step, StepKind, Unstored
from leadproof.domain.records import LookUp
from leadproof.domain.review import Decision, ReviewDecision, ReviewState
from leadproof.domain.steps import Settlement
from leadproof.rulebook import Rulebook
from tests.activities.room import Room
from tests.boundary.target import REFUSED, UNREADABLE, Target, answers, applies_and_is_not_heard, is_lost, sees
from tests.boundary.world import TARGET, World
from workflows.options import HOPELESS

SPACING = timedelta(seconds=TARGET.read_spacing_seconds)


class Effects:
    """The activities over a world's ledger and target."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.world = World(room.ledger, room.clock)
        self.target: Target = self.world.target
        rulebook = Rulebook(room.ledger, parse_policy)
        self._activities = EffectActivities(room.ledger, Adapters({"hubspot": self.target}), rulebook, room.clock)
        self._environment = ActivityEnvironment()

    def write(self, *, alone: bool = False) -> Book:
        row = self.world.mutation
        command = WriteCommand(
            mutation_key=row.mutation_key, version=row.version, number=len(self.world.attempts) + 1, alone=alone
        )
        return self._environment.run(self._activities.write, command)

    def reconcile(self, *, alone: bool = False, unstored: Unstored | None = None) -> Book:
        command = LookCommand(mutation_key=self.world.key, alone=alone, unstored=unstored)
        return self._environment.run(self._activities.reconcile, command)

    def look_on(self, until: Callable[[Book], bool]) -> Book:
        """Look whenever it is due, until a look leads where it should."""
        while not until(book := self.reconcile()):
            at = self.next(book).at
            assert at is not None
            self.room.clock.forward((at - self.room.clock.now()).total_seconds())
        return book

    def next(self, book: Book) -> Step:
        (view,) = (view for view in book.views if view.mutation_key == self.world.key)
        return view.step


@pytest.fixture
def effects(room: Room) -> Effects:
    return Effects(room)


# -- after a write -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("alone", [True, False])
def test_what_was_sent_is_read_back(effects: Effects, alone: bool) -> None:
    effects.world.update()
    book = effects.write(alone=alone)
    assert effects.next(book) == Step(kind=StepKind.LOOK)
    assert (book.whole, book.views[0].status, book.views[0].attempts) == (not alone, Status.SUBMITTED, 1)


def test_what_was_not_applied_is_made_again_in_time(effects: Effects) -> None:
    effects.world.update()
    effects.target.replies.append(answers(AnswerClass.NOT_APPLIED, retry_after_seconds=33))
    assert effects.next(effects.write()) == Step(
        kind=StepKind.WRITE, at=effects.room.clock.now() + timedelta(seconds=33)
    )


def test_what_is_parked_is_tried_when_the_probe_is_due(effects: Effects) -> None:
    effects.world.update()
    effects.room.ledger.mark_target("hubspot", up=False, reason="401")
    due = effects.room.clock.now() + timedelta(seconds=TARGET.probe_seconds)
    assert effects.next(effects.write()) == Step(kind=StepKind.WRITE, at=due)


def test_who_meets_a_held_record_waits(effects: Effects) -> None:
    effects.world.update()
    effects.write()
    effects.world.update(later=60)
    assert effects.next(effects.write()).kind is StepKind.WAITS


def test_an_attempt_that_may_have_landed_is_looked_at_first_and_not_in_a_tight_loop(effects: Effects) -> None:
    effects.world.update()
    effects.target.replies.append(is_lost)
    effects.write()
    assert effects.next(effects.write()) == Step(kind=StepKind.LOOK, at=effects.room.clock.now() + SPACING)


def test_what_the_check_answers_is_read_from_the_row(effects: Effects) -> None:
    effects.world.update()
    effects.target.edit(owner="777")
    book = effects.write()
    (view,) = book.views
    assert (view.status, view.reason, view.step) == (
        Status.DIVERGENT,
        Reason.CHANGED_BEFORE_WRITE,
        Step(kind=StepKind.PERSON),
    )
    assert (book.outcome, view.review is not None) == (Outcome.REVIEW, True)


def test_an_answer_that_the_ledger_was_not_there_for_comes_with_the_next_look(
    effects: Effects, ledger_path: Path
) -> None:
    effects.world.update()
    other = sqlite3.connect(ledger_path, isolation_level=None)
    effects.target.on_send.append(lambda: other.execute("BEGIN IMMEDIATE"))
    book = effects.write(alone=True)
    step = effects.next(book)
    assert (step.kind, book.views[0].attempts) == (StepKind.LOOK, 1)
    assert step.unstored is not None
    other.execute("ROLLBACK")
    other.close()
    (attempt,) = effects.world.attempts
    assert attempt.outcome is None
    effects.target.always = sees(UNREADABLE)
    effects.reconcile(unstored=step.unstored)
    (attempt,) = effects.world.attempts
    assert (attempt.outcome, attempt.answer) == (AnswerClass.ACCEPTED, step.unstored.answer)
    assert attempt.request_digest == step.unstored.request_digest
    effects.reconcile(unstored=step.unstored.model_copy(update={"answer": Answer(outcome=AnswerClass.UNCERTAIN)}))
    assert effects.world.attempts == (attempt,)


# -- after a look ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("alone", [True, False])
def test_what_is_observed_is_done(effects: Effects, alone: bool) -> None:
    effects.world.update()
    effects.write()
    book = effects.reconcile(alone=alone)
    assert (effects.next(book).kind, book.outcome, book.whole) == (StepKind.DONE, Outcome.DONE, not alone)


def test_what_is_not_there_yet_is_looked_for_again_in_time(effects: Effects) -> None:
    effects.world.update()
    effects.target.replies.append(applies_and_is_not_heard)
    effects.write()
    effects.target.sights.append(sees(UNREADABLE))
    assert effects.next(effects.reconcile()) == Step(kind=StepKind.LOOK, at=effects.room.clock.now() + SPACING)
    assert effects.world.mutation.status is Status.UNCERTAIN


def test_what_is_established_as_absent_is_written_again(effects: Effects) -> None:
    effects.world.update()
    effects.target.replies.append(is_lost)
    effects.write()
    book = effects.look_on(lambda book: effects.next(book).kind is not StepKind.LOOK)
    assert effects.next(book) == Step(kind=StepKind.WRITE)
    (attempt,) = effects.world.attempts
    looks = [one.read_at for one in effects.world.receipts.observations]
    assert looks[-2] == attempt.send_before + TARGET.quiescence  # and once more, since one look may be stale
    assert looks[-1] == effects.room.clock.now()
    assert effects.next(effects.write()) == Step(kind=StepKind.LOOK)
    assert effects.next(effects.reconcile()).kind is StepKind.DONE


def test_while_the_target_refuses_us_the_look_is_repeated_at_the_probes_interval(effects: Effects) -> None:
    effects.world.update()
    effects.write()
    effects.target.always = sees(REFUSED)
    due = effects.room.clock.now() + timedelta(seconds=TARGET.probe_seconds)
    assert effects.next(effects.reconcile()) == Step(kind=StepKind.LOOK, at=due)


def test_while_a_person_is_asked_about_what_is_uncertain_the_reading_goes_on(effects: Effects) -> None:
    effects.world.update()
    effects.target.replies.append(is_lost)
    effects.write()
    effects.target.always = sees(UNREADABLE)
    effects.look_on(lambda book: book.outcome is Outcome.REVIEW)
    book = effects.reconcile(alone=True)
    step = effects.next(book)
    assert (step.kind, book.outcome) == (StepKind.LOOK, Outcome.REVIEW)
    assert step.at is not None
    assert step.at > effects.room.clock.now()


def test_a_finding_that_lost_its_row_is_looked_for_soon_and_not_in_an_hour(effects: Effects) -> None:
    effects.world.update()
    effects.write()

    def somebody_else_looks(_: object, found: LookUp) -> LookUp:
        row = effects.world.mutation
        effects.room.ledger.settle(row.mutation_key, version=row.version, step=Settlement(status=Status.UNCERTAIN))
        return found

    effects.target.sights.append(somebody_else_looks)
    assert effects.next(effects.reconcile()) == Step(kind=StepKind.LOOK, at=effects.room.clock.now() + SPACING)


def test_a_question_that_was_answered_is_not_one_that_is_open(effects: Effects) -> None:
    effects.world.update()
    effects.target.replies += [answers(AnswerClass.REFUSES_THIS)] * 2
    effects.write()
    first = effects.reconcile().views[0].review
    assert first is not None
    decision = ReviewDecision(
        decision_id="d-1", review_id=first.review_id, version=first.version, decision=Decision.RETRY
    )
    effects.room.ledger.record_decision(decision, reviewer="dana", via="api")
    effects.room.ledger.apply_decision("d-1", quiescence=TARGET.quiescence)
    assert effects.write().views[0].review is None
    (view,) = effects.reconcile().views
    assert view.review is not None
    assert (view.status, view.review.state, view.review.round) == (Status.REJECTED, ReviewState.OPEN, 2)


def test_whoever_waits_for_a_freed_record_is_named_by_its_workflow(effects: Effects) -> None:
    first = effects.world.update().mutation_key
    effects.write()
    second = effects.world.update(later=60)
    effects.write()
    effects.world.key = first
    assert effects.reconcile().wake == f"lead:{second.event_key}"


def test_an_effect_that_the_ledger_does_not_know_is_another_ledgers(effects: Effects) -> None:
    effects.world.update()
    effects.world.key = "0" * 64
    with pytest.raises(ApplicationError, match="no such effect") as failed:
        effects.reconcile()
    assert failed.value.type not in HOPELESS
