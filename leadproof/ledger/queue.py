"""The review queue as people look at it: a page of open questions in two statements, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, and_, case, false, func, literal, select

from leadproof.domain.events import changed_field
from leadproof.domain.mutation import Answer
from leadproof.domain.queue import PAGE_SIZE, QueueGroup, QueuePage, QueueQuery, QueueRow, queue_mark
from leadproof.domain.review import ReviewItem, ReviewState, refusal, why_asked
from leadproof.ledger.listings import guarded_why
from leadproof.ledger.rows import to_item
from leadproof.ledger.tables import LEAD_EVENT, LEAD_PLAN, MUTATION, REVIEW_ITEM
from leadproof.ledger.transaction import Store, Transaction

_OF_ITEM = tuple(column.label(f"item_{column.name}") for column in REVIEW_ITEM.c)
_JOINED = REVIEW_ITEM.join(LEAD_EVENT, LEAD_EVENT.c.event_key == REVIEW_ITEM.c.event_key).outerjoin(
    MUTATION, MUTATION.c.mutation_key == REVIEW_ITEM.c.mutation_key
)
_PLANNED = and_(
    LEAD_PLAN.c.event_key == LEAD_EVENT.c.event_key, LEAD_PLAN.c.policy_version == LEAD_EVENT.c.policy_version
)
_ALIKE = (REVIEW_ITEM.c.queue, LEAD_EVENT.c.source_system, MUTATION.c.target_system, REVIEW_ITEM.c.reason)


class ReviewQueue(Store):
    """What the review page lists."""

    def queue_page(self, asked: QueueQuery) -> QueuePage:
        """A page of open questions, due first, and the numbers of all that may be seen."""
        return self._read(lambda tx: _page(tx, asked))

    def queue_mark(self, asked: QueueQuery) -> str:
        """The mark that `queue_page` would answer, without reading what stands in the rows."""
        return self._read(lambda tx: queue_mark(_groups(tx, asked), _ids(tx, asked)))


def _page(tx: Transaction, asked: QueueQuery) -> QueuePage:
    groups = _groups(tx, asked)
    wanted = select(
        *_OF_ITEM,
        LEAD_EVENT.c.source_system,
        LEAD_EVENT.c.source_record_id,
        LEAD_EVENT.c.event_kind,
        LEAD_EVENT.c.occurrence,
        LEAD_EVENT.c.lead,
        LEAD_PLAN.c.snapshot,
        LEAD_PLAN.c.plan,
        MUTATION.c.ordinal,
        MUTATION.c.parent_key,
        MUTATION.c.target_system,
        MUTATION.c.target_object,
        MUTATION.c.provider_record_id,
        MUTATION.c.action_kind,
        MUTATION.c.acceptance_receipt,
        MUTATION.c.differences,
    ).select_from(_JOINED.outerjoin(LEAD_PLAN, _PLANNED))
    rows = [_row(row) for row in tx.rows(_in_order(wanted, asked))]
    return QueuePage(
        groups=tuple(groups), rows=tuple(rows), mark=queue_mark(groups, [row.item.review_id for row in rows])
    )


def _ids(tx: Transaction, asked: QueueQuery) -> list[str]:
    wanted = select(REVIEW_ITEM.c.review_id).select_from(_JOINED)
    return [row["review_id"] for row in tx.rows(_in_order(wanted, asked))]


def _in_order(wanted: Select[Any], asked: QueueQuery) -> Select[Any]:
    return (
        wanted.where(*_seen(asked), *_chosen(asked))
        .order_by(REVIEW_ITEM.c.due_at, REVIEW_ITEM.c.review_id)
        .limit(PAGE_SIZE)
        .offset((asked.page - 1) * PAGE_SIZE)
    )


def _groups(tx: Transaction, asked: QueueQuery) -> list[QueueGroup]:
    old = _until(asked)

    def number(*where: ColumnElement[bool]) -> Any:
        return func.coalesce(func.sum(case((and_(*where), 1), else_=0)), 0)

    since = REVIEW_ITEM.c.opened_at > asked.since if asked.since is not None else false()
    counted = select(
        REVIEW_ITEM.c.queue,
        LEAD_EVENT.c.source_system.label("source"),
        MUTATION.c.target_system.label("target"),
        REVIEW_ITEM.c.reason,
        func.count().label("number"),
        number(*old).label("old"),
        number(*old, since).label("new"),
        number(*old, REVIEW_ITEM.c.due_at < tx.now).label("overdue"),
    ).select_from(_JOINED)
    rows = tx.rows(counted.where(*_seen(asked)).group_by(*_ALIKE).order_by(*_ALIKE))
    return [QueueGroup.model_validate(dict(row)) for row in rows]


def _seen(asked: QueueQuery) -> list[ColumnElement[bool]]:
    is_open = REVIEW_ITEM.c.state == ReviewState.OPEN
    return [is_open] if asked.queues is None else [is_open, REVIEW_ITEM.c.queue.in_(sorted(asked.queues))]


def _chosen(asked: QueueQuery) -> list[ColumnElement[bool]]:
    wanted = (
        (LEAD_EVENT.c.source_record_id, asked.source_record_id),
        *zip(_ALIKE, (asked.queue, asked.source, asked.target, asked.reason), strict=True),
    )
    return [*(column == value for column, value in wanted if value is not None), *_until(asked)]


def _until(asked: QueueQuery) -> list[ColumnElement[bool]]:
    return [literal(value=True)] if asked.opened_before is None else [REVIEW_ITEM.c.opened_at <= asked.opened_before]


def _row(row: RowMapping) -> QueueRow:
    item = to_item({column.name: row[f"item_{column.name}"] for column in REVIEW_ITEM.c})
    return QueueRow(
        item=item,
        source_system=row["source_system"],
        source_record_id=row["source_record_id"],
        event_kind=row["event_kind"],
        changed_field=changed_field(row["occurrence"]),
        why=_why(item, row),
        lead=(row["snapshot"] or {}).get("fields") or (row["lead"] or {}).get("lead") or {},
        target_system=row["target_system"],
        target_object=row["target_object"],
        record=row["provider_record_id"],
        action_kind=row["action_kind"],
        differing=_names(row["differences"] or ()),
    )


def _names(differences: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(one["field"] for one in differences)


def _why(item: ReviewItem, row: RowMapping) -> str | None:
    answer = row["acceptance_receipt"]
    refused = refusal(row["target_system"], Answer.model_validate(answer)) if answer is not None else None
    return item.why or why_asked(item.reason, guarded_why(row["plan"], row), refused)
