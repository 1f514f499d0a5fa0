"""What every measurement stands on: a deployment that has done one lead, and the peers beside it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle

from bench import peer
from bench.deployment import (
    ROOT,
    Delivery,
    Deployment,
    NotAsExpected,
    deployment,
    environment,
    stop,
)
from bench.peer_store import Commits
from bench.peer_workflows import QUEUE, BareWorkflow, NothingWorkflow
from bench.source import PutOff, Source
from leadproof.domain.events import Outcome
from workers.plugin import leads_plugin

_WITHIN_SECONDS = 120.0
_AGAIN_SECONDS = 0.5


@dataclass(slots=True)
class Stage:
    """The deployment, and the ways into it.

    Attributes:
        first: record id of the lead that was done before anything was measured.
    """

    house: Deployment
    client: Client
    source: Source
    commits: Commits
    first: str
    _peers: int = 0

    # -- leads -------------------------------------------------------------------------------------------------------
    async def deliver(self, delivery: Delivery) -> None:
        """One delivery, which is to start one run.

        Raises:
            NotAsExpected: it did not.
        """
        counts = await self.source.deliver(delivery)
        if counts["started"] != 1:
            raise NotAsExpected(f"a delivery should start one run, but the starter says {counts}")

    async def lead(self, record_id: str) -> None:
        """Deliver a contact's creation, as often as the starter asks for it, and wait until its run is over."""
        while True:
            try:
                await self.source.deliver(self.house.creation(record_id))
                break
            except PutOff:
                await asyncio.sleep(_AGAIN_SECONDS)  # as a source does, sooner; it counts as time that the lead takes
        await self.over(record_id)

    async def over(self, record_id: str) -> None:
        """Wait until the run of a contact's creation is over; its outcome stands in the ledger before that."""
        await _ended(self.handle(record_id))

    def handle(self, record_id: str) -> WorkflowHandle[Any, Any]:
        return self.client.get_workflow_handle(f"lead:{self.house.event_key(record_id)}")

    # -- peers -------------------------------------------------------------------------------------------------------
    async def start_bare(self, record_id: str) -> WorkflowHandle[Any, Any]:
        """The bare call: start the workflow that makes the same calls and commits."""
        return await self.client.start_workflow(BareWorkflow.run, record_id, id=self._peer_id(), task_queue=QUEUE)

    async def bare(self, record_id: str) -> None:
        """What a lead is held beside: a commit where the starter has one, and a workflow that decides nothing."""
        await asyncio.to_thread(self.commits.commit, record_id, "admitted")
        await _ended(await self.start_bare(record_id))

    async def nothing(self, record_id: str) -> None:
        """A workflow with as many activities, which do nothing."""
        handle = await self.client.start_workflow(NothingWorkflow.run, record_id, id=self._peer_id(), task_queue=QUEUE)
        await _ended(handle)

    def _peer_id(self) -> str:
        self._peers += 1
        return f"peer:{self._peers}"


async def _ended(handle: WorkflowHandle[Any, Any]) -> None:
    try:
        await asyncio.wait_for(handle.result(), _WITHIN_SECONDS)
    except TimeoutError:
        raise NotAsExpected(f"the run {handle.id} has not ended within {_WITHIN_SECONDS:.0f} s") from None


def all_done(house: Deployment, record_ids: Sequence[str]) -> None:
    """Hold the ledger to it that these leads were done.

    Raises:
        NotAsExpected: some were not.
    """
    outcomes = house.outcomes(record_ids)
    if outcomes != {Outcome.DONE.value: len(record_ids)}:
        raise NotAsExpected(f"{len(record_ids)} leads should be done, but the ledger says {outcomes}")


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    """Build everything that is measured, and take it down."""
    data = folder / "data"
    data.mkdir()
    with deployment(data) as house:
        client = await Client.connect(house.temporal, namespace=house.namespace, plugins=[leads_plugin()])
        commits = Commits(folder / "peer.db")
        async with Source(house.starter) as source:
            built = Stage(house, client, source, commits, first=house.contact())
            await built.lead(built.first)
            calls = folder / "calls.json"
            calls.write_text(json.dumps(calls_of(house, built.first)), encoding="utf-8")
            with _peers(house, folder, calls):
                await built.bare(house.contact())
                await built.nothing("")
                yield built
        commits.close()
    await asyncio.sleep(0.05)  # the SDK's threads: a process that leaves at once can abort (temporalio/sdk-python#300)


def calls_of(house: Deployment, record_id: str) -> list[dict[str, Any]]:
    """The provider calls of one undisturbed lead as the sandbox logged them, with places for its own values.

    Raises:
        NotAsExpected: they are not a read, a write and a read-back.
    """
    rows = contact_calls(house, record_id)
    operations = [row["operation"] for row in rows]
    if operations != ["contacts.read", "contacts.write", "contacts.read"]:
        raise NotAsExpected(f"an undisturbed lead should read, write and read back, but the sandbox saw {operations}")
    ours = {rows[1]["body"]["properties"][name] for name in ("leadproof_effect", "leadproof_external_id")}
    calls = []
    for row in rows:
        text = json.dumps({"method": row["method"], "path": row["path"], "body": row["body"]})
        text = text.replace(f"/contacts/{record_id}", f"/contacts/{peer.RECORD_ID}")
        for value in ours:
            text = text.replace(value, peer.KEY)
        calls.append(json.loads(text))
    return calls


def contact_calls(house: Deployment, record_id: str) -> list[dict[str, Any]]:
    """What the sandbox was asked about one contact, in order."""
    return [row for row in house.requests() if row["path"].partition("?")[0].endswith(f"/contacts/{record_id}")]


@contextmanager
def _peers(house: Deployment, folder: Path, calls: Path) -> Iterator[None]:
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "bench.peer", house.temporal, house.sandbox),
            *(str(folder / "peer.db"), str(calls)),
        ],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout is None or process.stdout.readline().strip() != peer.READY:
            raise NotAsExpected("the worker of the peers did not start")
        yield
    finally:
        stop(process)


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def seconds(self) -> float:
        return time.perf_counter() - self._began
