"""`mutationproof mutation`: one mutation as the ledger has it, and its run."""

from __future__ import annotations

import typer

app = typer.Typer(help="Mutations.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Mutations."""
