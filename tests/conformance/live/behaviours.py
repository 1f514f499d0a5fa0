"""What the sandbox claims to share with the real systems, row by row as docs/sandbox.md has it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

PAGE: Final = Path(__file__).parents[3] / "docs" / "sandbox.md"

_ROW = re.compile(r"^\| (?P<text>.+?) \| \*(?P<label>documented|observed|assumed)\* \| .* \|$", re.MULTILINE)
_HEADINGS: Final = {
    "hubspot": ("## Behaviours",),
    "salesforce": ("### Salesforce", "### Salesforce's queries", "### Salesforce's outbound messages"),
}


class Behaviour(NamedTuple):
    """One row: what the sandbox does, and on whose word."""

    text: str
    label: str


def behaviours(system: str) -> tuple[Behaviour, ...]:
    """The rows of one system."""
    page = PAGE.read_text(encoding="utf-8")
    parts = (re.split(r"\n##+ ", page.partition(f"\n{heading}\n")[2])[0] for heading in _HEADINGS[system])
    return tuple(Behaviour(row["text"], row["label"]) for part in parts for row in _ROW.finditer(part))


def behaviour_of(beginning: str, system: str) -> Behaviour:
    """The one row that begins like this.

    Raises:
        LookupError: there is none, or there are several.
    """
    found = [row for row in behaviours(system) if row.text.startswith(beginning)]
    if len(found) != 1:
        raise LookupError(f"docs/sandbox.md has {len(found)} rows about {system} that begin with {beginning!r}")
    return found[0]
