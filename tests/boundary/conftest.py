from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.boundary.world import World, a_world

_SHARED = Path("/dev/shm")  # noqa: S108
MEMORY = _SHARED if _SHARED.is_dir() else None
"""Where ledgers are quick: no power fails here, what is under test is what a stopped process leaves."""


@pytest.fixture
def worlds() -> Iterator[Callable[[], World]]:
    """Makes worlds, each with a ledger of its own."""
    with ExitStack() as opened:
        folder = opened.enter_context(tempfile.TemporaryDirectory(dir=MEMORY))
        yield lambda: opened.enter_context(a_world(Path(tempfile.mkdtemp(dir=folder))))


@pytest.fixture
def world(worlds: Callable[[], World]) -> World:
    return worlds()
