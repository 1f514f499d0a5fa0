"""`leadproof shadow`: what shadow mode has shown so far."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from leadproof.domain.agreement import FieldAgreement
    from leadproof.domain.mutation import Mutation
    from leadproof.ports import Ledger

app = typer.Typer(help="What shadow mode has shown.", no_args_is_help=True)

_PAGE = 500


@app.callback()
def _group() -> None:
    """What shadow mode has shown."""


@app.command()
def report(
    since: Annotated[
        str | None, typer.Option(metavar="T", help="only what was planned since: 12h, 3d, or 2026-11-30T08:00:00Z")
    ] = None,
    last: Annotated[int, typer.Option(min=1, help="at most so many effects, the newest")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="one object for programs")] = False,
) -> None:
    """Per field, how often what would have been written is what people made of the record."""
    from console.moments import moment
    from console.tables import say, say_json, say_table
    from leadproof.domain.agreement import per_field
    from leadproof.settings import load
    from workers import compose

    begin = moment(since, datetime.now(UTC), "--since") if since is not None else None
    effects = list(islice(_effects(compose.open_ledger(load()), begin), last))
    fields = per_field(effects)
    answer = _facts(effects)
    if as_json:
        say_json(answer | {"fields": [field.model_dump() for field in fields]})
        return
    if not effects:
        say("No effect of shadow mode has been looked at yet.")
        return
    say(
        f"{answer['effects']} effects of {answer['leads']} leads, planned {answer['first_planned_at']} to "
        f"{answer['last_planned_at']}; {answer['unread']} of them could not be read."
    )
    say_table(
        ("field", "equal", "a person chose otherwise", "different", "not seen", "equal of those seen"),
        [(one.field, one.equal, one.person, one.different, one.unseen, _share(one)) for one in fields],
    )
    say("One by one: leadproof mutation list --status abandoned, leadproof mutation show MUTATION_KEY")


def _effects(ledger: Ledger, begin: datetime | None) -> Iterator[Mutation]:
    """The effects of shadow mode that were settled, the newest plan first."""
    from leadproof.domain.mutation import Reason, Status

    cursor: str | None = None
    while True:
        page, cursor = ledger.mutations(status=Status.ABANDONED, source_record_id=None, limit=_PAGE, cursor=cursor)
        for mutation in page:
            if begin is not None and mutation.created_at < begin:
                return
            if mutation.reason is Reason.SHADOW:
                yield mutation
        if cursor is None:
            return


def _facts(effects: list[Mutation]) -> dict[str, Any]:
    planned = [effect.created_at.isoformat(timespec="seconds") for effect in effects]
    return {
        "effects": len(effects),
        "leads": len({effect.event_key for effect in effects}),
        "unread": sum(1 for effect in effects if effect.observed_state is None),
        "first_planned_at": planned[-1] if planned else None,
        "last_planned_at": planned[0] if planned else None,
    }


def _share(field: FieldAgreement) -> str:
    seen = field.equal + field.person + field.different
    return f"{field.equal / seen:.0%}" if seen else ""
