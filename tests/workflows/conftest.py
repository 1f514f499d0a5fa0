from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.support.house import House, a_house


@pytest.fixture(scope="session")
async def _house(temporal: WorkflowEnvironment, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with a_house(temporal.client, tmp_path_factory.mktemp("house")) as house:
        yield house


@pytest.fixture
def house(_house: House) -> Iterator[House]:
    """The house of the session, without faults; records are a test's own."""
    _house.control.delete("/faults")
    yield _house
    _house.control.delete("/faults")
