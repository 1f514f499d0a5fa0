"""How many calls an org has left today, and the pace that this allows.

An org's calls are a rolling daily number that all its integrations share. Whoever uses the last one stops the others,
so the nearer it comes the slower we get.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

SHARE: Final = 0.8
"""Of the org's daily calls may be used, by whomever, before ours are spaced."""

WIDEST: Final = 300.0
"""Seconds between two calls at most: what is told of the budget is heard in answers only, so some call has to go on."""

_DAY: Final = 86_400.0
_USAGE = re.compile(r"(?:^|[\s;,])api-usage=(\d{1,12})/(\d{1,12})")


@dataclass(frozen=True, slots=True)
class Budget:
    """The org's calls as the latest answer told them.

    Attributes:
        used, limit: of the org's calls a day; `None` before the first answer.
        held: calls of ours that were not sent since their turn was too far off.
    """

    used: int | None
    limit: int | None
    held: int


class Pace:
    """Spaces the calls of all threads. Below the share it spaces nothing.

    Above it the space between two calls grows from nothing to the widest. Half way from share to limit calls come as
    the limit lasts for a day.

    Args:
        share: the part of the limit from which on calls are spaced.
        clock: monotonic seconds.
    """

    def __init__(self, share: float = SHARE, clock: Callable[[], float] = time.monotonic) -> None:
        self._share = share
        self._clock = clock
        self._lock = threading.Lock()
        self._used: int | None = None
        self._limit: int | None = None
        self._held = 0
        self._turn: float | None = None

    def heard(self, headers: Mapping[str, str]) -> None:
        """Take in what an answer says of the budget."""
        told = _USAGE.search(headers.get("Sforce-Limit-Info") or "")
        if told is not None and int(told[2]) > 0:
            with self._lock:
                self._used, self._limit = int(told[1]), int(told[2])

    def budget(self) -> Budget:
        with self._lock:
            return Budget(self._used, self._limit, self._held)

    def turn(self, most: float) -> tuple[bool, float]:
        """Take the next turn, if it comes soon enough.

        Args:
            most: seconds that the caller can wait.

        Returns:
            Whether the turn is taken, and in how many seconds it comes.
        """
        with self._lock:
            now = self._clock()
            due = now if self._turn is None else max(now, self._turn + self._space())
            wait = due - now
            if wait > most:
                self._held += 1
                return False, wait
            self._turn = due
            return True, wait

    def went(self) -> None:
        """A call left without waiting for its turn: it takes one all the same, and whoever waits comes after it."""
        with self._lock:
            now, space = self._clock(), self._space()
            due = now if self._turn is None else max(now, self._turn + space)
            self._turn = min(due, now + space)

    def _space(self) -> float:
        if self._used is None or self._limit is None:
            return 0.0
        over = (self._used / self._limit - self._share) / (1 - self._share) if self._share < 1 else 0.0
        if over <= 0:
            return 0.0
        return WIDEST if over >= 1 else min(WIDEST, _DAY / self._limit * over / (1 - over))
