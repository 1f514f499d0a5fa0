"""`leadproof why`: what produced each value that stands on a record now."""

from __future__ import annotations

from typing import Annotated, Any

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="for programs, as the API answers it")]


def why(
    record: Annotated[str, typer.Argument(help="the id that the record has in its system, or our external id")],
    field: Annotated[str | None, typer.Argument(help="our name of one field; otherwise all")] = None,
    system: Annotated[str | None, typer.Option(help="which system's record, where several have such an id")] = None,
    earlier: Annotated[
        bool,
        typer.Option(
            "--earlier", help="also the values before, as far as history goes, and fields that were never set"
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say which event, plan, policy, person or outside change produced each value that stands on a record now."""
    from console.tables import say, say_json, say_table
    from leadproof.settings import load
    from starter.why import Why
    from workers import compose

    settings = load()
    policy = compose.read_policy(settings.policy)
    ledger = compose.open_ledger(settings)
    explaining = Why(ledger=ledger, policy=policy, look=compose.looking(settings, policy))
    answer = explaining.explained(record, field=field, target_system=system)
    if as_json:
        say_json(answer)
        return
    about = answer["record"]
    say(f"{about['target_system']} {about['target_object']} {about['provider_record_id']}")
    if about["note"]:
        say(about["note"])
    say()
    known = [one for one in answer["fields"] if field is not None or earlier or not one["never_set"]]
    rows = [row for one in known for row in _rows(one, earlier=earlier or field is not None)]
    say_table(("field", "value", "where it comes from"), rows)
    if len(known) < len(answer["fields"]):
        say(f"never set: {', '.join(one['field'] for one in answer['fields'] if one not in known)}")
    for effect in answer["effects"].values():
        say()
        say(f"effect {effect['mutation_key']}: {effect['status']}; event {effect['event_key']}")
        for line in effect["evidence"]:
            say(f"  seen: {line}")
        for one in filter(None, (effect["made_by"], *effect["decisions"])):
            because = f": {one['reason']}" if one["reason"] else ""
            say(f"  {one['decision']} by {one['reviewer']} at {one['decided_at']}{because}")


def _rows(told: dict[str, Any], *, earlier: bool) -> list[tuple[str, str, str]]:
    rows = [(told["field"], _value(told), told["said"])]
    if earlier:
        rows += [("  before", _value(one), one["said"]) for one in told["earlier"]]
    return rows


def _value(told: dict[str, Any]) -> str:
    if told["value"] is None:
        return "(empty)"
    return f"{told['value']} ({told['value_name']})" if told["value_name"] else str(told["value"])
