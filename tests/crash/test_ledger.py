"""The database under a lead: a connection dropped in a transaction, a server that restarts, a disk that is full."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass
from tests.crash import evidence
from tests.crash.databases import a_house_on
from tests.support.house import House, a_house, eventually, eventually_answered, quick_policy

pytestmark = [pytest.mark.crash, pytest.mark.crash_full, pytest.mark.timeout(180)]

ANSWERED_AFTER = 1.5
"""Seconds in which something can happen to the ledger while a write waits for its answer."""

PATIENT = quick_policy(**{"call_timeout_seconds = 4": "call_timeout_seconds = 20"})

SMALL_DISK = 8
"""Megabytes; a new ledger takes less than one."""


class _Table:
    """A table in which nobody else can write until it is let go; whoever waits for it is known."""

    def __init__(self, house: House, table: str) -> None:
        address = house.settings.ledger_url
        self._holder = psycopg.connect(address)
        self._admin = psycopg.connect(address, autocommit=True)
        self._holder.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")

    def drop_the_waiting(self) -> int:
        """End every connection that waits in its transaction; how many there were."""
        waiting = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        return len(self._admin.execute(f"SELECT pg_terminate_backend(pid) {waiting}").fetchall())

    def let_go(self) -> None:
        self._holder.close()
        self._admin.close()


@contextmanager
def _held(house: House, table: str) -> Iterator[_Table]:
    held = _Table(house, table)
    try:
        yield held
    finally:
        held.let_go()


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("step", "table"),
    [
        ("plan", "mutation"),
        ("claim", "mutation_attempt"),
        ("answer", "mutation_attempt"),
        ("settle", "mutation_observation"),
    ],
)
async def test_a_connection_dropped_in_a_transaction_costs_nothing_but_time(
    server: WorkflowEnvironment,
    tmp_path: Path,
    postgresql: Any,
    step: str,
    table: str,
    recovered: Callable[[str, float], None],
) -> None:
    """What was done of it is undone, and the step is made again; what was answered meanwhile is not forgotten."""
    async with a_house_on(postgresql, server, tmp_path, policy=PATIENT) as house:
        record_id = house.contact()
        key = house.key_of(record_id)
        house.control.fault("delay", match=record_id, args={"seconds": ANSWERED_AFTER})
        if step == "answer":
            await house.deliver(house.creation(record_id))
            await eventually(lambda: house.properties(record_id).get("leadproof_effect"))
        with _held(house, table) as held:
            if step != "answer":
                await house.deliver(house.creation(record_id))
            assert await eventually(held.drop_the_waiting) == 1
            dropped = time.monotonic()
            assert len(house.writes(record_id)) == (step in {"answer", "settle"})
        await house.outcome(key, Outcome.DONE, within=40)
        recovered(f"a connection dropped in a transaction: {step}", time.monotonic() - dropped)
        assert [attempt.outcome for attempt in evidence.attempts_of(house, key)] == [AnswerClass.ACCEPTED]
        evidence.holds(house, key)
        assert len(house.writes(record_id)) == 1


@pytest.mark.postgres
async def test_a_database_server_that_dies_under_a_write_and_comes_back(
    server: WorkflowEnvironment, tmp_path: Path, postgresql: Any, recovered: Callable[[str, float], None]
) -> None:
    async with a_house_on(postgresql, server, tmp_path, policy=PATIENT) as house:
        record_id = house.contact()
        key = house.key_of(record_id)
        house.control.fault("delay", match=record_id, args={"seconds": ANSWERED_AFTER})
        await house.deliver(house.creation(record_id))
        await eventually(lambda: house.properties(record_id).get("leadproof_effect"))
        (attempt,) = evidence.attempts_of(house, key)
        assert attempt.outcome is None
        os.kill(postgresql.get_pid(), signal.SIGQUIT)  # every connection is cut, nothing is written down any more
        late = house.contact()
        with pytest.raises(httpx.HTTPStatusError, match="503"):  # also the redelivery, as often as HubSpot tries
            await house.deliver(house.creation(late))
        await eventually_answered(lambda: _tries_again(house, f"lead:{key}"), 20)
        postgresql.ensure_postgres_running()
        back = time.monotonic()
        assert (await house.deliver(house.creation(late)))["started"] == 1
        for lead in (key, house.key_of(late)):
            await house.outcome(lead, Outcome.DONE, within=40)
            evidence.holds(house, lead)
        recovered("the ledger's server killed, since it was back", time.monotonic() - back)
        assert [one.outcome for one in evidence.attempts_of(house, key)] == [AnswerClass.ACCEPTED]
        assert [len(house.writes(one)) for one in (record_id, late)] == [1, 1]


async def _tries_again(house: House, workflow_id: str) -> bool:
    """Whether an activity of a run has failed, and is tried again."""
    described = await house.client.get_workflow_handle(workflow_id).describe()
    return any(pending.attempt > 1 for pending in described.raw_description.pending_activities)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that can be filled."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    made = mount is not None and subprocess.run(
        [mount, "-t", "tmpfs", "-o", f"size={SMALL_DISK}m", "tmpfs", place], capture_output=True, check=False
    )
    if not made or made.returncode != 0:
        pytest.skip("only root can mount a small disk to be filled; run `make crash` as root, in a container say")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def _fill(place: Path) -> Path:
    """Leave no room at all."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 1):
            try:
                while file.write(b"0" * size):
                    pass
            except OSError:  # no room for this much
                continue
    return filler


async def test_a_full_disk_loses_no_answer_and_no_delivery(
    server: WorkflowEnvironment, tmp_path: Path, small_disk: Path, recovered: Callable[[str, float], None]
) -> None:
    more = {"LEADPROOF_LEDGER_URL": f"sqlite:///{small_disk / 'ledger.db'}"}
    async with a_house(server.client, tmp_path, policy=PATIENT, more=more) as house:
        record_id = house.contact()
        key = house.key_of(record_id)
        house.control.fault("delay", match=record_id, args={"seconds": ANSWERED_AFTER})
        await house.deliver(house.creation(record_id))
        await eventually(lambda: house.properties(record_id).get("leadproof_effect"))
        filler = _fill(small_disk)
        (attempt,) = evidence.attempts_of(house, key)
        assert attempt.outcome is None
        late = house.contact()
        with pytest.raises(httpx.HTTPStatusError, match="503"):  # also the redelivery, as often as HubSpot tries
            await house.deliver(house.creation(late))
        assert house.ledger.lead(house.key_of(late)) is None
        await eventually_answered(lambda: _tries_again(house, f"lead:{key}"), 20)
        assert evidence.attempts_of(house, key)[0].outcome is None
        filler.unlink()
        room = time.monotonic()
        assert (await house.deliver(house.creation(late)))["started"] == 1
        for lead in (key, house.key_of(late)):
            await house.outcome(lead, Outcome.DONE, within=40)
            evidence.holds(house, lead)
        recovered("the ledger's disk full, since there was room", time.monotonic() - room)
        assert [one.outcome for one in evidence.attempts_of(house, key)] == [AnswerClass.ACCEPTED]
        assert [len(house.writes(one)) for one in (record_id, late)] == [1, 1]
