"""One reading of a body: what two parsers could understand differently is refused."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from leadproof.domain.errors import MalformedDelivery

DEEPEST: Final = 20
"""Levels of nesting; a HubSpot batch has two, our own schema four."""

LARGEST_INTEGER: Final = 2**53 - 1
"""Beyond it a double cannot tell neighbours apart, so two readers see two numbers (RFC 8259, section 6)."""

_LONGEST_NUMBER: Final = 1000
_BOM: Final = b"\xef\xbb\xbf"
# possessive, and the closing quote may be missing: linear in every body, also in one that is no JSON
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)


def read(body: bytes) -> Any:
    """Read a body as JSON, or refuse it as a whole.

    What is wrong inside one value (see `check`) is left to the caller, who may refuse one event and keep the others.

    Raises:
        MalformedDelivery: it is not UTF-8, starts with a byte order mark, is no JSON, has a name twice in one object, a
            number that is none, or is nested too deeply.
    """
    if body.startswith(_BOM):
        raise MalformedDelivery("the body starts with a byte order mark")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedDelivery("the body is not UTF-8") from None
    refuse_depth(body)
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_float
        )
    except json.JSONDecodeError as error:
        raise MalformedDelivery(f"the body is no JSON: it goes wrong at character {error.pos}") from None


def refuse_depth(body: bytes, deepest: int = DEEPEST) -> None:
    """Count levels before parsing, since the parser answers depth with a RecursionError.

    Args:
        deepest: most levels that a body may have.

    Raises:
        MalformedDelivery: it has more.
    """
    depth = 0
    for token in _TOKEN.finditer(body):
        first = body[token.start()]
        if first in b"[{":
            depth += 1
            if depth > deepest:
                raise MalformedDelivery(f"the body is nested deeper than {deepest} levels")
        elif first in b"]}":
            depth -= 1


def check(value: Any) -> None:
    """Refuse a value that cannot be stored, keyed or sent on as it came.

    Args:
        value: what `read` gave, or a part of it.

    Raises:
        MalformedDelivery: it has an integer beyond 2^53, a NUL character or half of a surrogate pair.
    """
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        if abs(value) > LARGEST_INTEGER:
            raise MalformedDelivery("an integer is beyond 2^53")
    elif isinstance(value, list):
        for item in value:
            check(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            _check_text(name)
            check(item)


def text_of(value: Any) -> str:
    """A value that `read` gave, as JSON text that any store can hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair: only its escape can be stored
        return json.dumps(value, separators=(",", ":"))
    return text


def _check_text(text: str) -> None:
    if "\x00" in text:
        raise MalformedDelivery("a text contains a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise MalformedDelivery("a text contains half of a surrogate pair") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise MalformedDelivery("an object of the body has the same name twice")
    return found


def _constant(_: str) -> NoReturn:
    raise MalformedDelivery("the body has a number that is none (NaN or Infinity)")


def _integer(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise MalformedDelivery(f"the body has a number of more than {_LONGEST_NUMBER} digits")
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise MalformedDelivery("the body has a number that is out of range")
    return number
