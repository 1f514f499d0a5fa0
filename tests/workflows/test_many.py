"""Many leads at once, each delivered three times in random order: one run, one plan and one effect each.

Five hundred of them, through the processes of a deployment, are what `make bench` delivers and counts.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from leadproof.domain.events import Outcome
from tests.conftest import a_server
from tests.support.house import POLICY, House, a_house

LEADS, COPIES, AT_ONCE = 20, 3, 20


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A house with a server of its own, and with times that hold on a machine that has much else to do."""
    async with await a_server() as server, a_house(server.client, tmp_path, policy=POLICY.read_text()) as built:
        yield built


@pytest.mark.stack
@pytest.mark.timeout(120)  # one after another, twenty leads have their time; beside other tests they need more
async def test_each_lead_has_one_run_one_plan_and_one_effect(house: House) -> None:
    records = [house.contact() for _ in range(LEADS)]
    deliveries = [event for record_id in records for event in [house.creation(record_id)] * COPIES]
    random.Random(7).shuffle(deliveries)  # noqa: S311 - an order, the same each time
    slots = asyncio.Semaphore(AT_ONCE)

    async def deliver(event: dict[str, object]) -> dict[str, int]:
        async with slots:
            return await house.deliver(event)

    counts = await asyncio.gather(*(deliver(event) for event in deliveries))
    # A start that landed although its answer came too late is a duplicate to the delivery that was sent again.
    assert sum(count["started"] for count in counts) <= LEADS
    assert sum(count["started"] + count["duplicate"] for count in counts) == LEADS * COPIES
    for record_id in records:
        key = house.key_of(record_id)
        lead = await house.outcome(key, Outcome.DONE, within=50)
        assert lead.deliveries >= COPIES
        assert house.ledger.plan_of(key, lead.policy_version) is not None
    written = house.control.requests("contacts.write")
    stands = {record["id"]: record for record in house.control.records()}
    for record_id in records:
        applied = [row for row in written if row["applied"] and row["path"].partition("?")[0].endswith(f"/{record_id}")]
        assert len(applied) == 1
        marks = stands[record_id]["history"]["leadproof_effect"]
        assert [mark["value"] for mark in marks] == [house.mutation(house.key_of(record_id)).mutation_key]
