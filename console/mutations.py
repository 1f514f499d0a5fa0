"""`leadproof mutation`: mutations with their receipts, as the ledger has them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

app = typer.Typer(help="Mutations and their receipts.", no_args_is_help=True)

_COLUMNS = {
    "attempts": ("number", "started_at", "ended_at", "outcome", "http_status", "correlation_id"),
    "observations": ("number", "read_at", "identity", "verdict", "differences"),
    "decisions": ("decided_at", "decision", "reviewer", "via", "verdict", "reason"),
}

JsonOption = Annotated[bool, typer.Option("--json", help="for programs, as the API answers it")]


@app.command("list")
def list_(
    status: Annotated[str | None, typer.Option(help="only those in this status")] = None,
    source_record_id: Annotated[str | None, typer.Option(help="only those of this source record")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="at most so many")] = 100,
    cursor: Annotated[str | None, typer.Option(help="go on where a list ended")] = None,
    as_json: JsonOption = False,
) -> None:
    """List mutations, newest first."""
    from console.leaving import CommandRefused
    from console.tables import say, say_json, say_table
    from leadproof.domain.mutation import Status
    from leadproof.settings import load
    from starter.rows import page
    from workers import compose

    if status is not None and status not in set(Status):
        raise CommandRefused(f"a mutation is never {status!r}, but one of {', '.join(Status)}")
    items, following = compose.open_ledger(load()).mutations(
        status=Status(status) if status else None, source_record_id=source_record_id, limit=limit, cursor=cursor
    )
    answer = page(items, following)
    if as_json:
        say_json(answer)
        return
    columns = ("mutation_key", "action_kind", "target_system", "source_record_id", "status", "reason", "updated_at")
    say_table(
        (*columns, "differs_in"),
        [
            [*(item[column] for column in columns), ", ".join(one["field"] for one in item["differences"])]
            for item in answer["items"]
        ],
    )
    if following:
        say(f"more with --cursor {following}")


@app.command()
def show(key: Annotated[str, typer.Argument(help="the mutation key")], as_json: JsonOption = False) -> None:
    """Show a mutation with its three receipts: intent, acceptance, state."""
    from console.comparison import say_fields
    from console.tables import say, say_facts, say_json, say_table
    from leadproof.domain.errors import NotFound
    from leadproof.settings import load
    from starter.rows import mutation_answer
    from workers import compose

    receipts = compose.open_ledger(load()).receipts(key)
    if receipts is None:
        raise NotFound(f"no mutation stands under {key}")
    answer = mutation_answer(receipts)
    if as_json:
        say_json(answer)
        return
    parts: dict[str, Any] = {name: answer.pop(name) for name in ("attempts", "observations", "decisions", "review")}
    say_facts(answer)
    say_fields([receipts.mutation])
    for name, columns in _COLUMNS.items():
        if parts[name]:
            say()
            say_table(columns, [[row[column] for column in columns] for row in parts[name]], title=name.capitalize())
    if parts["review"]:
        say()
        say_facts(parts["review"], title="Review item")
