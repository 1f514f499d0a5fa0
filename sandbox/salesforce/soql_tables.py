"""What a query needs of the org that it is asked of."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

Value = str | bool | int | float | date | datetime | None
"""As a row holds it. A datetime knows its offset; a date is a `date` or its text."""

Row = Mapping[str, Value]
"""Fields by their canonical names; one that is left out is null."""


@dataclass(frozen=True, slots=True)
class Children:
    """Where the rows of a subquery come from: those of `object_name` whose `field` is the outer row's Id."""

    relationship: str
    object_name: str
    field: str


@dataclass(frozen=True, slots=True)
class Parent:
    """A field of a related record.

    Args:
        relationship: its canonical name, `Owner`.
        field: the canonical name of the parent's field, `Name`.
        kind: that field's type word.
        of: the parent's object and row for a row, or nothing. An owner is a user or a queue.
    """

    relationship: str
    field: str
    kind: str
    of: Callable[[Row], tuple[str, Row] | None]


class Tables(Protocol):
    """The objects that can be queried. Names of objects, fields and relationships are taken in any case.

    A type word is one of describe's (`string`, `picklist`, `multipicklist`, `boolean`, `double`, `date`, `datetime`,
    `id`, `reference`, ...) or `case_sensitive_string` for a unique field in which case counts.
    """

    def named(self, object_name: str) -> str | None:
        """The object's canonical name, or nothing where there is no such object."""

    def fields(self, object_name: str) -> Mapping[str, str]:
        """The type word of each field, by canonical name."""

    def rows(self, object_name: str) -> Iterable[Row]: ...

    def children(self, object_name: str, relationship: str) -> Children | None: ...

    def parent(self, object_name: str, path: str) -> Parent | None:
        """What `Owner.Name` is on this object, or nothing where it is nothing."""
