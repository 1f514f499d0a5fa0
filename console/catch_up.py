"""`leadproof catch-up`: what changed at a source and no delivery brought."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from starter.catch_up import Report

app = typer.Typer(help="Admit what changed at a source and no delivery brought.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Admit what changed at a source and no delivery brought."""


@app.command()
def hubspot(
    since: Annotated[str, typer.Option(metavar="T", help="how long ago (2h, 3d), or a time (2026-11-30T08:00:00Z)")],
    until: Annotated[str | None, typer.Option(metavar="T", help="the same; by default now")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="count, and admit nothing")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="one object for programs")] = False,
) -> None:
    """Admit contacts that were created or changed, under the keys that their webhooks have: twice is once."""
    import asyncio

    from console.moments import moment
    from leadproof.domain.errors import ConfigurationRefused, LedgerUnavailable
    from leadproof.settings import load
    from starter.catch_up import Report
    from starter.start import TemporalUnavailable
    from workers import catch_up

    now = datetime.now(UTC)
    begin = moment(since, now, "--since")
    end = moment(until, now, "--until") if until is not None else None
    if begin > now:
        raise typer.BadParameter("lies in the future", param_hint="--since")
    if end is not None and end < begin:
        raise typer.BadParameter("lies before --since", param_hint="--until")
    settings, report, complete = load(), Report(), False
    try:
        asyncio.run(catch_up.hubspot(settings, since=begin, until=end, dry_run=dry_run, report=report))
        complete = True
    except (LedgerUnavailable, TemporalUnavailable) as error:
        raise ConfigurationRefused(f"{error}; run this again, what is admitted stays admitted") from None
    finally:
        _say(report, complete=complete, dry_run=dry_run, as_json=as_json)


def _say(report: Report, *, complete: bool, dry_run: bool, as_json: bool) -> None:
    """What was done, also where it ended early."""
    from console.tables import say_facts, say_json

    counts = report.counts()
    if as_json:
        say_json({**counts, "dry_run": dry_run, "complete": complete})
        return
    title = "What would be done" if dry_run else "What was done"
    say_facts(counts, title=title if complete else f"{title}, as far as it came")
