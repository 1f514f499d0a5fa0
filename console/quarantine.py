"""`leadproof quarantine`: what was received and could not be used, through the starter's API."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="What was received and could not be used.", no_args_is_help=True)

JsonOption = Annotated[bool, typer.Option("--json", help="for programs")]
Digest = Annotated[str, typer.Argument(help="digest of the delivery")]
Position = Annotated[int, typer.Argument(min=0, help="position of the event in the delivery")]


@app.command("list")
def list_(
    state: Annotated[str | None, typer.Option(help="held, retried or dropped")] = "held",
    as_json: JsonOption = False,
) -> None:
    """List what is quarantined."""
    from console.starter_api import StarterApi
    from console.tables import say_json, say_table
    from leadproof.settings import load

    answer = StarterApi(load()).get("/v1/quarantine", state=state)
    if as_json:
        say_json(answer)
        return
    columns = ("delivery_digest", "position", "source_system", "reason", "state", "received_at")
    say_table(columns, [[entry[column] for column in columns] for entry in answer["items"]])


@app.command()
def show(digest: Digest, position: Position = 0, as_json: JsonOption = False) -> None:
    """Show one entry with its body."""
    from console.starter_api import StarterApi
    from console.tables import say_facts, say_json
    from leadproof.settings import load

    answer = StarterApi(load()).get(f"/v1/quarantine/{digest}/{position}")
    if as_json:
        say_json(answer)
    else:
        say_facts(answer)


@app.command()
def retry(digest: Digest, position: Position = 0) -> None:
    """Take an entry in again, as if it arrived now."""
    _decide(digest, position, "retry")


@app.command()
def drop(digest: Digest, position: Position = 0) -> None:
    """Give an entry up; its body is emptied."""
    _decide(digest, position, "drop")


def _decide(digest: str, position: int, what: str) -> None:
    from console.starter_api import StarterApi
    from console.tables import say_json
    from leadproof.settings import load

    _, answer = StarterApi(load()).decide(f"/v1/quarantine/{digest}/{position}/{what}")
    say_json(answer)
