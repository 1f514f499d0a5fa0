"""Where every case is listed under its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.conformance.stage import Planning, Stage

Play = Callable[[Stage], None]

CASES: Final[dict[str, Play]] = {}


def case(play: Play) -> Play:
    """List a case."""
    CASES[play.__name__] = play
    return play


def both(play: Callable[[Stage, Planning], None]) -> None:
    """List a case twice: once for an update and once for a create, which it is given to plan with."""

    def updating(stage: Stage) -> None:
        play(stage, stage.update)

    def creating(stage: Stage) -> None:
        play(stage, stage.create)

    CASES[f"{play.__name__}[update]"] = updating
    CASES[f"{play.__name__}[create]"] = creating
