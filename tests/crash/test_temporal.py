"""A Temporal server that is killed with leads on their way, and comes back with its database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from temporalio.client import Client

from console.free_ports import HOST, any_free
from console.temporal_server import start_command
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass
from leadproof.settings import load
from tests.crash import evidence
from tests.crash.processes import started
from tests.support.house import House, a_house, eventually, quick_policy
from workers.connect import connect

pytestmark = [pytest.mark.crash, pytest.mark.crash_full, pytest.mark.timeout(180)]

ANSWERED_AFTER = 4
"""Seconds: the answer comes while Temporal is dead."""


class _Temporal:
    """One server, started again on its port and its database file as often as it is wanted."""

    def __init__(self, folder: Path) -> None:
        taken: set[int] = set()
        ports = [any_free(taken) for _ in range(2)]
        environment = {"LEADPROOF_TEMPORAL_ADDRESS": f"{HOST}:{ports[0]}", "LEADPROOF_LOG_LEVEL": "error"}
        self._settings = load(environment, dotenv=None)
        self._command = start_command(self._settings, database=folder / "temporal.db", port=ports[0], ui_port=ports[1])

    @asynccontextmanager
    async def running(self) -> AsyncIterator[tuple[asyncio.subprocess.Process, Client]]:
        async with started(*self._command, environment={}, quiet=True) as process:
            yield process, await connect(self._settings, patience_seconds=40)


async def test_a_temporal_server_that_is_killed_goes_on_with_every_lead(
    tmp_path: Path, recovered: Callable[[str, float], None]
) -> None:
    temporal = _Temporal(tmp_path)
    policy = quick_policy(**{"call_timeout_seconds = 4": f"call_timeout_seconds = {3 * ANSWERED_AFTER}"})
    async with temporal.running() as (first, client), a_house(client, tmp_path, policy=policy) as house:
        asked, asked_key = await house.lead(numemployees="1000+")
        await house.outcome(asked_key, Outcome.REVIEW)
        written = house.contact()
        house.control.fault("delay", match=written, args={"seconds": ANSWERED_AFTER})
        await house.deliver(house.creation(written))
        written_key = house.key_of(written)
        await eventually(lambda: house.properties(written).get("leadproof_effect"))
        first.kill()
        await first.wait()
        late = house.contact()
        with pytest.raises(httpx.HTTPStatusError, match="503"):  # also the redelivery, as often as HubSpot tries
            await house.deliver(house.creation(late))
        await eventually(lambda: evidence.attempts_of(house, written_key)[0].outcome, 3 * ANSWERED_AFTER)
        assert evidence.attempts_of(house, written_key)[0].outcome is AnswerClass.ACCEPTED
        async with temporal.running():
            back = time.monotonic()
            await _approved(house, asked_key)
            assert (await house.deliver(house.creation(late)))["started"] == 1
            for key in (asked_key, written_key, house.key_of(late)):
                await house.outcome(key, Outcome.DONE, within=60)
                evidence.holds(house, key)
            recovered("the Temporal server killed, since it was back", time.monotonic() - back)
            for record_id in (asked, written, late):
                assert len(house.writes(record_id)) == 1


async def _approved(house: House, key: str) -> None:
    item = house.ledger.review_of(house.mutation(key).mutation_key)
    assert item is not None
    answer = await house.decide(item.review_id, "approve", version=item.version)
    assert answer.status_code in {200, 202}, answer.text
