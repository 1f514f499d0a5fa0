"""SOQL: the subset that the sandbox answers. What is outside of it is refused by name, and never passed over.

Selected are fields, fields of a parent (`Owner.Name`), the rows of a child relationship in parentheses, or `COUNT()`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from sandbox.salesforce.soql_columns import Column, Columns
from sandbox.salesforce.soql_errors import (
    Malformed,
    OutOfRange,
    SoqlError,
    UnknownField,
    UnknownObject,
    WrongOperator,
)
from sandbox.salesforce.soql_filters import Filters
from sandbox.salesforce.soql_parsing import parse
from sandbox.salesforce.soql_syntax import Comparison, Like, Name, Order, Query
from sandbox.salesforce.soql_tables import Children, Parent, Row, Tables, Value
from sandbox.salesforce.soql_values import MULTIPLE, Key, key

Record = dict[str, Any]
"""A row as it is answered: `attributes`, then what was selected, values as the tables have them."""

_Part = Callable[[Row], tuple[str, Any]]


def run(query: Query, tables: Tables) -> list[Record]:
    """The records that a query asks for, in order.

    `attributes` is `{"type", "url"}`, the address below that of the API's version (`/sobjects/Lead/00Q...`). A parent
    is a record inside its record, or null; the rows of a subquery are `{"totalSize", "done", "records"}`, or null
    where there are none. Where `query.counts`, the records are empty and their number is the answer.

    Raises:
        SoqlError: a field, an object or a comparison is not to be had; `code` is Salesforce's.
    """
    columns = Columns(tables, query.source, query.text)
    asked = _Asked(query, tables, columns)
    return [asked.record(row) for row in asked.chosen(tables.rows(columns.object_name))]


class _Asked:
    """A query that has been held against the object it is asked of."""

    def __init__(self, query: Query, tables: Tables, columns: Columns) -> None:
        self._query = query
        self._columns = columns
        self._passes = Filters(columns, query.text).passes(query.where) if query.where else None
        self._orders = [(_sortable(columns.column(order.field), order, query), order) for order in query.order]
        self._parts = [_part(choice, query, tables, columns) for choice in query.selected]

    def chosen(self, rows: Iterable[Row]) -> list[Row]:
        found = [row for row in rows if self._passes is None or self._passes(row)]
        for column, order in reversed(self._orders):
            found = _sorted(found, column, order)
        skipped = self._query.offset
        return found[skipped:] if self._query.limit is None else found[skipped : skipped + self._query.limit]

    def record(self, row: Row) -> Record:
        if self._query.counts:
            return {}
        record: Record = {"attributes": _attributes(self._columns.object_name, row)}
        for part in self._parts:
            name, value = part(row)
            known = record.get(name)
            record[name] = known | value if isinstance(known, dict) and isinstance(value, dict) else value
        return record


def _part(choice: Name | Query, query: Query, tables: Tables, columns: Columns) -> _Part:
    if isinstance(choice, Query):
        return _subquery(choice, tables, columns.children(choice.source), query.text)
    column = columns.column(choice)
    parent = column.parent
    return _parent(parent) if parent else lambda row: (column.name, column.read(row))


def _parent(parent: Parent) -> _Part:
    def shown(row: Row) -> tuple[str, Any]:
        found = parent.of(row)
        if found is None:
            return parent.relationship, None
        object_name, other = found
        return parent.relationship, {
            "attributes": _attributes(object_name, other),
            parent.field: other.get(parent.field),
        }

    return shown


def _subquery(query: Query, tables: Tables, children: Children, text: str) -> _Part:
    columns = Columns(tables, Name(children.object_name, query.source.at), text)
    asked = _Asked(query, tables, columns)
    families: dict[Key, list[Row]] = defaultdict(list)
    for row in tables.rows(children.object_name):
        families[key("id", row.get(children.field))].append(row)

    def shown(row: Row) -> tuple[str, Any]:
        rows = asked.chosen(families.get(key("id", row.get("Id")), ()))
        records = [asked.record(child) for child in rows]
        answer = {"totalSize": len(records), "done": True, "records": records}
        return children.relationship, answer if records else None

    return shown


def _attributes(object_name: str, row: Row) -> dict[str, str]:
    return {"type": object_name, "url": f"/sobjects/{object_name}/{row.get('Id', '')}"}


def _sortable(column: Column, order: Order, query: Query) -> Column:
    if column.kind == MULTIPLE:
        raise Malformed(f"field '{column.name}' can not be sorted in a query call", query.text, order.field.at)
    return column


def _sorted(rows: list[Row], column: Column, order: Order) -> list[Row]:
    def of(row: Row) -> Key:
        return key(column.kind, column.read(row))

    nulls = [row for row in rows if of(row) is None]
    others = sorted((row for row in rows if of(row) is not None), key=of, reverse=order.descending)  # type: ignore[arg-type]
    return others + nulls if order.nulls_last else nulls + others


__all__ = [
    "Children",
    "Comparison",
    "Like",
    "Malformed",
    "OutOfRange",
    "Parent",
    "Query",
    "Record",
    "Row",
    "SoqlError",
    "Tables",
    "UnknownField",
    "UnknownObject",
    "Value",
    "WrongOperator",
    "parse",
    "run",
]
