"""One record at a time: who holds a record, who waits for it, and who may not be overtaken.

What holds a record is a mutation in `submitted`, `uncertain` or `divergent`; the two partial unique indexes say so.
When a decision answers a mutation by a derived one, the parent gives the hold up and the derived row, `reserved`, takes
it over in the same transaction. No index says that, so the rule stands here: nobody overtakes a reserved derived row
whose parent is `superseded`, however long it takes; the sweep resumes its run. Rows that merely asked (`reserved`,
`waits`) go in the order of their events, each for a minute of its turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, or_, select

from leadproof.domain.mutation import HOLDING, Mutation, Reason, Status
from leadproof.ledger.tables import LEAD_EVENT, MUTATION
from leadproof.ledger.transaction import Transaction

TURN = timedelta(minutes=1)
_CLOCKS = timedelta(seconds=5)
_PARENT = MUTATION.alias("parent")
_FREED = sorted({Status.OBSERVED, Status.SUPERSEDED, Status.ABANDONED, Status.REJECTED})


def _same_record(named: bool) -> ColumnElement[bool]:
    """Other mutations of the same record, by our external id or, where it is known, by the target's own id."""
    record = MUTATION.c.target_record == bindparam("target_record")
    if named:
        record = or_(record, MUTATION.c.provider_record_id == bindparam("provider_record_id"))
    return and_(
        record,
        MUTATION.c.tenant == bindparam("tenant"),
        MUTATION.c.environment == bindparam("environment"),
        MUTATION.c.target_system == bindparam("target_system"),
        MUTATION.c.target_object == bindparam("target_object"),
        MUTATION.c.mutation_key != bindparam("mutation_key"),
    )


_ACCOUNT = ("tenant", "environment", "target_system", "target_object", "mutation_key", "target_record")


def _record(mutation: Mutation) -> dict[str, Any]:
    values = {name: getattr(mutation, name) for name in _ACCOUNT}
    return (
        values if mutation.provider_record_id is None else values | {"provider_record_id": mutation.provider_record_id}
    )


def _named(mutation: Mutation) -> bool:
    return mutation.provider_record_id is not None


@cache
def _holder(named: bool) -> Select[tuple[str]]:
    holding = select(MUTATION.c.mutation_key).where(_same_record(named), MUTATION.c.status.in_(sorted(HOLDING)))
    return holding.with_for_update(read=True)


def held_by(tx: Transaction, mutation: Mutation) -> str | None:
    """The key of the mutation that holds this one's record.

    Its row is locked against change: either it is freed after this transaction, and whoever frees it then sees who
    waits, or it was freed before, and this says `None`.
    """
    key: str | None = tx.value(_holder(_named(mutation)), _record(mutation))
    return key


@cache
def _with_a_right(named: bool) -> Select[Any]:
    return (
        select(
            MUTATION.c.mutation_key,
            MUTATION.c.event_key,
            MUTATION.c.ordinal,
            MUTATION.c.created_at,
            MUTATION.c.updated_at,
            MUTATION.c.depends_on,
            LEAD_EVENT.c.occurred_at,
            _PARENT.c.status.label("parent_status"),
        )
        .join(LEAD_EVENT, LEAD_EVENT.c.event_key == MUTATION.c.event_key)
        .outerjoin(_PARENT, _PARENT.c.mutation_key == MUTATION.c.parent_key)
        .where(
            _same_record(named),
            MUTATION.c.status == Status.RESERVED,
            or_(MUTATION.c.reason == Reason.WAITS, _PARENT.c.status == Status.SUPERSEDED),
        )
    )


def must_wait(tx: Transaction, mutation: Mutation, occurred_at: datetime) -> bool:
    """Whether another row comes first on this record although nothing holds it."""
    rows = tx.rows(_with_a_right(_named(mutation)), _record(mutation))
    others = [row for row in rows if mutation.mutation_key not in row["depends_on"]]  # they come after it in any case
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
    statement = select(MUTATION.c.mutation_key).where(
        _same_record(_named(mutation)), MUTATION.c.status.in_(_FREED), MUTATION.c.updated_at > moment
    )
    return tx.value(statement.limit(1), _record(mutation)) is not None


