"""The lead event's row: its lock, and the outcome that follows from its mutations and its question."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, select, update

from leadproof.domain.errors import NotFound
from leadproof.domain.events import Lead, Outcome
from leadproof.domain.mutation import Reason, Status
from leadproof.domain.outcome import outcome_of
from leadproof.domain.review import ReviewState
from leadproof.ledger.rows import to_lead
from leadproof.ledger.tables import LEAD_EVENT, MUTATION, REVIEW_ITEM
from leadproof.ledger.transaction import Transaction

_LOCK = select(LEAD_EVENT).where(LEAD_EVENT.c.event_key == bindparam("event_key")).with_for_update(key_share=True)
_LOCK_OF_MUTATION = (
    select(LEAD_EVENT)
    .where(
        LEAD_EVENT.c.event_key
        == select(MUTATION.c.event_key).where(MUTATION.c.mutation_key == bindparam("mutation_key")).scalar_subquery()
    )
    .with_for_update(key_share=True)
)
_STANDINGS = select(MUTATION.c.mutation_key, MUTATION.c.parent_key, MUTATION.c.status, MUTATION.c.reason).where(
    MUTATION.c.event_key == bindparam("event_key")
)
_ASKED = (
    select(REVIEW_ITEM.c.review_id)
    .where(REVIEW_ITEM.c.event_key == bindparam("event_key"), REVIEW_ITEM.c.state == ReviewState.OPEN)
    .limit(1)
)
_SET_OUTCOME = (
    update(LEAD_EVENT)
    .where(LEAD_EVENT.c.event_key == bindparam("known_key"))
    .values(outcome=bindparam("outcome"), echo_of=bindparam("echo_of"))
)


class _Standing(NamedTuple):
    mutation_key: str
    parent_key: str | None
    status: Status
    reason: Reason | None


def locked(tx: Transaction, event_key: str) -> Lead:
    """Read a lead event and keep every other transaction that decides about it waiting.

    Raises:
        NotFound: nothing was admitted under this key.
    """
    row = tx.row(_LOCK, {"event_key": event_key})
    if row is None:
        raise NotFound(f"no lead event stands under {event_key}")
    return to_lead(row)


def locked_by_mutation(tx: Transaction, mutation_key: str) -> Lead:
    """As `locked`, for the event of a mutation.

    Raises:
        NotFound: no such mutation.
    """
    row = tx.row(_LOCK_OF_MUTATION, {"mutation_key": mutation_key})
    if row is None:
        raise NotFound(f"no mutation stands under {mutation_key}")
    return to_lead(row)


def recompute(tx: Transaction, lead: Lead) -> Lead:
    """Set a locked event's outcome by the rule; an event without mutations keeps a final one."""
    event_key = {"event_key": lead.event_key}
    mutations = [
        _Standing(
            row["mutation_key"],
            row["parent_key"],
            Status(row["status"]),
            Reason(row["reason"]) if row["reason"] else None,
        )
        for row in tx.rows(_STANDINGS, event_key)
    ]
    asked = tx.value(_ASKED, event_key)
    if not mutations and asked is None and lead.outcome.final:
        return lead
    return set_outcome(tx, lead, outcome_of(mutations, asked is not None))


def set_outcome(tx: Transaction, lead: Lead, outcome: Outcome, echo_of: str | None = None) -> Lead:
    """Set a locked event's outcome."""
    if (outcome, echo_of or lead.echo_of) == (lead.outcome, lead.echo_of):
        return lead
    values = {"outcome": outcome, "echo_of": echo_of or lead.echo_of}
    tx.run(_SET_OUTCOME, values | {"known_key": lead.event_key})
    return lead.model_copy(update=values)
