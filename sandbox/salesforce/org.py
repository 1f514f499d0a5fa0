"""The org as a whole: what its API, its users and its automation do to it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import formatdate
from typing import Any

from sandbox.clock import Clock
from sandbox.faults import KINDS, Fault
from sandbox.provider import Influence, Named, Refused, Route, UnknownRecord
from sandbox.salesforce import ids, seed
from sandbox.salesforce.account_api import AccountApi
from sandbox.salesforce.automations import Automations
from sandbox.salesforce.collections_api import CollectionsApi
from sandbox.salesforce.describe_api import DescribeApi
from sandbox.salesforce.drafts import UI, Writing
from sandbox.salesforce.errors import SalesforceError, converted, invalid_session, limit_exceeded
from sandbox.salesforce.events import RecordEvents
from sandbox.salesforce.ids import Ids
from sandbox.salesforce.naming import Naming
from sandbox.salesforce.object_api import ObjectApi
from sandbox.salesforce.people import BORN, People
from sandbox.salesforce.query_api import QueryApi
from sandbox.salesforce.reading import Reader
from sandbox.salesforce.record import Record
from sandbox.salesforce.records import Records
from sandbox.salesforce.refusals import refusal
from sandbox.salesforce.routes import OPERATIONS, TOKEN, Routes
from sandbox.salesforce.schema import LEAD, Object, Schema
from sandbox.salesforce.sessions import Sessions
from sandbox.salesforce.settings import from_seed
from sandbox.salesforce.shapes import witnessed
from sandbox.salesforce.store import Store, Transaction
from sandbox.salesforce.token_api import TokenApi
from sandbox.wire import Answer, Call

Saved = Callable[[str, str], None]
"""Told the object and the id of each record that a transaction saved."""


class Org:
    """One Salesforce org."""

    name = "salesforce"
    operations: tuple[str, ...] = OPERATIONS
    fault_kinds: tuple[str, ...] = KINDS

    def __init__(self, clock: Clock, *, first_id: int, saved: Saved) -> None:
        self._clock = clock
        self._first_id = first_id
        self._saved = saved
        self._sessions = Sessions()
        self._seeded = Schema.from_seed(seed.load())
        self.reset()

    def reset(self) -> None:
        data = seed.load()
        numbers = Ids(self._first_id)
        self.organization: dict[str, Any] = data["organization"]
        self.settings = from_seed(data)
        self.schema = self._seeded.copy()
        self._people = People(data)
        self._automations = Automations(self.settings)
        store = Store(self.schema, self._committed)
        self._records = Records(self._clock, self.schema, self._people, self.settings, store=store, ids=numbers)
        self._events = RecordEvents(self.schema, self._records, numbers)
        self._naming = Naming(self.schema, self._records)
        self._tokens = TokenApi(str(self.organization["Id"]), self._people, self._sessions, self.settings)
        reader = Reader(self._records)
        objects = ObjectApi(self.schema, self._records, reader, self._people, self._user)
        row = {"CreatedDate": BORN, "LastModifiedDate": BORN, "SystemModstamp": BORN, **self.organization}
        self._routes = Routes(
            schema=self.schema,
            objects=objects,
            collections=CollectionsApi(self._records, reader, objects, self._naming),
            queries=QueryApi(self.schema, self._records, self._people, row, numbers),
            describes=DescribeApi(self.schema, objects),
            account=AccountApi(data["api"], self.settings),
            tokens=self._tokens,
            userinfo=self._userinfo,
        )

    def expire_sessions(self) -> None:
        self._sessions.expire()

    def current(self, kind: str, record: str) -> Mapping[str, Any] | None:
        """The values that a record has now; nothing of one that is deleted."""
        found = self._records.get(kind, record)
        return found.now.values if found and found.now.live else None

    def route(self, call: Call) -> Route:
        return self._routes.find(call)

    def authenticate(self, call: Call) -> Answer | None:
        if call.segments == TOKEN:
            return None
        if self._sessions.user(call.token, self.settings) is None:
            return invalid_session().answer()
        if call.segments[:1] == ("data",) and len(call.segments) > 1:
            if self.settings.daily_used >= self.settings.daily_limit:
                return limit_exceeded().answer()
            self.settings.daily_used += 1
        return None

    def named(self, call: Call) -> list[Named]:
        return self._naming.call(call)

    def refusal(self, fault: Fault) -> Answer:
        return refusal(fault)

    @contextmanager
    def unanswered(self, records: Iterable[str]) -> Iterator[None]:
        waiting = self._records.unanswered
        waiting.update(records)
        try:
            yield
        finally:
            waiting.difference_update(records)

    def dress(self, answer: Answer, operation: str | None) -> Answer:
        """Add the headers that every answer of Salesforce has."""
        answer.headers["date"] = formatdate(self._clock.now() / 1000, usegmt=True)
        if operation != "token.create":
            answer.headers["sforce-limit-info"] = f"api-usage={self.settings.daily_used}/{self.settings.daily_limit}"
        return answer

    def records(self, kind: str) -> list[dict[str, Any]]:
        return [witnessed(record) for record in self._records.all(self._kind(kind).name)]

    def put_record(self, kind: str, record: str | None, user: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        known, writing = self._kind(kind), self._person(user)
        with _explained():
            if record is None:
                return witnessed(self._records.create(known, fields, writing))
            return witnessed(self._records.update(known, self._live(known, record), fields, writing))

    def restore_record(self, kind: str, record: str, user: str) -> dict[str, Any]:
        known = self._kind(kind)
        found = self._records.get(known.name, ids.read(record) or "")
        if found is None or found.now.live:
            raise UnknownRecord(record)
        with _explained():
            return witnessed(self._records.undelete(known, found, self._person(user)))

    def archive_record(self, kind: str, record: str, user: str) -> None:
        known = self._kind(kind)
        self._records.delete(known, self._live(known, record), self._person(user))

    def merge_records(self, kind: str, winner: str, loser: str, user: str) -> dict[str, Any]:
        known = self._kind(kind)
        into, gone = self._live(known, winner), self._live(known, loser)
        if into is gone:
            raise Refused("a record is not merged with itself")
        return witnessed(self._events.merge(known, into, gone, self._person(user)))

    def convert_record(self, kind: str, record: str, user: str) -> dict[str, Any]:
        known = self._kind(kind)
        if known.name != LEAD:
            raise Refused("only leads are converted")
        lead = self._live(known, record)
        with _explained():
            if lead.now.values["IsConverted"]:
                raise converted()
            return witnessed(self._events.convert(lead, self._person(user)))

    def side_effects(self) -> list[dict[str, Any]]:
        return list(self._automations.fired)

    def _userinfo(self, call: Call, _: Influence) -> Answer:
        return self._tokens.userinfo(call, self._user(call))

    def _user(self, call: Call) -> str:
        """Whose session this is; it held when the request came in."""
        return self._sessions.user(call.token, self.settings) or self._people.integration_user

    def _kind(self, name: str) -> Object:
        known = self.schema.find(name) or self.schema.find(name.removesuffix("s"))
        if known is None or not known.writable:
            raise UnknownRecord(f"no object {name!r}")
        return known

    def _live(self, kind: Object, record: str) -> Record:
        found = self._records.get(kind.name, ids.read(record) or "")
        if found is None or not found.now.live:
            raise UnknownRecord(record)
        return found

    def _person(self, user: str) -> Writing:
        return Writing(self._people.named(user), source=UI)

    def _committed(self, transaction: Transaction) -> None:
        self._automations.react(transaction.created)
        for record in transaction.saved:
            self._saved(record.kind, record.id)


@contextmanager
def _explained() -> Iterator[None]:
    """What Salesforce refuses, as a person is told it."""
    try:
        yield
    except SalesforceError as error:
        raise Refused(error.answer().body) from error