def shared_since(tx: Transaction, mutation: Mutation, moment: datetime) -> bool:
    """Whether another mutation that was ever claimed for this record has moved since, give or take other clocks."""
    statement = select(MUTATION.c.mutation_key).where(
        _same_record(_named(mutation)), MUTATION.c.status != Status.RESERVED, MUTATION.c.updated_at > moment - _CLOCKS
    )
    return tx.value(statement.limit(1), _record(mutation)) is not None


@cache
def _newer(named: bool) -> Select[Any]:
    return (
        select(MUTATION.c.intended_state, MUTATION.c.observed_state)
        .join(LEAD_EVENT, LEAD_EVENT.c.event_key == MUTATION.c.event_key)
        .where(
            _same_record(named),
            MUTATION.c.status == Status.OBSERVED,
            or_(
                LEAD_EVENT.c.occurred_at > bindparam("occurred_at"),
                and_(
                    LEAD_EVENT.c.occurred_at == bindparam("occurred_at"),
                    LEAD_EVENT.c.event_key > bindparam("event_key"),
                ),
            ),
        )
        .order_by(LEAD_EVENT.c.occurred_at, LEAD_EVENT.c.event_key, MUTATION.c.ordinal, MUTATION.c.created_at)
    )


def newer_effects(tx: Transaction, mutation: Mutation, occurred_at: datetime) -> tuple[dict[str, Any], ...]:
    """Of each newer event's observed mutation of the same record, the oldest first, the fields that it set, with what
    was observed of them.

    To be asked after the hold was taken, in a statement of its own: before it, PostgreSQL would show a state that is
    already past.
    """
    mine = {"occurred_at": occurred_at, "event_key": mutation.event_key}
    rows = tx.rows(_newer(_named(mutation)), _record(mutation) | mine)
    return tuple(
        row["intended_state"]["fields"] | _among(row["intended_state"]["fields"], row["observed_state"])
        for row in rows
        if row["intended_state"] is not None
    )


def _among(intended: dict[str, Any], observed: dict[str, Any] | None) -> dict[str, Any]:
    seen: dict[str, Any] = (observed or {}).get("fields") or {}
    return {name: seen[name] for name in intended if name in seen}


def answered_by(mutation: Mutation, newer: Iterable[dict[str, Any]]) -> bool:
    """Whether one of these effects set every field of a mutation's intent.

    What a person decided is answered by none: the decision was shown what stands, and the check sees what came after.
    """
    decided = mutation.parent_key is not None
    return not decided and any(mutation.intent.fields.keys() <= effect.keys() for effect in newer)


def answered_by_newer(tx: Transaction, mutation: Mutation, occurred_at: datetime) -> bool:
    """Whether a newer event's observed mutation of the same record set every field of this one's intent."""
    return answered_by(mutation, newer_effects(tx, mutation, occurred_at))


@cache
def _queue(named: bool) -> Select[tuple[str, str]]:
    return (
        select(MUTATION.c.event_key, MUTATION.c.mutation_key)
        .join(LEAD_EVENT, LEAD_EVENT.c.event_key == MUTATION.c.event_key)
        .where(_same_record(named), MUTATION.c.status == Status.RESERVED, MUTATION.c.reason == Reason.WAITS)
        .order_by(LEAD_EVENT.c.occurred_at, MUTATION.c.event_key, MUTATION.c.ordinal)
    )


def queue_behind(tx: Transaction, mutation: Mutation) -> tuple[str, ...]:
    """Keys of the mutations that wait for this one's record, in order."""
    return tuple(row["mutation_key"] for row in tx.rows(_queue(_named(mutation)), _record(mutation)))


def first_waiting(tx: Transaction, freed: Mutation) -> str | None:
    """Event key of the lead whose mutation is first in the queue of a record that was just freed."""
    row = tx.row(_queue(_named(freed)), _record(freed))
    return None if row is None else str(row["event_key"])
