"""Questions for people, and the decisions that answer them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from leadproof.domain import keys
from leadproof.domain.errors import MalformedDecision
from leadproof.domain.mutation import Answer, AnswerClass, Reason, Status


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("it contains a NUL character")
    return text


_Text = Annotated[str, AfterValidator(_storable)]


class Decision(StrEnum):
    """What a person can decide."""

    APPROVE = "approve"
    RETRY = "retry"
    ACCEPT = "accept"
    OVERWRITE = "overwrite"
    RESTORE = "restore"
    ABANDON = "abandon"
    PLAN_AGAIN = "plan_again"


GIVES_UP_HOLD: Final = frozenset({Decision.ABANDON, Decision.ACCEPT, Decision.OVERWRITE, Decision.RESTORE})
"""What gives up the record, or passes it on: not while an earlier request can still change it."""


class ReviewState(StrEnum):
    """State of a review item; `resolved` means that evidence answered it, `expired` that nobody decided in its window
    and the policy did."""

    OPEN = "open"
    DECIDED = "decided"
    RESOLVED = "resolved"
    EXPIRED = "expired"


class DecisionVerdict(StrEnum):
    """What became of a decision."""

    PENDING = "pending"
    APPLIED = "applied"
    STALE = "stale"
    REPEATED = "repeated"
    IMPOSSIBLE = "impossible"
    MALFORMED = "malformed"


class ReviewItem(BaseModel):
    """The row of a review item: a question for a named queue, at most one open per subject.

    Attributes:
        subject: a mutation key, or an event key where the question is about an event.
        round: which question about this subject it is, from 1.
        expires_at: the end of its window, when the policy abandons what nobody has decided; `None`: it stays open.
        why: why a person is asked, in one sentence of ours, where only the run knew it when it asked.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    review_id: str
    subject: str
    event_key: str
    mutation_key: str | None
    round: int
    reason: str
    queue: str
    state: ReviewState
    opened_at: datetime
    due_at: datetime
    expires_at: datetime | None = None
    closed_at: datetime | None = None
    version: int = 1
    why: str | None = None


class About(BaseModel):
    """What a review item is about, for whoever chooses among many.

    Attributes:
        why: why a person is asked, in one sentence; of an approval, the policy's own.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    source_system: str
    source_record_id: str
    why: str | None = None


class ReviewDecision(BaseModel):
    """One decision as sent.

    Attributes:
        decision_id: identity of the decision; without one (typed by hand), the SHA-256 of the rest.
        version: version of the review item that the decider saw.
        shown_digest: digest of the state that the decider was shown.
    """

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    decision_id: _Text = Field(min_length=1, max_length=200)
    review_id: _Text = Field(min_length=1, max_length=200)
    version: int = Field(ge=1, lt=2**31)
    decision: Decision
    reason: _Text = Field(default="", max_length=2000)
    reviewer: _Text = Field(default="", max_length=200)
    shown_digest: _Text | None = Field(default=None, max_length=200)

    _typed: bool = PrivateAttr(default=False)

    @property
    def typed(self) -> bool:
        """Whether it came without a `decision_id`: the same words again are then sent by a person who means them now,
        and not the same decision once more."""
        return self._typed


class DecisionRow(BaseModel):
    """The row of a decision, with its verdict."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    decision_id: str
    review_id: str | None
    review_version: int | None
    decision: str | None
    reviewer: str
    via: str
    reason: str | None = None
    shown_digest: str | None = None
    verdict: DecisionVerdict
    decided_at: datetime


BY_TIMER: Final = "timer"
"""On which way the policy's own decision comes, at the end of a question's window."""


def expiry_of(item: ReviewItem, policy_version: str, now: datetime) -> DecisionRow:
    """The policy's decision on a question that nobody has decided in its window; the same one, however often it is
    made."""
    return DecisionRow(
        decision_id=keys.digest(["expiry/1", item.review_id, str(item.version)]),
        review_id=item.review_id,
        review_version=item.version,
        decision=Decision.ABANDON,
        reviewer=f"policy:{policy_version}",
        via=BY_TIMER,
        reason="nobody decided before the end of the window",
        verdict=DecisionVerdict.PENDING,
        decided_at=now,
    )


