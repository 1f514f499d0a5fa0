from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sandbox.server import running
from tests.workers.clinic import Clinic


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with running() as url:
        yield url


@pytest.fixture(scope="session")
def browser(address: str) -> Iterator[httpx.Client]:
    """The sandbox without a client library."""
    with httpx.Client(base_url=address, trust_env=False) as client:
        yield client


@pytest.fixture
def clinic(tmp_path: Path, address: str, browser: httpx.Client) -> Clinic:
    """A sound configuration over a sandbox that holds only its seed."""
    made = Clinic(tmp_path, address, browser)
    made.control.post("/reset")
    return made
