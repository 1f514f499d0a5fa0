"""A mutation: one intended business effect, its life and its receipts."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from leadproof.domain.environment import is_shadow
from leadproof.domain.errors import IllegalTransition
from leadproof.domain.plan import ActionKind, Evidence


class Status(StrEnum):
    """Where a mutation stands."""

    RESERVED = "reserved"
    SUBMITTED = "submitted"
    OBSERVED = "observed"
    UNCERTAIN = "uncertain"
    DIVERGENT = "divergent"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    ABANDONED = "abandoned"

    @property
    def final(self) -> bool:
        return self in FINAL

    @property
    def holds(self) -> bool:
        """Whether a mutation in this status keeps its record to itself (the one-record index)."""
        return self in HOLDING


FINAL = frozenset({Status.OBSERVED, Status.SUPERSEDED, Status.ABANDONED})
HOLDING = frozenset({Status.SUBMITTED, Status.UNCERTAIN, Status.DIVERGENT})


class Reason(StrEnum):
    """Why a mutation stands where it stands, or what a review item asks."""

    NEEDS_APPROVAL = "needs_approval"
    APPROVED = "approved"
    DEPENDS = "depends"
    WAITS = "waits"
    RETRY = "retry"
    DECLINED = "declined"
    DEPENDENCY = "dependency"
    ERASED = "erased"
    SHADOW = "shadow"
    NEWER_EVENT = "newer_event"
    ALREADY_SO = "already_so"
    CHANGED_BEFORE_WRITE = "changed_before_write"
    OVERWROTE_UNSEEN_EDIT = "overwrote_unseen_edit"
    MERGED = "merged"
    REMOVED = "removed"
    SEVERAL = "several"
    TARGET_REFUSES_US = "target_refuses_us"
    REFUSES_THIS = "refuses_this"
    KEY_CONFLICT = "key_conflict"
    RUN_FAILED = "run_failed"
    SOURCE_DOWN = "source_down"
    PLANNER = "planner"


FOR_A_PERSON_ALONE: frozenset[str] = frozenset({Reason.KEY_CONFLICT, Reason.RUN_FAILED, Reason.PLANNER})
"""Questions of an event that only a decision answers: while one is open, nothing is planned. A source that was down
and can be read again (`source_down`) answers its question by itself."""

_ANY: frozenset[Reason] | None = None
_GIVE_UP_EARLY = frozenset({Reason.DECLINED, Reason.DEPENDENCY, Reason.ERASED, Reason.SHADOW})

TRANSITIONS: dict[Status, dict[Status, frozenset[Reason] | None]] = {
    Status.RESERVED: {
        Status.SUBMITTED: _ANY,
        Status.REJECTED: _ANY,
        Status.ABANDONED: _GIVE_UP_EARLY,
        Status.SUPERSEDED: frozenset({Reason.NEWER_EVENT}),
    },
    Status.SUBMITTED: {
        Status.SUBMITTED: _ANY,
        Status.OBSERVED: _ANY,
        Status.UNCERTAIN: _ANY,
        Status.DIVERGENT: _ANY,
        Status.REJECTED: _ANY,
        Status.ABANDONED: frozenset({Reason.ERASED}),
    },
    Status.UNCERTAIN: {
        Status.OBSERVED: _ANY,
        Status.DIVERGENT: _ANY,
        Status.REJECTED: _ANY,
        Status.SUBMITTED: _ANY,
        Status.ABANDONED: _ANY,
    },
    Status.DIVERGENT: {
        Status.OBSERVED: _ANY,
        Status.SUPERSEDED: _ANY,
        Status.ABANDONED: _ANY,
    },
    Status.REJECTED: {
        Status.SUBMITTED: frozenset({Reason.RETRY}),
        Status.SUPERSEDED: frozenset({Reason.NEWER_EVENT}),
        Status.ABANDONED: _ANY,
    },
    Status.OBSERVED: {},
    Status.SUPERSEDED: {},
    Status.ABANDONED: {},
}
"""The table of legal transitions: from, to, and the reasons that allow it (`None`: any reason, or none)."""


def legal(before: Status, after: Status, reason: Reason | None) -> bool:
    """Whether the table of transitions leads from `before` to `after` for this reason."""
    if after not in TRANSITIONS[before]:
        return False
    allowed = TRANSITIONS[before][after]
    return allowed is None or reason in allowed


def check_transition(before: Status, after: Status, reason: Reason | None) -> None:
    """Refuse what the table does not allow.

    Raises:
        IllegalTransition: naming both states and the reason.
    """
    if not legal(before, after, reason):
        because = f" because of {reason}" if reason else ""
        raise IllegalTransition(f"a mutation that is {before} never becomes {after}{because}")


class AnswerClass(StrEnum):
    """What an answer to a write means; `mutation_attempt.outcome` once the attempt is completed."""

    ACCEPTED = "accepted"
    NOT_SENT = "not_sent"
    NOT_APPLIED = "not_applied"
    REFUSES_US = "refuses_us"
    REFUSES_THIS = "refuses_this"
    UNCERTAIN = "uncertain"


class Answer(BaseModel):
    """The acceptance receipt of one attempt: what the target answered, or how the answer was lost.

    Attributes:
        outcome: the class of the answer.
        http_status: `None` where no status arrived.
        provider_record_id: the record that the target named, in its own id.
        correlation_id: the target's own id of the exchange.
        code: the provider's error code.
        detail: how the answer was lost, or the provider's validation errors in short; no values of fields.
        retry_after_seconds: how long the target asks us to wait.
        read_first: the answer says "already exists": an answer to *read*, not an error.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    outcome: AnswerClass
    http_status: int | None = None
    provider_record_id: str | None = None
    correlation_id: str | None = None
    code: str | None = None
    detail: str | None = None
    retry_after_seconds: float | None = None
    read_first: bool = False


