"""A query, taken apart."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal as OneOf

Kind = OneOf["string", "number", "boolean", "null", "datetime", "date"]


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it was written, and where. A field's may have its relationship before it, `Owner.Name`."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Literal:
    kind: Kind
    value: str | float | bool | datetime | date | None
    at: int


@dataclass(frozen=True, slots=True)
class Comparison:
    field: Name
    operator: str
    literal: Literal


@dataclass(frozen=True, slots=True)
class Like:
    field: Name
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Among:
    """`IN`, and `NOT IN` where it is negated."""

    field: Name
    literals: tuple[Literal, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Includes:
    """`INCLUDES`, and `EXCLUDES` where it is negated: `'a;b'` means both."""

    field: Name
    literals: tuple[Literal, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: "Condition"


Condition = Comparison | Like | Among | Includes | AllOf | AnyOf | Not


@dataclass(frozen=True, slots=True)
class Order:
    field: Name
    descending: bool
    nulls_last: bool


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. Inside another query's selection `source` is a relationship.

    `counts` says that `COUNT()` was selected: the number of rows is the answer, and there are no records.
    """

    text: str
    selected: tuple["Name | Query", ...]
    counts: bool
    source: Name
    where: Condition | None
    order: tuple[Order, ...]
    limit: int | None
    offset: int
