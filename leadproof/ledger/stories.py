"""What became of one record of a target over the years, as far as it was us."""

from __future__ import annotations

from typing import Final

from sqlalchemy import or_, select

from leadproof.domain.mutation import Mutation
from leadproof.domain.salesforce_ids import spellings
from leadproof.ledger.rows import to_mutation
from leadproof.ledger.tables import MUTATION
from leadproof.ledger.transaction import Store, Transaction

MOST_EFFECTS: Final = 500


class Stories(Store):
    """Effects by the record that they are about."""

    def effects_on(self, record_id: str, *, target_system: str | None = None) -> tuple[Mutation, ...]:
        """The effects on a record, the latest first; see `leadproof.ports.Ledger.effects_on`."""
        return self._read(lambda tx: _effects(tx, record_id, target_system))


def _effects(tx: Transaction, record_id: str, target_system: str | None) -> tuple[Mutation, ...]:
    named = or_(MUTATION.c.provider_record_id.in_(spellings(record_id)), MUTATION.c.target_record == record_id)
    there = [named] if target_system is None else [named, MUTATION.c.target_system == target_system]
    newest = (MUTATION.c.updated_at.desc(), MUTATION.c.created_at.desc(), MUTATION.c.mutation_key)
    rows = tx.rows(select(MUTATION).where(*there).order_by(*newest).limit(MOST_EFFECTS))
    return tuple(to_mutation(row) for row in rows)
