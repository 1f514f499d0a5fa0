"""Migrations: they make exactly what the tables say, when they are told to."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from leadproof.domain.errors import ConfigurationRefused, LedgerOutdated
from leadproof.domain.steps import Arrival
from leadproof.ledger import schema
from leadproof.ledger.engine import connect
from leadproof.ledger.tables import METADATA
from tests.ledger.databases import Database
from tests.support.ledgers import START, HandClock, OwnedLedger, a_lead_event


def test_the_migrated_schema_is_what_the_tables_say(database: Database) -> None:
    def differences(connection: sa.Connection) -> list[object]:
        options = {"compare_type": True, "compare_server_default": True, "target_metadata": METADATA}
        context = MigrationContext.configure(connection, opts=options)
        return list(compare_metadata(context, METADATA))

    assert database.engine.read(differences) == []


def test_the_conditions_of_the_unique_indexes_are_there(database: Database) -> None:
    """Alembic's comparison does not look at them."""
    statement = {
        "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '%WHERE%'",
        "postgresql": "SELECT indexname, indexdef FROM pg_indexes WHERE indexdef LIKE '% WHERE %'",
    }[database.engine.dialect]
    rows = database.engine.read(lambda connection: connection.execute(sa.text(statement)).all())
    conditions = {name: sql.split("WHERE", 1)[1] for name, sql in rows}
    assert set(conditions) == {
        "uq_mutation_record_held",
        "uq_mutation_provider_record_held",
        "uq_review_item_open_subject",
    }
    for name in ("uq_mutation_record_held", "uq_mutation_provider_record_held"):
        assert all(f"'{status}'" in conditions[name] for status in ("submitted", "uncertain", "divergent"))
        assert conditions[name].count("'") == 6
    assert "'open'" in conditions["uq_review_item_open_subject"]


def test_every_revision_is_known_to_the_check() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    scripts = ScriptDirectory.from_config(config)
    assert tuple(script.revision for script in reversed(list(scripts.walk_revisions()))) == schema.REVISIONS
    assert scripts.get_current_head() == schema.HEAD


def test_an_up_to_date_ledger_passes_and_upgrading_it_changes_nothing(ledger: OwnedLedger, database: Database) -> None:
    event = a_lead_event("1")
    ledger.admit([Arrival(event=event)])
    schema.upgrade(database.url)
    schema.check(database.engine)
    assert ledger.lead(event.event_key) is not None


def test_a_new_file_and_its_folder_are_made_by_the_upgrade_only(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "led%ger.db"
    engine = connect(f"sqlite:///{path}")
    with pytest.raises(LedgerOutdated, match="leadproof ledger upgrade"):
        schema.check(engine)
    assert not path.parent.exists()
    schema.upgrade(f"sqlite:///{path}")
    schema.check(engine)
    engine.dispose()


def test_an_empty_an_older_and_a_newer_ledger_are_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    engine = connect(url)
    engine.write(lambda connection: connection.exec_driver_sql("CREATE TABLE other (x)").close())
    with pytest.raises(LedgerOutdated, match="empty: run `leadproof ledger upgrade`"):
        schema.check(engine)
    schema.upgrade(url)
    known = schema.HEAD
    monkeypatch.setattr(schema, "REVISIONS", (*schema.REVISIONS, "9998"))
    monkeypatch.setattr(schema, "HEAD", "9998")
    with pytest.raises(LedgerOutdated, match=f"revision {known} and this code works with 9998: run `leadproof ledger"):
        schema.check(engine)
    engine.write(lambda c: c.exec_driver_sql("UPDATE alembic_version SET version_num = '0099'").close())
    with pytest.raises(LedgerOutdated, match="0099, which this code does not know: install the newer code"):
        schema.check(engine)
    with pytest.raises(LedgerOutdated, match="0099, which this code does not know: install the newer code"):
        schema.upgrade(url)
    engine.dispose()


@pytest.mark.parametrize("revision", schema.REVISIONS[:-1])
def test_an_older_ledger_is_brought_here_with_all_that_is_in_it(tmp_path: Path, revision: str) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    engine = connect(url)

    def at(connection: sa.Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        kept = {"version": "1", "digest": "d", "body": "the text", "loaded_at": START}
        connection.execute(sa.insert(METADATA.tables["policy"]), kept)

    engine.write(at)
    with pytest.raises(LedgerOutdated, match=f"the ledger is at revision {revision} and this code works with"):
        schema.check(engine)
    schema.upgrade(url)
    schema.check(engine)
    with OwnedLedger(engine, HandClock()) as ledger:
        assert ledger.policy_text("1") == "the text"


def test_a_ledger_without_tables_says_what_to_run(tmp_path: Path) -> None:
    ledger = OwnedLedger(connect(f"sqlite:///{tmp_path / 'ledger.db'}"), HandClock())
    with ledger, pytest.raises(LedgerOutdated, match="leadproof ledger upgrade"):
        ledger.lead("k")


def test_two_upgrades_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    threads = [threading.Thread(target=schema.upgrade, args=(url,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine = connect(url)
    schema.check(engine)
    engine.dispose()


def test_an_address_that_is_none_is_refused_without_repeating_it() -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        schema.upgrade("mysql://me:hidden-word@host/db")
    assert "hidden-word" not in str(refused.value)
