"""Lists, a page at a time, and the numbers that metrics show."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from sqlalchemy import Column, ColumnElement, RowMapping, Table, and_, false, func, or_, select

from leadproof.domain.events import Lead, Outcome
from leadproof.domain.mutation import Answer, Mutation, Status
from leadproof.domain.review import About, ReviewItem, ReviewState, refusal, why_asked
from leadproof.domain.salesforce_ids import spellings
from leadproof.domain.steps import Counts, QuarantineEntry
from leadproof.ledger.rows import to_entry, to_item, to_lead, to_mutation
from leadproof.ledger.tables import LEAD_EVENT, LEAD_PLAN, MUTATION, QUARANTINE, REVIEW_ITEM
from leadproof.ledger.transaction import Store, Transaction

T = TypeVar("T")
MOST_A_PAGE = 500
_LARGEST = 2**31 - 1  # of an integer column on PostgreSQL


@dataclass(frozen=True)
class _List(Generic[T]):
    """A list; the columns of its order are unique together."""

    table: Table
    order: tuple[Column[Any], ...]
    read: Callable[[RowMapping], T]
    newest: bool = True


_MUTATIONS = _List(MUTATION, (MUTATION.c.created_at, MUTATION.c.mutation_key), to_mutation)
_LEADS = _List(LEAD_EVENT, (LEAD_EVENT.c.first_seen_at, LEAD_EVENT.c.event_key), to_lead)
_REVIEWS = _List(REVIEW_ITEM, (REVIEW_ITEM.c.due_at, REVIEW_ITEM.c.review_id), to_item, newest=False)
_QUARANTINED = _List(
    QUARANTINE, (QUARANTINE.c.received_at, QUARANTINE.c.delivery_digest, QUARANTINE.c.position), to_entry
)


class Listings(Store):
    """What starter and console list."""

    def mutations(
        self,
        *,
        status: Status | None = None,
        source_record_id: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[tuple[Mutation, ...], str | None]:
        """Newest first."""
        chosen = _chosen({MUTATION.c.status: status}) + _of_record(MUTATION, source_record_id)
        return self._read(lambda tx: _page(tx, _MUTATIONS, chosen, limit, cursor))

    def leads(
        self,
        *,
        outcome: Outcome | None = None,
        source_record_id: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[tuple[Lead, ...], str | None]:
        """Newest first."""
        chosen = _chosen({LEAD_EVENT.c.outcome: outcome}) + _of_record(LEAD_EVENT, source_record_id)
        return self._read(lambda tx: _page(tx, _LEADS, chosen, limit, cursor))

    def reviews(
        self,
        *,
        queue: str | None = None,
        state: ReviewState | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[tuple[ReviewItem, ...], str | None]:
        """By due time, the earliest first."""
        chosen = _chosen({REVIEW_ITEM.c.queue: queue, REVIEW_ITEM.c.state: state})
        return self._read(lambda tx: _page(tx, _REVIEWS, chosen, limit, cursor))

    def about(self, items: Sequence[ReviewItem]) -> dict[str, About]:
        """Per review id what each item is about; an item whose event is not there is left out."""
        return self._read(lambda tx: _about(tx, items)) if items else {}

    def quarantined(
        self, *, state: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> tuple[tuple[QuarantineEntry, ...], str | None]:
        """Newest first."""
        chosen = _chosen({QUARANTINE.c.state: state})
        return self._read(lambda tx: _page(tx, _QUARANTINED, chosen, limit, cursor))

    def counts(self) -> Counts:
        """The numbers that metrics show."""
        return self._read(_counts)


def _chosen(wanted: Mapping[Column[Any], Any]) -> list[ColumnElement[bool]]:
    return [column == value for column, value in wanted.items() if value is not None]


def _of_record(table: Table, source_record_id: str | None) -> list[ColumnElement[bool]]:
    return [] if source_record_id is None else [table.c.source_record_id.in_(spellings(source_record_id))]


def _page(
    tx: Transaction, kind: _List[T], chosen: Sequence[ColumnElement[bool]], limit: int, cursor: str | None
) -> tuple[tuple[T, ...], str | None]:
    """One page; a cursor that is none of ours gives an empty one."""
    size = max(1, min(limit, MOST_A_PAGE))
    beyond = [] if cursor is None else [_beyond(kind.order, cursor, newest=kind.newest)]
    ordered = [column.desc() if kind.newest else column for column in kind.order]
    rows = tx.rows(select(kind.table).where(*chosen, *beyond).order_by(*ordered).limit(size + 1))
    following = _cursor(kind.order, rows[size - 1]) if len(rows) > size else None
    return tuple(kind.read(row) for row in rows[:size]), following


def _beyond(order: Sequence[Column[Any]], cursor: str, *, newest: bool) -> ColumnElement[bool]:
    values = _place(cursor)
    if values is None or len(values) != len(order):
        return false()
    alternatives = []
    for place, column in enumerate(order):
        same = [earlier == value for earlier, value in zip(order[:place], values, strict=False)]
        further = column < values[place] if newest else column > values[place]
        alternatives.append(and_(*same, further))
    return or_(*alternatives)


def _cursor(order: Sequence[Column[Any]], row: RowMapping) -> str:
    values = [row[column.name] for column in order]
    values[0] = values[0].isoformat()
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def _place(cursor: str) -> list[Any] | None:
    """Where a page ended: a moment, then the key's parts; `None` for a cursor that is none of ours."""
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        moment, key, *rest = values
        at = datetime.fromisoformat(moment)
        there = at.astimezone(UTC)
    except (binascii.Error, ValueError, TypeError, OverflowError, RecursionError):
        return None
    # what our own cursors are made of, and both databases take
    ours = at.tzinfo is not None and isinstance(key, str) and key.isascii() and "\x00" not in key
    if not ours or any(isinstance(part, bool) or not isinstance(part, int) or abs(part) > _LARGEST for part in rest):
        return None
    return [there, key, *rest]


