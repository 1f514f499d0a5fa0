"""The row of a mutation changes by compare-and-set on its version, whoever holds which lock."""

from __future__ import annotations

import pytest

from leadproof.domain.errors import IllegalTransition
from leadproof.domain.mutation import Reason, Status
from leadproof.ledger.transitions import move, touch
from tests.ledger.steps import now
from tests.support.ledgers import OwnedLedger, a_lead_event, a_mutation, planned


def test_a_reading_that_is_past_moves_nothing(ledger: OwnedLedger) -> None:
    event = a_lead_event("1")
    (reading,) = planned(ledger, event, a_mutation(event))
    ledger.rename_reason(reading.mutation_key, version=1, reason=Reason.DEPENDS)
    standing = now(ledger, reading)
    assert ledger._write(lambda tx: move(tx, reading, Status.SUBMITTED, None)) is None
    assert ledger._write(lambda tx: touch(tx, reading, Reason.WAITS)) is None
    assert now(ledger, reading) == standing
    moved = ledger._write(lambda tx: move(tx, standing, Status.SUBMITTED, None))
    assert moved == now(ledger, reading)
    assert moved is not None
    assert (moved.status, moved.version) == (Status.SUBMITTED, 3)


def test_the_table_is_asked_before_the_database(ledger: OwnedLedger) -> None:
    event = a_lead_event("1")
    (mutation,) = planned(ledger, event, a_mutation(event))
    with pytest.raises(IllegalTransition):
        ledger._write(lambda tx: move(tx, mutation, Status.OBSERVED, None))
