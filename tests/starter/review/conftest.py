from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import Connection
from temporalio.client import Client

from leadproof.ledger.tables import METADATA
from tests.starter.door import Door
from tests.starter.review.people import Person, a_review_door
from tests.support.ledgers import START


@pytest.fixture(scope="session")
async def _door(unworked: Client, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    async with a_review_door(unworked, tmp_path_factory.mktemp("review")) as opened:
        yield opened


@pytest.fixture
def door(_door: Door) -> Door:
    """The starter with its review page, its ledger empty; nobody works its leads. To make it anew takes longer than
    most of its tests."""
    _door.ledger._engine.write(_empty)
    _door.clock.forward((START - _door.clock.now()).total_seconds())
    return _door


def _empty(connection: Connection) -> None:
    for table in reversed(METADATA.sorted_tables):
        connection.execute(table.delete())


@pytest.fixture
def dana(door: Door) -> Person:
    """A reviewer of every queue."""
    return Person(door, "dana")


@pytest.fixture
def ada(door: Door) -> Person:
    """An admin, who comes from another browser."""
    return Person(door, "ada")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody works, the answer of a run is waited for in vain."""
    monkeypatch.setattr("starter.decisions.ANSWER_SECONDS", 0.2)
