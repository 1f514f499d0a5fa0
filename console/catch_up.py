"""`leadproof catch-up`: what changed at a source and no delivery brought."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

if TYPE_CHECKING:
    from leadproof.settings import Settings
    from starter.catch_up import Report

app = typer.Typer(help="Admit what changed at a source and no delivery brought.", no_args_is_help=True)


Since = Annotated[str, typer.Option(metavar="T", help="how long ago (2h, 3d), or a time (2026-11-30T08:00:00Z)")]
Until = Annotated[str | None, typer.Option(metavar="T", help="the same; by default now")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="count, and admit nothing")]
AsJson = Annotated[bool, typer.Option("--json", help="one object for programs")]


class CatchUp(Protocol):
    """A catch-up on one source."""

    async def __call__(
        self, settings: Settings, *, since: datetime, until: datetime | None, dry_run: bool, report: Report
    ) -> None: ...


@app.callback()
def _group() -> None:
    """Admit what changed at a source and no delivery brought."""


@app.command()
def hubspot(since: Since, until: Until = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Admit contacts that were created or changed, under the keys that their webhooks have: twice is once."""
    from workers import catch_up

    _run(catch_up.hubspot, since=since, until=until, dry_run=dry_run, as_json=as_json)


@app.command()
def salesforce(since: Since, until: Until = None, dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Admit leads and contacts that were saved and that no outbound message told of: twice is once."""
    from workers import catch_up

    _run(catch_up.salesforce, since=since, until=until, dry_run=dry_run, as_json=as_json)


def _run(caught_up: CatchUp, *, since: str, until: str | None, dry_run: bool, as_json: bool) -> None:
    import asyncio

    from console.moments import moment
    from leadproof.domain.errors import ConfigurationRefused, LedgerUnavailable
    from leadproof.settings import load
    from starter.catch_up import Report
    from starter.start import TemporalUnavailable

    now = datetime.now(UTC)
    begin = moment(since, now, "--since")
    end = moment(until, now, "--until") if until is not None else None
    if begin > now:
        raise typer.BadParameter("lies in the future", param_hint="--since")
    if end is not None and end < begin:
        raise typer.BadParameter("lies before --since", param_hint="--until")
    settings, report, complete = load(), Report(), False
    try:
        asyncio.run(caught_up(settings, since=begin, until=end, dry_run=dry_run, report=report))
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
