"""What a provider sends of its own accord: gathered, posted, and tried again by the sandbox's clock."""

import asyncio
import ssl
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any, Generic, Protocol, TypeVar

import httpx

from sandbox.clock import Clock

GATHER = 0.02
MAX_CONCURRENT = 10

Item = TypeVar("Item")
Headers = Mapping[str, str] | Sequence[tuple[str, str]]


class Habits(Protocol):
    """How often each parcel is sent, and whether what it holds is shuffled before."""

    @property
    def copies(self) -> int: ...

    @property
    def reorder(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Parcel(Generic[Item]):
    """What is sent in one request: `attempts` counts those behind it, `since` is when it was put into the queue."""

    items: list[Item]
    since: int
    attempts: int = 0


class Outbox(ABC, Generic[Item]):
    """Parcels on their way, and how many arrived."""

    names: tuple[str, ...]
    """What can be set."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._client: httpx.AsyncClient | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._flush_handle: asyncio.TimerHandle | None = None
        self._clear()

    @abstractmethod
    def set(self, settings: Mapping[str, Any]) -> None:
        """Send from now on what is asked, where it is asked; what was set before is forgotten.

        Raises:
            ValueError: saying what makes no sense.
        """

    @abstractmethod
    def shown(self) -> dict[str, Any]:
        """The settings, but for secrets, and what became of what was sent."""

    @abstractmethod
    def _habits(self) -> Habits: ...

    @abstractmethod
    def _parcels(self, items: list[Item]) -> list[list[Item]]:
        """What goes together."""

    @abstractmethod
    def _wanted(self, parcel: Parcel[Item]) -> bool:
        """Whether it is still to be sent."""

    @abstractmethod
    async def _send(self, parcel: Parcel[Item]) -> bool:
        """Whether it arrived."""

    @abstractmethod
    def _pause(self, parcel: Parcel[Item]) -> float | None:
        """For how many seconds nobody tries again; nothing where it is given up."""

    def _put(self, items: list[Item]) -> None:
        """Take what happened. What happens within `GATHER` seconds goes together."""
        if items and not self._gathered:
            self._flush_handle = asyncio.get_running_loop().call_later(GATHER, self._flush)
        self._gathered.extend(items)

    def _counts(self) -> dict[str, Any]:
        """Parcels, but for `waiting`, which counts what is gathered too, and `failed`, which counts attempts."""
        return {
            "waiting": self._waiting + len(self._gathered),
            "delivered": self._delivered,
            "failed": self._failed,
            "given_up": self._given_up,
        }

    async def _post(self, target: str, body: bytes, headers: Headers, *, within: float) -> httpx.Response | None:
        """The answer, if there is one in time."""
        if self._client is None:
            self._client = httpx.AsyncClient(trust_env=False, timeout=None, verify=_trust())  # noqa: S113
        try:
            async with asyncio.timeout(within):
                return await self._client.post(target, content=body, headers=headers)
        except (TimeoutError, httpx.HTTPError):
            return None

    async def reset(self) -> None:
        """Forget what is on its way."""
        if self._flush_handle:
            self._flush_handle.cancel()
        await self._stop()
        self._clear()

    async def close(self) -> None:
        await self._stop()
        if self._client:
            await self._client.aclose()

    def _clear(self) -> None:
        self._gathered: list[Item] = []
        self._flush_handle = None
        self._waiting = 0
        self._delivered = 0
        self._failed = 0
        self._given_up = 0
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self._chance = Random(0)

    def _flush(self) -> None:
        items, self._gathered = self._gathered, []
        habits = self._habits()
        if habits.reorder:
            self._chance.shuffle(items)
        for together in self._parcels(items) * habits.copies:
            self._waiting += 1
            self._start(self._deliver(Parcel(together, self._clock.now())))

    def _start(self, delivery: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(delivery)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, parcel: Parcel[Item]) -> None:
        if self._wanted(parcel):
            async with self._slots:
                arrived = await self._send(parcel)
            if arrived:
                self._waiting -= 1
                self._delivered += 1
                return
            self._failed += 1
            parcel = replace(parcel, attempts=parcel.attempts + 1)
            pause = self._pause(parcel)
            if pause is not None:
                self._clock.call_in(pause, lambda: self._start(self._deliver(parcel)))
                return
        self._waiting -= 1
        self._given_up += 1

    async def _stop(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@cache
def _trust() -> ssl.SSLContext:
    """The certificates that a target may show: read once in a process, which takes longer than a hundred deliveries."""
    return httpx.create_ssl_context(trust_env=False)
