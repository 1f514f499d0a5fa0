"""Connections to the ledger: writing transactions one at a time on SQLite, reads beside them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import Connection, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from leadproof.domain.errors import ConfigurationRefused, LedgerOutdated, LedgerUnavailable

T = TypeVar("T")

_TRIES = 5
_RETRIED = frozenset({"40001", "40P01"})  # serialization_failure, deadlock_detected
_NO_TABLE = frozenset({"42P01", "42703"})  # undefined_table, undefined_column
_UNUSABLE = {
    "SQLITE_NOTADB": "the file that LEADPROOF_LEDGER_URL names is no SQLite database; name another one",
    "SQLITE_CORRUPT": "the ledger's file is damaged; put a backup in its place",
    "SQLITE_CANTOPEN": "the ledger's file cannot be opened; see that LEADPROOF_LEDGER_URL names a file that we may use",
    "SQLITE_READONLY": "the ledger's file, or its folder, cannot be written; see that LEADPROOF_LEDGER_URL names ours",
    "SQLITE_FULL": "there is no room left on the ledger's disk",
}
"""What SQLite says of the file itself (https://www.sqlite.org/rescode.html)."""
UPGRADE = "run `leadproof ledger upgrade`"


class Engine:
    """A ledger's database.

    On SQLite there is one writing connection per process, behind a lock, and every writing transaction begins
    IMMEDIATE: a deferred one that reads and then writes fails at once with "database is locked", whatever the busy
    time-out (https://www.sqlite.org/lang_transaction.html). Reads have connections of their own.
    """

    def __init__(self, writer: sa.Engine, reader: sa.Engine, *, busy_seconds: float) -> None:
        self._writer = writer
        self._reader = reader
        self._busy_seconds = busy_seconds
        self._alone = threading.Lock() if writer.dialect.name == "sqlite" else None

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._writer.dialect.name

    @property
    def url(self) -> URL:
        return self._writer.url

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one writing transaction.

        A deadlock or a serialisation failure makes PostgreSQL undo the whole transaction before its commit, and `work`
        reads everything that it decides on inside the transaction; so it is run again from its beginning.

        Raises:
            LedgerUnavailable: the database did not answer in time.
            LedgerOutdated: the schema is not this code's.
        """
        for tried in range(1, _TRIES + 1):
            try:
                with self._turn(), self._writer.connect() as connection, connection.begin():
                    return work(connection)
            except (DBAPIError, PoolTimeout) as error:
                if tried < _TRIES and getattr(getattr(error, "orig", None), "sqlstate", None) in _RETRIED:
                    continue
                named = _named(error)
                if named is None:
                    raise
                raise named from error
        raise AssertionError  # the loop returns or raises

    def read(self, work: Callable[[Connection], T], *, together: bool = True) -> T:
        """Run `work` on a reading connection.

        Args:
            together: on SQLite, several statements see one state; for a single one that is the case anyway, and
                beginning and ending a transaction around it takes as long as the statement.

        Raises:
            LedgerUnavailable, LedgerOutdated: as for `write`.
        """
        try:
            with self._reader.connect() as connection:
                if together and self.dialect == "sqlite":
                    connection.exec_driver_sql("BEGIN")
                return work(connection)
        except (DBAPIError, PoolTimeout) as error:
            named = _named(error)
            if named is None:
                raise
            raise named from error

    def dispose(self) -> None:
        """Close every connection."""
        self._writer.dispose()
        self._reader.dispose()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if self._alone is None:
            yield
            return
        if not self._alone.acquire(timeout=self._busy_seconds):
            raise LedgerUnavailable(f"the ledger was busy for {self._busy_seconds:g} s")
        try:
            yield
        finally:
            self._alone.release()


def connect(url: str, *, busy_seconds: float = 30.0) -> Engine:
    """Open a ledger; no connection is made yet.

    Args:
        url: `sqlite:///PATH` or `postgresql+psycopg://...`.
        busy_seconds: how long a call waits for its turn, a lock or a connection.

    Raises:
        ConfigurationRefused: the address is none of a ledger.
    """
    parsed = ledger_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(parsed, busy_seconds)
    return _postgresql(parsed, busy_seconds)


def ledger_url(url: str) -> URL:
    """Read a ledger's address; the driver for PostgreSQL is always psycopg.

    Raises:
        ConfigurationRefused: the address is none of a ledger; it is not repeated, since it may hold a password.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # a port that is no number is a ValueError
        raise ConfigurationRefused("LEADPROOF_LEDGER_URL cannot be read as an address") from None
    if parsed.drivername in {"postgresql", "postgres", "postgresql+psycopg"}:
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername in {"sqlite", "sqlite+pysqlite"} and parsed.database not in {None, "", ":memory:"}:
        if parsed.query:
            raise ConfigurationRefused("LEADPROOF_LEDGER_URL has options behind a `?`, and on SQLite it takes none")
        return parsed
    raise ConfigurationRefused("LEADPROOF_LEDGER_URL is neither sqlite:///PATH nor postgresql+psycopg://...")


def _named(error: DBAPIError | PoolTimeout) -> LedgerUnavailable | LedgerOutdated | None:
    """The domain's name of what a database could not do; `None` for a fault of ours."""
    if isinstance(error, PoolTimeout):
        return LedgerUnavailable("no connection to the ledger became free in time")
    orig = error.orig
    unusable = _UNUSABLE.get(getattr(orig, "sqlite_errorname", None) or "")
    if unusable is not None:
        return LedgerUnavailable(unusable)
    if getattr(orig, "sqlstate", None) in _NO_TABLE or "no such table" in str(orig) or "no such column" in str(orig):
        return LedgerOutdated(f"the ledger's schema is not this code's: {UPGRADE}")
    if isinstance(error, OperationalError | InterfaceError):
        return LedgerUnavailable(f"the ledger did not answer: {type(orig).__name__}")
    return None


def _sqlite(url: URL, busy_seconds: float) -> Engine:
    def set_up(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # the driver begins nothing by itself; `begin` below does
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {math.ceil(busy_seconds * 1000)}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    def begin_immediate(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    connect_args = {"check_same_thread": False, "timeout": busy_seconds}
    writer = sa.create_engine(url, hide_parameters=True, pool_size=1, max_overflow=0, connect_args=connect_args)
    reader = sa.create_engine(
        url, hide_parameters=True, pool_size=4, max_overflow=28, pool_timeout=busy_seconds, connect_args=connect_args
    )
    event.listen(writer, "connect", set_up)
    event.listen(reader, "connect", set_up)
    event.listen(writer, "begin", begin_immediate)
    return Engine(writer, reader, busy_seconds=busy_seconds)


def _postgresql(url: URL, busy_seconds: float) -> Engine:
    _check_options(url)
    milliseconds = math.ceil(busy_seconds * 1000)

    def set_up(connection: Any, _record: Any) -> None:
        # a process that is stopped inside a transaction must not keep its locks for ever
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = {milliseconds}")
        cursor.execute("SET idle_in_transaction_session_timeout = 60000")
        cursor.execute("SET timezone = 'UTC'")
        cursor.close()
        connection.autocommit = False

    writer = sa.create_engine(
        url,
        hide_parameters=True,
        isolation_level="READ COMMITTED",
        pool_size=8,
        max_overflow=24,
        pool_timeout=busy_seconds,
        pool_pre_ping=True,  # a connection that a restart of the server has ended is replaced, not reported
        connect_args={"connect_timeout": max(2, math.ceil(busy_seconds))},
    )
    event.listen(writer, "connect", set_up)
    return Engine(writer, writer.execution_options(isolation_level="AUTOCOMMIT"), busy_seconds=busy_seconds)


def _check_options(url: URL) -> None:
    """Refuse what the client of PostgreSQL would refuse at the first connection, as an error among errors of ours."""
    import psycopg  # noqa: PLC0415 - a ledger on SQLite needs none

    try:
        psycopg.conninfo.make_conninfo("", **dict.fromkeys(url.query, "any"))
    except psycopg.ProgrammingError:
        raise ConfigurationRefused(
            "LEADPROOF_LEDGER_URL has options behind its `?` that PostgreSQL's client does not know"
        ) from None
