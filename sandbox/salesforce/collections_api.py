"""Collections of records over HTTP: 200 at once, and 200 also where rows fail."""

from typing import Any

from sandbox.provider import Influence
from sandbox.salesforce.errors import SalesforceError, not_found, unreadable
from sandbox.salesforce.naming import Naming
from sandbox.salesforce.object_api import ObjectApi
from sandbox.salesforce.reading import Reader, base_of
from sandbox.salesforce.record import Record
from sandbox.salesforce.records import Records
from sandbox.salesforce.schema import Field, Object
from sandbox.wire import Answer, Call

MAX_RECORDS = 200
ROLLED_BACK = "Record rolled back because not all records were valid and the request was using AllOrNone header"

Item = dict[str, Any]


class CollectionsApi:
    def __init__(self, records: Records, reader: Reader, objects: ObjectApi, naming: Naming) -> None:
        self._records = records
        self._reader = reader
        self._objects = objects
        self._naming = naming

    def upsert(self, call: Call, influence: Influence) -> Answer:
        kind = self._objects.writable(call)
        field = self._reader.finder(kind, call.segments[-1])
        items = _items(call, kind)
        failing = self._failing(kind, items, influence)
        rows: list[Item] = []
        written: list[Record] = []
        try:
            with self._records.transaction():
                for item in items:
                    try:
                        if item is failing:
                            raise _failed(influence)
                        record, created = self._upsert_one(kind, field, item, call, influence)
                    except SalesforceError as error:
                        rows.append({"success": False, "errors": error.in_row()})
                    else:
                        written.append(record)
                        rows.append({"id": record.id, "success": True, "errors": [], "created": created})
                if call.body.get("allOrNone") is True and len(written) < len(items):
                    raise _NoneAtAll
        except _NoneAtAll:
            rows = [row if not row["success"] else _rolled_back() for row in rows]
            written = []
        return Answer(200, rows, applied=bool(written), ids=tuple(record.id for record in written))

    def _upsert_one(
        self, kind: Object, field: Field, item: Item, call: Call, influence: Influence
    ) -> tuple[Record, bool]:
        fields = dict(item)
        key = next((name for name in fields if name.casefold() == field.name.casefold()), None)
        value = fields.pop(key, None) if key else None
        if not isinstance(value, str) or not value:
            raise SalesforceError(400, "MISSING_ARGUMENT", f"{field.name} not specified", [])
        record = self._reader.found(kind, field, value, base_of(call))
        writing = self._objects.writing(call, influence)
        if record is None:
            return self._records.create(kind, {**fields, field.name: value}, writing), True
        return self._records.update(kind, record, fields, writing), False

    def _failing(self, kind: Object, items: list[Item], influence: Influence) -> Item | None:
        fault = influence.failing
        if fault is None:
            return None
        return next((item for item in items if fault.meets(self._naming.item(kind, item).words)), None)


class _NoneAtAll(Exception):
    """A row failed and the request wants all or none."""


def _items(call: Call, kind: Object) -> list[Item]:
    items = call.body.get("records") if isinstance(call.body, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise unreadable("records are required")
    if not items or len(items) > MAX_RECORDS:
        message = f"record limit reached. cannot submit more than {MAX_RECORDS} records in this call"
        raise SalesforceError(400, "EXCEEDED_ID_LIMIT", message)
    for item in items:
        attributes = item.get("attributes")
        named = attributes.get("type") if isinstance(attributes, dict) else None
        if not isinstance(named, str) or named.casefold() != kind.name.casefold():
            raise not_found() if named else unreadable("attributes.type is required in each record")
    return items


def _failed(influence: Influence) -> SalesforceError:
    args = influence.failing.args if influence.failing else {}
    code, message = args.get("code", "UNABLE_TO_LOCK_ROW"), args.get("message", "unable to obtain exclusive access")
    return SalesforceError(400, code, message, args.get("fields", []))


def _rolled_back() -> Item:
    error = {"statusCode": "ALL_OR_NONE_OPERATION_ROLLED_BACK", "message": ROLLED_BACK, "fields": []}
    return {"success": False, "errors": [error]}
