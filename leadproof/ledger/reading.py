"""What is read of one lead or one mutation."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Select, and_, bindparam, distinct, func, or_, select

from leadproof.domain.events import Lead, LeadEvent
from leadproof.domain.keys import derived_key
from leadproof.domain.mutation import AnswerClass, Attempt, Mutation, Status
from leadproof.domain.plan import ActionKind, RecordedPlan
from leadproof.domain.references import references_in, resolved
from leadproof.domain.review import Decision, DecisionRow, ReviewItem
from leadproof.domain.steps import Receipts
from leadproof.ledger import rows
from leadproof.ledger.plans import find_plan
from leadproof.ledger.records import queue_behind
from leadproof.ledger.tables import ATTEMPT, LEAD_EVENT, MUTATION, REVIEW_DECISION, REVIEW_ITEM
from leadproof.ledger.transaction import Store, Transaction


class Reading(Store):
    """Single rows and their receipts."""

    def lead(self, event_key: str) -> Lead | None:
        return self._read_once(lambda tx: rows.find_lead(tx, event_key))

    def plan_of(self, event_key: str, policy_version: str) -> RecordedPlan | None:
        return self._read_once(lambda tx: find_plan(tx, event_key, policy_version))

    def mutation(self, mutation_key: str) -> Mutation | None:
        return self._read_once(lambda tx: rows.find_mutation(tx, mutation_key))

    def mutations_of(self, event_key: str) -> tuple[Mutation, ...]:
        """In order: by ordinal, a derived mutation after its parent."""
        return self._read_once(lambda tx: rows.mutations_of(tx, event_key))

    def attempts_of(self, mutation_key: str) -> tuple[Attempt, ...]:
        """In order of their numbers."""
        return self._read_once(lambda tx: rows.attempts_of(tx, mutation_key))

    def receipts(self, mutation_key: str) -> Receipts | None:
        """All that is kept of one mutation; its review item is the open one, else the latest."""
        return self._read(lambda tx: _receipts(tx, mutation_key))

    def decisions_of(self, event_key: str) -> tuple[DecisionRow, ...]:
        """Every decision that names a question of an event or of one of its mutations, oldest first."""
        return self._read_once(lambda tx: _decisions(tx, _DECISIONS_OF_EVENT, event_key))

    def event_keys_like(self, beginning: str) -> tuple[str, ...]:
        """At most two event keys that begin like this."""
        return self._read_once(lambda tx: _keys_like(tx, LEAD_EVENT.c.event_key, beginning))

    def mutation_keys_like(self, beginning: str) -> tuple[str, ...]:
        """At most two mutation keys that begin like this."""
        return self._read_once(lambda tx: _keys_like(tx, MUTATION.c.mutation_key, beginning))

    def waiting(self, mutation_key: str) -> tuple[Mutation, ...]:
        """What waits for the record of a mutation, first in the queue first."""
        return self._read(lambda tx: _waiting(tx, mutation_key))

    def explains(self, mutation: Mutation, marker: str) -> dict[str, Any] | None:
        """The observed fields of an earlier effect of ours; see `leadproof.ports.Ledger.explains`."""
        return self._read(lambda tx: _explains(tx, mutation, marker))

    def seen_since(self, event: LeadEvent, moment: datetime) -> bool:
        """Whether any event of the same record and kind was first delivered at this time or later."""
        return self._read_once(lambda tx: _seen_since(tx, event, moment))

    def told_since(self, lead: Lead, moment: datetime) -> bool:
        """Whether another event of the same record and kind came at this time or later, and before this one.

        Of two that came at once, the key says which was before.
        """
        return self._read_once(lambda tx: _told_since(tx, lead, moment))

    def leads_that_wrote(self, lead: Lead, *, since: datetime) -> int:
        """How many other leads of the same source record have sent a write that left since then."""
        return self._read_once(lambda tx: _leads_that_wrote(tx, lead, since))

    def creator_of(self, external_id: str) -> str | None:
        """The key of the *create* mutation of ours that names this external id as its target record, and that found no
        record to write to instead."""
        return self._read_once(lambda tx: _creator_of(tx, external_id))

    def wrote(self, mutation_key: str, field: str, value: object) -> bool:
        """Whether a mutation of ours stands under this key that intends exactly this value of this field."""
        mutation = self.mutation(mutation_key)
        if mutation is None or mutation.intended_state is None:
            return False
        fields = mutation.intended_state.fields
        if field in references_in(fields):
            fields = resolved(fields, self.mutations_of(mutation.event_key))
        return field in fields and bool(fields[field] == value)


_LATEST_ITEM = (
    select(REVIEW_ITEM)
    .where(REVIEW_ITEM.c.subject == bindparam("subject"))
    .order_by(REVIEW_ITEM.c.round.desc())
    .limit(1)
)
_ALL_DECISIONS = (
    select(REVIEW_DECISION)
    .join(REVIEW_ITEM, REVIEW_ITEM.c.review_id == REVIEW_DECISION.c.review_id)
    .order_by(REVIEW_DECISION.c.decided_at, REVIEW_DECISION.c.decision_id)
)
_DECISIONS = _ALL_DECISIONS.where(REVIEW_ITEM.c.subject == bindparam("named"))
_DECISIONS_OF_EVENT = _ALL_DECISIONS.where(REVIEW_ITEM.c.event_key == bindparam("named"))


def latest_item(tx: Transaction, subject: str) -> ReviewItem | None:
    """The open item of a subject, else its latest: the last round is the only one that can be open."""
    row = tx.row(_LATEST_ITEM, {"subject": subject})
    return rows.to_item(row) if row is not None else None


def _receipts(tx: Transaction, mutation_key: str) -> Receipts | None:
    mutation = rows.find_mutation(tx, mutation_key)
    if mutation is None:
        return None
    review = latest_item(tx, mutation_key)
    decisions = _decisions(tx, _DECISIONS, mutation_key) if review is not None else ()
    return Receipts(
        mutation=mutation,
        attempts=rows.attempts_of(tx, mutation_key),
        observations=rows.observations_of(tx, mutation_key),
        review=review,
        decisions=decisions,
    )


def _decisions(tx: Transaction, statement: Select[Any], named: str) -> tuple[DecisionRow, ...]:
    return tuple(rows.to_decision(row) for row in tx.rows(statement, {"named": named}))


def _keys_like(tx: Transaction, column: Column[Any], beginning: str) -> tuple[str, ...]:
    """Keys are hex digits, so that what begins like this lies between it and its digits followed by a later letter."""
    statement = select(column.label("key")).where(column >= beginning, column < f"{beginning}g").order_by(column)
    return tuple(row["key"] for row in tx.rows(statement.limit(2)))


def _of_the_same(event: LeadEvent, since: datetime) -> Select[tuple[str]]:
    """The events of a record and kind that were first delivered at a time or later."""
    same = ("tenant", "environment", "source_system", "source_record_id", "event_kind")
    return select(LEAD_EVENT.c.event_key).where(
        LEAD_EVENT.c.first_seen_at >= since, *(LEAD_EVENT.c[name] == getattr(event, name) for name in same)
    )


def _seen_since(tx: Transaction, event: LeadEvent, moment: datetime) -> bool:
    return tx.value(_of_the_same(event, moment).limit(1)) is not None


def _told_since(tx: Transaction, lead: Lead, moment: datetime) -> bool:
    came, key = LEAD_EVENT.c.first_seen_at, LEAD_EVENT.c.event_key
    before = or_(came < lead.first_seen_at, and_(came == lead.first_seen_at, key < lead.event_key))
    return tx.value(_of_the_same(lead, moment).where(before).limit(1)) is not None


def _leads_that_wrote(tx: Transaction, lead: Lead, since: datetime) -> int:
    same = ("tenant", "environment", "source_system", "source_record_id")
    left = or_(ATTEMPT.c.outcome.is_(None), ATTEMPT.c.outcome.in_([AnswerClass.ACCEPTED, AnswerClass.UNCERTAIN]))
    statement = (
        select(func.count(distinct(MUTATION.c.event_key)))
        .join(ATTEMPT, ATTEMPT.c.mutation_key == MUTATION.c.mutation_key)
        .where(
            *(MUTATION.c[name] == getattr(lead, name) for name in same),
            MUTATION.c.event_key != lead.event_key,
            ATTEMPT.c.started_at >= since,
            left,
        )
    )
    return int(tx.value(statement))


def _creator_of(tx: Transaction, external_id: str) -> str | None:
    statement = (
        select(MUTATION.c.mutation_key, MUTATION.c.intended_state)
        .where(MUTATION.c.target_record == external_id, MUTATION.c.action_kind == ActionKind.CREATE)
        .order_by(MUTATION.c.created_at, MUTATION.c.mutation_key)
    )
    # one that found its record has made none: whoever did has created it
    makes = (row for row in tx.rows(statement) if (row["intended_state"] or {}).get("creates", True))
    return next((str(row["mutation_key"]) for row in makes), None)


def _waiting(tx: Transaction, mutation_key: str) -> tuple[Mutation, ...]:
    holder = rows.find_mutation(tx, mutation_key)
    if holder is None:
        return ()
    keys = queue_behind(tx, holder)
    found = {row["mutation_key"]: row for row in tx.rows(select(MUTATION).where(MUTATION.c.mutation_key.in_(keys)))}
    return tuple(rows.to_mutation(found[key]) for key in keys if key in found)


def _explains(tx: Transaction, mutation: Mutation, marker: str) -> dict[str, Any] | None:
    other = rows.find_mutation(tx, marker)
    if other is None or other.mutation_key == mutation.mutation_key or not _made(other, mutation):
        return None
    if not _one_record(other, mutation) or not _earlier(tx, other, mutation):
        return None
    fields = (other.observed_state or {}).get("fields")
    if fields is None or other.intended_state is None:
        return None
    differs = {difference.field for difference in other.differences} if other.status is not Status.OBSERVED else set()
    return {name: fields[name] for name in other.intended_state.fields if name in fields and name not in differs}


def _made(other: Mutation, mutation: Mutation) -> bool:
    """Whether what stands there was made by another mutation of ours, and for us.

    It was observed; or it landed, and a person has answered for what differs. What a `restore` put back is somebody's
    value, which whoever has not seen it must not replace.
    """
    if other.parent_key is not None and other.mutation_key == derived_key(other.parent_key, Decision.RESTORE.value):
        return False
    if other.status is Status.OBSERVED:
        return True
    answered = other.status in {Status.SUPERSEDED, Status.ABANDONED} and other.mutation_key != mutation.parent_key
    return answered and (other.observed_state or {}).get("ours") is True


def _one_record(one: Mutation, other: Mutation) -> bool:
    account = ("tenant", "environment", "target_system", "target_object")
    if any(getattr(one, name) != getattr(other, name) for name in account):
        return False
    known = one.provider_record_id is not None and one.provider_record_id == other.provider_record_id
    return known or one.target_record == other.target_record


def _earlier(tx: Transaction, other: Mutation, mutation: Mutation) -> bool:
    if other.event_key == mutation.event_key:
        return other.ordinal < mutation.ordinal or other.mutation_key == mutation.parent_key
    statement = select(LEAD_EVENT.c.event_key, LEAD_EVENT.c.occurred_at).where(
        LEAD_EVENT.c.event_key.in_([other.event_key, mutation.event_key])
    )
    moments = {row["event_key"]: (row["occurred_at"], row["event_key"]) for row in tx.rows(statement)}
    return len(moments) == 2 and moments[other.event_key] < moments[mutation.event_key]
