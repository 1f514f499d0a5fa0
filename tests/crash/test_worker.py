"""A worker process that is killed, or told to stop, in the middle of a write: one effect at the witness either way."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass
from tests.conftest import a_server
from tests.support.house import House, a_house, eventually, quick_policy
from workers.lifecycle import READY

pytestmark = pytest.mark.crash

ANSWERED_AFTER = 40
"""Seconds: time enough for another worker to start, also on a busy machine; nobody waits for them to pass."""
MISSED_WITHIN = 10
"""Seconds from the kill to the end of the lead, with the time-outs that are shipped; the read-back is in them."""


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[WorkflowEnvironment]:
    """A Temporal server whose queue only these tests' worker processes poll."""
    async with await a_server() as environment:
        yield environment


@pytest.fixture
async def house(server: WorkflowEnvironment, tmp_path: Path) -> AsyncIterator[House]:
    patient = quick_policy(**{"call_timeout_seconds = 4": f"call_timeout_seconds = {ANSWERED_AFTER}"})
    async with a_house(server.client, tmp_path, worker=False, policy=patient) as built:
        yield built


@asynccontextmanager
async def _worker(house: House) -> AsyncIterator[asyncio.subprocess.Process]:
    """A worker process that polls; killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "workers", env={**os.environ, **house.environment}, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), 30)
        assert line.decode().strip() == READY
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        process.stdout.feed_eof()


async def _in_the_write(house: House, record_id: str) -> None:
    """Until the request has reached the witness, which answers late."""
    await eventually(lambda: house.writes(record_id), 20)


async def test_a_worker_killed_while_it_waits_for_the_answer_leaves_one_effect(house: House) -> None:
    """And is missed in seconds, not when the write's time is up."""
    record_id = house.contact()
    house.control.fault("delay", match=record_id, args={"seconds": ANSWERED_AFTER})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    async with _worker(house) as process:
        await eventually(lambda: house.properties(record_id).get("leadproof_effect"), 30)
        async with _worker(house):
            (attempt,) = house.ledger.attempts_of(house.mutation(key).mutation_key)
            process.send_signal(signal.SIGKILL)
            killed = time.monotonic()
            assert attempt.outcome is None, "the answer was stored before the kill: the test proves nothing"
            await house.outcome(key, Outcome.DONE, within=30)
            assert time.monotonic() - killed < MISSED_WITHIN
    assert len(house.writes(record_id)) == 1


async def test_a_worker_told_to_stop_finishes_its_write(house: House) -> None:
    record_id = house.contact()
    house.control.fault("delay", match=record_id, args={"seconds": 1.0})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    async with _worker(house) as process:
        await eventually(lambda: house.properties(record_id).get("leadproof_effect"))
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 20) == 0
    (attempt,) = house.ledger.attempts_of(house.mutation(key).mutation_key)
    assert attempt.outcome is AnswerClass.ACCEPTED
    async with _worker(house):
        await house.outcome(key, Outcome.DONE, within=30)
    assert len(house.writes(record_id)) == 1
