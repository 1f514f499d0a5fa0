"""Which rows a condition lets pass. It is held against the object's fields first, whether or not there are rows."""

from collections.abc import Callable
from operator import ge, gt, le, lt
from typing import Any

from sandbox.salesforce.soql_columns import Column, Columns
from sandbox.salesforce.soql_errors import UnknownField, WrongOperator
from sandbox.salesforce.soql_ids import MalformedId
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
from sandbox.salesforce.soql_tables import Row
from sandbox.salesforce.soql_values import IDS, MULTIPLE, UNORDERED, Key, key, wanted

Passes = Callable[[Row], bool]

_ORDERED: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


class Filters:
    """Makes tests of rows out of conditions on one object.

    A condition is true or it is not: what is compared with null by size is not, and NOT makes it so.
    """

    def __init__(self, columns: Columns, text: str) -> None:
        self._columns = columns
        self._text = text

    def passes(self, condition: Condition) -> Passes:
        """
        Raises:
            UnknownField: a field is not there, or is compared with another type's value.
            WrongOperator: a field does not take the operator, or an id is none.
        """
        match condition:
            case AllOf(parts):
                every = [self.passes(part) for part in parts]
                return lambda row: all(test(row) for test in every)
            case AnyOf(parts):
                some = [self.passes(part) for part in parts]
                return lambda row: any(test(row) for test in some)
            case Not(part):
                test = self.passes(part)
                return lambda row: not test(row)
            case Comparison():
                return self._comparison(condition)
            case Like():
                return self._like(condition)
            case Among():
                return self._among(condition)
            case Includes():
                return self._includes(condition)

    def _comparison(self, condition: Comparison) -> Passes:
        column = self._columns.column(condition.field)
        mine, operator = self._key(column, condition.literal), condition.operator
        if operator in {"=", "!="}:
            return _unless(operator == "!=", lambda row: _of(column, row) == mine)
        if mine is None or column.kind in UNORDERED:
            raise self._wrong(f"invalid operator '{operator}'", column, condition.field)
        compare = _ORDERED[operator]

        def test(row: Row) -> bool:
            value = _of(column, row)
            return value is not None and compare(value, mine)

        return test

    def _like(self, condition: Like) -> Passes:
        column = self._columns.column(condition.field)
        if column.kind in IDS or column.kind == MULTIPLE or wanted(column.kind)[0] != "string":
            raise self._wrong("invalid operator 'LIKE'", column, condition.field)
        return lambda row: condition.pattern.fullmatch(str(column.read(row) or "")) is not None

    def _among(self, condition: Among) -> Passes:
        column = self._columns.column(condition.field)
        keys = {self._key(column, literal) for literal in condition.literals}
        return _unless(condition.negated, lambda row: _of(column, row) in keys)

    def _includes(self, condition: Includes) -> Passes:
        column = self._columns.column(condition.field)
        if column.kind != MULTIPLE:
            raise self._wrong("invalid operator 'INCLUDES'", column, condition.field)
        keys = [self._key(column, literal) for literal in condition.literals]
        choices = [each for each in keys if isinstance(each, frozenset)]

        def test(row: Row) -> bool:
            value = _of(column, row)
            return isinstance(value, frozenset) and any(choice <= value for choice in choices)

        return _unless(condition.negated, test)

    def _key(self, column: Column, literal: Literal) -> Key:
        kind, called = wanted(column.kind)
        if literal.kind not in {kind, "null"}:
            quoted = "should be" if kind == "string" else "should not be"
            raise UnknownField(
                f"value of filter criterion for field '{column.name}' must be of type {called} and {quoted} enclosed "
                "in quotes",
                self._text,
                literal.at,
            )
        try:
            return key(column.kind, literal.value)
        except MalformedId:
            raise WrongOperator(f"invalid ID field: {literal.value}", self._text, literal.at) from None

    def _wrong(self, what: str, column: Column, field: Name) -> WrongOperator:
        return WrongOperator(f"{what} on {column.kind} field '{column.name}'", self._text, field.at)


def _of(column: Column, row: Row) -> Key:
    return key(column.kind, column.read(row))


def _unless(negated: bool, test: Passes) -> Passes:
    return (lambda row: not test(row)) if negated else test
