"""Many leads, each delivered three times in random order, twenty at once: one workflow, one plan, one effect each."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from temporalio.client import Client

from bench.deployment import Deployment, NotAsExpected, deployment
from bench.report import Goal, Section
from bench.source import PutOff, Source
from bench.stage import Stage, Stopwatch
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Status
from workers.plugin import leads_plugin

LEADS = 500
_RECORDINGS = ("contact-creation", "contact-creation-retry", "contact-creation-other-event-id")
"""The same event as its source sends it, sends it again, and sends it again under another id."""
_AT_ONCE = 20
_AGAIN_SECONDS = 0.5
_SEED = 500
_MARKER = "leadproof_effect"
_LEAD_RUNS = 'WorkflowType = "LeadWorkflow"'

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted, by whom.

    Attributes:
        started, duplicate: as the starter said to the deliveries.
        put_off: deliveries that it answered 503, and that were made again: a run may have been started all the same.
        runs: workflow IDs that Temporal lists, and how many it counts.
        writes: changes that the sandbox carried out, per record, by its own request log.
        marker_entries: entries in the history of the marker that each record has at the sandbox.
    """

    leads: int
    deliveries: int
    started: int
    duplicate: int
    put_off: int
    runs: Sequence[str]
    runs_counted: int
    events: Counter[str]
    delivered: int
    plans: int
    mutations: Counter[str]
    attempts: int
    writes: Counter[str]
    marked: int
    marker_entries: Counter[int]
    deliver_seconds: float
    seconds: float

    def wrong(self) -> list[str]:
        """What is not exactly once, in words."""
        each_once = Counter(dict.fromkeys(self.writes, 1))
        found = {
            "deliveries that were acknowledged": (self.started + self.duplicate, self.deliveries),
            "deliveries that started a run": (self.started, self.started if self.put_off else self.leads),
            "runs that Temporal lists": (len(self.runs), self.leads),
            "different workflow IDs": (len(set(self.runs)), self.leads),
            "runs that Temporal counts": (self.runs_counted, self.leads),
            "outcomes in the ledger": (self.events, Counter({Outcome.DONE.value: self.leads})),
            "deliveries that the ledger counted": (self.delivered, self.deliveries + self.put_off),
            "plans in the ledger": (self.plans, self.leads),
            "mutations in the ledger": (self.mutations, Counter({Status.OBSERVED.value: self.leads})),
            "attempts in the ledger": (self.attempts, self.leads),
            "records that were written": (len(self.writes), self.leads),
            "writes of one record": (self.writes, each_once),
            "records with our marker": (self.marked, self.leads),
            "entries in the marker's history": (self.marker_entries, Counter({1: self.leads})),
        }
        return [f"{what}: {got}, not {wanted}" for what, (got, wanted) in found.items() if got != wanted]


async def run(house: Deployment, client: Client, leads: int) -> Counts:
    """Deliver them all, wait for their outcomes, and count everywhere.

    Args:
        house: a deployment that has done nothing yet.
    """
    record_ids = house.contacts(leads)
    copies = [(record_id, recording) for record_id in record_ids for recording in _RECORDINGS]
    random.Random(_SEED).shuffle(copies)  # noqa: S311
    answers: Counter[str] = Counter()
    waiting = iter(copies)
    watch = Stopwatch()
    async with Source(house.starter) as source:

        async def slot() -> None:
            for record_id, recording in waiting:
                while True:
                    try:
                        answers.update(await source.deliver(house.creation(record_id, recording)))
                        break
                    except PutOff:  # as a source does, sooner
                        answers["put_off"] += 1
                        await asyncio.sleep(_AGAIN_SECONDS)

        await asyncio.gather(*(slot() for _ in range(_AT_ONCE)))
    deliver_seconds = watch.seconds()
    await _eventually(lambda: _outcomes(house), lambda outcomes: not outcomes[Outcome.WORKING.value], within=120)
    seconds = watch.seconds()
    # what Temporal can search for comes a moment later
    runs = await _eventually(lambda: _runs(client), lambda listed: len(listed) >= leads, within=10)
    runs_counted = (await client.count_workflows(_LEAD_RUNS)).count
    marked = [row for row in house.records() if row["properties"].get(_MARKER)]
    writes = [row for row in house.requests("contacts.write") if row["applied"]]
    return Counts(
        leads=leads,
        deliveries=leads * len(_RECORDINGS),
        started=answers["started"],
        duplicate=answers["duplicate"],
        put_off=answers["put_off"],
        runs=runs,
        runs_counted=runs_counted,
        events=Counter(dict(house.rows("SELECT outcome, count(*) FROM lead_event GROUP BY 1"))),
        delivered=house.rows("SELECT sum(deliveries) FROM lead_event")[0][0],
        plans=house.rows("SELECT count(*) FROM lead_plan")[0][0],
        mutations=Counter(dict(house.rows("SELECT status, count(*) FROM mutation GROUP BY 1"))),
        attempts=house.rows("SELECT count(*) FROM mutation_attempt")[0][0],
        writes=Counter(row["path"].rpartition("/")[2] for row in writes),
        marked=len(marked),
        marker_entries=Counter(len(row["history"][_MARKER]) for row in marked),
        deliver_seconds=deliver_seconds,
        seconds=seconds,
    )


