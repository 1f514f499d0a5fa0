"""`leadproof config`: every setting, its present value and its meaning."""

from __future__ import annotations

from typing import Annotated

import typer


def config(
    as_json: Annotated[bool, typer.Option("--json", help="one object for programs")] = False,
) -> None:
    """Show every setting; secrets are never printed."""
    from console.tables import say_json, say_table
    from leadproof.settings import described, load

    rows = described(load())
    if as_json:
        say_json({name: {"value": value, "meaning": meaning} for name, value, meaning in rows})
    else:
        say_table(("variable", "value", "meaning"), rows)
