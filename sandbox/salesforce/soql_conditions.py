"""The condition of a query, as the grammar of SOQL's reference has it.

AND and OR on one level, and NOT beside them, want parentheses.
"""

from collections.abc import Callable
from typing import TypeVar

from sandbox.salesforce.soql_literals import BadEscape, day, moment, pattern, plain
from sandbox.salesforce.soql_reading import Reading
from sandbox.salesforce.soql_syntax import (
    AllOf,
    Among,
    AnyOf,
    Comparison,
    Condition,
    Includes,
    Like,
    Literal,
    Name,
    Not,
)
from sandbox.salesforce.soql_tokens import Token

Meant = TypeVar("Meant")

DEEPEST = 50
LONGEST_TEXT = 4_000
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_WORDS: dict[str, bool | None] = {"TRUE": True, "FALSE": False, "NULL": None}


def condition(reading: Reading, depth: int = 0) -> Condition:
    if depth > DEEPEST:
        raise reading.malformed(f"conditions nested more than {DEEPEST} deep are not understood")
    if reading.take("NOT"):
        return Not(_simple(reading, depth))
    parts = [_simple(reading, depth)]
    for word, joined in (("AND", AllOf), ("OR", AnyOf)):
        if reading.word() == word:
            while reading.take(word):
                parts.append(_simple(reading, depth))
            return joined(tuple(parts))
    return parts[0]


def _simple(reading: Reading, depth: int) -> Condition:
    if reading.take("("):
        inner = condition(reading, depth + 1)
        reading.expect(")")
        return inner
    return _field_expression(reading)


def _field_expression(reading: Reading) -> Condition:
    field = reading.field()
    token = reading.next()
    if token.text in COMPARISONS:
        return Comparison(field, token.text, _literal(reading))
    if token.word == "LIKE":
        quoted = reading.next()
        if quoted.kind != "string":
            raise reading.unexpected(quoted)
        return Like(field, _decoded(reading, quoted, pattern))
    if token.word == "NOT" and reading.take("IN"):
        return _list(reading, field, Among, negated=True)
    if token.word == "IN":
        return _list(reading, field, Among, negated=False)
    if token.word in {"INCLUDES", "EXCLUDES"}:
        return _list(reading, field, Includes, negated=token.word == "EXCLUDES")
    raise reading.unexpected(token)


def _list(reading: Reading, field: Name, made: type[Among] | type[Includes], *, negated: bool) -> Among | Includes:
    reading.expect("(")
    if reading.word() == "SELECT":
        raise reading.malformed("subqueries in a condition (semi-joins) are not understood")
    literals = [_literal(reading)]
    while reading.take(","):
        literals.append(_literal(reading))
    reading.expect(")")
    return made(field, tuple(literals), negated)


def _literal(reading: Reading) -> Literal:
    token = reading.next()
    if token.kind == "string":
        return Literal("string", _decoded(reading, token, plain), token.at)
    if token.kind == "number":
        return Literal("number", float(token.text), token.at)
    if token.kind == "datetime":
        return Literal("datetime", _decoded(reading, token, moment), token.at)
    if token.kind == "date":
        return Literal("date", _decoded(reading, token, day), token.at)
    if token.word in _WORDS:
        return Literal("null" if token.word == "NULL" else "boolean", _WORDS[token.word], token.at)
    raise reading.unexpected(token)


def _decoded(reading: Reading, token: Token, decode: Callable[[str], Meant]) -> Meant:
    if token.kind == "string" and len(token.text) - 2 > LONGEST_TEXT:
        raise reading.malformed(f"a string of more than {LONGEST_TEXT} characters in a WHERE clause", token)
    try:
        return decode(token.text)
    except BadEscape as escape:
        raise reading.malformed(f"Invalid string literal: illegal character sequence '{escape}'", token) from None
    except ValueError:
        raise reading.malformed(f"Invalid {token.kind}: {token.text}", token) from None
