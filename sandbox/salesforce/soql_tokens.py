"""A query's text in its tokens."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.salesforce.soql_errors import Malformed

LONGEST = 100_000
"""Characters of a statement."""

END = "<EOF>"

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\n\f]+)
  | (?P<string>'(?:[^'\\]|\\.)*')
  | (?P<datetime>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,3})?(?:Z|[+-][0-9]{2}:?[0-9]{2}))
  | (?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9T]))
  | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+))
  | (?P<name>[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)*)
  | (?P<symbol>!=|<=|>=|[=<>(),])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    at: int

    @property
    def word(self) -> str:
        """A name as keywords are written; nothing for any other token."""
        return self.text.upper() if self.kind == "name" else ""


def tokens(text: str) -> list[Token]:
    """All tokens, the last of kind `end`.

    Raises:
        Malformed: something is no token.
    """
    if len(text) > LONGEST:
        raise Malformed(f"SOQL statements cannot be longer than {LONGEST} characters.")
    return [*_tokens(text), Token("end", END, len(text))]


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            what = "unterminated string literal" if text[at] == "'" else f"unexpected token: '{text[at]}'"
            raise Malformed(what, text, at)
        if found.lastgroup and found.lastgroup != "space":
            yield Token(found.lastgroup, found.group(), at)
        at = found.end()
