"""`leadproof doctor`: a configuration held against the real systems before it is trusted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from workers.doctor.report import Offer, Report


def doctor(
    create: Annotated[
        bool, typer.Option("--create", help="make what is missing: properties in HubSpot, search attributes")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="one object for programs")] = False,
) -> None:
    """Check this configuration against the real systems; 0 where nothing is wrong."""
    import asyncio

    from console.leaving import REFUSED
    from console.tables import say_json
    from leadproof.settings import load
    from workers.doctor.examination import examine

    shown: Report | None = None

    def choose(found: Report) -> Sequence[Offer]:
        nonlocal shown
        if create or as_json or not found.offers or not _somebody_is_there():
            return found.offers if create else ()
        _show(found)
        shown = found
        return [offer for offer in found.offers if typer.confirm(f"Make {offer.what}?", default=False)]

    report = asyncio.run(examine(load, choose=choose))
    if as_json:
        say_json(_object(report))
    elif report is not shown:
        _show(report)
    if not report.sound:
        raise SystemExit(REFUSED)


def _somebody_is_there() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _object(report: Report) -> dict[str, object]:
    return {
        "sound": report.sound,
        "made": report.made,
        "checks": [
            {"check": finding.check, "state": finding.state.value, "says": finding.says, "do": finding.do}
            for finding in report.findings
        ],
    }


def _show(report: Report) -> None:
    from console.tables import say, say_table

    for what in report.made:
        say(f"made {what}")
    rows = [
        (finding.state.value, finding.check, f"{finding.says}; {finding.do}" if finding.do else finding.says)
        for finding in report.findings
    ]
    if sys.stdout.isatty():
        say_table(("", "check", "what was found, and what to do"), rows)
        return
    width = max(len(check) for _, check, _ in rows)
    for state, check, text in rows:
        say(f"{state:<8} {check:<{width}}  {text}")
