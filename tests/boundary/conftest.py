from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.boundary.world import World, Worlds

_MEMORY = Path("/dev/shm")  # noqa: S108  no power fails here: what is under test is what a stopped process leaves


@pytest.fixture(scope="session")
def worlds() -> Iterator[Worlds]:
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        made = Worlds(Path(folder))
        yield made
        made.close()


@pytest.fixture
def world(worlds: Worlds) -> World:
    return worlds()
