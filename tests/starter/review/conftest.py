from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.starter.door import Door
from tests.starter.review.people import Person, a_review_door


@pytest.fixture
async def door(unworked: Client, tmp_path: Path) -> AsyncIterator[Door]:
    """The starter with its review page; nobody works its leads."""
    async with a_review_door(unworked, tmp_path) as opened:
        yield opened


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
