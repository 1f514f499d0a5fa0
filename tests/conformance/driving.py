"""What a run does next where the result of its last step knows better than the row, as the workflow does."""

from __future__ import annotations

from leadproof.boundary import Looked, Result, Submission
from leadproof.domain.mutation import Status
from leadproof.domain.progress import Step, StepKind
from leadproof.domain.reconciliation import Next


def after_write(done: Submission) -> Step | None:
    """After an attempt; `None`: the row says."""
    if done.result in {Result.AGAIN, Result.PARKED}:
        return Step(kind=StepKind.WRITE, at=done.at)
    return Step(kind=StepKind.LOOK, at=done.at) if done.result is Result.LOOK_FIRST else None


def after_look(looked: Looked) -> Step | None:
    """After a read-back; `None`: the row says."""
    if looked.next is Next.SEND_AGAIN:
        return Step(kind=StepKind.WRITE, at=looked.at)
    if looked.mutation.status in {Status.SUBMITTED, Status.UNCERTAIN} and looked.at is not None:
        return Step(kind=StepKind.LOOK, at=looked.at)
    return None
