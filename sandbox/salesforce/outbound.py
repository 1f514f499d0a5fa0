"""Outbound messages: what a workflow rule sends when a lead or a contact was saved."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from random import Random
from string import ascii_letters, digits
from typing import Any

from sandbox.clock import Clock
from sandbox.outbox import Habits, Outbox, Parcel
from sandbox.salesforce.outbound_envelope import HEADERS, Sent, acknowledged, envelope
from sandbox.salesforce.soql_tables import Row

MAX_NOTIFICATIONS = 100
TIMEOUT = 60.0
FIRST_DELAY = 0.5
LONGEST_DELAY = 7_200.0
KEPT = 86_400.0
ACTIONS = {"Lead": "04kxx0000000001AAA", "Contact": "04kxx0000000002AAA"}
"""The outbound message of each object: one has a message of its own, since its fields are its own."""
NOTIFICATION = "04l"
"""How the ids of notifications begin."""
OBJECTS = {"leads": "Lead", "contacts": "Contact"}

Current = Callable[[str, str], Row | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """What is sent where: without `object` leads and contacts, without `fields` all that a record has.

    `session_id` puts into each message what looks like a token of the API and is none.
    """

    target: str = ""
    on: bool = True
    copies: int = 1
    reorder: bool = False
    object: str | None = None
    fields: list[str] | None = None
    session_id: bool = False

    def __post_init__(self) -> None:
        if self.on and not self.target:
            raise ValueError("target is needed")
        if self.copies < 1:
            raise ValueError("copies is at least 1")
        if self.object is not None and self.object not in OBJECTS:
            raise ValueError(f"object is one of {', '.join(OBJECTS)}")

    def wants(self, object_name: str) -> bool:
        return self.on and object_name in ACTIONS and OBJECTS.get(self.object or "", object_name) == object_name


OFF = Rule(on=False)


@dataclass(frozen=True, slots=True)
class Notification:
    id: str
    object_name: str
    record: str


class Sender(Outbox[Notification]):
    """An org's outbound messages.

    One that is not answered 200 with the acknowledgement stays in the queue as a whole, and is tried again ever more
    seldom until it is a day old. Each attempt tells of the records as they are then.

    Args:
        organization: the org's id.
        new_id: gives the next notification's id, one that no start of the sandbox has given before.
        current: a record's fields as they are now, or nothing where it is deleted.
        fields: the names that an object's fields have.
    """

    names = tuple(Rule.__slots__)

    def __init__(
        self,
        clock: Clock,
        *,
        organization: str,
        new_id: Callable[[], str],
        current: Current,
        fields: Callable[[str], Collection[str]],
    ) -> None:
        super().__init__(clock)
        self._organization = organization
        self._new_id = new_id
        self._current = current
        self._fields = fields
        self._rule = OFF

    def set(self, settings: Mapping[str, Any]) -> None:
        rule = Rule(**settings)
        known = {name for kind in ACTIONS if rule.wants(kind) for name in self._fields(kind)}
        unknown = sorted(set(rule.fields or ()) - known) if rule.on else []
        if unknown:
            raise ValueError(f"no field {', '.join(unknown)}")
        self._rule = rule

    def shown(self) -> dict[str, Any]:
        return {**asdict(self._rule), **self._counts()}

    def saved(self, object_name: str, record: str) -> None:
        """Tell of a record that was created or changed. What deletes one meets no rule."""
        if self._rule.wants(object_name) and self._current(object_name, record) is not None:
            self._put([Notification(self._new_id(), object_name, record)])

    async def reset(self) -> None:
        await super().reset()
        self._rule = OFF

    def _habits(self) -> Habits:
        return self._rule

    def _parcels(self, items: list[Notification]) -> list[list[Notification]]:
        by_object: dict[str, list[Notification]] = defaultdict(list)
        for item in items:
            by_object[item.object_name].append(item)
        return [
            alike[start : start + MAX_NOTIFICATIONS]
            for alike in by_object.values()
            for start in range(0, len(alike), MAX_NOTIFICATIONS)
        ]

    def _wanted(self, parcel: Parcel[Notification]) -> bool:
        return self._rule.on and self._age(parcel) < KEPT

    async def _send(self, parcel: Parcel[Notification]) -> bool:
        action = ACTIONS[parcel.items[0].object_name]
        session = _session(self._organization) if self._rule.session_id else None
        body = envelope(self._organization, action, session, [self._sent(item) for item in parcel.items])
        answer = await self._post(self._rule.target, body, HEADERS, within=TIMEOUT)
        return answer is not None and answer.status_code == 200 and acknowledged(answer.content)

    def _pause(self, parcel: Parcel[Notification]) -> float | None:
        remaining = KEPT - self._age(parcel)
        growing = FIRST_DELAY * 2.0 ** min(parcel.attempts - 1, 20)
        return min(growing, LONGEST_DELAY, remaining) if remaining > 0 else None

    def _age(self, parcel: Parcel[Notification]) -> float:
        return (self._clock.now() - parcel.since) / 1000

    def _sent(self, item: Notification) -> Sent:
        now: Mapping[str, Any] = self._current(item.object_name, item.record) or {}
        chosen = now if self._rule.fields is None else {name: now.get(name) for name in self._rule.fields}
        return Sent(item.id, item.object_name, item.record, chosen)


def _session(organization: str) -> str:
    return f"{organization[:15]}!AQ0AQ{''.join(Random(0).choices(ascii_letters + digits + '._', k=92))}"
