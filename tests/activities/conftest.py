from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.activities.room import Room
from tests.support.ledgers import HandClock, sqlite_ledger


@pytest.fixture
def ledger_path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def room(ledger_path: Path) -> Iterator[Room]:
    clock = HandClock()
    with sqlite_ledger(ledger_path, clock, busy_seconds=0.2) as ledger:
        yield Room(ledger, clock)
