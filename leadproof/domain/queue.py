"""The review queue as people look at it: what is asked of it, and a page of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from leadproof.domain import keys
from leadproof.domain.review import ReviewItem

_FROZEN = ConfigDict(frozen=True, defer_build=True)

PAGE_SIZE = 50


class QueueQuery(BaseModel):
    """Which open questions are looked at.

    Attributes:
        queues: the queues that may be seen; `None` for all.
        source_record_id: only questions about this record of its source.
        queue, source, target, reason: only questions with this; `None`: with any.
        opened_before: only questions that were opened until then.
        since: what was opened after this moment is counted as new.
        page: from 1.
    """

    model_config = _FROZEN

    queues: frozenset[str] | None = None
    source_record_id: str | None = None
    queue: str | None = None
    source: str | None = None
    target: str | None = None
    reason: str | None = None
    opened_before: datetime | None = None
    since: datetime | None = None
    page: int = 1

    def takes(self, group: QueueGroup) -> bool:
        """Whether the questions of a group are looked at, whatever their age."""
        wanted = ((self.queue, group.queue), (self.source, group.source), (self.reason, group.reason))
        return all(asked in (None, there) for asked, there in wanted) and self.target in (None, group.target)


class QueueGroup(BaseModel):
    """Open questions that are alike.

    Attributes:
        target: the target system; `None` of questions about an event.
        number: how many there are.
        old: how many of them were opened until `QueueQuery.opened_before`.
        new: how many of those after `QueueQuery.since`.
        overdue: how many of those are past their due time.
    """

    model_config = _FROZEN

    queue: str
    source: str
    target: str | None
    reason: str
    number: int
    old: int
    new: int = 0
    overdue: int = 0


class QueueRow(BaseModel):
    """One open question in the queue, with what tells it from others.

    Attributes:
        event_kind: which kind of event the lead is.
        changed_field: the source's name of the field that changed, of a change event.
        why: why a person is asked, in one sentence.
        lead: fields of the lead, as far as they are known.
        record: the target record's id in its own system.
        differing: names of the fields that differ.
    """

    model_config = _FROZEN

    item: ReviewItem
    source_system: str
    source_record_id: str
    event_kind: str
    changed_field: str | None = None
    why: str | None
    lead: dict[str, Any] = {}
    target_system: str | None = None
    target_object: str | None = None
    record: str | None = None
    action_kind: str | None = None
    differing: tuple[str, ...] = ()


class QueuePage(BaseModel):
    """A page of the queue.

    Attributes:
        groups: all open questions that may be seen, counted.
        mark: another one than before means that a page shows something else.
    """

    model_config = _FROZEN

    groups: tuple[QueueGroup, ...]
    rows: tuple[QueueRow, ...]
    mark: str


def queue_mark(groups: Iterable[QueueGroup], review_ids: Sequence[str]) -> str:
    """What a page shows, as a digest: its questions and every number on it."""
    counted = [[one.queue, one.source, one.target, one.reason, one.number, one.old, one.overdue] for one in groups]
    return keys.digest(["queue/1", sorted(counted, key=str), list(review_ids)])
