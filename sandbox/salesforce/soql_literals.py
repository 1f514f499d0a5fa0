"""What stands in a query for a value: quoted text with its escapes, patterns, moments."""

import re
from collections.abc import Iterator
from datetime import date, datetime

_PIECE = re.compile(r"\\u[0-9A-Fa-f]{4}|\\.|[^\\]", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ANY_CASE = "nrtbf"


class BadEscape(ValueError):
    """A backslash before something that it does not escape."""


def plain(quoted: str) -> str:
    """The text of a quoted string."""
    return "".join(_character(piece) for piece in _pieces(quoted))


def pattern(quoted: str) -> re.Pattern[str]:
    """What LIKE finds: `%` is any text, `_` any character, and a backslash makes either stand for itself.

    Between two `%` the first match is as good as any other, so none is given up again: no pattern takes long.
    """
    first, *others = _runs(quoted)
    middle = "".join(f"(?>.*?{run})" for run in others[:-1] if run)
    last = f".*{others[-1]}" if others else ""
    return re.compile(first + middle + last, re.IGNORECASE | re.DOTALL)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def day(text: str) -> date:
    return date.fromisoformat(text)


def _pieces(quoted: str) -> Iterator[str]:
    return (found.group() for found in _PIECE.finditer(quoted[1:-1]))


def _runs(quoted: str) -> list[str]:
    """What stands between the `%`, as regular expressions."""
    runs = [""]
    for piece in _pieces(quoted):
        if piece == "%":
            runs.append("")
        elif piece == "_":
            runs[-1] += "."
        else:
            runs[-1] += re.escape(piece[1] if piece in {"\\%", "\\_"} else _character(piece))
    return runs


def _character(piece: str) -> str:
    if not piece.startswith("\\"):
        return piece
    if len(piece) > 2:
        return chr(int(piece[2:], 16))
    escaped = piece[1].lower() if piece[1].lower() in _ANY_CASE else piece[1]
    if escaped not in _ESCAPES:
        raise BadEscape(piece)
    return _ESCAPES[escaped]
