"""Queries over HTTP, and the pages of their answers."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sandbox.provider import Influence
from sandbox.salesforce import ids, soql
from sandbox.salesforce.errors import SalesforceError
from sandbox.salesforce.ids import Ids
from sandbox.salesforce.people import People
from sandbox.salesforce.reading import base_of
from sandbox.salesforce.record import Record
from sandbox.salesforce.records import Records
from sandbox.salesforce.schema import Schema
from sandbox.salesforce.soql_syntax import AllOf, Among, AnyOf, Comparison, Condition, Literal
from sandbox.salesforce.tables import OrgTables
from sandbox.salesforce.values import json_value
from sandbox.wire import Answer, Call

PAGE = 2000
SMALLEST_PAGE = 200
BATCH_SIZE = re.compile(r"batchsize\s*=\s*(\d+)", re.IGNORECASE)

Found = list[dict[str, Any]]


class QueryApi:
    def __init__(
        self, schema: Schema, records: Records, people: People, organization: Mapping[str, Any], numbers: Ids
    ) -> None:
        self._schema = schema
        self._records = records
        self._people = people
        self._organization = organization
        self._numbers = numbers
        self._cursors: dict[str, tuple[Found, str]] = {}

    def query(self, call: Call, influence: Influence) -> Answer:
        return self._answer(call, influence, deleted=False)

    def query_all(self, call: Call, influence: Influence) -> Answer:
        return self._answer(call, influence, deleted=True)

    def more(self, call: Call, _: Influence) -> Answer:
        cursor, _dash, start = call.segments[-1].rpartition("-")
        if cursor not in self._cursors or not start.isdigit():
            raise SalesforceError(400, "INVALID_QUERY_LOCATOR", "invalid query locator")
        found = self._cursors[cursor][0]
        return Answer(200, self._page(call, found, int(start), cursor))

    def source(self, call: Call) -> str:
        """The object that a request selects from; nothing where it is no query."""
        if len(call.segments) > 3:
            return self._cursors.get(call.segments[-1].rpartition("-")[0], ([], ""))[1]
        try:
            asked = soql.parse(call.one("q") or "").source.text
        except soql.SoqlError:
            return ""
        found = self._schema.find(asked)
        return found.name if found else ""

    def _answer(self, call: Call, influence: Influence, *, deleted: bool) -> Answer:
        try:
            query = soql.parse(call.one("q") or "")
            tables = OrgTables(
                self._schema,
                self._records,
                self._people,
                self._organization,
                self._candidates(query),
                deleted=deleted,
                stale=influence.stale,
            )
            found = soql.run(query, tables)
        except soql.SoqlError as error:
            raise SalesforceError(400, error.code, error.message) from error
        if query.counts:
            return Answer(200, {"totalSize": len(found), "done": True, "records": []})
        cursor = self._numbers.new("01g")
        shown = [_shown(record, base_of(call)) for record in found]
        if len(shown) > _page_size(call):
            self._cursors[cursor] = shown, query.source.text
        return Answer(200, self._page(call, shown, 0, cursor))

    def _page(self, call: Call, found: Found, start: int, cursor: str) -> dict[str, Any]:
        end = start + _page_size(call)
        page: dict[str, Any] = {"totalSize": len(found), "done": end >= len(found)}
        if end < len(found):
            page["nextRecordsUrl"] = f"{base_of(call)}/query/{cursor}-{end}"
        return {**page, "records": found[start:end]}

    def _candidates(self, query: soql.Query) -> Callable[[str], Iterable[Record]]:
        """All records, or those that the query can find by an id or a value that names records."""
        kind = self._schema.find(query.source.text)
        pinned = self._pinned(kind.name, query.where) if kind and kind.writable and query.where else None
        return self._records.all if pinned is None else lambda _: pinned

    def _pinned(self, kind: str, condition: Condition) -> list[Record] | None:
        if isinstance(condition, AllOf):
            return next((found for part in condition.parts if (found := self._pinned(kind, part)) is not None), None)
        if isinstance(condition, AnyOf):
            return self._united([self._pinned(kind, part) for part in condition.parts])
        if isinstance(condition, Comparison) and condition.operator == "=":
            return self._having(kind, condition.field.text, condition.literal)
        if isinstance(condition, Among) and not condition.negated:
            return self._united([self._having(kind, condition.field.text, each) for each in condition.literals])
        return None

    def _having(self, kind: str, name: str, literal: Literal) -> list[Record] | None:
        field = self._schema[kind].field(name)
        if field is None or literal.kind != "string" or not literal.value:  # empty text is null
            return None
        if field.type == "id":
            record = self._records.get(kind, ids.read(str(literal.value)) or "")
            return [record] if record else []
        return self._records.ever_had(kind, field.name, str(literal.value)) if field.finds_records else None

    def _united(self, parts: list[list[Record] | None]) -> list[Record] | None:
        every = {record.id: record for part in parts if part for record in part}
        return None if None in parts else [every[each] for each in sorted(every)]


def _page_size(call: Call) -> int:
    asked = BATCH_SIZE.search(call.headers.get("sforce-query-options", ""))
    return min(max(int(asked[1]), SMALLEST_PAGE), PAGE) if asked else PAGE


def _shown(value: Any, base: str) -> Any:
    """A record as an answer shows it, whatever is inside of it too."""
    if isinstance(value, dict):
        shown = {name: _shown(each, base) for name, each in value.items()}
        if "attributes" in value:
            shown["attributes"] = {**value["attributes"], "url": f"{base}{value['attributes']['url']}"}
        return shown
    return [_shown(each, base) for each in value] if isinstance(value, list) else json_value(value)
