"""Time in which nobody looked: a worker that slept, was stopped or was gone between a write and its read-back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from leadproof.domain.mutation import AnswerClass, Mutation, Status
from leadproof.domain.reconciliation import Next
from leadproof.domain.records import FoundRecord, LookUp, Presence
from tests.boundary.target import UNREADABLE, applies_and_is_not_heard, is_lost, sees, stale
from tests.boundary.world import INTENT, RULES, TARGET, World

OUTAGE = 20 * TARGET.observation_window_seconds


def test_a_sleep_between_write_and_read_back_invents_no_absence(world: World) -> None:
    world.update()
    shown = stale(world.target)
    world.submit()
    world.clock.forward(OUTAGE)
    world.target.sights += [shown]
    assert world.run().status is Status.OBSERVED
    assert [o.verdict for o in world.receipts.observations] == ["unknown", "one"]
    assert (len(world.target.sent), world.receipts.review) == (1, None)


@pytest.mark.parametrize("reserve", [World.update, World.create])
def test_a_sleep_after_an_unheard_write_sends_nothing_again_upon_one_stale_look(
    world: World, reserve: Callable[[World], Mutation]
) -> None:
    mutation = reserve(world)
    shown = sees(LookUp(presence=Presence.ABSENT)) if mutation.intent.creates else stale(world.target)
    world.target.replies.append(applies_and_is_not_heard)
    world.submit()
    world.clock.forward(OUTAGE)
    world.target.sights += [shown, shown]
    assert world.run().status is Status.OBSERVED
    assert (world.outcomes, len(world.target.sent)) == ([AnswerClass.UNCERTAIN], 1)


@pytest.mark.parametrize("reserve", [World.update, World.create])
@pytest.mark.parametrize("late", [0.0, 1.0, TARGET.send_within_seconds])
def test_the_first_look_at_an_unheard_write_may_be_stale_and_come_when_it_is_quiet(
    world: World, monkeypatch: pytest.MonkeyPatch, reserve: Callable[[World], Mutation], late: float
) -> None:
    """Where a call may take longer than the target takes to apply, the first look comes when nothing can land."""
    slow = TARGET.model_copy(update={"call_timeout_seconds": 2 * TARGET.quiescence.total_seconds()})
    monkeypatch.setattr("tests.boundary.world.TARGET", slow)
    monkeypatch.setattr("tests.boundary.world.RULES", RULES._replace(target=slow))
    mutation = reserve(world)
    shown = sees(LookUp(presence=Presence.ABSENT)) if mutation.intent.creates else stale(world.target)
    world.target.replies.append(applies_and_is_not_heard)
    world.submit()
    (attempt,) = world.receipts.attempts
    quiet = attempt.send_before + TARGET.quiescence
    world.clock.forward((quiet - world.clock.now()).total_seconds() + late)
    world.target.sights += [shown, shown]
    assert world.run().status is Status.OBSERVED
    assert (len(world.target.sent), world.outcomes.count(AnswerClass.ACCEPTED)) == (1, 0)


def test_a_write_that_never_landed_is_replayed_after_a_sleep_too(world: World) -> None:
    world.update()
    world.target.replies.append(is_lost)
    world.submit()
    world.clock.forward(OUTAGE)
    assert world.run().status is Status.OBSERVED
    assert (world.outcomes, len(world.effects)) == ([AnswerClass.UNCERTAIN, AnswerClass.ACCEPTED], 1)
    assert len([o for o in world.receipts.observations if o.verdict == "unknown"]) > 1


def test_a_stale_look_after_a_sleep_does_not_say_that_somebody_changed_the_record(world: World) -> None:
    world.target.stands("601", owner="777", lead_status="OPEN")
    world.update(base_state={"owner": "777", "lead_status": "OPEN"})
    older = sees(LookUp(presence=Presence.ONE, record=FoundRecord(record_id="601", fields=dict.fromkeys(INTENT))))
    world.submit()
    world.clock.forward(OUTAGE)
    world.target.sights += [older]
    assert world.run().status is Status.OBSERVED
    assert world.receipts.review is None


def test_a_target_that_was_out_of_reach_throughout_is_seen_for_a_while_before_it_is_believed(world: World) -> None:
    world.update()
    shown = stale(world.target)
    world.target.replies.append(applies_and_is_not_heard)
    world.submit()
    world.target.always = sees(UNREADABLE)
    assert world.run().status is Status.UNCERTAIN
    review = world.receipts.review
    world.target.always = None
    world.target.sights += [shown]
    first = world.look()
    assert (first.next, first.mutation.status, review is not None) == (Next.ASK, Status.UNCERTAIN, True)
    assert first.at is not None
    assert first.at - world.clock.now() <= TARGET.observation_window / 5
    assert world.look().mutation.status is Status.OBSERVED
    assert len(world.target.sent) == 1
