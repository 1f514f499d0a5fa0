"""What a run does next about a mutation, read from its row: what the run remembers is never the last word."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from leadproof.domain.differing import FieldDifference, differences_of
from leadproof.domain.mutation import Answer, AnswerClass, Attempt, Mutation, Reason, Status
from leadproof.domain.policy import Target
from leadproof.domain.review import Decision, ReviewItem, refusal

_AGAIN = frozenset({AnswerClass.NOT_SENT, AnswerClass.NOT_APPLIED})
_NOT_TAKEN = _AGAIN | {AnswerClass.REFUSES_US}
_AS_TOLD = 3
"""So many times in a row the wait that a target names is kept to exactly."""
_MOST_DOUBLINGS = 20


class StepKind(StrEnum):
    """*write*: claim and send. *look*: read back. *waits*: another mutation holds the record. *depends*: an earlier
    mutation of the plan comes first. *person*: a decision is awaited. *done*: final."""

    WRITE = "write"
    LOOK = "look"
    WAITS = "waits"
    DEPENDS = "depends"
    PERSON = "person"
    DONE = "done"


class Unstored(BaseModel):
    """An answer that the ledger was not there for: the next ledger step stores it, if the attempt is still open."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    number: int
    answer: Answer
    request_digest: str | None = None


class Step(BaseModel):
    """The next step of a mutation.

    Attributes:
        at: not before this time; `None`: now.
        asks: a review item is to be opened for this reason.
        unstored: goes with a look that is the next ledger step.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    kind: StepKind
    at: datetime | None = None
    asks: Reason | None = None
    unstored: Unstored | None = None


class MutationView(BaseModel):
    """A mutation as a run and its status query show it; nothing personal.

    Attributes:
        attempts: number of attempts so far.
        refused: what the target has against the write, in one sentence, where it refused it.
        step: what the run does next.
        fields: names of the intended fields; `differing`: names of those that differ, and `differences`: how each does.
        allowed: what its open question allows, where that was looked at.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    mutation_key: str
    parent_key: str | None = None
    ordinal: int
    depends_on: tuple[str, ...] = ()
    action_kind: str
    target_system: str
    target_object: str
    status: Status
    reason: Reason | None = None
    version: int
    attempts: int = 0
    provider_record_id: str | None = None
    answer: str | None = None
    http_status: int | None = None
    correlation_id: str | None = None
    refused: str | None = None
    fields: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    differences: tuple[FieldDifference, ...] = ()
    step: Step
    review: ReviewItem | None = None
    allowed: tuple[Decision, ...] | None = None
    updated_at: datetime


def again_at(attempts: Sequence[Attempt], target: Target) -> datetime | None:
    """When a further attempt may be made after answers that say *not sent* or *not applied*; `None`: at once."""
    if not attempts:
        return None
    latest = attempts[-1]
    if latest.outcome not in _AGAIN or latest.ended_at is None:
        return None
    row = 0
    for attempt in reversed(attempts):
        if attempt.outcome not in _AGAIN:
            break
        row += 1
    told = latest.answer.retry_after_seconds if latest.answer is not None else None
    doubled = target.read_spacing_seconds * 2 ** min(row - 1, _MOST_DOUBLINGS)
    if told is None or told <= 0:  # told 0: never a tight loop
        wait = min(doubled, target.probe_seconds)
    else:  # as told; where that did not help several times, longer: a record can be locked for an hour
        longer = told * 2 ** min(max(row - _AS_TOLD, 0), _MOST_DOUBLINGS)
        wait = max(told, min(longer, target.probe_seconds))
    return latest.ended_at + timedelta(seconds=wait)


def out_of_patience(attempts: Sequence[Attempt], target: Target, now: datetime) -> bool:
    """Whether a row of attempts that the target did not take has lasted as long as the policy is patient.

    Not taken are *not sent*, *not applied* and *refuses us*.
    """
    first: Attempt | None = None
    for attempt in reversed(attempts):
        if attempt.outcome not in _NOT_TAKEN:
            break
        first = attempt
    return first is not None and now >= first.started_at + timedelta(seconds=target.patience_seconds)


def shadow_look_at(mutation: Mutation, after: timedelta) -> datetime:
    """When the record of an effect of shadow mode is looked at: so long after it was planned."""
    return mutation.created_at + after


def step_of(
    mutation: Mutation,
    attempts: Sequence[Attempt],
    target: Target,
    review: ReviewItem | None,
    shadow_after: timedelta = timedelta(0),
) -> Step:
    """The next step of a mutation, from its row, its attempts and its open review item.

    Args:
        shadow_after: in shadow mode, so long after the plan a record is looked at; nothing else is ever due there.
    """
    status, reason = mutation.status, mutation.reason
    if status.final:
        return Step(kind=StepKind.DONE)
    if status is Status.RESERVED:
        if mutation.shadow:  # whatever its reason: nobody is asked for an approval of what is never written
            return Step(kind=StepKind.LOOK, at=shadow_look_at(mutation, shadow_after))
        if reason is Reason.NEEDS_APPROVAL:
            return Step(kind=StepKind.PERSON, asks=None if review else Reason.NEEDS_APPROVAL)
        if mutation.depends_on:
            return Step(kind=StepKind.DEPENDS)
        return Step(kind=StepKind.WRITE)
    if status is Status.DIVERGENT:
        return Step(kind=StepKind.PERSON, asks=None if review else (reason or Reason.CHANGED_BEFORE_WRITE))
    if status is Status.REJECTED:
        if reason is Reason.RETRY:
            return Step(kind=StepKind.WRITE)
        return Step(kind=StepKind.PERSON, asks=None if review else (reason or Reason.REFUSES_THIS))
    latest = attempts[-1].outcome if attempts else None
    if attempts and latest in _AGAIN:
        return Step(kind=StepKind.WRITE, at=again_at(attempts, target))
    return Step(kind=StepKind.LOOK)


def view_of(
    mutation: Mutation,
    attempts: Sequence[Attempt],
    target: Target | None,
    review: ReviewItem | None,
    step: Step | None = None,
    *,
    shadow_after: timedelta = timedelta(0),
) -> MutationView:
    """The view of a mutation; `step` where the caller knows better than the row (a finding's time).

    Args:
        target: its numbers, which say what the next step is; `None` where the caller says that.
    """
    if step is None:
        if target is None:
            raise TypeError("without a step the target's numbers have to say what it is")
        step = step_of(mutation, attempts, target, review, shadow_after)
    receipt = mutation.acceptance_receipt
    intended: dict[str, Any] = mutation.intended_state.fields if mutation.intended_state else {}
    return MutationView(
        mutation_key=mutation.mutation_key,
        parent_key=mutation.parent_key,
        ordinal=mutation.ordinal,
        depends_on=mutation.depends_on,
        action_kind=mutation.action_kind,
        target_system=mutation.target_system,
        target_object=mutation.target_object,
        status=mutation.status,
        reason=mutation.reason,
        version=mutation.version,
        attempts=len(attempts),
        provider_record_id=mutation.provider_record_id,
        answer=receipt.outcome if receipt else None,
        http_status=receipt.http_status if receipt else None,
        correlation_id=receipt.correlation_id if receipt else None,
        refused=refusal(mutation.target_system, receipt),
        fields=tuple(sorted(intended)),
        differing=tuple(difference.field for difference in mutation.differences),
        differences=differences_of(mutation),
        step=step,
        review=review,
        updated_at=mutation.updated_at,
    )
