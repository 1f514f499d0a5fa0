"""One transaction of the ledger, and the base of what is made of such transactions.

Statements on the way of an undisturbed lead are built once per process and given their values when they run: building
one of the mutation's 27 columns takes longer than running it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Executable, RowMapping, Table
from sqlalchemy.dialects import postgresql, sqlite

from leadproof.domain.policy import Policy
from leadproof.ledger.engine import Engine
from leadproof.ports import Clock

T = TypeVar("T")
Values = Mapping[str, Any] | Sequence[Mapping[str, Any]]


def insert_into(table: Table, dialect: str) -> postgresql.Insert:
    """An insert of the database's own dialect, for `on_conflict_...`, which both spell alike."""
    if dialect == "sqlite":
        return cast(postgresql.Insert, sqlite.insert(table))
    return postgresql.insert(table)


class Undone(Exception):
    """Raised inside a transaction to undo it and answer with `result` all the same."""

    def __init__(self, result: Any) -> None:
        super().__init__("the transaction was undone")
        self.result = result


@dataclass(frozen=True)
class Transaction:
    """What a step reads and writes through.

    Attributes:
        now: the ledger's time, taken when the transaction had begun: on SQLite after its turn had come.
    """

    connection: Connection
    now: datetime

    def run(self, statement: Executable, values: Values | None = None) -> None:
        self.connection.execute(statement, values).close()

    def row(self, statement: Executable, values: Values | None = None) -> RowMapping | None:
        return self.connection.execute(statement, values).mappings().first()

    def rows(self, statement: Executable, values: Values | None = None) -> Sequence[RowMapping]:
        return self.connection.execute(statement, values).mappings().all()

    def value(self, statement: Executable, values: Values | None = None) -> Any:
        """The first column of the first row, or `None`."""
        return self.connection.execute(statement, values).scalar()

    @property
    def dialect(self) -> str:
        return self.connection.dialect.name

    def savepoint(self) -> AbstractContextManager[Any]:
        return self.connection.begin_nested()


class Store:
    """Base of the ledger's parts.

    Transactions lock in one order, which keeps deadlocks to runs that compete for the same event and records: the lead
    event, then a mutation, then its review item. Those that remain are undone by PostgreSQL and run again.
    """

    def __init__(self, engine: Engine, clock: Clock, parse: Callable[[str], Policy] | None = None) -> None:
        self._engine = engine
        self._clock = clock
        self._parse = parse

    def _write(self, work: Callable[[Transaction], T]) -> T:
        try:
            return self._engine.write(lambda connection: work(Transaction(connection, self._clock.now())))
        except Undone as undone:
            return cast(T, undone.result)

    def _read(self, work: Callable[[Transaction], T]) -> T:
        return self._engine.read(lambda connection: work(Transaction(connection, self._clock.now())))

    def _read_once(self, work: Callable[[Transaction], T]) -> T:
        """As `_read`, for work that is a single statement."""
        return self._engine.read(lambda connection: work(Transaction(connection, self._clock.now())), together=False)
