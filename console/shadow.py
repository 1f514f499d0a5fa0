"""`leadproof shadow`: what shadow mode has shown so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from console.vocabulary import Vocabulary
    from leadproof.domain.agreement import Choice, FieldAgreement
    from leadproof.domain.mutation import Mutation, Status
    from leadproof.ports import Ledger
    from leadproof.settings import Settings

app = typer.Typer(help="What shadow mode has shown.", no_args_is_help=True)

_PAGE = 500
_LATE = timedelta(minutes=2)
_MOST_CHOICES = 20
_COLUMNS = {
    "equal": ("equal", "it stands as it would have been written"),
    "person": ("by a person", "a person set something else after the plan was made"),
    "software": ("by software", "software set something else after the plan was made"),
    "unknown": ("by somebody", "something else was set after the plan was made, and the CRM does not tell by whom"),
    "untouched": ("untouched", "nobody has set it since the plan was made, which says nothing about the plan"),
    "unseen": ("not seen", "there was no record, or the field could not be read"),
}


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
    from console.tables import say, say_json
    from console.vocabulary import Vocabulary
    from leadproof.domain.agreement import chosen_otherwise, per_field
    from leadproof.domain.mutation import Reason, Status
    from leadproof.settings import load
    from workers import compose

    now = datetime.now(UTC)
    begin = moment(since, now, "--since") if since is not None else None
    settings = load()
    ledger = compose.open_ledger(settings)
    abandoned = _effects(ledger, Status.ABANDONED, begin)
    effects = list(islice((effect for effect in abandoned if effect.reason is Reason.SHADOW), last))
    waiting = _waiting(ledger, settings)
    words = Vocabulary(ledger, effects)
    fields, choices = per_field(effects), chosen_otherwise(effects, words.has_fixed_choice)
    answer = _facts(effects)
    if as_json:
        say_json(
            answer
            | {"waiting": waiting.effects, "next_look_at": _second(waiting.next_at)}
            | {"fields": [field.model_dump() | {"agreed": field.equal_share} for field in fields]}
            | {"otherwise": [choice.model_dump(mode="json") for choice in choices]}
        )
        return
    if effects:
        say(
            f"{answer['effects']} effects of {answer['leads']} leads, planned {answer['first_planned_at']} to "
            f"{answer['last_planned_at']}; {answer['unread']} of them could not be read."
        )
        _say_fields(fields)
        _say_choices(choices, words)
        say()
        say("One by one: leadproof mutation list --status abandoned, leadproof mutation show MUTATION_KEY")
    elif not waiting.effects:
        say("Nothing has been planned in shadow mode yet.")
    _say_waiting(waiting, now)


class _Waiting(NamedTuple):
    """Effects whose record is still to be looked at, so long after the plan, and when that of the first is due."""

    effects: int
    after: timedelta
    next_at: datetime | None


def _waiting(ledger: Ledger, settings: Settings) -> _Waiting:
    """Of this environment: those of another one that was left wait for nobody."""
    from leadproof.domain.mutation import Status
    from leadproof.domain.progress import shadow_look_at

    after = timedelta(seconds=settings.shadow_after_seconds)
    due = [
        shadow_look_at(effect, after)
        for effect in _effects(ledger, Status.RESERVED, None)
        if effect.shadow and effect.environment == settings.environment
    ]
    return _Waiting(len(due), after, min(due, default=None))


def _effects(ledger: Ledger, status: Status, begin: datetime | None) -> Iterator[Mutation]:
    """The effects that stand in this status, the newest plan first."""
    cursor: str | None = None
    while True:
        page, cursor = ledger.mutations(status=status, source_record_id=None, limit=_PAGE, cursor=cursor)
        for mutation in page:
            if begin is not None and mutation.created_at < begin:
                return
            yield mutation
        if cursor is None:
            return


def _facts(effects: list[Mutation]) -> dict[str, Any]:
    planned = [effect.created_at for effect in effects]
    return {
        "effects": len(effects),
        "leads": len({effect.event_key for effect in effects}),
        "unread": sum(1 for effect in effects if effect.observed_state is None),
        "first_planned_at": _second(planned[-1] if planned else None),
        "last_planned_at": _second(planned[0] if planned else None),
    }


def _say_fields(fields: Sequence[FieldAgreement]) -> None:
    from console.tables import say, say_table

    columns = [column for column in _COLUMNS if column != "unknown" or any(field.unknown for field in fields)]
    say_table(
        ("field", *(_COLUMNS[column][0] for column in columns), "agreed"),
        [(field.field, *(getattr(field, column) for column in columns), _share(field)) for field in fields],
    )
    say()
    for column in columns:
        name, meaning = _COLUMNS[column]
        say(f"{name}: {meaning}")
    say("agreed: how often equal, of all that are equal or were set otherwise")


def _say_choices(choices: Sequence[Choice], words: Vocabulary) -> None:
    """Print what stands instead, where a field's values are chosen from a list; nothing where there is none."""
    from console.tables import say, say_table

    if not choices:
        return
    say()
    rows = [
        (
            choice.field,
            words.spoken(choice.target_system, choice.field, choice.intended),
            words.spoken(choice.target_system, choice.field, choice.observed),
            _COLUMNS[choice.by][0],
            choice.times,
        )
        for choice in choices[:_MOST_CHOICES]
    ]
    say_table(("field", "we", "they", "set", "times"), rows, title="Where it was set otherwise")
    if len(choices) > _MOST_CHOICES:
        say(f"and {len(choices) - _MOST_CHOICES} more: --json lists all")


def _say_waiting(waiting: _Waiting, now: datetime) -> None:
    from console.tables import say

    if waiting.next_at is None:
        return
    many = "1 effect waits" if waiting.effects == 1 else f"{waiting.effects} effects wait"
    moment = _second(waiting.next_at)
    if waiting.next_at + _LATE < now:
        say(
            f"{many} to be looked at, the first since {moment}: a worker in shadow mode has to run, and to reach the "
            "CRM; `leadproof doctor` says whether one does."
        )
    else:
        minutes = max(-((now - waiting.next_at) // timedelta(minutes=1)), 0)
        after = f"{waiting.after.total_seconds():g} s after the plan"
        say(f"{many} to be looked at, {after}; the next look is at {moment}, in {minutes} min.")


def _share(field: FieldAgreement) -> str:
    share = field.equal_share
    return f"{share:.0%}" if share is not None else ""


def _second(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment is not None else None
