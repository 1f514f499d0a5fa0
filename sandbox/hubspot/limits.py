"""The rate-limit headers of an answer. They count; nothing is refused for them."""

from sandbox.clock import Clock

WINDOW = 10_000
MAX_PER_WINDOW = 190
MAX_PER_DAY = 625_000


class Limits:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._window = 0
        self._in_window = 0
        self._today = 0

    def headers(self) -> dict[str, str]:
        window = self._clock.now() // WINDOW
        if window != self._window:
            self._window, self._in_window = window, 0
        self._in_window += 1
        self._today += 1
        return {
            "x-hubspot-ratelimit-max": str(MAX_PER_WINDOW),
            "x-hubspot-ratelimit-remaining": str(max(MAX_PER_WINDOW - self._in_window, 0)),
            "x-hubspot-ratelimit-interval-milliseconds": str(WINDOW),
            "x-hubspot-ratelimit-daily": str(MAX_PER_DAY),
            "x-hubspot-ratelimit-daily-remaining": str(max(MAX_PER_DAY - self._today, 0)),
        }
