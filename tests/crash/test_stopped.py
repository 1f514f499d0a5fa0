"""A worker that is stopped and goes on later, and a request that is on its way when its sender dies."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass
from tests.crash import evidence
from tests.crash.processes import a_worker, one_that_stops, stopped_at
from tests.crash.stopping import Point
from tests.support.house import House, a_house, eventually, quick_policy

pytestmark = [pytest.mark.crash, pytest.mark.crash_full, pytest.mark.timeout(180)]

APPLIED_AFTER = 60
"""Seconds after which the target applies what it has received, by its own clock, which the test moves."""


async def test_a_worker_stopped_after_its_claim_and_continued_after_quiescence_sends_nothing(
    server: WorkflowEnvironment, tmp_path: Path
) -> None:
    """Another has written meanwhile: the one that goes on looks at the clock and finds its time over."""
    async with a_house(server.client, tmp_path, worker=False) as house:
        record_id = house.contact()
        await house.deliver(house.creation(record_id))
        key = house.key_of(record_id)
        points = {key: Point("after", "ledger.claim", freezes=True)}
        async with one_that_stops("worker", house, tmp_path, points) as stopped:
            await stopped_at(stopped, points)
            async with a_worker(house):
                # what Temporal hands to the stopped one is missed too, each time after ten seconds
                await house.outcome(key, Outcome.DONE, within=90)
                assert [attempt.outcome for attempt in evidence.attempts_of(house, key)] == [None, AnswerClass.ACCEPTED]
                stopped.send_signal(signal.SIGCONT)
                await eventually(lambda: evidence.attempts_of(house, key)[0].outcome, 30)
        assert [a.outcome for a in evidence.attempts_of(house, key)] == [AnswerClass.NOT_SENT, AnswerClass.ACCEPTED]
        evidence.holds(house, key)
        assert len(house.writes(record_id)) == 1


async def test_a_request_that_is_on_its_way_when_its_sender_dies_is_waited_for(
    server: WorkflowEnvironment, tmp_path: Path
) -> None:
    policy = quick_policy(
        **{
            "apply_lag_seconds = 3": f"apply_lag_seconds = {APPLIED_AFTER}",
            "observation_window_seconds = 20": f"observation_window_seconds = {2 * APPLIED_AFTER}",
        }
    )
    async with a_house(server.client, tmp_path, worker=False, policy=policy) as house:
        record_id = house.contact()
        house.control.fault("apply_later", match=record_id, args={"seconds": APPLIED_AFTER})
        await house.deliver(house.creation(record_id))
        key = house.key_of(record_id)
        points = {key: Point("after", "crm.write")}
        async with one_that_stops("worker", house, tmp_path, points) as victim:
            await stopped_at(victim, points)
            victim.kill()
            await victim.wait()
        async with a_worker(house):
            await eventually(lambda: _looks(house, key) >= 2, 40)
            assert [row["applied"] for row in house.writes(record_id)] == [False]
            house.control.advance(APPLIED_AFTER)
            await house.outcome(key, Outcome.DONE, within=40)
        assert [attempt.outcome for attempt in evidence.attempts_of(house, key)] == [None]
        evidence.holds(house, key)
        assert [row["applied"] for row in house.writes(record_id)] == [True]


def _looks(house: House, key: str) -> int:
    receipts = house.ledger.receipts(house.mutation(key).mutation_key)
    return len(receipts.observations) if receipts is not None else 0
