"""What was received and could not be used."""

from __future__ import annotations

from datetime import timedelta

import pytest

from leadproof.domain.steps import QuarantineEntry
from tests.support.ledgers import START, HandClock, OwnedLedger


def entry(position: int = 0, **changes: object) -> QuarantineEntry:
    values: dict[str, object] = {
        "delivery_digest": "d" * 64,
        "position": position,
        "source_system": "hubspot",
        "reason": "malformed",
        "body": '{"odd": "\x00"}',
        "received_at": START,
    }
    return QuarantineEntry.model_validate(values | changes)


def test_an_entry_is_kept_once(ledger: OwnedLedger) -> None:
    ledger.quarantine([])
    ledger.quarantine([entry(0), entry(1, body="{}")])
    ledger.quarantine([entry(0, reason="another"), entry(2)])
    assert ledger.quarantined_entry("d" * 64, 0) == entry(0, body='{"odd": "\ufffd"}')
    assert ledger.quarantined_entry("d" * 64, 1) == entry(1, body="{}")
    assert ledger.quarantined_entry("d" * 64, 2) is not None
    assert ledger.quarantined_entry("d" * 64, 3) is None


@pytest.mark.parametrize("state", ["retried", "dropped"])
def test_a_closed_entry_has_no_body_and_stays_closed(ledger: OwnedLedger, state: str) -> None:
    ledger.quarantine([entry()])
    closed = ledger.close_quarantined("d" * 64, 0, state=state)
    assert closed == entry(state=state, body=None)
    other = "dropped" if state == "retried" else "retried"
    assert ledger.close_quarantined("d" * 64, 0, state=other) == closed
    assert ledger.close_quarantined("d" * 64, 9, state=state) is None
    with pytest.raises(ValueError, match="held"):
        ledger.close_quarantined("d" * 64, 0, state="held")


def test_old_bodies_are_emptied(ledger: OwnedLedger, clock: HandClock) -> None:
    ledger.quarantine([entry(0), entry(1, received_at=START + timedelta(days=2))])
    clock.forward(timedelta(days=31).total_seconds())
    assert ledger.empty_quarantine(timedelta(days=30)) == 1
    assert ledger.quarantined_entry("d" * 64, 0) == entry(body=None)
    assert ledger.empty_quarantine(timedelta(days=30)) == 0
    kept = ledger.quarantined_entry("d" * 64, 1)
    assert kept is not None
    assert kept.body
