"""After the request: what is read back, until when, and what a person is asked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from leadproof.boundary import Result
from leadproof.domain.mutation import AnswerClass, Mutation, Reason, Status
from leadproof.domain.reconciliation import Next
from leadproof.domain.records import LookUp, Presence
from leadproof.domain.review import Decision, DecisionVerdict, ReviewDecision, ReviewState
from leadproof.domain.steps import Applied, Settlement
from tests.boundary.target import (
    UNREADABLE,
    Reply,
    answers,
    applies_and_is_not_heard,
    held_up,
    is_lost,
    late,
    sees,
    stale,
)
from tests.boundary.world import TARGET, World

QUIESCENCE = TARGET.quiescence
UNHEARD = AnswerClass.UNCERTAIN


def update(world: World) -> Mutation:
    return world.update()


def create(world: World) -> Mutation:
    return world.create()


both = pytest.mark.parametrize("reserve", [update, create])


def decide(world: World, decision: Decision) -> Applied:
    review = world.receipts.review
    assert review is not None
    sent = ReviewDecision(
        decision_id=f"{review.review_id}:{decision}",
        review_id=review.review_id,
        version=review.version,
        decision=decision,
    )
    world.ledger.record_decision(sent, reviewer="dana", via="api")
    return world.ledger.apply_decision(sent.decision_id, quiescence=QUIESCENCE)


# -- the answer was lost -----------------------------------------------------------------------------------------------
@both
def test_a_write_that_landed_unheard_is_observed(world: World, reserve: Callable[[World], Mutation]) -> None:
    reserve(world)
    world.target.replies.append(applies_and_is_not_heard)
    assert world.run().status is Status.OBSERVED
    assert (world.outcomes, len(world.effects)) == ([UNHEARD], 1)


@both
@pytest.mark.parametrize("seconds", [1, 10, TARGET.apply_lag_seconds])
def test_a_write_that_lands_late_is_waited_for(
    world: World, reserve: Callable[[World], Mutation], seconds: float
) -> None:
    reserve(world)
    world.target.replies.append(late(seconds))
    assert world.run().status is Status.OBSERVED
    assert (world.outcomes, len(world.effects), len(world.target.sent)) == ([UNHEARD], 1, 1)
    assert [observation.verdict for observation in world.receipts.observations][-1] == "one"


@both
def test_a_write_that_never_lands_is_replayed_once_it_is_quiet(
    world: World, reserve: Callable[[World], Mutation]
) -> None:
    reserve(world)
    world.target.replies.append(is_lost)
    assert world.run().status is Status.OBSERVED
    assert (world.outcomes, len(world.effects)) == ([UNHEARD, AnswerClass.ACCEPTED], 1)
    first, second = world.attempts
    assert world.target.sent[1].at >= first.send_before + QUIESCENCE
    absent = [o for o in world.receipts.observations if o.verdict == Presence.ABSENT]
    assert [o.read_at >= first.send_before + QUIESCENCE for o in absent] == [True]
    assert second.started_at >= absent[0].read_at


def test_until_it_is_quiet_an_unheard_write_is_uncertain(world: World) -> None:
    world.update()
    world.target.replies.append(is_lost)
    assert world.submit().result is Result.SENT
    looked = world.look()
    assert (looked.next, looked.mutation.status) == (Next.READ_AGAIN, Status.UNCERTAIN)


def test_after_the_last_attempt_a_person_is_asked_who_may_send_it_again(world: World) -> None:
    world.update()
    world.target.replies += [is_lost] * TARGET.max_attempts
    mutation = world.run()
    review = world.receipts.review
    assert (mutation.status, world.outcomes) == (Status.UNCERTAIN, [UNHEARD] * TARGET.max_attempts)
    assert review is not None
    assert world.receipts.observations[-1].verdict == "absent"
    assert decide(world, Decision.RETRY).verdict is DecisionVerdict.APPLIED
    assert world.run().status is Status.OBSERVED
    assert len(world.effects) == 1
    assert world.outcomes == [UNHEARD] * TARGET.max_attempts + [AnswerClass.ACCEPTED]


def test_the_attempt_that_a_person_asked_for_is_one_and_then_another_person_is_asked(world: World) -> None:
    world.update()
    world.target.replies += [is_lost] * (TARGET.max_attempts + 1)
    world.run()
    first = world.receipts.review
    decide(world, Decision.RETRY)
    assert world.run().status is Status.UNCERTAIN
    second = world.receipts.review
    assert first is not None
    assert second is not None
    assert (second.state, second.round, len(world.outcomes)) == (ReviewState.OPEN, 2, TARGET.max_attempts + 1)


def test_a_write_that_shows_while_a_person_is_asked_answers_the_question(world: World) -> None:
    world.update()
    world.target.replies += [is_lost] * TARGET.max_attempts
    world.run()
    world.target.apply(world.target.sent[-1].request)
    assert world.look().mutation.status is Status.OBSERVED
    review = world.receipts.review
    assert review is not None
    assert review.state is ReviewState.RESOLVED


# -- the record is not as it should be ---------------------------------------------------------------------------------
def test_an_edit_between_base_and_write_is_found_in_the_history_and_can_be_put_back(world: World) -> None:
    world.update(base_age=0)
    world.target.on_send.append(lambda: world.target.edit(owner="777"))
    world.clock.forward(1)
    world.target.replies.append(late(1))
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.OVERWROTE_UNSEEN_EDIT)
    (difference,) = mutation.differences
    assert (difference.field, difference.lost, difference.changed_by) == ("owner", "777", "person:9")
    world.target.on_send.clear()
    world.clock.forward(60)
    derived = decide(world, Decision.RESTORE).derived
    assert derived is not None
    parent, world.key = world.key, derived.mutation_key
    assert world.run().status is Status.OBSERVED
    assert world.record.fields["owner"] == "777"
    world.key = parent
    assert world.mutation.status is Status.SUPERSEDED


def test_an_edit_after_the_write_makes_it_divergent_and_an_overwrite_is_a_write_of_its_own(world: World) -> None:
    world.update()
    world.submit()
    world.clock.forward(1)
    world.target.edit(owner="777")
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, None)
    assert [(d.field, d.observed, d.changed_by) for d in mutation.differences] == [("owner", "777", "person:9")]
    derived = decide(world, Decision.OVERWRITE).derived
    assert derived is not None
    world.key = derived.mutation_key
    assert world.run().status is Status.OBSERVED
    assert (world.record.fields["owner"], world.record.marker) == ("501", derived.mutation_key)


def test_an_unheard_update_whose_record_moved_is_not_replayed(world: World) -> None:
    world.update()
    world.target.replies.append(is_lost)
    world.target.on_send.append(lambda: world.target.edit(owner="777"))
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE)
    assert len(world.target.sent) == 1
    assert world.receipts.observations[-1].read_at >= world.attempts[0].send_before + QUIESCENCE


def sent_late_and_landing_later(world: World) -> None:
    """The request leaves at its last moment, 9 s after the claim, and lands 20 s later; a look that begins between is
    answered when no write can land any more."""
    world.target.on_send.append(lambda: world.clock.forward(9))
    world.target.replies.append(late(20))
    world.target.always = held_up(20, after=20)


def test_a_look_says_nothing_of_what_happened_while_its_answer_was_on_its_way(world: World) -> None:
    world.update()
    sent_late_and_landing_later(world)
    world.target.on_send.append(lambda: world.target.edit(owner="777"))
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.OVERWROTE_UNSEEN_EDIT)
    assert len(world.effects) == 1


def test_an_unheard_create_whose_email_somebody_took_meanwhile_is_for_a_person(world: World) -> None:
    world.create()
    world.target.replies.append(is_lost)
    world.target.on_send.append(lambda: world.target.stands("800", email="dana@example.com"))
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE)
    assert list(world.target.records) == ["800"]


def test_a_record_that_was_merged_after_the_write_is_for_a_person(world: World) -> None:
    world.update()
    world.submit()
    world.target.stands("900", owner="501", lead_status="NEW")
    world.target.merged["601"] = "900"
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.MERGED)


# -- reads that say nothing, or the wrong thing ------------------------------------------------------------------------
def test_a_stale_read_after_an_accepted_write_is_read_again(world: World) -> None:
    world.update()
    shown = stale(world.target)
    world.submit()
    world.target.sights += [shown, shown]
    assert world.run().status is Status.OBSERVED
    assert [o.verdict for o in world.receipts.observations] == ["unknown", "unknown", "one"]
    assert len(world.target.sent) == 1


def test_the_reading_begins_anew_with_each_attempt(world: World) -> None:
    world.update()
    world.target.replies += [is_lost, answers(AnswerClass.ACCEPTED, provider_record_id="601")]
    world.submit()
    while (looked := world.look()).next is Next.READ_AGAIN:
        assert looked.at is not None
        world.clock.forward((looked.at - world.clock.now()).total_seconds())
    assert len(world.receipts.observations) > 2
    world.clock.forward(1)
    world.submit()
    assert world.look().at == world.clock.now() + timedelta(seconds=TARGET.read_spacing_seconds)


def test_an_accepted_update_that_never_shows_is_a_question_and_not_a_second_write(world: World) -> None:
    world.update()
    shown = stale(world.target)
    world.submit()
    world.target.always = shown
    mutation = world.run()
    assert (mutation.status, len(world.target.sent)) == (Status.UNCERTAIN, 1)
    assert (world.clock.now() - world.attempts[0].started_at) >= TARGET.observation_window
    assert world.receipts.observations[-1].verdict == "absent"
    world.target.always = None
    assert world.look().mutation.status is Status.OBSERVED


def test_an_accepted_update_that_is_not_there_can_be_sent_again_by_a_person(world: World) -> None:
    world.update()
    world.target.replies.append(answers(AnswerClass.ACCEPTED, provider_record_id="601"))
    assert world.run().status is Status.UNCERTAIN
    assert decide(world, Decision.RETRY).verdict is DecisionVerdict.APPLIED
    assert world.run().status is Status.OBSERVED
    assert len(world.effects) == 1


def test_an_accepted_create_that_never_shows_is_never_made_again(world: World) -> None:
    world.create()
    world.submit()
    world.target.always = sees(LookUp(presence=Presence.ABSENT))
    assert world.run().status is Status.UNCERTAIN
    assert {o.verdict for o in world.receipts.observations} == {"unknown"}
    assert decide(world, Decision.RETRY).verdict is DecisionVerdict.IMPOSSIBLE
    assert len(world.target.sent) == 1


def test_reads_that_say_nothing_end_as_uncertain_and_go_on_slowly(world: World) -> None:
    world.update()
    world.submit()
    world.target.always = sees(UNREADABLE)
    assert world.run().status is Status.UNCERTAIN
    looked = world.look()
    assert (looked.next, world.receipts.review is not None) == (Next.ASK, True)
    assert looked.at is not None
    assert timedelta(minutes=1) < looked.at - world.clock.now() <= timedelta(hours=1)
    assert len(world.target.sent) == 1


# -- somebody else moves the row ---------------------------------------------------------------------------------------
def test_a_finding_that_loses_its_row_is_looked_for_again_soon(world: World) -> None:
    world.update()
    world.submit()

    def somebody_else_looks(_: object, found: LookUp) -> LookUp:
        row = world.mutation
        world.ledger.settle(world.key, version=row.version, step=Settlement(status=Status.UNCERTAIN))
        return found

    world.target.sights.append(somebody_else_looks)
    looked = world.look()
    assert (looked.next, looked.mutation.status, looked.at) == (
        Next.READ_AGAIN,
        Status.UNCERTAIN,
        world.clock.now() + timedelta(seconds=TARGET.read_spacing_seconds),
    )
    assert world.run().status is Status.OBSERVED


@pytest.mark.parametrize("reply", [answers(AnswerClass.REFUSES_THIS, code="INVALID_OWNER")])
def test_a_settled_mutation_is_not_looked_at(world: World, reply: Reply) -> None:
    world.update()
    world.target.replies.append(reply)
    mutation = world.run()
    calls = list(world.target.calls)
    looked = world.look()
    assert (looked.next, looked.mutation, world.target.calls) == (Next.SETTLED, mutation, calls)
