"""Batches of contacts over HTTP."""

from collections.abc import Callable
from typing import Any

from sandbox.clock import Clock, rfc3339
from sandbox.hubspot.contact import Contact
from sandbox.hubspot.contacts import Contacts
from sandbox.hubspot.errors import HubSpotError, invalid_input, no_unique_property, some_not_found
from sandbox.hubspot.naming import Naming
from sandbox.hubspot.object_api import properties_of
from sandbox.hubspot.reading import Reader
from sandbox.hubspot.shapes import shown
from sandbox.hubspot.source import Source
from sandbox.provider import Influence
from sandbox.wire import Answer, Call

MAX_INPUTS = 100

Item = dict[str, Any]
WriteOne = Callable[[Item, Influence], tuple[Contact, Item]]


class BatchApi:
    def __init__(self, contacts: Contacts, reader: Reader, naming: Naming, source: Source, clock: Clock) -> None:
        self._contacts = contacts
        self._reader = reader
        self._naming = naming
        self._source = source
        self._clock = clock

    def read(self, call: Call, influence: Influence) -> Answer:
        body = call.body if isinstance(call.body, dict) else {}
        rows, missing = [], []
        for item in inputs_of(call):
            key = str(item.get("id", ""))
            found = self._reader.by_key(
                key,
                body.get("idProperty"),
                archived=call.flag("archived"),
                stale=influence.stale,
                merged=False,
            )
            if found is None:
                missing.append(key)
            else:
                history = [str(name) for name in body.get("propertiesWithHistory") or ()]
                rows.append(self._reader.show(found, [str(name) for name in body.get("properties") or ()], history))
        return self._answer(200, rows, [some_not_found(missing)] if missing else [], failed=len(missing))

    def create(self, call: Call, influence: Influence) -> Answer:
        return self._write(call, influence, self._create_one, 201)

    def update(self, call: Call, influence: Influence) -> Answer:
        return self._write(call, influence, self._update_one, 200)

    def upsert(self, call: Call, influence: Influence) -> Answer:
        return self._write(call, influence, self._upsert_one, 200)

    def archive(self, call: Call, _: Influence) -> Answer:
        with self._contacts.transaction():
            contacts = [self._contacts.get(str(item.get("id", ""))) for item in inputs_of(call)]
            live = [contact for contact in contacts if contact and contact.now.live]
            for contact in live:
                self._contacts.archive(contact, self._source)
        return Answer(204, applied=bool(live), ids=tuple(contact.id for contact in live))

    def _write(self, call: Call, influence: Influence, write_one: WriteOne, status: int) -> Answer:
        items = inputs_of(call)
        _refuse_repeated(items)
        partial = influence.failing is not None or any("objectWriteTraceId" in item for item in items)
        failing = self._failing(items, influence)
        rows, errors, ids = [], [], []
        with self._contacts.transaction():
            for item in items:
                trace_id = item.get("objectWriteTraceId")
                try:
                    if item is failing:
                        raise _failed(influence)
                    contact, row = write_one(item, influence)
                except HubSpotError as error:
                    if not partial:
                        raise
                    errors.append(error.standard(trace_id))
                else:
                    if trace_id is not None:
                        row["objectWriteTraceId"] = trace_id
                    rows.append(row)
                    ids.append(contact.id)
        answer = self._answer(status, rows, errors, failed=len(errors))
        answer.applied = bool(rows)
        answer.ids = tuple(ids)
        return answer

    def _create_one(self, item: Item, influence: Influence) -> tuple[Contact, Item]:
        fields = properties_of(item)
        contact = self._contacts.create(fields, self._source, influence)
        return contact, shown(contact, contact.now, fields)

    def _update_one(self, item: Item, influence: Influence) -> tuple[Contact, Item]:
        fields = properties_of(item)
        key, id_property = str(item.get("id", "")), item.get("idProperty")
        if id_property == "email":
            raise no_unique_property("email")
        contact = self._contacts.living(key, id_property)
        if not id_property and contact.id != key:
            raise some_missing(key)
        self._contacts.update(contact, fields, self._source, influence)
        return contact, shown(contact, contact.now, fields)

    def _upsert_one(self, item: Item, influence: Influence) -> tuple[Contact, Item]:
        fields = properties_of(item)
        key, id_property = str(item.get("id", "")), item.get("idProperty")
        if not id_property:
            contact: Contact | None = self._contacts.living(key)
        else:
            contact = self._contacts.find(key, id_property)
            fields.setdefault(id_property, key)
        new = contact is None
        if contact is None:
            contact = self._contacts.create(fields, self._source, influence)
        else:
            if id_property == "email" and fields["email"] == key:
                del fields["email"]
            self._contacts.update(contact, fields, self._source, influence)
        names = [*fields, id_property] if id_property else list(fields)
        return contact, {**shown(contact, contact.now, names), "new": new}

    def _failing(self, items: list[Item], influence: Influence) -> Item | None:
        fault = influence.failing
        if fault is None:
            return None
        return next(item for item in items if fault.meets(self._naming.item(item).words))

    def _answer(self, status: int, rows: list[Item], errors: list[Item], *, failed: int) -> Answer:
        now = rfc3339(self._clock.now())
        body: Item = {"status": "COMPLETE", "results": rows[::-1], "startedAt": now, "completedAt": now}
        if errors:
            body |= {"numErrors": failed, "errors": errors}
        return Answer(207 if errors else status, body)


def inputs_of(call: Call) -> list[Item]:
    inputs = call.body.get("inputs") if isinstance(call.body, dict) else None
    if not isinstance(inputs, list) or not all(isinstance(item, dict) for item in inputs):
        raise invalid_input("Invalid input JSON: inputs are required")
    if not inputs or len(inputs) > MAX_INPUTS:
        raise invalid_input(f"The number of inputs must be between 1 and {MAX_INPUTS}")
    return inputs


def some_missing(key: str) -> HubSpotError:
    return HubSpotError(
        404, f"Could not get some contacts, they may be deleted or not exist: {key}", "OBJECT_NOT_FOUND"
    )


def _refuse_repeated(items: list[Item]) -> None:
    ids = [str(item["id"]) for item in items if "id" in item]
    repeated = sorted({key for key in ids if ids.count(key) > 1})
    if repeated:
        raise invalid_input(f"Duplicate IDs found in batch input: {repeated}. IDs must be unique")


def _failed(influence: Influence) -> HubSpotError:
    args = influence.failing.args if influence.failing else {}
    message = args.get("message", "internal error")
    return HubSpotError(500, message, args.get("category", "INTERNAL_ERROR"))
