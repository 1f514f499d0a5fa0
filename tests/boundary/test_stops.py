"""A run that stops between any two steps, and the run that goes on from its row: one effect, and the right word."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from leadproof.domain.mutation import AnswerClass, Status
from tests.boundary.target import Reply, applies_and_is_not_heard, is_lost, late
from tests.boundary.world import TARGET, World, Worlds

Reserve = Callable[[World], object]
AROUND_THE_REQUEST = ["before write", "during write", "after write", "before store_answer", "after store_answer"]


def a_checked_update(world: World) -> object:
    return world.update()


def an_unchecked_update(world: World) -> object:
    return world.update(base_age=0)


def a_create(world: World) -> object:
    return world.create()


def every_point(worlds: Worlds, reserve: Reserve) -> list[str]:
    world = worlds()
    reserve(world)
    world.run()
    return list(world.stops.passed)


def holds(world: World) -> None:
    """What must be true however often the run was stopped."""
    assert world.mutation.status is Status.OBSERVED, (world.mutation.status, world.mutation.reason)
    assert world.mutation.reason is None
    assert len(world.effects) == 1
    (record,) = world.target.records.values()
    assert record.marker == world.key
    attempts = world.attempts
    assert [attempt.number for attempt in attempts] == list(range(1, len(attempts) + 1))
    assert len(world.target.sent) <= len(attempts)
    for first, second in pairwise(attempts):
        may_land = first.outcome in {None, AnswerClass.UNCERTAIN}
        earliest = first.send_before + TARGET.quiescence if may_land else first.started_at
        assert second.started_at >= earliest
    last = world.receipts.observations[-1]
    assert last.verdict == "one"
    assert last.state is not None
    assert last.state["ours"] is True
    assert world.receipts.review is None


@pytest.mark.parametrize("reserve", [a_checked_update, an_unchecked_update, a_create])
def test_wherever_the_run_stops_the_next_one_ends_with_one_effect(worlds: Worlds, reserve: Reserve) -> None:
    points = every_point(worlds, reserve)
    assert {*AROUND_THE_REQUEST, "before claim", "after claim", "before settle", "after settle"} <= set(points)
    for at, name in enumerate(points, 1):
        if name.startswith("after") and at < len(points):
            continue  # nothing lies between the end of one call and the beginning of the next
        world = worlds()
        reserve(world)
        assert world.stopped(at) == name
        world.run()
        holds(world)
        assert len(world.target.sent) == 1, f"stopped {name}"


@pytest.mark.parametrize("reserve", [a_checked_update, a_create])
@pytest.mark.parametrize(
    ("reply", "requests"),
    [(applies_and_is_not_heard, 1), (late(TARGET.apply_lag_seconds), 1), (is_lost, 2)],
    ids=["unheard", "late", "lost"],
)
def test_wherever_the_run_stops_around_a_request_of_any_fate(
    worlds: Worlds, reserve: Reserve, reply: Reply, requests: int
) -> None:
    for name in AROUND_THE_REQUEST:
        world = worlds()
        reserve(world)
        world.target.replies.append(reply)
        assert world.stopped(name) == name
        left = len(world.target.sent)
        assert left == (name != "before write")
        world.run()
        holds(world)
        assert len(world.target.sent) == requests


def test_runs_that_stop_right_after_their_claim_leave_attempts_that_are_waited_for(worlds: Worlds) -> None:
    world = worlds()
    world.update()
    assert world.stopped("after claim") == "after claim"
    assert world.stopped("after claim") == "after claim"
    world.run()
    holds(world)
    assert world.outcomes == [None, None, AnswerClass.ACCEPTED]