def parse_decision(sent: Sequence[Any]) -> ReviewDecision:
    """Read what was sent as a decision: one JSON object, by signal, update, API or command.

    Args:
        sent: the positional arguments as they arrived, whatever they are.

    Raises:
        MalformedDecision: saying what is wrong, without repeating what was sent.
    """
    if len(sent) != 1:
        raise MalformedDecision(f"a decision is one object, {len(sent)} were sent")
    body = sent[0]
    if not isinstance(body, dict):
        raise MalformedDecision(f"a decision is an object, not {type(body).__name__}")
    rest = {name: value for name, value in body.items() if name not in {"decision_id", "proof"}}
    if not all(isinstance(name, str) for name in rest):
        raise MalformedDecision("a decision's names are texts")
    try:
        given = body.get("decision_id")
        typed = given is None or (isinstance(given, str) and not given)
        decision = ReviewDecision(decision_id=keys.digest(["decision/1", rest]) if typed else given, **rest)
        decision._typed = typed
        return decision  # noqa: TRY300
    except ValidationError as error:
        named = {str(item["loc"][0]) for item in error.errors(include_url=False, include_input=False)}
        known = sorted(named & ReviewDecision.model_fields.keys())
        unknown = ["a field that a decision does not have"] if len(known) < len(named) else []
        choices = f"; a decision is one of {', '.join(Decision)}" if "decision" in known else ""
        raise MalformedDecision(f"missing or wrong: {', '.join(known + unknown)}{choices}") from None
    except (TypeError, ValueError, RecursionError):
        raise MalformedDecision("it cannot be read as JSON") from None


_WHY_ASKED: Final[Mapping[str, str]] = MappingProxyType(
    {
        Reason.NEEDS_APPROVAL: "the policy wants a person to approve it",
        Reason.WAITS: "another effect holds the record that this one waits for",
        Status.UNCERTAIN: "whether the write arrived could not be shown in time",
        Status.DIVERGENT: "the record is not as it was intended",
        Status.REJECTED: "the target refused the write",
        Reason.CHANGED_BEFORE_WRITE: "somebody changed the record before our write stood in it",
        Reason.OVERWROTE_UNSEEN_EDIT: "our write replaced a value that somebody had set unseen",
        Reason.MERGED: "the record was merged into another one",
        Reason.REMOVED: "the record is archived or deleted",
        Reason.SEVERAL: "several records fit",
        Reason.TARGET_REFUSES_US: "the target refuses our credentials, or cannot be reached for longer than is waited",
        Reason.REFUSES_THIS: "the target refuses this write, and the record is unchanged",
        Reason.KEY_CONFLICT: "another effect stands under the same key",
        Reason.RUN_FAILED: "the run could not go on",
        Reason.SOURCE_DOWN: "the source record could not be read",
        Reason.PLANNER: "there is no plan",
    }
)


def why_asked(reason: str, guarded: str | None = None, refused: str | None = None) -> str | None:
    """Why a person is asked, in one sentence without any value of the lead.

    Args:
        guarded: what the guard said of the action, for an approval.
        refused: what `refusal` says of the last answer, for a write that was refused.
    """
    known: dict[str, str | None] = {
        Reason.NEEDS_APPROVAL: guarded,
        Reason.REFUSES_THIS: refused,
        Status.REJECTED: refused,
    }
    return known.get(reason) or _WHY_ASKED.get(reason)


_NOT_SENT: Final = "nothing was sent: "


def refusal(system: str, answer: Answer | None) -> str | None:
    """What a target has against a write, in one sentence; `None` where it has said nothing of the kind.

    What was refused before it was sent has no status: the target was never asked.
    """
    if answer is None or answer.outcome is not AnswerClass.REFUSES_THIS:
        return None
    code, detail = answer.code or "", (answer.detail or "").removeprefix(_NOT_SENT)
    told = ", ".join(filter(None, ("" if code in detail else code, detail))) or "it did not say why"
    if answer.http_status is None:
        return f"{system} would refuse this write, and {_NOT_SENT}{told}"
    return f"{system} refused this write, and the record is unchanged: {told}"


def possible(allowed: Iterable[Decision | str]) -> str:
    """Which decisions a question allows, in the order in which they are always told."""
    chosen = set(allowed)
    return f"possible: {', '.join(one for one in Decision if one in chosen) or 'nothing at present'}"


def allowed_decisions(
    *, status: Status | None, reason: Reason | str | None, absence_established: bool = False
) -> frozenset[Decision]:
    """Which decisions a question allows.

    Args:
        status: of the mutation; `None` for an item of an event.
        reason: of the mutation.
        absence_established: the latest read after quiescence found the effect absent.
    """
    if status is None:
        return frozenset({Decision.PLAN_AGAIN, Decision.ABANDON})
    if status is Status.RESERVED and reason == Reason.NEEDS_APPROVAL:
        return frozenset({Decision.APPROVE, Decision.ABANDON})
    if status is Status.RESERVED and reason == Reason.WAITS:
        return frozenset({Decision.ABANDON})  # given up together with what it waits behind
    if status is Status.UNCERTAIN:
        return frozenset({Decision.RETRY, Decision.ABANDON} if absence_established else {Decision.ABANDON})
    if status is Status.REJECTED:
        return frozenset({Decision.RETRY, Decision.ABANDON})
    if status is Status.DIVERGENT:
        allowed = {Decision.ACCEPT, Decision.ABANDON}
        if reason not in {Reason.REMOVED, Reason.SEVERAL}:  # nothing is re-created, nothing more is written
            allowed.add(Decision.OVERWRITE)
        if reason == Reason.OVERWROTE_UNSEEN_EDIT:
            allowed.add(Decision.RESTORE)
        return frozenset(allowed)
    return frozenset()
