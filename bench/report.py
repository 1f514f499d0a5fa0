"""Sections of Markdown, and the goals that they answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Goal:
    """What was to be reached, and what was measured."""

    what: str
    wanted: str
    measured: str
    met: bool


@dataclass(slots=True)
class Section:
    """One measurement as it stands in the results."""

    title: str
    goals: list[Goal] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self._lines += [text, ""]

    def table(self, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Add a table."""
        self._lines += [*_table(head, rows), ""]

    def text(self) -> str:
        return "\n".join([f"## {self.title}", "", *self._lines])


def document(machine: Sequence[tuple[str, str]], sections: Sequence[Section]) -> str:
    """All sections, the goals first."""
    goals = [goal for section in sections for goal in section.goals]
    rows = [(goal.what, goal.wanted, goal.measured, "yes" if goal.met else "**no**") for goal in goals]
    head = [
        "# Results",
        "",
        "Written by `python -m bench` (`make bench`) from one run on one machine. Ratios carry over to other machines, "
        "milliseconds do not: each ratio compares two things that were measured in turns, on the same server, in the "
        "same run.",
        "",
        *_table(("goal", "wanted", "measured", "met"), rows),
        "",
        "## Machine and versions",
        "",
        *_table(("what", ""), machine),
        "",
    ]
    return "\n".join([*head, *(section.text() for section in sections)]).rstrip() + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    return lines + [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
