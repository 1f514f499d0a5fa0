"""Where every case is listed under its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.conformance.stage import Planning, Stage

Play = Callable[[Stage], None]


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        faults: it makes requests fail on purpose, which only the sandbox does.
    """

    play: Play
    faults: bool


CASES: Final[dict[str, Case]] = {}


def case(*, faults: bool = False) -> Callable[[Play], Play]:
    """List a case."""

    def listed(play: Play) -> Play:
        CASES[play.__name__] = Case(play, faults)
        return play

    return listed


def both(*, faults: bool = False) -> Callable[[Callable[[Stage, Planning], None]], None]:
    """List a case twice: once for an update and once for a create, which it is given to plan with."""

    def listed(play: Callable[[Stage, Planning], None]) -> None:
        CASES[f"{play.__name__}[update]"] = Case(lambda stage: play(stage, stage.update), faults)
        CASES[f"{play.__name__}[create]"] = Case(lambda stage: play(stage, stage.create), faults)

    return listed
