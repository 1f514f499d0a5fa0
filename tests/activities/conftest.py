from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.activities.room import Room
from tests.support.ledgers import HandClock, sqlite_ledger


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    clock = HandClock()
    with sqlite_ledger(tmp_path / "ledger.db", clock) as ledger:
        yield Room(ledger, clock)
