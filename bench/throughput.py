"""Leads per second from delivery to outcome, beside workflows that decide nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bench.report import Goal, Section
from bench.samples import median_of
from bench.stage import Stage, Stopwatch, all_done

_ROUNDS = 3
_LEADS = {1: 8, 10: 30, 50: 75}
"""How many a turn, by how many are on their way at once."""
_SHARE = 0.7


@dataclass(slots=True)
class _Rates:
    """Leads or workflows per second, one a round."""

    ours: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    nothing: list[float] = field(default_factory=list)

    def share_of(self, peer: Sequence[float]) -> float:
        return median_of([ours / theirs for ours, theirs in zip(self.ours, peer, strict=True)])

    def shares_of(self, peer: Sequence[float]) -> str:
        return ", ".join(f"{ours / theirs:.2f}" for ours, theirs in zip(self.ours, peer, strict=True))


async def measure(stage: Stage) -> Section:
    """Rounds of all three, in turns, at each concurrency."""
    rates = {at_once: _Rates() for at_once in _LEADS}
    for _ in range(_ROUNDS):
        for at_once, number in _LEADS.items():
            await _round(stage, rates[at_once], at_once, number)
    section = Section("Leads per second")
    section.say(
        "From a signed delivery over HTTP to the end of the run, which comes after the outcome stands in the ledger; a "
        "new one begins as soon as one ends. *Bare*: a workflow with the same number of activities, which make the "
        "same HTTP calls to the same sandbox (as logged from a lead, over urllib3) and as many commits to a SQLite "
        "file with the same pragmas; it decides nothing and is started without a starter. *No-op*: as many activities "
        "that do nothing. Both run in a worker process of their own with the same settings. A round is "
        "leads, bare, no-op, bare, leads: a machine that becomes slower or faster meanwhile favours none. Each "
        f"ratio is the median of the ratios of {_ROUNDS} rounds."
    )
    section.table(
        ("at once", "of bare", "each round", "of no-op", "leads/s", "bare/s", "no-op/s"),
        [
            (
                at_once,
                f"**{got.share_of(got.bare):.2f}**",
                got.shares_of(got.bare),
                f"{got.share_of(got.nothing):.2f}",
                *(f"{median_of(one):.1f}" for one in (got.ours, got.bare, got.nothing)),
            )
            for at_once, got in rates.items()
        ],
    )
    for at_once, got in rates.items():
        share = got.share_of(got.bare)
        section.goals.append(
            Goal(
                f"leads per second beside the bare workflow, {at_once} at once",
                f"at least {_SHARE}",
                f"{share:.2f}",
                share >= _SHARE,
            )
        )
    return section


async def _round(stage: Stage, rates: _Rates, at_once: int, number: int) -> None:
    leads, bare = stage.house.contacts(2 * number), stage.house.contacts(2 * number)
    ours = await through(stage.lead, leads[:number], at_once)
    theirs = await through(stage.bare, bare[:number], at_once)
    nothing = await through(stage.nothing, bare[:number], at_once)
    theirs += await through(stage.bare, bare[number:], at_once)
    ours += await through(stage.lead, leads[number:], at_once)
    all_done(stage.house, leads)
    rates.ours.append(2 * number / ours)
    rates.bare.append(2 * number / theirs)
    rates.nothing.append(number / nothing)


async def through(one: Callable[[str], Awaitable[None]], record_ids: Sequence[str], at_once: int) -> float:
    """Seconds that all of them take, so many at once."""
    waiting: Iterator[str] = iter(record_ids)

    async def slot() -> None:
        for record_id in waiting:
            await one(record_id)

    watch = Stopwatch()
    await asyncio.gather(*(slot() for _ in range(at_once)))
    return watch.seconds()
