"""What can be asked of the ledger without changing it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from leadproof.domain.events import Lead, LeadEvent, Outcome
from leadproof.domain.mutation import Attempt, Mutation, Status
from leadproof.domain.plan import RecordedPlan
from leadproof.domain.queue import QueuePage, QueueQuery
from leadproof.domain.review import About, DecisionRow, ReviewItem, ReviewState
from leadproof.domain.steps import (
    Counts,
    EchoQuestion,
    QuarantineEntry,
    Receipts,
)


class LedgerViews(Protocol):
    """What stands in the ledger. Every method is one transaction; times are the ledger's clock's."""

    # -- what came before an event -------------------------------------------------------------------------------
    def echo_of(self, question: EchoQuestion, *, occurred_at: datetime) -> str | None:
        """The mutation whose attempt wrote exactly this, by the narrow rule of the door; `None` where none did, or
        where it has absorbed such an event before. Only told: what comes in is decided where it is admitted."""
        ...

    def seen_since(self, event: LeadEvent, moment: datetime) -> bool:
        """Whether any event of the same record and kind was first delivered at this time or later."""
        ...

    def told_since(self, lead: Lead, moment: datetime) -> bool:
        """Whether another event of the same record and kind came at this time or later, and before this one."""
        ...

    def leads_that_wrote(self, lead: Lead, *, since: datetime) -> int:
        """How many other leads of the same source record have sent a write that left since then."""
        ...

    # -- reading -------------------------------------------------------------------------------------------------
    def lead(self, event_key: str) -> Lead | None: ...

    def plan_of(self, event_key: str, policy_version: str) -> RecordedPlan | None: ...

    def mutations_of(self, event_key: str) -> tuple[Mutation, ...]:
        """In order: by ordinal, a derived mutation after its parent."""
        ...

    def mutation(self, mutation_key: str) -> Mutation | None: ...

    def attempts_of(self, mutation_key: str) -> tuple[Attempt, ...]:
        """In order of their numbers."""
        ...

    def receipts(self, mutation_key: str) -> Receipts | None: ...

    def waiting(self, mutation_key: str) -> tuple[Mutation, ...]:
        """What waits for the record of a mutation, first in the queue first."""
        ...

    def review_of(self, subject: str) -> ReviewItem | None:
        """The open item of a subject."""
        ...

    def review(self, review_id: str) -> ReviewItem | None: ...

    def decision(self, decision_id: str) -> DecisionRow | None: ...

    def pending_decisions(self, event_key: str) -> tuple[DecisionRow, ...]:
        """Pending decisions on open items of an event, oldest first."""
        ...

    def decisions_left(self, *, older_than: timedelta, limit: int) -> tuple[DecisionRow, ...]:
        """Decisions of people that have been pending on open items for a while, oldest first: whoever kept them may
        never have reached their run."""
        ...

    def decisions_of(self, event_key: str) -> tuple[DecisionRow, ...]:
        """Every decision that names a question of an event or of one of its mutations, oldest first."""
        ...

    def about(self, items: Sequence[ReviewItem]) -> dict[str, About]:
        """Per review id what each item is about; an item whose event is not there is left out."""
        ...

    def event_keys_like(self, beginning: str) -> tuple[str, ...]:
        """At most two event keys that begin like this: one is found, two are too many to tell."""
        ...

    def mutation_keys_like(self, beginning: str) -> tuple[str, ...]:
        """The same of mutation keys."""
        ...

    def explains(self, mutation: Mutation, marker: str) -> dict[str, Any] | None:
        """What was observed of the fields that the mutation which `marker` names had set, where it is an older event's
        mutation of the same record, or an earlier one of the same plan, and was observed; `None` otherwise."""
        ...

    def effects_on(self, record_id: str, *, target_system: str | None = None) -> tuple[Mutation, ...]:
        """Our effects on a record, the latest first and not without end.

        Args:
            record_id: the target's own id, or our external id.
        """
        ...

    def creator_of(self, external_id: str) -> str | None:
        """The key of the *create* mutation of ours that names this external id as its target record."""
        ...

    def wrote(self, mutation_key: str, field: str, value: object) -> bool:
        """Whether a mutation of ours stands under this key that intends exactly this value of this field."""
        ...

    # -- lists: a page and the cursor of the next one, `None` after the last ----------------------------------------
    def leads(
        self, *, outcome: Outcome | None, source_record_id: str | None, limit: int, cursor: str | None
    ) -> tuple[tuple[Lead, ...], str | None]:
        """Newest first. A cursor that is none of ours gives an empty page."""
        ...

    def mutations(
        self, *, status: Status | None, source_record_id: str | None, limit: int, cursor: str | None
    ) -> tuple[tuple[Mutation, ...], str | None]:
        """Newest first. A cursor that is none of ours gives an empty page."""
        ...

    def reviews(
        self, *, queue: str | None, state: ReviewState | None, limit: int, cursor: str | None
    ) -> tuple[tuple[ReviewItem, ...], str | None]:
        """By due time, the earliest first."""
        ...

    def queue_page(self, asked: QueueQuery) -> QueuePage:
        """A page of open questions, due first, and the numbers of all that may be seen, in a few statements."""
        ...

    def queue_mark(self, asked: QueueQuery) -> str:
        """The mark that `queue_page` would answer, for less."""
        ...

    def questions_of(
        self, reason: str, *, queue: str | None = None, target_system: str | None = None, limit: int
    ) -> tuple[tuple[ReviewItem, Mutation], ...]:
        """Open questions of one reason with the mutations that they are about, due first."""
        ...

    def decisions_like(self, beginning: str) -> tuple[DecisionRow, ...]:
        """Decisions whose id is these hex digits, a dot and anything."""
        ...

    def quarantined(
        self, *, state: str | None, limit: int, cursor: str | None
    ) -> tuple[tuple[QuarantineEntry, ...], str | None]:
        """Newest first."""
        ...

    def counts(self) -> Counts:
        """The numbers that metrics show."""
        ...

    def quarantined_entry(self, delivery_digest: str, position: int) -> QuarantineEntry | None: ...
