"""The portal as a whole: what its API, its users and its automation do to it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import formatdate
from typing import Any
from uuid import uuid4

from sandbox.clock import Clock
from sandbox.faults import KINDS, Fault
from sandbox.hubspot import seed, source
from sandbox.hubspot.account import Account
from sandbox.hubspot.automations import Automations
from sandbox.hubspot.batch_api import BatchApi
from sandbox.hubspot.changes import Change
from sandbox.hubspot.contact import Contact
from sandbox.hubspot.contacts import Contacts
from sandbox.hubspot.definitions import Definitions
from sandbox.hubspot.errors import HubSpotError, no_authentication
from sandbox.hubspot.limits import Limits
from sandbox.hubspot.naming import Naming
from sandbox.hubspot.object_api import ObjectApi
from sandbox.hubspot.owners import Owners
from sandbox.hubspot.properties_api import PropertiesApi
from sandbox.hubspot.reading import Reader
from sandbox.hubspot.refusals import refusal
from sandbox.hubspot.routes import CONTACTS, OPERATIONS, Routes
from sandbox.hubspot.search import Search
from sandbox.hubspot.shapes import witnessed
from sandbox.provider import Named, Refused, Route, UnknownRecord
from sandbox.wire import Answer, Call

Listener = Callable[[list[Change]], None]


class Portal:
    """One HubSpot account."""

    name = "hubspot"
    operations: tuple[str, ...] = OPERATIONS
    fault_kinds: tuple[str, ...] = KINDS

    def __init__(
        self, clock: Clock, *, portal_id: int | None, search_lag: float, first_id: int, listener: Listener
    ) -> None:
        self._clock = clock
        self._search_lag = search_lag
        self._first_id = first_id
        self._listener = listener
        self.settings = seed.load()["portal"]
        self.portal_id = portal_id or int(self.settings["portalId"])
        self.app_id = int(self.settings["appId"])
        self.reset()

    def reset(self) -> None:
        data = seed.load()
        self._definitions = Definitions(data["properties"], self._clock)
        self._owners = Owners(data["owners"])
        self._automations = Automations(data["automations"])
        self._contacts = Contacts(
            self.portal_id,
            self._clock,
            self._definitions,
            lambda: self._owners.active,
            self._committed,
            first_id=self._first_id,
        )
        self._limits = Limits(self._clock)
        self._application = source.application(self.app_id, self.settings["appName"])
        self._naming = Naming(self._contacts, self._definitions)
        reader = Reader(self._contacts, self._definitions)
        self._routes = Routes(
            objects=ObjectApi(self._contacts, reader, self._application),
            batches=BatchApi(self._contacts, reader, self._naming, self._application, self._clock),
            search=Search(self._contacts, reader, self._clock, self._search_lag),
            properties=PropertiesApi(self._definitions),
            owners=self._owners,
            account=Account(self.settings, self.portal_id),
        )
        for fields in data["contacts"]:
            self._contacts.create(fields, self._person(""))

    def route(self, call: Call) -> Route:
        return self._routes.find(call)

    def authenticate(self, call: Call) -> Answer | None:
        return None if call.token else no_authentication().answer()

    def named(self, call: Call) -> list[Named]:
        return self._naming.call(call)

    def refusal(self, fault: Fault) -> Answer:
        return refusal(fault)

    @contextmanager
    def unanswered(self, records: Iterable[str]) -> Iterator[None]:
        waiting = self._contacts.unanswered
        waiting.update(records)
        try:
            yield
        finally:
            waiting.difference_update(records)

    def dress(self, answer: Answer, operation: str | None) -> Answer:
        """Add the headers that every answer of HubSpot has."""
        known = answer.body.get("correlationId") if isinstance(answer.body, dict) else None
        answer.headers["x-hubspot-correlation-id"] = known or str(uuid4())
        answer.headers["date"] = formatdate(self._clock.now() / 1000, usegmt=True)
        if operation != "contacts.search":
            answer.headers |= self._limits.headers()
        return answer

    def records(self, kind: str) -> list[dict[str, Any]]:
        _known(kind)
        return [witnessed(contact) for contact in self._contacts]

    def put_record(self, kind: str, record: str | None, user: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        _known(kind)
        who = self._person(user)
        try:
            if record is None:
                return witnessed(self._contacts.create(fields, who))
            return witnessed(self._contacts.update(self._live(record), fields, who))
        except HubSpotError as error:
            raise Refused(error.answer().body) from error

    def restore_record(self, kind: str, record: str, user: str) -> dict[str, Any]:
        _known(kind)
        contact = self._contacts.get(record)
        if contact is None or contact.now.archived_at is None:
            raise UnknownRecord(record)
        try:
            self._contacts.restore(contact, self._person(user))
        except HubSpotError as error:
            raise Refused(error.answer().body) from error
        return witnessed(contact)

    def archive_record(self, kind: str, record: str, user: str) -> None:
        _known(kind)
        self._contacts.archive(self._live(record), self._person(user))

    def merge_records(self, kind: str, winner: str, loser: str, user: str) -> dict[str, Any]:
        _known(kind)
        into, gone = self._live(winner), self._live(loser)
        if into is gone:
            raise Refused("a record is not merged with itself")
        return witnessed(self._contacts.merge(into, gone, self._person(user)))

    def convert_record(self, kind: str, record: str, user: str) -> dict[str, Any]:
        raise Refused("HubSpot converts no records")

    def side_effects(self) -> list[dict[str, Any]]:
        return list(self._automations.fired)

    def _live(self, record: str) -> Contact:
        contact = self._contacts.find(record, None)
        if contact is None:
            raise UnknownRecord(record)
        return contact

    def _person(self, user: str) -> source.Source:
        return source.person(user, self._owners.default_user)

    def _committed(self, changes: list[Change]) -> None:
        self._automations.react(changes, self._contacts)
        self._listener(changes)


def _known(kind: str) -> None:
    if kind not in CONTACTS:
        raise UnknownRecord(f"no object {kind!r}")