async def _outcomes(house: Deployment) -> Counter[str]:
    return Counter(dict(house.rows("SELECT outcome, count(*) FROM lead_event GROUP BY 1")))


async def _runs(client: Client) -> list[str]:
    return [run.id async for run in client.list_workflows(_LEAD_RUNS)]


async def _eventually(ask: Callable[[], Awaitable[T]], met: Callable[[T], Any], *, within: float) -> T:
    """What `ask` gives once it meets a condition, or at the end of the time."""
    deadline = time.monotonic() + within
    while True:
        answer = await ask()
        if met(answer) or time.monotonic() > deadline:
            return answer
        await asyncio.sleep(0.1)  # asks again; the deadline bounds it


async def in_a_deployment_of_their_own(folder: Path, leads: int) -> Counts:
    """Start a stack, run the leads through it, and stop it."""
    with deployment(folder) as house:
        client = await Client.connect(house.temporal, namespace=house.namespace, plugins=[leads_plugin()])
        return await run(house, client, leads)


async def measure(_: Stage) -> Section:
    """The whole number, in a deployment of its own: everything in it is counted."""
    with tempfile.TemporaryDirectory(prefix="leadproof-bench-") as folder:
        counts = await in_a_deployment_of_their_own(Path(folder), LEADS)
    wrong = counts.wrong()
    if wrong:
        raise NotAsExpected("; ".join(wrong))
    section = Section("Five hundred leads, each delivered three times")
    section.say(
        f"{counts.leads} contacts that a person made; the recorded delivery of each one's creation three times (once "
        f"as a retry, once under another event id), all {counts.deliveries} shuffled with a fixed seed, up to "
        f"{_AT_ONCE} at once, one event each. The last was acknowledged after **{counts.deliver_seconds:.1f} s**, the "
        f"last outcome stood in the ledger after **{counts.seconds:.1f} s**."
    )
    section.table(
        ("counted", "where", "number"),
        [
            (
                "deliveries that started a run, duplicates, put off and made again",
                "the starter's answers",
                f"{counts.started}, {counts.duplicate}, {counts.put_off}",
            ),
            ("workflows", "Temporal: listed, and counted", f"{len(counts.runs)}, {counts.runs_counted}"),
            ("lead events, all `done`", "ledger", counts.events.total()),
            ("plans", "ledger", counts.plans),
            ("mutations, all `observed`", "ledger", counts.mutations.total()),
            ("attempts", "ledger", counts.attempts),
            ("writes carried out, one a record", "the sandbox's request log", counts.writes.total()),
            ("records with our marker, once in its history", "the sandbox's records", counts.marker_entries[1]),
        ],
    )
    section.goals.append(
        Goal(
            f"{counts.leads} leads, {counts.deliveries} deliveries: workflows, plans and effects",
            f"{counts.leads} each",
            f"{len(counts.runs)}, {counts.plans}, {counts.writes.total()}",
            met=True,
        )
    )
    return section
