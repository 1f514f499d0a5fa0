"""What is asked of a port and what it answers: one type a step."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from leadproof.domain.events import LeadEvent, Outcome
from leadproof.domain.mutation import Attempt, Difference, Mutation, Observation, Reason, RecordRef, Status
from leadproof.domain.plan import RecordedPlan
from leadproof.domain.policy import Queue
from leadproof.domain.review import DecisionRow, DecisionVerdict, ReviewItem

_FROZEN = ConfigDict(frozen=True, defer_build=True)


class WriteRequest(BaseModel):
    """One request to a target on behalf of a mutation.

    Attributes:
        creates: an upsert by external id that may create; otherwise creation is impossible.
        fields: our field name to intended value, normalised.
        marker: the mutation key, stamped with the write.
        sets_external_id: give the record our external id with this write.
        unmodified_since: when the record last moved, as the check just read it; a target that takes a
            precondition refuses the write where it was changed since. `None`: the check was left out, or did not tell.
    """

    model_config = _FROZEN

    record: RecordRef
    creates: bool
    fields: dict[str, Any]
    marker: str
    sets_external_id: bool
    unmodified_since: datetime | None = None


class AdmissionKind(StrEnum):
    """What became of an event at the door.

    *new* and *known* are started, every time, and Temporal says which is a duplicate; *closed* (a final outcome, or a
    lead that was resumed) and *conflict* start nothing.
    """

    NEW = "new"
    KNOWN = "known"
    CLOSED = "closed"
    CONFLICT = "conflict"
    ECHO = "echo"


class Admission(BaseModel):
    model_config = _FROZEN

    event_key: str
    kind: AdmissionKind
    workflow_id: str


class EchoQuestion(BaseModel):
    """What the ledger is asked to recognise our own write by, at the door.

    Attributes:
        field: our name of what changed; `value`: what it was changed to, in its normal form.
        quiescence: how long after `send_before` a request can still change the target.
    """

    model_config = _FROZEN

    target_system: str
    record_id: str
    field: str
    value: Any
    quiescence: timedelta


class Arrival(BaseModel):
    """An event of one delivery, folded: how often it came in it, and what it may echo; `None`: nothing of ours."""

    model_config = _FROZEN

    event: LeadEvent
    deliveries: int = 1
    echo: EchoQuestion | None = None


class Reservation(StrEnum):
    WON = "won"
    REPLAY = "replay"
    CONFLICT = "conflict"


class RecordedResult(BaseModel):
    """The plan that stands for an event, whoever recorded it, with its mutations in order.

    Attributes:
        reservations: per mutation key, what reserving answered; empty for a plan that was found.
        conflict: the key that already stands for another payload; then nothing was recorded.
        closed: the event's outcome is final and nothing may be planned.
    """

    model_config = _FROZEN

    plan: RecordedPlan | None
    mutations: tuple[Mutation, ...] = ()
    reservations: dict[str, Reservation] = {}
    conflict: str | None = None
    closed: Outcome | None = None


class ClaimResult(StrEnum):
    """*won*: this caller may send, once. *lost*: someone else moved the row. *waits*: another mutation holds the
    record. *superseded*: a newer event's observed mutation of the record set every field. *not_yet*: an earlier attempt
    is open or unanswered and neither past its quiescence nor found absent, the row still needs an approval, or it is of
    shadow mode, where that time never comes."""

    WON = "won"
    LOST = "lost"
    WAITS = "waits"
    SUPERSEDED = "superseded"
    NOT_YET = "not_yet"


class Claim(BaseModel):
    """What became of a claim.

    Attributes:
        newer: of a *won* one: the fields that newer events' observed mutations of the record have set, with what was
            observed of them. A derived mutation was decided with the record in view, and for it there are none.
        shared: of a *won* one: the record carried no external id, and another mutation of ours was at it since then.
        wake: as in `Settled`, where the mutation was *superseded*.
    """

    model_config = _FROZEN

    result: ClaimResult
    mutation: Mutation
    attempt: Attempt | None = None
    newer: dict[str, Any] = {}
    shared: bool = False
    wake: str | None = None


class Question(BaseModel):
    """A review item to be opened with a transition: named queue, due time, the end of its window if it has one, and
    why it is asked where nothing else that is kept tells."""

    model_config = _FROZEN

    reason: str
    queue: str
    due_at: datetime
    expires_at: datetime | None = None
    why: str | None = None

    @classmethod
    def asked(cls, reason: str, named: tuple[str, Queue], now: datetime, why: str | None = None) -> Question:
        """A question that is asked now; `named` is what the policy answers of its queue."""
        name, queue = named
        window = queue.abandon_after_hours
        return cls(
            reason=reason,
            queue=name,
            due_at=now + timedelta(hours=queue.due_hours),
            expires_at=now + timedelta(hours=window) if window is not None else None,
            why=why,
        )


class Settlement(BaseModel):
    """One step of a mutation, stored in one transaction.

    Attributes:
        status: where the mutation moves; its present status where only an observation is added.
        observation: a read-back to append; its number is given by the ledger.
        base_state: a base that moved on because an earlier effect of ours explains the difference.
        question: a review item to open for the mutation, if none is open.
    """

    model_config = _FROZEN

    status: Status
    reason: Reason | None = None
    observation: Observation | None = None
    differences: tuple[Difference, ...] = ()
    provider_record_id: str | None = None
    base_state: dict[str, Any] | None = None
    question: Question | None = None


class Settled(BaseModel):
    """What storing a step did.

    Attributes:
        won: the compare-and-set on the version held; otherwise `mutation` is the row as it is now and nothing changed.
        wake: event key of the lead whose mutation is first in the queue of a record that this step freed.
        outcome: of the event, where the step was stored.
    """

    model_config = _FROZEN

    won: bool
    mutation: Mutation
    review: ReviewItem | None = None
    wake: str | None = None
    outcome: Outcome | None = None


class Applied(BaseModel):
    """What became of a decision.

    Attributes:
        why: one sentence for the decider: why it was not applied, or what follows where that is known.
        until: while *pending*, from when it can be applied.
        wakes: as `wake` in `Settled`, one for each record that was freed.
    """

    model_config = _FROZEN

    decision_id: str
    verdict: DecisionVerdict
    why: str | None = None
    until: datetime | None = None
    mutation: Mutation | None = None
    derived: Mutation | None = None
    review: ReviewItem | None = None
    wakes: tuple[str, ...] = ()


class QuarantineEntry(BaseModel):
    """What was received and could not be used; `body` is emptied when dropped or retried."""

    model_config = _FROZEN

    delivery_digest: str
    position: int
    source_system: str
    reason: str
    body: str | None
    state: str = "held"
    received_at: datetime


class TargetRow(BaseModel):
    model_config = _FROZEN

    target_system: str
    state: str
    reason: str | None
    since: datetime
    checked_at: datetime


class Receipts(BaseModel):
    """All that is kept of one mutation."""

    model_config = _FROZEN

    mutation: Mutation
    attempts: tuple[Attempt, ...] = ()
    observations: tuple[Observation, ...] = ()
    review: ReviewItem | None = None
    decisions: tuple[DecisionRow, ...] = ()


class Counts(BaseModel):
    """How much there is of what.

    Attributes:
        mutations: rows per status.
        leads: rows per outcome.
        oldest_unfinished_seconds: age of the oldest event without a final outcome; `None` where there is none.
        reviews_open: open items per queue.
        quarantine_held: entries that wait in quarantine.
    """

    model_config = _FROZEN

    mutations: dict[Status, int]
    leads: dict[Outcome, int]
    oldest_unfinished_seconds: float | None
    reviews_open: dict[str, int]
    quarantine_held: int
