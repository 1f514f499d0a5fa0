"""Many questions answered at once: which they are, and their decisions kept together."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from leadproof.domain.mutation import Mutation
from leadproof.domain.review import DecisionRow, ReviewDecision, ReviewItem, ReviewState
from leadproof.ledger.reviews import decision_row, keep
from leadproof.ledger.rows import to_decision, to_item, to_mutation
from leadproof.ledger.tables import MUTATION, REVIEW_DECISION, REVIEW_ITEM
from leadproof.ledger.transaction import Store, Transaction


class Many(Store):
    """What a decision about many asks of the ledger."""

    def questions_of(
        self, reason: str, *, queue: str | None = None, target_system: str | None = None, limit: int
    ) -> tuple[tuple[ReviewItem, Mutation], ...]:
        """Open questions of one reason with the mutations that they are about, due first."""
        return self._read(lambda tx: _questions(tx, reason, queue, target_system, limit))

    def record_decisions(
        self, decisions: Sequence[ReviewDecision], *, reviewer: str, via: str
    ) -> tuple[DecisionRow, ...]:
        """Keep several decisions, all of them or none; each as `record_decision` does, in their order."""
        return self._write(
            lambda tx: tuple(
                keep(tx, decision_row(one, reviewer=reviewer, via=via, now=tx.now), typed=one.typed)
                for one in decisions
            )
        )

    def decisions_like(self, beginning: str) -> tuple[DecisionRow, ...]:
        """Decisions whose id is these hex digits, a dot and anything."""
        ids = REVIEW_DECISION.c.decision_id
        named = select(REVIEW_DECISION).where(ids.startswith(f"{beginning}.", autoescape=True)).order_by(ids)
        return self._read(lambda tx: tuple(to_decision(row) for row in tx.rows(named)))


def _questions(
    tx: Transaction, reason: str, queue: str | None, target_system: str | None, limit: int
) -> tuple[tuple[ReviewItem, Mutation], ...]:
    wanted = {REVIEW_ITEM.c.queue: queue, MUTATION.c.target_system: target_system}
    named = (
        select(REVIEW_ITEM)
        .join(MUTATION, MUTATION.c.mutation_key == REVIEW_ITEM.c.mutation_key)
        .where(REVIEW_ITEM.c.state == ReviewState.OPEN, REVIEW_ITEM.c.reason == reason)
        .where(*(column == value for column, value in wanted.items() if value is not None))
        .order_by(REVIEW_ITEM.c.due_at, REVIEW_ITEM.c.review_id)
        .limit(limit)
    )
    items = [to_item(row) for row in tx.rows(named)]
    keys = [item.mutation_key for item in items]
    mutations = {
        row["mutation_key"]: to_mutation(row)
        for row in tx.rows(select(MUTATION).where(MUTATION.c.mutation_key.in_(keys)))
    }
    return tuple((item, mutations[item.mutation_key]) for item in items if item.mutation_key in mutations)
