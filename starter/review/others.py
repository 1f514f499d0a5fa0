"""Other open questions about the same record, which somebody who answers one of them wants to know of."""

from __future__ import annotations

from typing import Any

from leadproof.domain.queue import QueueQuery
from leadproof.domain.wording import event_in_words, reason_in_words
from leadproof.ports import Ledger
from starter.cases import Case
from starter.review.viewer import Viewer


def others(ledger: Ledger, case: Case, viewer: Viewer) -> list[dict[str, Any]]:
    """The open questions about the same source record that this person may see, due first, without this one."""
    if case.lead is None:
        return []
    asked = QueueQuery(
        queues=viewer.queues, source=case.lead.source_system, source_record_id=case.lead.source_record_id
    )
    return [
        {
            "review_id": row.item.review_id,
            "event": event_in_words(row.event_kind, row.changed_field),
            "reason": reason_in_words(row.item.reason),
        }
        for row in ledger.queue_page(asked).rows
        if row.item.review_id != case.item.review_id
    ]
