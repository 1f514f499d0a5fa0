"""What commands print: tables for a terminal, plain lines without one, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def say(line: str = "") -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def warn(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def say_json(value: Any) -> None:
    say(json.dumps(value, ensure_ascii=False, default=str))


def say_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, title: str | None = None) -> None:
    """Print rows under columns.

    Args:
        columns: the heads.
        rows: one cell per column.
        title: what the table shows.
    """
    cells = [[_text(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _rich(columns, cells, title)
        return
    if title:
        say(title)
    widths = [max(len(row[index]) for row in [list(columns), *cells]) for index in range(len(columns))]
    for row in [list(columns), *cells]:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def say_facts(facts: Mapping[str, Any], *, title: str | None = None) -> None:
    """Print names and values, one a line; what is empty is left out."""
    say_table(("name", "value"), [(name, value) for name, value in facts.items() if value is not None], title=title)


def _rich(columns: Sequence[str], cells: Sequence[Sequence[str]], title: str | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, title=title, title_justify="left")
    for row in cells:
        table.add_row(*(Text(cell, overflow="fold") for cell in row))
    Console().print(table)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, dict | list | tuple):
        return json.dumps(cell, ensure_ascii=False, default=str)
    return str(cell)
