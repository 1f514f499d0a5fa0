"""Whether a target takes our writes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, case, select

from leadproof.domain.steps import TargetRow
from leadproof.ledger.rows import to_target
from leadproof.ledger.tables import TARGET
from leadproof.ledger.transaction import Store, Transaction, insert_into

_TARGET = select(TARGET).where(TARGET.c.target_system == bindparam("target_system"))


class Targets(Store):
    """One row per target system that was ever marked."""

    def target(self, target_system: str) -> TargetRow | None:
        return self._read_once(lambda tx: _find(tx, target_system))

    def mark_target(self, target_system: str, *, up: bool, reason: str | None) -> TargetRow:
        """Note that a target was looked at; `since` stays while its state does."""
        state = "up" if up else "down"
        return self._write(lambda tx: _mark(tx, target_system, state, reason))


def _find(tx: Transaction, target_system: str) -> TargetRow | None:
    row = tx.row(_TARGET, {"target_system": target_system})
    return to_target(row) if row is not None else None


def _mark(tx: Transaction, target_system: str, state: str, reason: str | None) -> TargetRow:
    values: dict[str, Any] = {
        "target_system": target_system,
        "state": state,
        "reason": reason,
        "since": tx.now,
        "checked_at": tx.now,
    }
    statement = insert_into(TARGET, tx.dialect)
    new = statement.excluded
    row = tx.row(
        statement.on_conflict_do_update(
            index_elements=[TARGET.c.target_system],
            set_={
                "state": new.state,
                "reason": new.reason,
                "since": case((TARGET.c.state == new.state, TARGET.c.since), else_=new.since),
                "checked_at": new.checked_at,
            },
        ).returning(*TARGET.c),
        values,
    )
    if row is None:
        raise AssertionError("an upserted row is not there")
    return to_target(row)
