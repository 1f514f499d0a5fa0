"""The ledger's schema: migrated when told to, checked at every start, never migrated silently."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from leadproof.domain.errors import ConfigurationRefused, LedgerOutdated
from leadproof.ledger.engine import UPGRADE, Engine, connect, ledger_url

REVISIONS = ("0001", "0002", "0003", "0004")
"""Every revision that this code knows, oldest first; it works with the last one."""
HEAD = REVISIONS[-1]

_TOO_NEW = "the ledger is at revision {}, which this code does not know: install the newer code"
_ONE_AT_A_TIME = threading.Lock()  # alembic's environment is a module's global
_ADVISORY = 4_805_173_662  # any number of ours: one migration at a time per PostgreSQL database


def upgrade(url: str, *, busy_seconds: float = 30.0) -> None:
    """Bring a ledger to this code's schema; a new SQLite file and its folder are created.

    Of two at once, the second waits and finds nothing to do.

    Raises:
        ConfigurationRefused: the address is none of a ledger, or its folder cannot be made.
        LedgerUnavailable: the database did not answer.
        LedgerOutdated: the ledger is newer than this code.
    """
    database = ledger_url(url).database
    if ledger_url(url).get_backend_name() == "sqlite" and database is not None:
        _make_folder(Path(database).parent)
    engine = connect(url, busy_seconds=busy_seconds)
    try:
        with _ONE_AT_A_TIME:
            engine.write(_upgrade)
    finally:
        engine.dispose()


def check(engine: Engine) -> None:
    """Refuse a ledger whose schema is not this code's.

    Raises:
        LedgerOutdated: saying what to run.
        LedgerUnavailable: the database did not answer.
    """
    if engine.dialect == "sqlite" and not Path(engine.url.database or "").is_file():
        raise LedgerOutdated(f"there is no ledger yet at its address: {UPGRADE}")
    revision = engine.read(revision_of)
    if revision == HEAD:
        return
    if revision is None:
        raise LedgerOutdated(f"the ledger is empty: {UPGRADE}")
    if revision not in REVISIONS:
        raise LedgerOutdated(_TOO_NEW.format(revision))
    raise LedgerOutdated(f"the ledger is at revision {revision} and this code works with {HEAD}: {UPGRADE}")


def revision_of(connection: Connection) -> str | None:
    """The revision that a ledger is at, `None` for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return revision


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationRefused(
            f"the ledger's folder {folder} cannot be made ({error.strerror}); set LEADPROOF_LEDGER_URL"
        ) from None


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY})
    revision = revision_of(connection)
    if revision is not None and revision not in REVISIONS:
        raise LedgerOutdated(_TOO_NEW.format(revision))
    # only a migration needs alembic: it costs every other start a third of a second
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
