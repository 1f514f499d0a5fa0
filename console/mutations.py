"""`leadproof mutation`: mutations with their receipts, as the ledger has them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

app = typer.Typer(help="Mutations and their receipts.", no_args_is_help=True)

JsonOption = Annotated[bool, typer.Option("--json", help="for programs, as the API answers it")]


@app.command("list")
def list_(
    status: Annotated[str | None, typer.Option(help="only these")] = None,
    source_record_id: Annotated[str | None, typer.Option(help="only those of this source record")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="at most so many")] = 100,
    as_json: JsonOption = False,
) -> None:
    """List mutations, newest first."""
    from console.tables import say_json, say_table
    from leadproof.settings import load
    from workers import compose

    ledger = compose.open_ledger(load())
    found = ledger.mutations(status=status, source_record_id=source_record_id, limit=limit, cursor=None)
    if as_json:
        say_json({"items": [one.model_dump(mode="json") for one in found.items], "next": found.next})
        return
    columns = ("mutation_key", "action_kind", "target_system", "source_record_id", "status", "reason", "updated_at")
    say_table(columns, [[getattr(one, column) for column in columns] for one in found.items])


@app.command()
def show(key: Annotated[str, typer.Argument(help="the mutation key")], as_json: JsonOption = False) -> None:
    """Show a mutation with its three receipts: intent, acceptance, state."""
    from console.tables import say, say_facts, say_json, say_table
    from leadproof.domain.errors import NotFound
    from leadproof.settings import load
    from workers import compose

    receipts = compose.open_ledger(load()).receipts(key)
    if receipts is None:
        raise NotFound(f"no mutation stands under {key}")
    shown: dict[str, Any] = receipts.model_dump(mode="json")
    facts = shown.pop("mutation")
    if as_json:
        say_json({**facts, **shown})
        return
    say_facts(facts)
    for title, rows, columns in (
        (
            "Attempts",
            shown["attempts"],
            ("number", "started_at", "ended_at", "outcome", "http_status", "correlation_id"),
        ),
        ("Observations", shown["observations"], ("number", "read_at", "identity", "verdict", "differences")),
        ("Decisions", shown["decisions"], ("decided_at", "decision", "reviewer", "via", "verdict", "reason")),
    ):
        if rows:
            say()
            say_table(columns, [[row[column] for column in columns] for row in rows], title=title)
    if shown["review"]:
        say()
        say_facts(shown["review"], title="Open review item")
