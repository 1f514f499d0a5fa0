"""A Temporal server for processes that are killed, and what it took to recover, told at the end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.conftest import a_server
from tests.crash.databases import a_postgresql

MISSED_WITHIN = 10.0
"""Seconds from the kill of a worker to the end of its lead, with the time-outs that are shipped; its write and its
read-back are in them."""

_RECOVERED = pytest.StashKey[list[tuple[str, float]]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_RECOVERED] = []


@pytest.fixture
async def server() -> AsyncIterator[WorkflowEnvironment]:
    """A Temporal server of this test's own: what one house leaves behind is not given to another's workers."""
    async with await a_server() as environment:
        yield environment


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A real PostgreSQL of this suite's own, which is killed and started again."""
    with a_postgresql(tmp_path_factory) as started:
        yield started


@pytest.fixture(scope="session")
def missed_within(worker_id: str) -> float:
    """The bound on a recovery: the promised one where the suite has the machine to itself (`make crash`); twice that
    where other tests run beside it, which it would measure."""
    return MISSED_WITHIN if worker_id == "master" else 2 * MISSED_WITHIN


@pytest.fixture
def recovered(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Tell how many seconds it took from a fault to a lead's final outcome."""

    def tell(what: str, seconds: float) -> None:
        request.config.stash[_RECOVERED].append((what, seconds))
        record_property(f"recovered: {what}", round(seconds, 2))

    return tell


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    times = config.stash[_RECOVERED]
    if times:
        terminalreporter.section("time to recover")
        terminalreporter.write_line(f"load of this machine: {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores")
        for what, seconds in times:
            terminalreporter.write_line(f"{seconds:6.2f} s  {what}")
