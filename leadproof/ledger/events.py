"""The lead event's row: its lock, and the outcome that follows from its mutations and its question."""

from __future__ import annotations

from sqlalchemy import ScalarSelect, select, update

from leadproof.domain.errors import NotFound
from leadproof.domain.events import Lead, Outcome
from leadproof.domain.outcome import outcome_of
from leadproof.ledger.rows import mutations_of, to_lead
from leadproof.ledger.tables import LEAD_EVENT, REVIEW_ITEM
from leadproof.ledger.transaction import Transaction


def lock_lead(tx: Transaction, event_key: str | ScalarSelect[str]) -> Lead | None:
    """Read a lead event and keep every other transaction that decides about it waiting."""
    row = tx.row(select(LEAD_EVENT).where(LEAD_EVENT.c.event_key == event_key).with_for_update(key_share=True))
    return to_lead(row) if row is not None else None


def locked(tx: Transaction, event_key: str) -> Lead:
    """As `lock_lead`.

    Raises:
        NotFound: nothing was admitted under this key.
    """
    lead = lock_lead(tx, event_key)
    if lead is None:
        raise NotFound(f"no lead event stands under {event_key}")
    return lead


def recompute(tx: Transaction, lead: Lead) -> Lead:
    """Set a locked event's outcome by the rule; an event without mutations keeps a final one."""
    mutations = mutations_of(tx, lead.event_key)
    asked = tx.value(
        select(REVIEW_ITEM.c.review_id)
        .where(REVIEW_ITEM.c.event_key == lead.event_key, REVIEW_ITEM.c.state == "open")
        .limit(1)
    )
    if not mutations and asked is None and lead.outcome.final:
        return lead
    return set_outcome(tx, lead, outcome_of(mutations, asked is not None))


def set_outcome(tx: Transaction, lead: Lead, outcome: Outcome, echo_of: str | None = None) -> Lead:
    """Set a locked event's outcome."""
    if (outcome, echo_of or lead.echo_of) == (lead.outcome, lead.echo_of):
        return lead
    row = tx.row(
        update(LEAD_EVENT)
        .where(LEAD_EVENT.c.event_key == lead.event_key)
        .values(outcome=outcome, echo_of=echo_of or lead.echo_of)
        .returning(*LEAD_EVENT.c)
    )
    return to_lead(row) if row is not None else lead
