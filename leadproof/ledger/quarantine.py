"""What was received and could not be used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import select, update

from leadproof.domain.steps import QuarantineEntry
from leadproof.ledger.rows import to_entry
from leadproof.ledger.tables import QUARANTINE
from leadproof.ledger.transaction import Store, Transaction, insert_into

HELD = "held"
_CLOSED = frozenset({"retried", "dropped"})


class Quarantine(Store):
    """Entries by delivery and position in it."""

    def quarantine(self, entries: Sequence[QuarantineEntry]) -> None:
        """Keep what could not be used; the same delivery and position again changes nothing."""
        if entries:
            values = [entry.model_dump() for entry in entries]
            self._write(lambda tx: tx.run(insert_into(QUARANTINE, tx.dialect).on_conflict_do_nothing(), values))

    def quarantined_entry(self, delivery_digest: str, position: int) -> QuarantineEntry | None:
        return self._read(lambda tx: _entry(tx, delivery_digest, position))

    def close_quarantined(self, delivery_digest: str, position: int, *, state: str) -> QuarantineEntry | None:
        """Move a held entry to `retried` or `dropped` and empty its body; one that is not held stays as it is.

        Raises:
            ValueError: another state.
        """
        if state not in _CLOSED:
            raise ValueError(f"an entry is closed as retried or dropped, not as {state!r}")
        return self._write(lambda tx: _close(tx, delivery_digest, position, state))

    def empty_quarantine(self, older_than: timedelta) -> int:
        """Empty the bodies of entries that are older; they stay as they are otherwise.

        Returns:
            How many were emptied.
        """
        return self._write(lambda tx: _empty(tx, older_than))


def _entry(tx: Transaction, delivery_digest: str, position: int) -> QuarantineEntry | None:
    row = tx.row(
        select(QUARANTINE).where(QUARANTINE.c.delivery_digest == delivery_digest, QUARANTINE.c.position == position)
    )
    return to_entry(row) if row is not None else None


def _close(tx: Transaction, delivery_digest: str, position: int, state: str) -> QuarantineEntry | None:
    tx.run(
        update(QUARANTINE)
        .where(
            QUARANTINE.c.delivery_digest == delivery_digest,
            QUARANTINE.c.position == position,
            QUARANTINE.c.state == HELD,
        )
        .values(state=state, body=None)
    )
    return _entry(tx, delivery_digest, position)


def _empty(tx: Transaction, older_than: timedelta) -> int:
    emptied = tx.rows(
        update(QUARANTINE)
        .where(QUARANTINE.c.received_at < tx.now - older_than, QUARANTINE.c.body.is_not(None))
        .values(body=None)
        .returning(QUARANTINE.c.position)
    )
    return len(emptied)