def _about(tx: Transaction, items: Sequence[ReviewItem]) -> dict[str, About]:
    named = select(LEAD_EVENT.c.event_key, LEAD_EVENT.c.source_system, LEAD_EVENT.c.source_record_id, LEAD_PLAN.c.plan)
    planned = and_(
        LEAD_PLAN.c.event_key == LEAD_EVENT.c.event_key, LEAD_PLAN.c.policy_version == LEAD_EVENT.c.policy_version
    )
    of_items = LEAD_EVENT.c.event_key.in_({item.event_key for item in items})
    events = {row["event_key"]: row for row in tx.rows(named.outerjoin(LEAD_PLAN, planned).where(of_items))}
    keys = {item.mutation_key for item in items if item.mutation_key is not None}
    asked = (MUTATION.c.ordinal, MUTATION.c.parent_key, MUTATION.c.target_system, MUTATION.c.acceptance_receipt)
    of_keys = select(MUTATION.c.mutation_key, *asked).where(MUTATION.c.mutation_key.in_(keys))
    mutations = {row["mutation_key"]: row for row in tx.rows(of_keys)}
    return {
        item.review_id: About(
            source_system=event["source_system"],
            source_record_id=event["source_record_id"],
            why=_why(item, event, mutations.get(item.mutation_key or "")),
        )
        for item in items
        if (event := events.get(item.event_key)) is not None
    }


def _why(item: ReviewItem, event: RowMapping, mutation: RowMapping | None) -> str | None:
    answer = mutation["acceptance_receipt"] if mutation is not None else None
    refused = (
        refusal(mutation["target_system"], Answer.model_validate(answer))
        if mutation is not None and answer is not None
        else None
    )
    return item.why or why_asked(item.reason, guarded_why(event["plan"], mutation), refused)


def guarded_why(plan: Mapping[str, Any] | None, mutation: RowMapping | None) -> str | None:
    """What the guard said of the action that a mutation comes from; a derived one comes from a decision."""
    if mutation is None or mutation["ordinal"] is None or mutation["parent_key"] is not None or plan is None:
        return None
    guarded = plan["guarded"]
    return guarded[mutation["ordinal"]]["why"] if mutation["ordinal"] < len(guarded) else None


def _counts(tx: Transaction) -> Counts:
    def per(column: Column[Any], *where: ColumnElement[bool]) -> dict[str, int]:
        rows = tx.rows(select(column.label("name"), func.count().label("rows")).where(*where).group_by(column))
        return {row["name"]: row["rows"] for row in rows}

    unfinished = LEAD_EVENT.c.outcome.in_([outcome for outcome in Outcome if not outcome.final])
    oldest = tx.value(
        select(LEAD_EVENT.c.first_seen_at).where(unfinished).order_by(LEAD_EVENT.c.first_seen_at).limit(1)
    )
    mutations, leads = per(MUTATION.c.status), per(LEAD_EVENT.c.outcome)
    return Counts(
        mutations={status: mutations.get(status, 0) for status in Status},
        leads={outcome: leads.get(outcome, 0) for outcome in Outcome},
        oldest_unfinished_seconds=(tx.now - oldest).total_seconds() if oldest is not None else None,
        reviews_open=per(REVIEW_ITEM.c.queue, REVIEW_ITEM.c.state == ReviewState.OPEN),
        quarantine_held=per(QUARANTINE.c.state, QUARANTINE.c.state == "held").get("held", 0),
    )
