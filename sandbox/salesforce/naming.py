"""Which records a request means, and every word by which a fault may be tied to it."""

import re
from collections.abc import Mapping
from typing import Any

from sandbox.provider import Named
from sandbox.salesforce import ids
from sandbox.salesforce.records import Records
from sandbox.salesforce.schema import Object, Schema
from sandbox.wire import Call

LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class Naming:
    def __init__(self, schema: Schema, records: Records) -> None:
        self._schema = schema
        self._records = records

    def call(self, call: Call) -> list[Named]:
        """One entry per record of a collection, in order; one for any other request."""
        path = call.segments[2:]
        if path[:1] in {("query",), ("queryAll",)}:
            return [Named(None, _with_both_cases(_literals(call.one("q") or "")))]
        body = call.body if isinstance(call.body, dict) else {}
        kind = self._kind(path)
        if kind is None:
            return [Named(None, _with_both_cases(_values(body)))]
        if path[0] == "composite":
            items = body.get("records")
            listed = items if isinstance(items, list) else []
            return [self.item(kind, item) for item in listed if isinstance(item, dict)]
        if len(path) == 4:
            return [self.item(kind, {**body, path[2]: path[3]})]
        return [self.item(kind, {**body, "Id": path[2]} if len(path) == 3 else body)]

    def item(self, kind: Object, fields: Mapping[str, Any]) -> Named:
        words = _values(fields)
        record = self._meant(kind, fields)
        if record:
            words |= {record, record[:15]}
        return Named(record, _with_both_cases(words))

    def _kind(self, path: tuple[str, ...]) -> Object | None:
        """The object of `sobjects/Lead/...` and of `composite/sobjects/Lead/...`."""
        below = path[1:] if path[:1] == ("composite",) else path
        kind = self._schema.find(below[1]) if len(below) > 1 and below[0] == "sobjects" else None
        return kind if kind and kind.writable else None

    def _meant(self, kind: Object, fields: Mapping[str, Any]) -> str | None:
        named = ids.read(str(fields.get("Id", "")))
        if named:
            found = self._records.get(kind.name, named)
            return found.id if found else None
        unique_first = sorted(kind.fields.values(), key=lambda field: not field.unique)
        for field in unique_first:
            value = next((str(fields[name]) for name in fields if name.casefold() == field.name.casefold()), "")
            holders = self._records.by_value(kind, field, value) if field.finds_records and value else []
            if holders:
                return holders[0].id
        return None


def _values(fields: Mapping[str, Any]) -> set[str]:
    return {str(value) for name, value in fields.items() if name != "attributes" and value is not None}


def _literals(query: str) -> set[str]:
    return {ESCAPE.sub(r"\1", found) for found in LITERAL.findall(query)}


def _with_both_cases(words: set[str]) -> frozenset[str]:
    longer = {whole for word in words if (whole := ids.read(word))}
    return frozenset({*words, *(word.lower() for word in words), *longer, *(word[:15] for word in longer)})
