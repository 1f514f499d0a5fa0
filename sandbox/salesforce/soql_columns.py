"""The fields that a query names, found in the object that it is asked of."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.salesforce.soql_errors import UnknownField, no_such_field, no_such_object
from sandbox.salesforce.soql_syntax import Name
from sandbox.salesforce.soql_tables import Children, Parent, Row, Tables, Value


@dataclass(frozen=True, slots=True)
class Column:
    """A field as rows have it; `parent` where it is another record's."""

    name: str
    kind: str
    read: Callable[[Row], Value]
    parent: Parent | None = None


class Columns:
    """One object's fields.

    Raises:
        UnknownObject: there is no such object.
    """

    def __init__(self, tables: Tables, source: Name, text: str) -> None:
        named = tables.named(source.text)
        if named is None:
            raise no_such_object(source.text, text, source.at)
        self.object_name = named
        self._tables = tables
        self._text = text
        self._kinds = {name.lower(): (name, kind) for name, kind in tables.fields(named).items()}

    def column(self, field: Name) -> Column:
        """
        Raises:
            UnknownField: the object has no such field.
        """
        if "." in field.text:
            return self._of_parent(field)
        known = self._kinds.get(field.text.lower())
        if known is None:
            raise no_such_field(field.text, self.object_name, self._text, field.at)
        name, kind = known
        return Column(name, kind, lambda row: row.get(name))

    def children(self, relationship: Name) -> Children:
        """
        Raises:
            UnknownObject: nothing hangs on the object by that name.
        """
        found = self._tables.children(self.object_name, relationship.text)
        if found is None:
            raise no_such_object(relationship.text, self._text, relationship.at)
        return found

    def _of_parent(self, field: Name) -> Column:
        parent = self._tables.parent(self.object_name, field.text)
        if parent is None:
            raise UnknownField(
                f"Didn't understand relationship '{field.text.partition('.')[0]}' in field path '{field.text}'",
                self._text,
                field.at,
            )

        def read(row: Row) -> Value:
            found = parent.of(row)
            return found[1].get(parent.field) if found else None

        return Column(f"{parent.relationship}.{parent.field}", parent.kind, read, parent)
