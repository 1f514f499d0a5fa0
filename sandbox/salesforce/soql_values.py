"""How values of a field compare, by the field's type."""

from datetime import date, datetime

from sandbox.salesforce.soql_ids import whole
from sandbox.salesforce.soql_literals import day
from sandbox.salesforce.soql_syntax import Kind
from sandbox.salesforce.soql_tables import Value

Key = str | float | datetime | date | frozenset[str] | None
"""What two equal values have in common, and what orders them."""

IDS = frozenset(("id", "reference"))
NUMBERS = frozenset(("double", "int", "long", "currency", "percent"))
MULTIPLE = "multipicklist"
UNORDERED = frozenset((MULTIPLE, "boolean"))


def wanted(kind: str) -> tuple[Kind, str]:
    """The kind of literal that a type is compared with, and what Salesforce calls it."""
    if kind == "boolean":
        return "boolean", "boolean"
    if kind in NUMBERS:
        return "number", "int" if kind in {"int", "long"} else "double"
    if kind == "datetime":
        return "datetime", "dateTime"
    if kind == "date":
        return "date", "date"
    return "string", "string"


def key(kind: str, value: Value) -> Key:
    """Text compares without case, but for the fields in which case counts; ids by their 15 characters.

    Empty text is null, and of a boolean null is false.

    Raises:
        MalformedId: a value of an id field is no id.
    """
    if value is None or value == "":
        return 0.0 if kind == "boolean" else None
    if isinstance(value, str):
        return _text(kind, value)
    if isinstance(value, bool):
        return float(value)
    return float(value) if isinstance(value, int) else value


def _text(kind: str, value: str) -> Key:
    if kind in IDS:
        return whole(value)[:15]
    if kind == "case_sensitive_string":
        return value
    if kind == MULTIPLE:
        return frozenset(part.strip().lower() for part in value.split(";"))
    return day(value) if kind == "date" else value.lower()
