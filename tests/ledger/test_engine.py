"""Connections: what is set on them, and what a busy or missing database is called."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from leadproof.domain.errors import ConfigurationRefused, LedgerUnavailable
from leadproof.domain.steps import Arrival
from leadproof.ledger import schema
from leadproof.ledger.engine import Engine, connect, ledger_url
from leadproof.ledger.tables import TARGET
from tests.ledger.databases import Database
from tests.support.ledgers import HandClock, OwnedLedger, a_lead_event, sqlite_ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    sqlite_ledger(tmp_path / "ledger.db", HandClock()).close()
    return tmp_path / "ledger.db"


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    engine = connect(f"sqlite:///{path}", busy_seconds=0.2)
    yield engine
    engine.dispose()


@pytest.mark.parametrize("way", ["read", "write"])
def test_what_is_set_on_a_sqlite_connection(engine: Engine, way: str) -> None:
    def settings(connection: sa.Connection) -> list[Any]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    assert getattr(engine, way)(settings) == ["wal", 2, 1, 200]


def test_a_writing_transaction_that_reads_first_still_writes(path: Path) -> None:
    """A deferred one would fail at once with "database is locked" where another wrote in between."""
    one, other = (connect(f"sqlite:///{path}") for _ in range(2))
    began, wrote = threading.Event(), threading.Event()

    def read_then_write(connection: sa.Connection) -> None:
        connection.execute(sa.select(TARGET)).all()
        began.set()
        assert not wrote.wait(0.2)  # the other cannot come in between
        mark(connection, "one")

    def write(connection: sa.Connection) -> None:
        mark(connection, "other")
        wrote.set()

    thread = threading.Thread(target=lambda: (began.wait(5), other.write(write)))
    thread.start()
    one.write(read_then_write)
    thread.join()
    assert one.read(lambda c: c.execute(sa.select(sa.func.count()).select_from(TARGET)).scalar()) == 2
    one.dispose()
    other.dispose()


def mark(connection: sa.Connection, name: str) -> None:
    now = HandClock().now()
    row = {"target_system": name, "state": "up", "since": now, "checked_at": now}
    connection.execute(sa.insert(TARGET), row)


def test_a_process_of_its_own_that_writes_too_long_is_reported_in_time(engine: Engine, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with pytest.raises(LedgerUnavailable):
            engine.write(lambda connection: mark(connection, "late"))
        assert time.monotonic() - began < 5
        assert engine.read(lambda c: c.execute(sa.select(TARGET)).all()) == []  # readers wait for nobody
        other.execute("ROLLBACK")
    engine.write(lambda connection: mark(connection, "in time"))


def test_a_thread_that_writes_too_long_is_reported_in_time(engine: Engine) -> None:
    writing, release = threading.Event(), threading.Event()

    def hold(connection: sa.Connection) -> None:
        writing.set()
        release.wait(10)

    thread = threading.Thread(target=engine.write, args=(hold,))
    thread.start()
    writing.wait(10)
    try:
        with pytest.raises(LedgerUnavailable, match=r"busy for 0\.2 s"):
            engine.write(lambda connection: mark(connection, "late"))
    finally:
        release.set()
        thread.join()
    engine.write(lambda connection: mark(connection, "in time"))


def test_an_error_undoes_the_transaction_and_gives_the_turn_back(database: Database) -> None:
    def fail(connection: sa.Connection) -> None:
        mark(connection, "undone")
        raise RuntimeError

    for _ in range(2):
        with pytest.raises(RuntimeError):
            database.engine.write(fail)
    assert database.engine.read(lambda c: c.execute(sa.select(TARGET)).all()) == []


def test_a_fault_of_ours_is_not_called_unavailable_and_shows_no_values(database: Database) -> None:
    def twice(connection: sa.Connection) -> None:
        mark(connection, "hidden-word")
        mark(connection, "hidden-word")

    with pytest.raises(IntegrityError) as fault:
        database.engine.write(twice)
    assert "[SQL parameters hidden" in str(fault.value)


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    for url in (
        f"sqlite:///{tmp_path / 'none' / 'ledger.db'}",
        "postgresql://me:hidden-word@127.0.0.1:9/ledger",
    ):
        with OwnedLedger(connect(url, busy_seconds=1), HandClock()) as ledger:
            with pytest.raises(LedgerUnavailable) as gone:
                ledger.ping()
            assert "hidden-word" not in str(gone.value)
            with pytest.raises(LedgerUnavailable):
                ledger.admit([Arrival(event=a_lead_event("1"))])


@pytest.mark.parametrize(
    "url", ["", "nonsense", "sqlite://", "sqlite:///:memory:", "mysql://u:hidden-word@h/d", "postgresql+asyncpg://h/d"]
)
def test_an_address_that_is_none_of_a_ledger(url: str) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        connect(url)
    assert "hidden-word" not in str(refused.value)


@pytest.mark.parametrize("url", ["postgresql://h/d", "postgres://h/d", "postgresql+psycopg://h/d"])
def test_postgresql_is_spoken_through_psycopg(url: str) -> None:
    assert ledger_url(url).drivername == "postgresql+psycopg"


@pytest.mark.postgres
def test_a_deadlock_is_run_again(postgresql: Database) -> None:
    """Two transactions lock two rows in opposite orders, for real; both end, the undone one at its second try."""
    engine = postgresql.engine
    engine.write(lambda c: c.execute(TARGET.delete()))
    for name in ("a", "b"):
        engine.write(partial(mark, name=name))
    both = threading.Barrier(2)
    tries: dict[str, int] = {"ab": 0, "ba": 0}

    def update(order: str, connection: sa.Connection) -> None:
        tries[order] += 1
        for place, name in enumerate(order):
            statement = sa.update(TARGET).where(TARGET.c.target_system == name)
            connection.execute(statement.values(reason=sa.func.concat(TARGET.c.reason, order)))
            if place == 0 and tries[order] == 1:
                both.wait(10)

    threads = [threading.Thread(target=engine.write, args=(partial(update, order),)) for order in tries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(tries.values()) == [1, 2]
    reasons = engine.read(lambda c: c.execute(sa.select(TARGET.c.reason)).scalars().all())
    assert [sorted((reason[:2], reason[2:])) for reason in reasons] == [["ab", "ba"]] * 2


@pytest.mark.postgres
def test_a_lock_that_is_held_too_long_is_reported_in_time(postgresql: Database) -> None:
    postgresql.engine.write(lambda c: c.execute(TARGET.delete()))
    impatient = connect(postgresql.url, busy_seconds=0.2)

    def hold(connection: sa.Connection) -> None:
        mark(connection, "held")
        with pytest.raises(LedgerUnavailable):
            impatient.write(lambda c: mark(c, "held"))

    postgresql.engine.write(hold)
    impatient.dispose()


@pytest.mark.postgres
def test_a_connection_that_the_server_ended_is_replaced(postgresql: Database) -> None:
    engine = connect(postgresql.url)
    pid = engine.read(lambda c: c.exec_driver_sql("SELECT pg_backend_pid()").scalar())
    postgresql.engine.write(lambda c: c.exec_driver_sql(f"SELECT pg_terminate_backend({pid}, 5000)").close())
    assert engine.read(lambda c: c.exec_driver_sql("SELECT 1").scalar()) == 1
    engine.dispose()


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///ledger.db?timeout=abc",
        "sqlite:///ledger.db?mode=ro",
        "postgresql://me:hidden-word@127.0.0.1:abc/ledger",
        "postgresql://me:hidden-word@127.0.0.1:1/ledger?colour=red",
    ],
)
def test_an_address_with_what_no_ledger_takes(url: str) -> None:
    with pytest.raises(ConfigurationRefused, match="LEADPROOF_LEDGER_URL") as refused:
        connect(url)
    assert "hidden-word" not in str(refused.value)


def test_the_options_of_postgresql_are_its_own() -> None:
    connect("postgresql://h/d?sslmode=require&application_name=leadproof").dispose()


@pytest.mark.parametrize("way", ["read", "write"])
def test_a_file_that_is_no_database(tmp_path: Path, way: str) -> None:
    file = tmp_path / "passwd"
    file.write_text("root:x:0:0:root:/root:/bin/bash\n" * 50)
    engine = connect(f"sqlite:///{file}", busy_seconds=0.2)
    with pytest.raises(LedgerUnavailable, match="no SQLite database"):
        getattr(engine, way)(lambda connection: connection.execute(sa.select(TARGET)).all())
    engine.dispose()
    with pytest.raises(LedgerUnavailable, match="no SQLite database"):
        schema.upgrade(f"sqlite:///{file}")
    assert file.read_text().startswith("root:x:0:0")


def test_a_file_and_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="cannot be opened"):
        schema.upgrade(f"sqlite:///{tmp_path}")
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationRefused, match=r"folder .*file cannot be made"):
        schema.upgrade(f"sqlite:///{tmp_path / 'file' / 'ledger.db'}")
