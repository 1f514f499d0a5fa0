"""How records are named by a request, looked up and shown, fresh or stale."""

from typing import Any

from sandbox.salesforce import ids, times
from sandbox.salesforce.errors import (
    PreconditionFailed,
    SalesforceError,
    Several,
    deleted,
    malformed_id,
    no_such_external_id,
    no_such_record,
    not_found,
)
from sandbox.salesforce.record import Record, State
from sandbox.salesforce.records import Records
from sandbox.salesforce.schema import Field, Object
from sandbox.salesforce.values import Value, json_value
from sandbox.wire import Call

Row = dict[str, Value]


class Reader:
    def __init__(self, records: Records) -> None:
        self._records = records

    def record_id(self, kind: Object, text: str) -> str:
        """The id that a path names.

        Raises:
            SalesforceError: it is no id, or one of another object.
        """
        whole = ids.read(text)
        if whole and whole.startswith(str(kind.prefix)):
            return whole
        raise malformed_id(text) if ids.looks_like_id(text) else no_such_external_id(text)

    def living(self, kind: Object, text: str) -> Record:
        """The record to write, by id."""
        record = self._records.get(kind.name, self.record_id(kind, text))
        if record is None:
            raise no_such_record()
        if not record.now.live:
            raise deleted()
        return record

    def shown(self, kind: Object, text: str, *, stale: bool) -> State:
        """The state to show, by id."""
        record = self._records.get(kind.name, self.record_id(kind, text))
        state = (record.before if stale else record.now) if record else None
        if state is None:
            raise not_found()
        if not state.live:
            raise deleted()
        return state

    def finder(self, kind: Object, name: str) -> Field:
        field = kind.field(name)
        if field is None or not field.finds_records:
            raise no_such_external_id(name)
        return field

    def found(self, kind: Object, field: Field, value: str, base: str) -> Record | None:
        """The record to write, by a value that names records."""
        found = self._records.by_value(kind, field, value)
        if len(found) > 1:
            raise several(kind, field, found, base)
        return found[0] if found else None

    def found_state(self, kind: Object, field: Field, value: str, base: str, *, stale: bool) -> State:
        if not stale:
            record = self.found(kind, field, value, base)
            if record is None:
                raise not_found()
            return record.now
        wanted = field.matches(value)
        for record in self._records.ever_had(kind.name, field.name, value):
            state = record.before
            if state and state.live and field.matches(str(state.values.get(field.name) or "")) == wanted:
                return state
        raise not_found()


def several(kind: Object, field: Field, found: list[Record], base: str) -> Several:
    return Several(field.name, [one.id for one in found], [f"{base}/sobjects/{kind.name}/{one.id}" for one in found])


def show(kind: Object, values: Row, names: list[str], base: str) -> dict[str, Any]:
    """One record as an answer shows it: every field, or those that were asked for."""
    fields = [_known(kind, name) for name in names] if names else list(kind.fields.values())
    shown: dict[str, Any] = {
        "attributes": {"type": kind.name, "url": f"{base}/sobjects/{kind.name}/{values['Id']}"},
    }
    shown |= {field.name: json_value(values.get(field.name)) for field in fields}
    return {**shown, "Id": values["Id"]}


def _known(kind: Object, name: str) -> Field:
    field = kind.field(name)
    if field is None:
        raise SalesforceError(400, "INVALID_FIELD", f"No such column '{name}' on entity '{kind.name}'")
    return field


def refuse_if_modified(call: Call, state: State) -> None:
    """Hold a record against the request's `If-Unmodified-Since`."""
    header = call.headers.get("if-unmodified-since")
    if header is None:
        return
    since = times.from_header(header)
    if since is None:
        raise SalesforceError(400, "INVALID_HEADER", "Invalid value for header If-Unmodified-Since")
    if times.moment(state.at) > since:
        raise PreconditionFailed()


def base_of(call: Call) -> str:
    """`/services/data/v62.0`, as the request said it."""
    return f"/services/data/{call.segments[1]}"
