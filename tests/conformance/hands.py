"""What others do to a CRM's records, and what is really there: never through our own code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class NotHere(Exception):
    """The CRM that stands here cannot be made to do this; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A record as it stands, in the CRM's own words.

    Attributes:
        values: the CRM's field names to values as it stores them; what is empty may be missing.
        marks: every effect marker that it ever carried, oldest first; a value that was set again without a change is
            no further one.
        live: neither deleted nor merged away nor converted.
    """

    record_id: str
    external_id: str | None
    marks: tuple[str, ...]
    values: Mapping[str, Any]
    live: bool = True


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One request that wrote, as the CRM received it."""

    applied: bool
    body: str


@dataclass(frozen=True, kw_only=True)
class Mischief:
    """What is to go wrong with the next requests of one operation.

    Attributes:
        after: so many requests pass by first.
        times: so many then meet it.
    """

    kind: str
    operation: str
    times: int = 1
    after: int = 0
    args: Mapping[str, Any] = field(default_factory=dict)


class Hands(Protocol):
    """People, automation and faults of one CRM, and the witness of what it holds.

    Whatever cannot be done where the cases run raises `NotHere`.
    """

    @property
    def editors(self) -> Sequence[str]:
        """How our receipts may name whoever makes the edits here; empty where that is not known beforehand."""
        ...

    def expects(self, external_id: str) -> None:
        """Be told of an external id under which a record may come to stand."""
        ...

    def create(self, properties: Mapping[str, Any]) -> str:
        """A record that a person makes; its id."""
        ...

    def edit(self, record_id: str, properties: Mapping[str, Any]) -> None: ...

    def archive(self, record_id: str) -> None: ...

    def merge(self, winner: str, loser: str) -> None: ...

    def arm(self, mischief: Mischief) -> None: ...

    def person_in_between(self, operation: str, properties: Mapping[str, Any], *, before: bool) -> None:
        """Have a person edit the record of the next request, right before it is applied or right after."""
        ...

    def records(self) -> tuple[Standing, ...]:
        """Every record that was made here since the case began, those that are gone too."""
        ...

    def sent(self) -> tuple[Sent, ...] | None:
        """Every request that wrote, in order; `None` where nobody keeps a log."""
        ...
