"""Time for a case: the real one, and one that is moved instead of waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Waiting(Protocol):
    """A clock of the product on which a case can also wait."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...

    def wait(self, seconds: float) -> None: ...


class Skipping:
    """The real time and an offset; whoever waits moves it, and the CRM's time with it.

    Args:
        moved: told by how many seconds time was moved.
    """

    def __init__(self, moved: Callable[[float], None]) -> None:
        self._moved = moved
        self._offset = 0.0

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self._offset)

    def monotonic(self) -> float:
        return time.monotonic() + self._offset

    def wait(self, seconds: float) -> None:
        """Let `seconds` have passed."""
        if seconds > 0:
            self._offset += seconds
            self._moved(seconds)


class Real:
    """The real time; whoever waits waits."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)
