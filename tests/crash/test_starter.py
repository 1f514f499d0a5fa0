"""A starter that dies, or cannot reach Temporal, between a lead's row and the start of its run."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from console.free_ports import HOST, any_free
from leadproof.domain.events import Outcome
from tests.crash import evidence
from tests.crash.processes import a_worker, one_that_stops, started, stopped_at
from tests.crash.stopping import IN_THE_STARTER, Point
from tests.support.house import House, a_house, eventually_answered

pytestmark = [pytest.mark.crash, pytest.mark.crash_full, pytest.mark.timeout(180)]


@asynccontextmanager
async def _a_house(server: WorkflowEnvironment, folder: Path) -> AsyncIterator[House]:
    """A house whose deliveries go to a process of its own."""
    more = {
        "LEADPROOF_STARTER_HOST": HOST,
        "LEADPROOF_STARTER_PORT": str(any_free(set())),
        "LEADPROOF_SWEEP_SECONDS": "2",
    }
    async with a_house(server.client, folder, worker=False, more=more) as house:
        address = f"http://{HOST}:{house.settings.starter_port}"
        async with httpx.AsyncClient(base_url=address, timeout=20) as http:
            house.http = http
            yield house


async def _answers(house: House) -> bool:
    try:
        return (await house.http.get("/healthz")).is_success
    except httpx.TransportError:
        return False


@asynccontextmanager
async def _a_starter(house: House) -> AsyncIterator[None]:
    command = (sys.executable, "-m", "console", "starter")
    async with started(*command, environment=house.environment):
        await eventually_answered(lambda: _answers(house), 40)
        yield


async def _delivered_unheard(house: House, event: dict[str, Any]) -> None:
    with pytest.raises(httpx.TransportError):
        await house.deliver(event)


async def _killed_between_row_and_start(house: House, folder: Path) -> tuple[str, str]:
    """A lead whose row stands and whose run nobody has started: record id and event key."""
    record_id = house.contact()
    key = house.key_of(record_id)
    points: Mapping[str, Point] = {key: Point("after", "ledger.admit", IN_THE_STARTER)}
    async with one_that_stops("starter", house, folder, points) as victim:
        await eventually_answered(lambda: _answers(house), 40)
        async with asyncio.TaskGroup() as source:
            source.create_task(_delivered_unheard(house, house.creation(record_id)))
            await stopped_at(victim, points)
            victim.kill()
    assert house.ledger.lead(key) is not None
    with pytest.raises(RPCError, match="not found"):
        await house.handle(key).describe()
    return record_id, key


async def test_the_redelivery_completes_what_a_killed_starter_began(
    server: WorkflowEnvironment, tmp_path: Path
) -> None:
    async with _a_house(server, tmp_path) as house:
        record_id, key = await _killed_between_row_and_start(house, tmp_path)
        async with _a_starter(house), a_worker(house):
            counts = await house.deliver(house.creation(record_id, attemptNumber=1))
            assert counts["started"] == 1
            await house.outcome(key, Outcome.DONE, within=40)
        evidence.holds(house, key)
        assert len(house.writes(record_id)) == 1


async def test_the_sweep_completes_what_a_killed_starter_began_and_nobody_delivers_again(
    server: WorkflowEnvironment, tmp_path: Path
) -> None:
    async with _a_house(server, tmp_path) as house:
        record_id, key = await _killed_between_row_and_start(house, tmp_path)
        async with a_worker(house):
            lead = await house.outcome(key, Outcome.DONE, within=40)
        assert (lead.run, lead.deliveries) == (0, 1)
        evidence.holds(house, key)
        assert len(house.writes(record_id)) == 1
