"""One soak: carry the schedule out, answer what is asked, wait until nothing stirs, and look at both sides."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx

from soak import ledger, policy, verdict, witness
from soak.evidence import Evidence, Wrong
from soak.ledger import Ledger
from soak.reviewer import Reviewer
from soak.schedule import Schedule
from soak.source import Source
from soak.stack import Stack

_LOOK_SECONDS = 1.5
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Soaked:
    """What came of a soak."""

    evidence: Evidence
    wrongs: list[Wrong]
    seconds: float


async def soak(stack: Stack, schedule: Schedule, *, limit: float) -> Soaked:
    """Carry out a schedule on a stack that has done nothing yet.

    Args:
        limit: seconds until everything must have come to rest.
    """
    began = time.monotonic()
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=50, keepalive_expiry=2)
    async with httpx.AsyncClient(timeout=httpx.Timeout(60, pool=None), trust_env=False, limits=limits) as http:
        source = Source(stack, http)
        reviewer = Reviewer(stack, http, schedule.seed, source.told.record_ids, source.edit)
        answering = asyncio.create_task(reviewer.answer())
        try:
            await source.carry_out(schedule)
            resting = await _rests(stack, reviewer, began + limit)
        finally:
            answering.cancel()
            with suppress(asyncio.CancelledError):
                await answering
        seen = await witness.look(stack.sandbox, http)
    evidence = Evidence(
        schedule=schedule,
        told=source.told,
        ledger=ledger.read(stack),
        witness=seen,
        decisions=reviewer.sent,
        read_at=datetime.now(UTC),
        quiescence=timedelta(seconds=policy.QUIESCENCE_SECONDS),
    )
    restless = [Wrong("not at rest in time", what) for what in resting[:_MOST_NAMED]]
    return Soaked(evidence, restless + verdict.wrongs(evidence), time.monotonic() - began)


async def _rests(stack: Stack, reviewer: Reviewer, deadline: float) -> list[str]:
    """Wait until nothing stirs, and for one quiescence more; what still stirs at the deadline."""
    quiet_since: float | None = None
    before: Ledger | None = None
    while True:
        now = await asyncio.to_thread(ledger.read, stack)
        stirs = ledger.stirring(now, reviewer.left_open)
        if stirs or before is None or before.mutations != now.mutations or before.leads != now.leads:
            quiet_since = time.monotonic()
        elif quiet_since is not None and time.monotonic() - quiet_since > 2 * policy.QUIESCENCE_SECONDS:
            return []
        if time.monotonic() > deadline:
            return stirs or ["the ledger still moves"]
        before = now
        await asyncio.sleep(_LOOK_SECONDS)
