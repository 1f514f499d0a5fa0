"""One-time links: spent once, and forgotten when nobody could take them any more."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

from sqlalchemy import select

from leadproof.ledger.engine import connect
from leadproof.ledger.tables import SPENT_LINK
from tests.ledger.databases import Database
from tests.support.ledgers import START, HandClock, OwnedLedger

ENDS = START + timedelta(minutes=10)


def remembered(database: Database) -> set[str]:
    return set(database.engine.read(lambda connection: connection.execute(select(SPENT_LINK.c.digest)).scalars().all()))


def test_a_link_is_spent_once_and_another_one_is_its_own(ledger: OwnedLedger) -> None:
    assert ledger.spend_link("a", expires_at=ENDS)
    assert not ledger.spend_link("a", expires_at=ENDS)
    assert not ledger.spend_link("a", expires_at=ENDS + timedelta(minutes=1))
    assert ledger.spend_link("b", expires_at=ENDS)


def test_of_many_that_spend_it_at_once_one_does(database: Database) -> None:
    together = Barrier(8)

    def spend(_: int) -> bool:
        with OwnedLedger(connect(database.url), HandClock()) as ledger:  # as another process has it: its own engine
            ledger.ping()
            together.wait(timeout=10)
            return ledger.spend_link("one", expires_at=ENDS)

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(spend, range(8))) == [*[False] * 7, True]


def test_a_link_is_remembered_for_a_day_past_its_end(ledger: OwnedLedger, database: Database, clock: HandClock) -> None:
    ledger.spend_link("a", expires_at=ENDS)
    clock.forward(timedelta(hours=24, minutes=10).total_seconds())
    assert not ledger.spend_link("a", expires_at=ENDS)
    assert remembered(database) == {"a"}
    clock.forward(1)
    ledger.spend_link("b", expires_at=clock.now())
    assert remembered(database) == {"b"}
