"""The event itself: its end, its runs, and which of them the sweep resumes."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from sqlalchemy import exists, select, update

from leadproof.domain.events import Lead, Outcome, workflow_id
from leadproof.ledger.events import locked, recompute, set_outcome
from leadproof.ledger.questions import resolve
from leadproof.ledger.rows import to_lead
from leadproof.ledger.settling import found
from leadproof.ledger.tables import LEAD_EVENT, LEAD_PLAN, MUTATION, REVIEW_ITEM
from leadproof.ledger.transaction import Store, Transaction

_UNFINISHED = sorted(outcome for outcome in Outcome if not outcome.final)


class Leads(Store):
    """Outcomes and runs."""

    def close_event(self, event_key: str, outcome: Outcome, *, echo_of: str | None = None) -> Lead:
        """Give an event without mutations its final outcome; one that is final, or has mutations, keeps its own.

        Raises:
            NotFound: no such event.
            ValueError: the outcome is not final.
        """
        if not outcome.final:
            raise ValueError(f"an event is not closed as {outcome}")
        return self._write(lambda tx: _close(tx, event_key, outcome, echo_of))

    def close_as_echo(self, event_key: str, mutation_key: str) -> Lead | None:
        """Close an event as the one echo of a write; see `leadproof.ports.Ledger.close_as_echo`.

        Raises:
            NotFound: no such event, or no such mutation.
        """
        return self._write(lambda tx: _close_as_echo(tx, event_key, mutation_key))

    def refresh_outcome(self, event_key: str) -> Lead:
        """Recompute an event's outcome from its item and mutations.

        Raises:
            NotFound: no such event.
        """
        return self._write(lambda tx: recompute(tx, locked(tx, event_key)))

    def unfinished(self, *, older_than: timedelta, limit: int) -> tuple[Lead, ...]:
        """Leads without a final outcome that no step of a run has touched for a while; deliveries don't count.

        Where there are more than `limit`, each call begins somewhere else among them, so that leads that wait for a
        person never keep the others from being looked at.
        """
        return self._read(lambda tx: _unfinished(tx, older_than, limit))

    def elect_run(self, event_key: str, *, run: int) -> bool:
        """Move a lead that is not final from run `run` to the next one, by compare-and-set."""
        statement = (
            update(LEAD_EVENT)
            .where(LEAD_EVENT.c.event_key == event_key, LEAD_EVENT.c.run == run, LEAD_EVENT.c.outcome.in_(_UNFINISHED))
            .values(run=run + 1, workflow_id=workflow_id(event_key, run + 1))
            .returning(LEAD_EVENT.c.run)
        )
        return self._write(lambda tx: tx.value(statement) is not None)


def _close(tx: Transaction, event_key: str, outcome: Outcome, echo_of: str | None) -> Lead:
    lead = locked(tx, event_key)
    if lead.outcome.final:
        return lead
    if tx.value(select(MUTATION.c.mutation_key).where(MUTATION.c.event_key == event_key).limit(1)) is not None:
        return recompute(tx, lead)
    resolve(tx, event_key)
    return set_outcome(tx, lead, outcome, echo_of)


def _close_as_echo(tx: Transaction, event_key: str, mutation_key: str) -> Lead | None:
    lead = locked(tx, event_key)
    found(tx, mutation_key)  # of two at once, one waits here for what the other does
    same = ("source_system", "source_record_id")
    other = select(LEAD_EVENT.c.event_key).where(
        LEAD_EVENT.c.echo_of == mutation_key,
        LEAD_EVENT.c.event_key != event_key,
        *(LEAD_EVENT.c[name] == getattr(lead, name) for name in same),
    )
    if tx.value(other.limit(1)) is not None:
        return None
    return _close(tx, event_key, Outcome.ECHO, mutation_key)


def _unfinished(tx: Transaction, older_than: timedelta, limit: int) -> tuple[Lead, ...]:
    since = tx.now - older_than
    event = LEAD_EVENT.c.event_key
    touched = (
        exists().where(MUTATION.c.event_key == event, MUTATION.c.updated_at > since),
        exists().where(LEAD_PLAN.c.event_key == event, LEAD_PLAN.c.planned_at > since),
        exists().where(REVIEW_ITEM.c.event_key == event, REVIEW_ITEM.c.opened_at > since),
        exists().where(REVIEW_ITEM.c.event_key == event, REVIEW_ITEM.c.closed_at > since),
    )
    begin = _somewhere(tx.now)
    statement = (
        select(LEAD_EVENT)
        .where(
            LEAD_EVENT.c.outcome.in_(_UNFINISHED),
            LEAD_EVENT.c.first_seen_at <= since,  # not the last delivery: it says nothing about the run
            *(~one for one in touched),
        )
        .order_by(event < begin, event)
        .limit(limit)
    )
    return tuple(to_lead(row) for row in tx.rows(statement))


def _somewhere(now: datetime) -> str:
    """A place among event keys, which are hex digests and so lie evenly; another one at another time."""
    return hashlib.sha256(now.isoformat().encode()).hexdigest()
