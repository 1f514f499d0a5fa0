"""Processes of ours, started for a test; whatever becomes of the test, none of them is left."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.crash.stopping import Point, line_of, write_points
from tests.support.house import House
from workers.lifecycle import READY

START_SECONDS = 80
"""How long a process may take until it says that it is ready; starting one is a matter of two seconds of CPU."""


@asynccontextmanager
async def started(
    *command: str, environment: Mapping[str, str], quiet: bool = False
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process with its output at hand; killed at the end if it still runs, also where it is only stopped."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL if quiet else asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL if quiet else None,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if process.stdout is not None:
            process.stdout.feed_eof()


@asynccontextmanager
async def a_worker(house: House) -> AsyncIterator[asyncio.subprocess.Process]:
    """An ordinary worker that polls."""
    async with started(sys.executable, "-m", "workers", environment=house.environment) as process:
        await said(process, READY)
        yield process


@asynccontextmanager
async def one_that_stops(
    module: str, house: House, folder: Path, points: Mapping[str, Point]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that stops at each lead's point; `stopped_at` waits for that."""
    path = folder / f"{module}.json"
    write_points(path, points)
    command = (sys.executable, "-m", f"tests.crash.{module}", str(path))
    async with started(*command, environment=house.environment) as process:
        yield process


async def said(process: asyncio.subprocess.Process, *lines: str, within: float = START_SECONDS) -> None:
    """Until a process has written each of these lines, in any order; others are read past."""
    assert process.stdout is not None
    missing = set(lines)
    try:
        async with asyncio.timeout(within):
            while missing:
                line = await process.stdout.readline()
                assert line, f"the process ended before it said {', '.join(sorted(missing))}"
                missing.discard(line.decode().strip())
    except TimeoutError:
        raise TimeoutError(f"not said within {within} s: {', '.join(sorted(missing))}") from None


async def stopped_at(
    process: asyncio.subprocess.Process, points: Mapping[str, Point], *, within: float = START_SECONDS
) -> None:
    """Until a process has stopped at all of these points."""
    await said(process, *(line_of(key, point) for key, point in points.items()), within=within)
