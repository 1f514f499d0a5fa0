"""Sends what happened to a target, signed, more than once and out of order if asked."""

import asyncio
import json
from collections.abc import Coroutine
from dataclasses import dataclass
from random import Random
from typing import Any

import httpx

from sandbox.clock import Clock, real_milliseconds
from sandbox.hubspot.changes import PROPERTY_CHANGE, Change
from sandbox.hubspot.events import Event, Events
from sandbox.hubspot.signatures import headers

GATHER = 0.02
MAX_EVENTS = 100
MAX_ATTEMPTS = 11
MAX_CONCURRENT = 10
TIMEOUT = 5.0
FIRST_DELAY = 0.5
LONGEST_DELAY = 60.0
TYPES = ("contact.creation", "contact.deletion", "contact.merge", "contact.restore", "contact.propertyChange")


@dataclass(frozen=True, slots=True)
class Subscription:
    """Where webhooks go and how. Without `properties` every property counts, without `subscriptions` every type."""

    target: str = ""
    secret: str = ""
    on: bool = True
    copies: int = 1
    reorder: bool = False
    properties: list[str] | None = None
    subscriptions: list[str] | None = None

    def __post_init__(self) -> None:
        if self.on and not (self.target and self.secret):
            raise ValueError("target and secret are needed")
        if self.copies < 1:
            raise ValueError("copies is at least 1")
        unknown = set(self.subscriptions or ()) - set(TYPES)
        if unknown:
            raise ValueError(f"subscriptions are among {', '.join(TYPES)}")

    def wants(self, change: Change) -> bool:
        if self.subscriptions is not None and f"contact.{change.kind}" not in self.subscriptions:
            return False
        if change.kind != PROPERTY_CHANGE or self.properties is None:
            return True
        return change.details["propertyName"] in self.properties


OFF = Subscription(on=False)


class Webhooks:
    """The emitter of one account's webhooks.

    A delivery that meets no connection, no answer in time, or a 4xx or 5xx is tried again, ten times at most.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._subscription = OFF
        self._events = Events(0, 0)
        self._account = (0, 0)
        self._client: httpx.AsyncClient | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._flush_handle: asyncio.TimerHandle | None = None
        self._clear()

    def account(self, portal_id: int, app_id: int) -> None:
        self._account = (portal_id, app_id)
        self._events = Events(portal_id, app_id)

    async def set(self, subscription: Subscription) -> None:
        self._subscription = subscription

    def shown(self) -> dict[str, Any]:
        settings = self._subscription
        return {
            "target": settings.target,
            "on": settings.on,
            "copies": settings.copies,
            "reorder": settings.reorder,
            "properties": settings.properties,
            "subscriptions": settings.subscriptions,
            "waiting": self._waiting + len(self._gathered),
            "delivered": self._delivered,
            "failed": self._failed,
            "given_up": self._given_up,
        }

    def emit(self, changes: list[Change]) -> None:
        if not self._subscription.on:
            return
        events = [self._events.event(change) for change in changes if self._subscription.wants(change)]
        if events and not self._gathered:
            self._flush_handle = asyncio.get_running_loop().call_later(GATHER, self._flush)
        self._gathered.extend(events)

    async def reset(self) -> None:
        if self._flush_handle:
            self._flush_handle.cancel()
        await self._stop()
        self._subscription = OFF
        self.account(*self._account)
        self._clear()

    async def close(self) -> None:
        await self._stop()
        if self._client:
            await self._client.aclose()

    def _clear(self) -> None:
        self._gathered: list[Event] = []
        self._flush_handle = None
        self._waiting = 0
        self._delivered = 0
        self._failed = 0
        self._given_up = 0
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self._chance = Random(0)

    def _flush(self) -> None:
        events, self._gathered = self._gathered, []
        if self._subscription.reorder:
            self._chance.shuffle(events)
        bodies = [events[start : start + MAX_EVENTS] for start in range(0, len(events), MAX_EVENTS)]
        for body in bodies * self._subscription.copies:
            self._waiting += 1
            self._start(self._deliver(body))

    def _start(self, delivery: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(delivery)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, events: list[Event]) -> None:
        settings = self._subscription
        arrived = settings.on and await self._post(settings, events)
        attempts = events[0]["attemptNumber"] + 1
        self._failed += not arrived
        if settings.on and not arrived and attempts < MAX_ATTEMPTS:
            delay = min(FIRST_DELAY * 2 ** (attempts - 1), LONGEST_DELAY)
            again = [self._events.again(event) for event in events]
            self._clock.call_in(delay, lambda: self._start(self._deliver(again)))
            return
        self._waiting -= 1
        if arrived:
            self._delivered += 1
        else:
            self._given_up += 1

    async def _post(self, settings: Subscription, events: list[Event]) -> bool:
        if self._client is None:
            self._client = httpx.AsyncClient(trust_env=False, timeout=None)  # noqa: S113
        body = json.dumps(events, separators=(",", ":"), ensure_ascii=False).encode()
        async with self._slots:
            try:
                async with asyncio.timeout(TIMEOUT):
                    response = await self._client.post(
                        settings.target,
                        content=body,
                        headers=headers(settings.secret, settings.target, body, real_milliseconds()),
                    )
            except (TimeoutError, httpx.HTTPError):
                return False
        return response.status_code < 400

    async def _stop(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
