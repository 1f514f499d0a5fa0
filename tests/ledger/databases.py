"""A database that tests have to themselves, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from leadproof.ledger.engine import Engine
from leadproof.ledger.tables import METADATA


@dataclass(frozen=True)
class Database:
    """A migrated database, and the session's engine on it, which no single test closes."""

    url: str
    engine: Engine


def emptied(engine: Engine) -> Engine:
    """The database without a row in it."""
    engine.write(_empty)
    return engine


def _empty(connection: Connection) -> None:
    deletions = [f"DELETE FROM {table.name}" for table in reversed(METADATA.sorted_tables)]  # noqa: S608 - our names
    if connection.dialect.name == "postgresql":
        deletions = ["; ".join(deletions)]
    for deletion in deletions:
        connection.exec_driver_sql(deletion).close()
