"""What an activity's failure means to a run: whose fault it is, and what may be told of it."""

from __future__ import annotations

from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, TimeoutType

from activities.names import PLANNER_FAILED, PLANNER_UNAVAILABLE, UNKNOWN_TO_LEDGER
from leadproof.domain.errors import LedgerUnavailable
from leadproof.domain.mutation import Reason
from workflows.options import HOPELESS

_OURS = frozenset(
    {
        PLANNER_FAILED,
        PLANNER_UNAVAILABLE,
        UNKNOWN_TO_LEDGER,
        "NotFound",
        "IllegalTransition",
        "PolicyRefused",
        "KeyConflict",
    }
)
"""Errors whose text is a sentence of ours, without personal data."""


def _failure(error: ActivityError) -> ApplicationError | None:
    """What the activity raised at last; one that ran out of time is caused by it."""
    cause: BaseException | None = error.cause
    while cause is not None and not isinstance(cause, ApplicationError):
        cause = cause.__cause__
    return cause


def hopeless(error: ActivityError) -> bool:
    """Whether no waiting cures it."""
    failed = _failure(error)
    return failed is not None and failed.type in HOPELESS


def unknown(error: ActivityError) -> bool:
    """Whether no worker that was asked had a ledger which knows of this."""
    failed = _failure(error)
    return failed is not None and failed.type == UNKNOWN_TO_LEDGER


def of_ours(error: ActivityError) -> bool:
    """Whether it was our own side that was out of reach: the ledger, or every worker, so that the step was never begun.

    Then nobody knows anything of what the step was to ask, and there is nothing that a person could decide.
    """
    failed = _failure(error)
    if failed is not None:
        return failed.type == LedgerUnavailable.__name__
    late = error.cause
    if not isinstance(late, TimeoutError) or late.cause is not None:
        return False
    return late.type in {TimeoutType.SCHEDULE_TO_CLOSE, TimeoutType.SCHEDULE_TO_START}


def told_by(error: ActivityError) -> str | None:
    """Our own sentence about what failed; the text of any other error may hold anything."""
    failed = _failure(error)
    return failed.message if failed is not None and failed.type in _OURS else None


def without_plan(error: ActivityError) -> Reason:
    """Why there is no plan: the planner, something that no waiting cures, or a system that stayed out of reach."""
    failed = _failure(error)
    if failed is not None and failed.type in {PLANNER_FAILED, PLANNER_UNAVAILABLE}:
        return Reason.PLANNER
    return Reason.RUN_FAILED if hopeless(error) else Reason.SOURCE_DOWN
