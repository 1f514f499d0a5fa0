"""What commands print: tables for a terminal, plain lines without one, JSON for programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from leadproof.domain.references import told

# what a terminal obeys, breaks a line at or cannot encode, and what turns the direction of a text around (UTR 36, 3.2)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def printable(text: str) -> str:
    """A text on one line that does nothing to a terminal: leads and models write what people read here.

    Controls are shown as Python writes them, such as `\\x1b`; everything else stays as it is.
    """
    return _CONTROL.sub(_escaped, text)


def say(line: str = "") -> None:
    """Print one line; line breaks in it are shown as such."""
    _print(printable(line))


def warn(line: str) -> None:
    """Print one line to the standard error."""
    sys.stderr.write(f"{printable(line)}\n")
    sys.stderr.flush()


def say_json(value: Any) -> None:
    """Print a value for programs, on one line and unchanged."""
    _print(json.dumps(value, ensure_ascii=False, default=str))


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

    heading = None if title is None else Text(printable(title), style="table.title")  # a str would be read as markup
    table = Table(*columns, title=heading, title_justify="left")
    for row in cells:
        table.add_row(*(Text(cell, overflow="fold") for cell in row))
    Console().print(table)


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _escaped(control: re.Match[str]) -> str:
    one = control[0]
    return _SHORT.get(one) or (f"\\x{ord(one):02x}" if ord(one) < 0x100 else f"\\u{ord(one):04x}")


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    refers = told(cell)
    if refers is not None:
        return printable(refers)
    if isinstance(cell, dict | list | tuple):
        return printable(json.dumps(cell, ensure_ascii=False, default=str))
    return printable(str(cell))
