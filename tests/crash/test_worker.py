"""A worker process that is told to stop in the middle of a write finishes it."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.mutation import AnswerClass
from tests.crash import evidence
from tests.crash.processes import a_worker
from tests.support.house import a_house, eventually

pytestmark = [pytest.mark.crash, pytest.mark.crash_full]


async def test_a_worker_told_to_stop_finishes_its_write(server: WorkflowEnvironment, tmp_path: Path) -> None:
    async with a_house(server.client, tmp_path, worker=False) as house:
        record_id = house.contact()
        house.control.fault("delay", match=record_id, args={"seconds": 1.0})
        await house.deliver(house.creation(record_id))
        key = house.key_of(record_id)
        async with a_worker(house) as process:
            await eventually(lambda: house.properties(record_id).get("leadproof_effect"))
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), 20) == 0
        (attempt,) = evidence.attempts_of(house, key)
        assert attempt.outcome is AnswerClass.ACCEPTED
        assert [row["applied"] for row in house.writes(record_id)] == [True]
        await house.handle(key).terminate("nobody works on it any more")
