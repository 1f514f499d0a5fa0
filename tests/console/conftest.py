"""A Temporal server of these tests' own: their houses have workers, and a queue is worked for one ledger only."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.conftest import a_server


@pytest.fixture(scope="session")
async def own_temporal() -> AsyncIterator[WorkflowEnvironment]:
    async with await a_server() as environment:
        yield environment