class Attempt(BaseModel):
    """One request on behalf of a mutation; completed once (`outcome` set) and never changed after."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    mutation_key: str
    number: int
    send_before: datetime
    started_at: datetime
    ended_at: datetime | None = None
    outcome: AnswerClass | None = None
    http_status: int | None = None
    correlation_id: str | None = None
    request_digest: str | None = None
    answer: Answer | None = None


class RecordRef(BaseModel):
    """How an action's target record is addressed.

    Attributes:
        external_id: the external id that the record carries, else the one we would give it.
        provider_record_id: the target's own id; `None` for a record that is to be created.
        linked: the record carried the external id when it was looked up; otherwise our first write sets it.
        unique_fields: values of the target's own unique fields (an e-mail) that a look-up before a create uses.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    target_system: str
    target_object: str
    external_id: str
    provider_record_id: str | None = None
    linked: bool = False
    unique_fields: dict[str, str] = {}


class Intent(BaseModel):
    """The intent receipt: the exact normalised state that is proposed.

    Attributes:
        fields: our field name to normalised value; `None` clears the field.
        compare_also: further fields that the policy names for the check before the write.
        base_read_at: when the base state was read; `None` makes the check read again in any case.
        creates: the record may be created; any other write makes creation impossible.
        without_history: fields of which the target keeps no history: an edit that this write replaces is not seen.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    record: RecordRef
    creates: bool
    fields: dict[str, Any]
    compare_also: tuple[str, ...] = ()
    base_read_at: datetime | None = None
    without_history: tuple[str, ...] = ()
    reason: str
    evidence: tuple[Evidence, ...] = ()
    policy_version: str
    mutation_key: str


class Difference(BaseModel):
    """One field in which what was observed is not what was intended.

    Attributes:
        returned: `False` where the target did not return the field, which is not the same as an empty one.
        changed_by: who made the present value, where the target can tell: `us`, `person:<id>`, `automation:<id>`,
            `integration:<id>`; `automation:in_our_write`: software, in the transaction of our own write.
        lost: for `overwrote_unseen_edit`, the value that our write replaced unseen.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    field: str
    intended: Any
    observed: Any
    returned: bool = True
    changed_by: str | None = None
    changed_at: datetime | None = None
    lost: Any = None


class Observation(BaseModel):
    """The state receipt of one read-back, append-only.

    Attributes:
        identity: the identity with which we read.
        verdict: what the reconciliation made of the read (`one`, `absent`, `removed`, `several`, `unknown`).
        state: the record as read and as normalised, with the marker found and who changed what since.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    mutation_key: str
    number: int
    read_at: datetime
    identity: str
    verdict: str
    state: dict[str, Any] | None
    differences: tuple[Difference, ...] = ()


class Mutation(BaseModel):
    """The row of a mutation."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    mutation_key: str
    event_key: str
    parent_key: str | None = None
    ordinal: int
    depends_on: tuple[str, ...] = ()
    tenant: str
    environment: str
    source_system: str
    source_record_id: str
    policy_version: str
    action_kind: str
    target_system: str
    target_object: str
    target_record: str
    discriminator: str | None = None
    fingerprint: str
    base_state: dict[str, Any] | None
    intended_state: Intent | None
    status: Status = Status.RESERVED
    reason: Reason | None = None
    provider_record_id: str | None = None
    acceptance_receipt: Answer | None = None
    observed_state: dict[str, Any] | None = None
    differences: tuple[Difference, ...] = ()
    version: int = 1
    created_at: datetime
    updated_at: datetime

    @property
    def intent(self) -> Intent:
        """The intent, which only a tombstone lacks."""
        if self.intended_state is None:
            raise IllegalTransition("a mutation whose personal columns were purged is never written again")
        return self.intended_state

    @property
    def shadow(self) -> bool:
        """Whether this is an effect of shadow mode: it is never claimed, and nothing is ever sent for it."""
        return is_shadow(self.environment)

    @property
    def creates(self) -> bool:
        return self.action_kind == ActionKind.CREATE and self.provider_record_id is None
