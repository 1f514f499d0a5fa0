"""What can be done to leads and contacts, by an application, a person or automation."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from sandbox.clock import Clock
from sandbox.salesforce import addresses, duplicates
from sandbox.salesforce.drafts import ASSIGNMENT_RULE, FLOW, OWNER, Draft, Writing
from sandbox.salesforce.errors import (
    SalesforceError,
    converted,
    duplicate_value,
    no_such_column,
    not_writable,
    required_missing,
    together,
)
from sandbox.salesforce.ids import Ids
from sandbox.salesforce.people import People
from sandbox.salesforce.record import MERGED_INTO, Record, State
from sandbox.salesforce.schema import LEAD, Field, Object, Schema
from sandbox.salesforce.settings import Settings
from sandbox.salesforce.store import Store, Transaction
from sandbox.salesforce.values import Value, as_reference, normalise


class Records:
    """The leads and contacts of an org, with Salesforce's rules for values, uniqueness, owners and history."""

    def __init__(
        self, clock: Clock, schema: Schema, people: People, settings: Settings, *, store: Store, ids: Ids
    ) -> None:
        self._clock = clock
        self._schema = schema
        self._people = people
        self._settings = settings
        self._store = store
        self._ids = ids
        self._prefixes = {kind.name: str(kind.prefix) for kind in schema} | {"Account": "001", "Opportunity": "006"}
        self.accounts: set[str] = set()
        self.unanswered: set[str] = set()

    def transaction(self) -> AbstractContextManager[Transaction]:
        return self._store.transaction()

    def all(self, kind: str) -> Iterator[Record]:
        return self._store.all(kind)

    def get(self, kind: str, record: str) -> Record | None:
        return self._store.get(kind, record)

    def by_value(self, kind: Object, field: Field, value: str) -> list[Record]:
        """The live records that have this value in a field that finds records."""
        wanted = field.matches(value)
        return [
            record
            for record in self._store.ever_had(kind.name, field.name, value)
            if record.now.live and field.matches(str(record.now.values[field.name])) == wanted
        ]

    def ever_had(self, kind: str, name: str, value: str) -> list[Record]:
        return self._store.ever_had(kind, name, value)

    def refuse_unanswered(self, record: Record) -> None:
        """Refuse to write to a record that another request is still making."""
        if record.id in self.unanswered and record.before is None:
            raise duplicate_value()

    def create(self, kind: Object, fields: Mapping[str, Any], writing: Writing) -> Record:
        accepted = self._accepted(kind, fields)
        at, record = self._clock.write_time(), self._ids.new(str(kind.prefix))
        state = State(at, {name: _default(field) for name, field in kind.fields.items()} | {"Id": record})
        draft = self._draft(kind, state, writing)
        draft.put(OWNER, writing.user)
        self._fill(draft, accepted, writing)
        draft.seal(creating=True)
        self._refuse(kind, record, state, writing, duplicate=True)
        draft.note_creation()
        self._assign(draft, writing)
        made = Record(record, kind.name, at, [state])
        with self._store.transaction():
            self._store.add(made)
        return made

    def update(self, kind: Object, record: Record, fields: Mapping[str, Any], writing: Writing) -> Record:
        if record.now.values.get("IsConverted") and not self._settings.edit_converted_leads:
            raise converted()
        accepted = self._accepted(kind, fields)
        state = record.now.next(self._clock.write_time())
        draft = self._draft(kind, state, writing)
        self._fill(draft, accepted, writing)
        draft.seal(creating=False)
        another = state.values.get("Email") != record.now.values.get("Email")
        self._refuse(kind, record.id, state, writing, duplicate=another)
        draft.note_changes()
        self._assign(draft, writing)
        return self.become(record, state)

    def delete(self, kind: Object, record: Record, writing: Writing, master: str | None = None) -> Record:
        """Move to the recycle bin; `master` is the record that it was merged into."""
        state = record.now.next(self._clock.write_time())
        draft = self._draft(kind, state, writing)
        draft.put("IsDeleted", True)
        draft.put(MERGED_INTO, master)
        draft.seal(creating=False)
        return self.become(record, state)

    def undelete(self, kind: Object, record: Record, writing: Writing) -> Record:
        state = record.now.next(self._clock.write_time())
        draft = self._draft(kind, state, writing)
        draft.put("IsDeleted", False)
        draft.put(MERGED_INTO, None)
        draft.seal(creating=False)
        self._refuse(kind, record.id, state, writing, duplicate=False)
        return self.become(record, state)

    def revise(self, kind: Object, record: Record, writing: Writing) -> Draft:
        """A draft for what only the org itself does, such as a conversion; `become` ends it."""
        return self._draft(kind, record.now.next(self._clock.write_time()), writing)

    def become(self, record: Record, state: State) -> Record:
        with self._store.transaction():
            self._store.become(record, state)
        return record

    def _draft(self, kind: Object, state: State, writing: Writing) -> Draft:
        return Draft(kind, state, writing, self._people, self._ids)

    def _fill(self, draft: Draft, accepted: Mapping[str, Value], writing: Writing) -> None:
        written = set(accepted)
        for name, value in accepted.items():
            draft.put(name, value)
        flow = writing.rewrite
        if flow and flow.meets(_words(draft.values.values())):
            rewritten = self._accepted(draft.kind, flow.args["fields"])
            written |= set(rewritten)
            for name, value in rewritten.items():
                draft.put(name, value, FLOW)
        addresses.settle(draft.values, written, draft.kind)

    def _assign(self, draft: Draft, writing: Writing) -> None:
        if writing.assigns and self._settings.assignment_rule and draft.kind.name == LEAD:
            draft.put(OWNER, self._settings.default_owner, ASSIGNMENT_RULE)
            draft.note_changes("ownerAssignment")

    def _accepted(self, kind: Object, fields: Mapping[str, Any]) -> dict[str, Value]:
        asked = {name: raw for name, raw in fields.items() if name != "attributes"}
        known = {name: kind.field(name) for name in asked}
        unknown = [name for name, field in known.items() if field is None]
        if unknown:
            raise no_such_column(unknown[0], kind.name)
        read_only = [field.name for field in known.values() if field and field.read_only]
        if read_only:
            raise not_writable(read_only)
        accepted: dict[str, Value] = {}
        problems: list[SalesforceError] = []
        for name, field in known.items():
            if field is None:
                continue
            try:
                accepted[field.name] = self._value(kind, field, asked[name])
            except SalesforceError as problem:
                problems.append(problem)
        if problems:
            raise together(problems)
        return accepted

    def _value(self, kind: Object, field: Field, raw: Any) -> Value:
        if field.type != "reference":
            return normalise(field, raw)
        value = as_reference(field, raw, self._prefixes) if raw is not None else None
        if field.name == OWNER:
            if value is None:
                message = "Owner ID: owner cannot be blank"
                raise SalesforceError(400, "INVALID_CROSS_REFERENCE_KEY", message, [OWNER])
            self._people.check_owner(value, kind.name)
        elif value is not None and value not in self.accounts:
            raise SalesforceError(400, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", [])
        return value

    def _refuse(self, kind: Object, record: str, state: State, writing: Writing, *, duplicate: bool) -> None:
        """Whatever keeps a finished draft from being saved."""
        missing = [name for name, field in kind.fields.items() if field.required and state.values.get(name) is None]
        if missing:
            raise required_missing(missing)
        if duplicate:
            duplicates.refuse(self._store, self._settings, kind=kind, record=record, state=state, writing=writing)
        clash = self._store.clash(record, kind.name, state)
        if clash:
            name, holder = clash
            other = self._store.get(kind.name, holder)
            if other:
                self.refuse_unanswered(other)
            raise duplicate_value(name, holder)


def _default(field: Field) -> Value:
    return False if field.type == "boolean" else field.default


def _words(values: Iterable[Value]) -> frozenset[str]:
    words = {str(value) for value in values if value is not None}
    return frozenset(words | {word.lower() for word in words})
