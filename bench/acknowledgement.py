"""How long a source waits for its acknowledgement, beside the bare call that starts a workflow."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from temporalio.client import WorkflowHandle

from bench.deployment import Delivery
from bench.report import Goal, Section
from bench.samples import percentile, ratio, ratio_range
from bench.stage import Stage, Stopwatch

_ALONE = 200
_AT_ONCE, _BURSTS = 5, 40
_TIMES = 1.5


@dataclass(slots=True)
class _Times:
    """Seconds of each call."""

    ours: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)


async def measure(stage: Stage) -> Section:
    """Both calls in turns: one by one on a machine at rest, and in bursts."""
    alone = await _bursts(stage, at_once=1, bursts=_ALONE)
    together = await _bursts(stage, at_once=_AT_ONCE, bursts=_BURSTS)
    section = Section("Acknowledgement of a webhook")
    section.say(
        "A signed delivery of one event to the starter process over HTTP, until its 200: the signature is checked, the "
        "event is in the ledger (SQLite, `synchronous=FULL`) and its workflow is started. Beside it the bare "
        "`client.start_workflow` of a workflow with as many activities, from the same process on the same server. They "
        "take turns, and each waits until the runs of the one before are over. The range is where the ratio lies in 90 "
        "of 100 cases when both samples are drawn again and again."
    )
    rows = []
    for what, times in (("1", alone), (str(_AT_ONCE), together)):
        for name, share in (("p50", 0.5), ("p99", 0.99)):
            low, high = ratio_range(times.ours, times.bare, share)
            rows.append(
                (
                    *(what, name, f"**{ratio(times.ours, times.bare, share):.2f}**", f"{low:.2f} to {high:.2f}"),
                    *(f"{percentile(one, share) * 1000:.1f} ms" for one in (times.ours, times.bare)),
                    len(times.ours),
                )
            )
    section.table(("at once", "", "ratio", "range", "acknowledged", "bare start", "calls of each"), rows)
    for what, times in (("one by one", alone), (f"{_AT_ONCE} at once", together)):
        measured = ratio(times.ours, times.bare, 0.99)
        section.goals.append(
            Goal(
                f"p99 of an acknowledgement beside a bare start, {what}",
                f"at most {_TIMES} times",
                f"{measured:.2f} times",
                measured <= _TIMES,
            )
        )
    return section


async def _bursts(stage: Stage, *, at_once: int, bursts: int) -> _Times:
    times = _Times()
    for turn in range(bursts):
        kinds = (_acknowledged, _started)
        for kind in kinds if turn % 2 else reversed(kinds):
            await kind(stage, times, at_once)
    return times


async def _acknowledged(stage: Stage, times: _Times, at_once: int) -> None:
    record_ids = stage.house.contacts(at_once)
    deliveries = [stage.house.creation(record_id) for record_id in record_ids]

    async def one(delivery: Delivery) -> None:
        watch = Stopwatch()
        await stage.deliver(delivery)
        times.ours.append(watch.seconds())

    await asyncio.gather(*(one(delivery) for delivery in deliveries))
    await asyncio.gather(*(stage.over(record_id) for record_id in record_ids))


async def _started(stage: Stage, times: _Times, at_once: int) -> None:
    async def one(record_id: str) -> None:
        watch = Stopwatch()
        handle = await stage.start_bare(record_id)
        times.bare.append(watch.seconds())
        handles.append(handle)

    handles: list[WorkflowHandle[Any, Any]] = []
    record_ids = stage.house.contacts(at_once)
    await asyncio.gather(*(one(record_id) for record_id in record_ids))
    await asyncio.gather(*(handle.result() for handle in handles))
