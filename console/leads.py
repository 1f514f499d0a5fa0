"""`leadproof lead`: one lead as the ledger has it, and its run."""

from __future__ import annotations

import typer

app = typer.Typer(help="Leads.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Leads."""
