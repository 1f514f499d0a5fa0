from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crm.hostile import Hostile, hostile


@pytest.fixture
def server() -> Iterator[Hostile]:
    with hostile() as running:
        yield running
