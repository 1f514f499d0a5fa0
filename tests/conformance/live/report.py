"""What a live run found, for people and for programs: statuses, codes and names of fields, and no value of a record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from tests.conformance.live.accounts import Removal
from tests.conformance.live.checks import Difference, Verdict

HELD, FAILED, NOT_TRIED = "held", "failed", "not tried"
_INTERRUPTED: Final = "the run was interrupted"


@dataclass(frozen=True)
class CaseResult:
    """One case of conformance on the account.

    Attributes:
        why: where it did not hold, the line of the case that says what did not; where it was not tried, the reason.
    """

    case: str
    result: str
    why: str | None = None


@dataclass(frozen=True)
class BehaviourResult:
    """One behaviour of the sandbox, held against the account."""

    behaviour: str
    label: str
    verdict: Verdict
    differences: tuple[Difference, ...] = ()
    why: str | None = None


@dataclass
class SystemReport:
    """What was found in one account."""

    system: str
    title: str
    account: str
    kind: str
    cases: list[CaseResult] = field(default_factory=list)
    behaviours: list[BehaviourResult] = field(default_factory=list)
    removal: Removal = field(default_factory=Removal)

    @property
    def failed(self) -> bool:
        """Whether a case did not hold, or something of ours was left behind."""
        return bool(self.removal.left) or any(case.result == FAILED for case in self.cases)


@dataclass
class Report:
    """What one run found."""

    run: str
    began: str
    interrupted: bool = False
    systems: list[SystemReport] = field(default_factory=list)

    def save(self, folder: Path) -> tuple[Path, Path]:
        """Write it as JSON and as Markdown; the two paths."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = folder / f"live-{self.run}.json", folder / f"live-{self.run}.md"
        paths[0].write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        paths[1].write_text(self.text(), encoding="utf-8")
        return paths

    def summary(self) -> Iterable[str]:
        """One line for each account."""
        for system in self.systems:
            cases = Counter(case.result for case in system.cases)
            verdicts = Counter(behaviour.verdict for behaviour in system.behaviours)
            yield (
                f"{system.title} {system.account}: {cases[HELD]} cases held, {cases[FAILED]} failed, "
                f"{cases[NOT_TRIED]} not tried; {verdicts[Verdict.AGREED]} behaviours agreed, "
                f"{verdicts[Verdict.DIFFERED]} differed, {verdicts[Verdict.NOT_TRIED]} not tried; "
                f"{system.removal.removed} records removed, {len(system.removal.left)} left"
            )

    def text(self) -> str:
        lines = ["# The live suite", "", f"Run `{self.run}`, began {self.began}.", ""]
        if self.interrupted:
            lines += [f"Incomplete: {_INTERRUPTED}.", ""]
        for system in self.systems:
            lines += _section(system)
        return "\n".join(lines).rstrip() + "\n"


def _section(system: SystemReport) -> list[str]:
    behaviours = sorted(system.behaviours, key=lambda one: list(Verdict).index(one.verdict))
    return [
        f"## {system.title}, account {system.account} ({system.kind})",
        "",
        f"Records of this run that were removed: {system.removal.removed}.",
        "",
        *(f"- **left behind**: {left}" for left in system.removal.left),
        *([""] if system.removal.left else []),
        "### Cases",
        "",
        *_table(("case", "result", "why"), [(case.case, case.result, case.why or "") for case in system.cases]),
        "",
        "### Behaviours of the sandbox",
        "",
        *_table(
            ("behaviour", "label", "the real system", "how"),
            [(one.behaviour, one.label, one.verdict.value, _how(one)) for one in behaviours],
        ),
        "",
    ]


def _how(result: BehaviourResult) -> str:
    if result.differences:
        return "; ".join(f"{one.what}: here {one.sandbox!r}, there {one.real!r}" for one in result.differences)
    return result.why or ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    return lines + [f"| {' | '.join(_cell(text) for text in row)} |" for row in rows]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
