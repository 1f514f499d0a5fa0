"""`leadproof ledger`: the ledger's schema."""

from __future__ import annotations

import typer

app = typer.Typer(help="The ledger's schema.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """The ledger's schema."""


@app.command()
def upgrade() -> None:
    """Bring the ledger's schema to this version."""
    from console.tables import say
    from leadproof.settings import load
    from workers.schema import upgrade_ledger

    say(f"the ledger's schema is at {upgrade_ledger(load())}")
