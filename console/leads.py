"""`leadproof lead`: one lead as the ledger has it, and its run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

app = typer.Typer(help="Leads.", no_args_is_help=True)

EventKey = Annotated[str, typer.Argument(help="the event key, or the workflow ID that is made of it")]
JsonOption = Annotated[bool, typer.Option("--json", help="for programs, as the API answers it")]


@app.command()
def show(key: EventKey, as_json: JsonOption = False) -> None:
    """Show a lead event and its mutations."""
    from console.tables import say, say_facts, say_json, say_table
    from leadproof.domain.errors import NotFound
    from leadproof.settings import load
    from workers import compose

    ledger = compose.open_ledger(load())
    event_key = _event_key(key)
    lead = ledger.lead(event_key)
    if lead is None:
        raise NotFound(f"no lead event stands under {event_key}")
    mutations = [mutation.model_dump(mode="json") for mutation in ledger.mutations_of(event_key)]
    facts: dict[str, Any] = lead.model_dump(mode="json")
    if as_json:
        say_json({**facts, "mutations": mutations})
        return
    say_facts(facts)
    say()
    columns = ("mutation_key", "action_kind", "target_system", "status", "reason", "provider_record_id")
    say_table(columns, [[mutation[column] for column in columns] for mutation in mutations], title="Mutations")


@app.command()
def resume(
    key: EventKey,
    replace: Annotated[bool, typer.Option("--replace", help="end the run that is open, and start another")] = False,
    as_json: JsonOption = False,
) -> None:
    """Start a run for a lead that is not final and has none."""
    import asyncio

    from console.tables import say, say_json
    from leadproof.settings import load
    from starter.start import resume_lead
    from workers import compose, connect

    settings = load()

    async def resumed() -> Any:
        client = await connect.connect(settings, patience_seconds=5)
        return await resume_lead(client, compose.open_ledger(settings), _event_key(key), replace=replace)

    run = asyncio.run(resumed())
    if as_json:
        say_json(run.model_dump(mode="json"))
    else:
        say(f"{run}")


def _event_key(key: str) -> str:
    """The event key of `lead:<event key>` and `lead:<event key>:r<n>` too."""
    return key.removeprefix("lead:").partition(":")[0]
