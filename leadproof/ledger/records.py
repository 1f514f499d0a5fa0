"""One record at a time: who holds a record, who waits for it, and who may not be overtaken.

What holds a record is a mutation in `submitted`, `uncertain` or `divergent`; the two partial unique indexes say so.
When a decision answers a mutation by a derived one, the parent gives the hold up and the derived row, `reserved`, takes
it over in the same transaction. No index says that, so the rule stands here: nobody overtakes a reserved derived row
whose parent is `superseded`, however long it takes; the sweep resumes its run. Rows that merely asked (`reserved`,
`waits`) go in the order of their events, each for a minute of its turn.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.sql import FromClause

from leadproof.domain.mutation import HOLDING, Mutation, Reason, Status
from leadproof.ledger.tables import LEAD_EVENT, MUTATION
from leadproof.ledger.transaction import Transaction

TURN = timedelta(minutes=1)
_HOLDING = sorted(HOLDING)
_FREED = sorted({Status.OBSERVED, Status.SUPERSEDED, Status.ABANDONED, Status.REJECTED})


def same_record(mutation: Mutation, table: FromClause = MUTATION) -> ColumnElement[bool]:
    """Other mutations of the same record, by our external id or by the target's own id."""
    named = table.c.target_record == mutation.target_record
    if mutation.provider_record_id is not None:
        named = or_(named, table.c.provider_record_id == mutation.provider_record_id)
    return and_(
        named,
        table.c.tenant == mutation.tenant,
        table.c.environment == mutation.environment,
        table.c.target_system == mutation.target_system,
        table.c.target_object == mutation.target_object,
        table.c.mutation_key != mutation.mutation_key,
    )


def held_by(tx: Transaction, mutation: Mutation) -> str | None:
    """The key of the mutation that holds this one's record.

    Its row is locked against change: either it is freed after this transaction, and whoever frees it then sees who
    waits, or it was freed before, and this says `None`.
    """
    statement = select(MUTATION.c.mutation_key).where(same_record(mutation), MUTATION.c.status.in_(_HOLDING))
    key: str | None = tx.value(statement.with_for_update(read=True))
    return key


def must_wait(tx: Transaction, mutation: Mutation, occurred_at: datetime) -> bool:
    """Whether another row comes first on this record although nothing holds it."""
    parent = MUTATION.alias("parent")
    statement = (
        select(
            MUTATION.c.mutation_key,
            MUTATION.c.event_key,
            MUTATION.c.ordinal,
            MUTATION.c.created_at,
            MUTATION.c.updated_at,
            MUTATION.c.reason,
            LEAD_EVENT.c.occurred_at,
            parent.c.status.label("parent_status"),
        )
        .join(LEAD_EVENT, LEAD_EVENT.c.event_key == MUTATION.c.event_key)
        .outerjoin(parent, parent.c.mutation_key == MUTATION.c.parent_key)
        .where(
            same_record(mutation),
            MUTATION.c.status == Status.RESERVED,
            or_(MUTATION.c.reason == Reason.WAITS, parent.c.status == Status.SUPERSEDED),
        )
    )
    others = tx.rows(statement)
    heirs = [row for row in others if row["parent_status"] == Status.SUPERSEDED]
    if _inherits(tx, mutation):
        mine: tuple[Any, ...] = (mutation.created_at, mutation.mutation_key)
        return any((row["created_at"], row["mutation_key"]) < mine for row in heirs)
    if heirs:
        return True
    mine = (occurred_at, mutation.event_key, mutation.ordinal)
    earlier = [row for row in others if (row["occurred_at"], row["event_key"], row["ordinal"]) < mine]
    if not earlier:
        return False
    begun = tx.now - TURN
    return any(row["updated_at"] > begun for row in earlier) or _freed_since(tx, mutation, begun)


def _inherits(tx: Transaction, mutation: Mutation) -> bool:
    if mutation.parent_key is None:
        return False
    parent = select(MUTATION.c.status).where(MUTATION.c.mutation_key == mutation.parent_key)
    return bool(tx.value(parent) == Status.SUPERSEDED)


def _freed_since(tx: Transaction, mutation: Mutation, moment: datetime) -> bool:
    statement = (
        select(MUTATION.c.mutation_key)
        .where(same_record(mutation), MUTATION.c.status.in_(_FREED), MUTATION.c.updated_at > moment)
        .limit(1)
    )
    return tx.value(statement) is not None


def answered_by_newer(tx: Transaction, mutation: Mutation, occurred_at: datetime) -> bool:
    """Whether a newer event's observed mutation of the same record set every field of this one's intent.

    To be asked after the hold was taken, in a statement of its own: before it, PostgreSQL would show a state that is
    already past.
    """
    statement = (
        select(MUTATION.c.intended_state)
        .join(LEAD_EVENT, LEAD_EVENT.c.event_key == MUTATION.c.event_key)
        .where(
            same_record(mutation),
            MUTATION.c.status == Status.OBSERVED,
            or_(
                LEAD_EVENT.c.occurred_at > occurred_at,
                and_(LEAD_EVENT.c.occurred_at == occurred_at, LEAD_EVENT.c.event_key > mutation.event_key),
            ),
        )
    )
    fields = set(mutation.intent.fields)
    intents = (row["intended_state"] for row in tx.rows(statement))
    return any(fields <= set(intent["fields"]) for intent in intents if intent is not None)


def queue_behind(tx: Transaction, mutation: Mutation, *, limit: int | None = None) -> tuple[tuple[str, str], ...]:
    """Event key and mutation key of what waits for this one's record, in order."""
    statement = (
        select(MUTATION.c.event_key, MUTATION.c.mutation_key)
        .join(LEAD_EVENT, LEAD_EVENT.c.event_key == MUTATION.c.event_key)
        .where(same_record(mutation), MUTATION.c.status == Status.RESERVED, MUTATION.c.reason == Reason.WAITS)
        .order_by(LEAD_EVENT.c.occurred_at, MUTATION.c.event_key, MUTATION.c.ordinal)
        .limit(limit)
    )
    return tuple((row["event_key"], row["mutation_key"]) for row in tx.rows(statement))


def first_waiting(tx: Transaction, freed: Mutation) -> str | None:
    """Event key of the lead whose mutation is first in the queue of a record that was just freed."""
    waiting = queue_behind(tx, freed, limit=1)
    return waiting[0][0] if waiting else None
