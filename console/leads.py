"""`leadproof lead`: one lead as the ledger has it, and its run."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from console.vocabulary import Vocabulary
    from leadproof.ports import Ledger
    from leadproof.settings import Settings

app = typer.Typer(help="Leads.", no_args_is_help=True)

EventKey = Annotated[str, typer.Argument(help="the event key or its first digits, or the workflow ID")]
_FIRST = (
    *("outcome", "echo_of", "source_system", "source_record_id", "event_kind", "occurred_at"),
    *("deliveries", "conflicts", "event_key", "workflow_id"),
)
_LAST = ("tenant", "environment", "occurrence", "policy_version", "run", "first_seen_at", "last_seen_at", "fingerprint")
_MUTATION = ("mutation_key", "action_kind", "target_system", "status", "reason", "provider_record_id")
_DECISION = ("decided_at", "decision", "reviewer", "via", "verdict", "reason", "review_id")

JsonOption = Annotated[bool, typer.Option("--json", help="for programs, as the API answers it")]


@app.command("list")
def list_(
    source_record_id: Annotated[str | None, typer.Option(help="only those of this source record")] = None,
    outcome: Annotated[str | None, typer.Option(help="only those with this outcome")] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="at most so many")] = 100,
    cursor: Annotated[str | None, typer.Option(help="go on where a list ended")] = None,
    as_json: JsonOption = False,
) -> None:
    """List lead events, newest first."""
    from console.leaving import CommandRefused
    from console.short_keys import short
    from console.tables import say, say_json, say_table
    from leadproof.domain.events import Outcome
    from leadproof.settings import load
    from starter.rows import page
    from workers import compose

    if outcome is not None and outcome not in set(Outcome):
        raise CommandRefused(f"an outcome is never {outcome!r}, but one of {', '.join(Outcome)}")
    items, following = compose.open_ledger(load()).leads(
        outcome=Outcome(outcome) if outcome else None, source_record_id=source_record_id, limit=limit, cursor=cursor
    )
    answer = page(items, following)
    if as_json:
        say_json(answer)
        return
    columns = (
        *("environment", "source_system", "source_record_id", "event_kind", "outcome"),
        *("deliveries", "conflicts", "occurred_at", "first_seen_at"),
    )
    rows = [[short(item["event_key"]), *(item[column] for column in columns)] for item in answer["items"]]
    say_table(("event_key", *columns), rows)
    if following:
        say(f"more with --cursor {following}")


@app.command()
def show(key: EventKey, as_json: JsonOption = False) -> None:
    """Show a lead event, its plan, its mutations and what was decided."""
    from console.comparison import say_fields
    from console.tables import say, say_facts, say_json, say_table
    from console.vocabulary import Vocabulary
    from leadproof.domain.errors import NotFound
    from leadproof.settings import load
    from starter.rows import lead_answer
    from workers import compose

    ledger = compose.open_ledger(load())
    event_key = _event_key(key, ledger)
    lead = ledger.lead(event_key)
    if lead is None:
        raise NotFound(f"no lead event stands under {event_key}")
    standing = ledger.mutations_of(event_key)
    plan = ledger.plan_of(event_key, lead.policy_version)
    answer = lead_answer(lead, standing, plan, ledger.decisions_of(event_key))
    if as_json:
        say_json(answer)
        return
    words = Vocabulary(ledger, reversed(standing))
    say_facts({name: answer[name] for name in _FIRST})
    say()
    if answer["plan"] is not None:
        _say_plan(answer["plan"], words)
        say()
    rows = [[mutation[column] for column in _MUTATION] for mutation in answer["mutations"]]
    say_table(_MUTATION, rows, title="Mutations")
    say_fields(standing, words)
    if answer["decisions"]:
        say()
        decided = [[decision[column] for column in _DECISION] for decision in answer["decisions"]]
        say_table(_DECISION, decided, title="Decisions")
    say()
    say_facts({name: answer[name] for name in _LAST}, title="The row; all of it with --json")


def _say_plan(plan: dict[str, Any], words: Vocabulary) -> None:
    """What was proposed, and what the guard made of each action: a refused one is seen here and nowhere else."""
    from console.tables import say_table

    planner = plan["planner"]
    by = " ".join(filter(None, (planner["kind"], planner["model"])))
    columns = ("kind", "target_system", "target_object", "fields", "verdict", "why", "confidence", "reason")
    actions = [{**action, "fields": _values(action, words)} for action in plan["actions"]]
    rows = [[action[column] for column in columns] for action in actions]
    say_table(columns, rows, title=f"Plan by {by}: {plan['summary']}")


def _values(action: dict[str, Any], words: Vocabulary) -> str:
    """Fields in short; what a lead wrote can be long, and stands below and in `--json`."""
    from leadproof.domain.references import told

    named = {
        name: told(value) or words.named(action["target_system"], name, value)
        for name, value in action["fields"].items()
    }
    return ", ".join(f"{name}={shorten(str(value), 40, placeholder='...')}" for name, value in named.items())


@app.command()
def resume(
    key: EventKey,
    replace: Annotated[bool, typer.Option("--replace", help="end the run that is open, and start another")] = False,
    as_json: JsonOption = False,
) -> None:
    """Start a run for a lead that is not final and has none."""
    import asyncio

    from console.tables import say, say_json
    from leadproof.domain.errors import NotFound
    from leadproof.settings import load
    from workers import compose

    settings = load()
    ledger = compose.open_ledger(settings)
    event_key = _event_key(key, ledger)
    run_id = asyncio.run(_resumed(settings, ledger, event_key, replace=replace))
    lead = ledger.lead(event_key)
    if lead is None:
        raise NotFound(f"no lead event stands under {event_key}")
    if as_json:
        say_json({"event_key": event_key, "workflow_id": lead.workflow_id, "run_id": run_id, "run": lead.run})
    else:
        say(f"started {lead.workflow_id}, run {run_id}")


async def _resumed(settings: Settings, ledger: Ledger, event_key: str, *, replace: bool) -> str:
    """Resume a lead; the run that was started.

    Raises:
        NotFound, CommandRefused, ConfigurationRefused: there is no such lead, nothing to resume, or no Temporal.
    """
    from console.leaving import CommandRefused
    from leadproof.domain.errors import ConfigurationRefused, NotFound
    from starter.start import Started, TemporalUnavailable, is_open, resume_lead
    from workers.connect import connect

    lead = ledger.lead(event_key)
    if lead is None:
        raise NotFound(f"no lead event stands under {event_key}")
    if lead.outcome.final:
        raise CommandRefused(f"this lead is final ({lead.outcome.value}), there is nothing to resume")
    client = await connect(settings, patience_seconds=5)
    try:
        if replace and await is_open(client, lead.workflow_id):
            await client.get_workflow_handle(lead.workflow_id).terminate(
                "replaced by `leadproof lead resume --replace`"
            )
        result = await resume_lead(ledger, client, lead)
    except TemporalUnavailable as error:
        raise ConfigurationRefused(str(error)) from None
    if not isinstance(result, Started):
        raise CommandRefused(f"run {result.run_id} of this lead is open; --replace ends it and starts another")
    return result.run_id


def _event_key(key: str, ledger: Ledger) -> str:
    """The event key of its first digits, of `lead:<event key>` and of `lead:<event key>:r<n>` too."""
    from console.short_keys import whole

    return whole(key.removeprefix("lead:").partition(":")[0], ledger.event_keys_like)
