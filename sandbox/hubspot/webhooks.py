"""Sends what happened to a target, signed, more than once and out of order if asked."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sandbox.clock import Clock, real_milliseconds
from sandbox.hubspot.changes import PROPERTY_CHANGE, Change
from sandbox.hubspot.events import Event, Events
from sandbox.hubspot.signatures import headers
from sandbox.outbox import Outbox, Parcel

MAX_EVENTS = 100
MAX_ATTEMPTS = 11
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


class Webhooks(Outbox[Event]):
    """The emitter of one account's webhooks.

    A delivery that meets no connection, no answer in time, or a 4xx or 5xx is tried again, ten times at most.
    """

    names = tuple(Subscription.__slots__)

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._subscription = OFF
        self._events = Events(0, 0)
        self._account = (0, 0)

    def account(self, portal_id: int, app_id: int) -> None:
        self._account = (portal_id, app_id)
        self._events = Events(portal_id, app_id)

    def set(self, settings: Mapping[str, Any]) -> None:
        self._subscription = Subscription(**settings)

    def shown(self) -> dict[str, Any]:
        settings = asdict(self._subscription)
        del settings["secret"]
        return {**settings, **self._counts()}

    def emit(self, changes: list[Change]) -> None:
        if self._subscription.on:
            self._put([self._events.event(change) for change in changes if self._subscription.wants(change)])

    async def reset(self) -> None:
        await super().reset()
        self._subscription = OFF
        self.account(*self._account)

    def _habits(self) -> Subscription:
        return self._subscription

    def _parcels(self, items: list[Event]) -> list[list[Event]]:
        return [items[start : start + MAX_EVENTS] for start in range(0, len(items), MAX_EVENTS)]

    def _wanted(self, parcel: Parcel[Event]) -> bool:
        return self._subscription.on

    async def _send(self, parcel: Parcel[Event]) -> bool:
        target, secret = self._subscription.target, self._subscription.secret
        events = [self._events.again(event, parcel.attempts) if parcel.attempts else event for event in parcel.items]
        body = json.dumps(events, separators=(",", ":"), ensure_ascii=False).encode()
        signed = headers(secret, target, body, real_milliseconds())
        answer = await self._post(target, body, signed, within=TIMEOUT)
        return answer is not None and answer.status_code < 400

    def _pause(self, parcel: Parcel[Event]) -> float | None:
        if parcel.attempts >= MAX_ATTEMPTS:
            return None
        return min(FIRST_DELAY * 2.0 ** (parcel.attempts - 1), LONGEST_DELAY)
