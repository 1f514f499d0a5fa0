"""The sandbox's time: the real clock and an offset that tests may move."""

import asyncio
import heapq
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count


def rfc3339(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def real_milliseconds() -> int:
    return time.time_ns() // 1_000_000


class Clock:
    """Tells the time in epoch milliseconds and calls back when a moment has come.

    Moving it forward makes everything due at once, in order.
    """

    def __init__(self) -> None:
        self._offset = 0
        self._last_write = 0
        self._order = count()
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._handle: asyncio.TimerHandle | None = None

    def now(self) -> int:
        return real_milliseconds() + self._offset

    def write_time(self) -> int:
        """The time of a write; no two writes share a millisecond."""
        self._last_write = max(self.now(), self._last_write + 1)
        return self._last_write

    def advance(self, seconds: float) -> None:
        self._offset += round(seconds * 1000)
        self._last_write = min(self._last_write, self.now())
        self._run_due()

    def set(self, now: datetime) -> None:
        self.advance(now.timestamp() - self.now() / 1000)

    def call_in(self, seconds: float, callback: Callable[[], None]) -> None:
        heapq.heappush(self._due, (self.now() + round(seconds * 1000), next(self._order), callback))
        self._arm()

    def reset(self) -> None:
        self._offset = 0
        self._last_write = 0
        self._due.clear()
        self._arm()

    def _run_due(self) -> None:
        while self._due and self._due[0][0] <= self.now():
            heapq.heappop(self._due)[2]()
        self._arm()

    def _arm(self) -> None:
        if self._handle:
            self._handle.cancel()
            self._handle = None
        if self._due:
            delay = max(self._due[0][0] - self.now(), 1) / 1000
            self._handle = asyncio.get_running_loop().call_later(delay, self._run_due)
