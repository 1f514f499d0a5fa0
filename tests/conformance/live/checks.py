"""What the sandbox does, tried on a real account: each probe holds one behaviour of docs/sandbox.md against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Generic, TypeVar

A = TypeVar("A")

Told = str | int | bool | None
"""What a report repeats of an answer: statuses, codes, names of fields, yes and no; never a value of a record."""


class Verdict(StrEnum):
    """What a trial of the real system says of the sandbox."""

    AGREED = "agreed"
    DIFFERED = "differed"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class Difference:
    """One thing that the sandbox does and the real system does not."""

    what: str
    sandbox: Told
    real: Told


@dataclass
class Checks:
    """Collects in what the real system differs, and how often it was asked."""

    differences: list[Difference] = field(default_factory=list)
    made: int = 0

    def same(self, what: str, sandbox: Told, real: Told) -> None:
        """The sandbox answers `sandbox`; the real system answered `real`."""
        self.made += 1
        if sandbox != real:
            self.differences.append(Difference(what, sandbox, real))

    def true(self, what: str, holds: object) -> None:
        """Something that holds in the sandbox."""
        self.same(what, sandbox=True, real=bool(holds))

    def has(self, what: str, names: set[str], body: object) -> None:
        """An object that has these members in the sandbox."""
        missing = sorted(names - set(body)) if isinstance(body, dict) else sorted(names)
        self.same(
            f"{what} has {', '.join(sorted(names))}",
            sandbox="all",
            real=f"not {', '.join(missing)}" if missing else "all",
        )


@dataclass(frozen=True)
class Probe(Generic[A]):
    """One trial.

    Attributes:
        behaviour: how the row of docs/sandbox.md begins.
    """

    behaviour: str
    play: Callable[[A, Checks], None]


class Probes(Generic[A]):
    """The probes of one system, in the order in which they are written."""

    def __init__(self) -> None:
        self.all: Final[list[Probe[A]]] = []

    def of(self, behaviour: str) -> Callable[[Callable[[A, Checks], None]], Callable[[A, Checks], None]]:
        """List a probe of the behaviour whose row begins like this."""

        def listed(play: Callable[[A, Checks], None]) -> Callable[[A, Checks], None]:
            self.all.append(Probe(behaviour, play))
            return play

        return listed
