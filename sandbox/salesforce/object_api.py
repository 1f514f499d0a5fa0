"""Single records over HTTP."""

from collections.abc import Callable
from typing import Any

from sandbox.provider import Influence
from sandbox.salesforce.drafts import Writing
from sandbox.salesforce.errors import SalesforceError, not_found, unreadable
from sandbox.salesforce.people import People
from sandbox.salesforce.reading import Reader, Row, base_of, refuse_if_modified, show
from sandbox.salesforce.record import Record
from sandbox.salesforce.records import Records
from sandbox.salesforce.schema import Object, Schema
from sandbox.wire import Answer, Call

ANSWERED_UPSERTS = 46
"""Since this version an upsert that updates answers with a body."""


class ObjectApi:
    """Args:
    user: whose session a request comes in.
    """

    def __init__(
        self, schema: Schema, records: Records, reader: Reader, people: People, user: Callable[[Call], str]
    ) -> None:
        self._schema = schema
        self._records = records
        self._reader = reader
        self._people = people
        self._user = user

    def read(self, call: Call, influence: Influence) -> Answer:
        kind, key, names = self.kind(call), call.segments[-1], call.many("fields")
        if not kind.writable:
            return Answer(200, show(kind, self._person(kind, key), names, base_of(call)))
        state = self._reader.shown(kind, key, stale=influence.stale)
        refuse_if_modified(call, state)
        return Answer(200, show(kind, state.values, names, base_of(call)))

    def read_by_value(self, call: Call, influence: Influence) -> Answer:
        kind, base, value = self.kind(call), base_of(call), call.segments[-1]
        if not kind.writable:
            raise not_found()
        field = self._reader.finder(kind, call.segments[-2])
        state = self._reader.found_state(kind, field, value, base, stale=influence.stale)
        refuse_if_modified(call, state)
        return Answer(200, show(kind, state.values, call.many("fields"), base))

    def create(self, call: Call, influence: Influence) -> Answer:
        kind = self.writable(call)
        record = self._records.create(kind, fields_of(call.body), self.writing(call, influence))
        return _created(record, {})

    def update(self, call: Call, influence: Influence) -> Answer:
        kind, fields = self.writable(call), fields_of(call.body)
        record = self._reader.living(kind, call.segments[-1])
        _refuse_key(fields, "Id")
        refuse_if_modified(call, record.now)
        self._records.update(kind, record, fields, self.writing(call, influence))
        return Answer(204, applied=True, ids=(record.id,))

    def upsert(self, call: Call, influence: Influence) -> Answer:
        kind, fields = self.writable(call), fields_of(call.body)
        field = self._reader.finder(kind, call.segments[-2])
        _refuse_key(fields, field.name)
        _refuse_key(fields, "Id")
        record = self._reader.found(kind, field, call.segments[-1], base_of(call))
        writing = self.writing(call, influence)
        if record is None:
            if call.flag("updateOnly"):
                raise not_found()
            record = self._records.create(kind, {**fields, field.name: call.segments[-1]}, writing)
            return _created(record, {"created": True})
        self._records.refuse_unanswered(record)
        refuse_if_modified(call, record.now)
        self._records.update(kind, record, fields, writing)
        if float(call.segments[1].removeprefix("v")) < ANSWERED_UPSERTS:
            return Answer(204, applied=True, ids=(record.id,))
        body = {"id": record.id, "success": True, "errors": [], "created": False}
        return Answer(200, body, applied=True, ids=(record.id,))

    def delete(self, call: Call, influence: Influence) -> Answer:
        kind = self.writable(call)
        if "if-unmodified-since" in call.headers:
            raise SalesforceError(400, "INVALID_HEADER", "If-Unmodified-Since is not supported for DELETE")
        record = self._reader.living(kind, call.segments[-1])
        self._records.delete(kind, record, self.writing(call, influence))
        return Answer(204, applied=True, ids=(record.id,))

    def kind(self, call: Call) -> Object:
        kind = self._schema.find(call.segments[call.segments.index("sobjects") + 1])
        if kind is None or kind.prefix is None:
            raise not_found()
        return kind

    def writable(self, call: Call) -> Object:
        kind = self.kind(call)
        if not kind.writable:
            message = f"entity type {kind.name} does not support insert or update here"
            raise SalesforceError(400, "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", message, [])
        return kind

    def writing(self, call: Call, influence: Influence) -> Writing:
        """How a request writes, as its headers say."""
        rule = call.headers.get("sforce-duplicate-rule-header", "").lower().replace(" ", "")
        return Writing(
            self._user(call),
            assigns=call.headers.get("sforce-auto-assign", "true").strip().lower() != "false",
            saves_duplicates="allowsave=true" in rule.split(";"),
            rewrite=influence.rewrite,
        )

    def _person(self, kind: Object, key: str) -> Row:
        known = {"User": self._people.users, "Group": self._people.queues}.get(kind.name, {})
        row = known.get(self._reader.record_id(kind, key))
        if row is None:
            raise not_found()
        return row


def fields_of(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise unreadable("The HTTP entity body is required, but this request has no entity body or none that is read.")
    return dict(body)


def _refuse_key(fields: dict[str, Any], name: str) -> None:
    if any(each.casefold() == name.casefold() for each in fields):
        message = f"The {name} field should not be specified in the sobject data."
        raise SalesforceError(400, "INVALID_FIELD", message, [name])


def _created(record: Record, more: dict[str, bool]) -> Answer:
    body = {"id": record.id, "success": True, "errors": [], **more}
    return Answer(201, body, applied=True, ids=(record.id,))
