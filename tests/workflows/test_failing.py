"""Whose fault it is that a step was not carried out."""

from __future__ import annotations

import pytest
from temporalio.exceptions import ActivityError, ApplicationError, RetryState, TimeoutError, TimeoutType

from workflows import failing


def _late(kind: TimeoutType, before: BaseException | None = None) -> TimeoutError:
    late = TimeoutError("late", type=kind, last_heartbeat_details=[])
    late.__cause__ = before
    return late


def _failed(cause: BaseException) -> ActivityError:
    error = ActivityError(
        "failed",
        scheduled_event_id=1,
        started_event_id=2,
        identity="a worker",
        activity_type="read_source",
        activity_id="1",
        retry_state=RetryState.TIMEOUT,
    )
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "ours"),
    [
        (ApplicationError("gone", type="LedgerUnavailable"), True),
        (_late(TimeoutType.SCHEDULE_TO_CLOSE, ApplicationError("gone", type="LedgerUnavailable")), True),
        (_late(TimeoutType.SCHEDULE_TO_CLOSE), True),  # no worker has taken it
        (_late(TimeoutType.SCHEDULE_TO_CLOSE, ApplicationError("down", type="SourceUnreadable")), False),
        (_late(TimeoutType.SCHEDULE_TO_CLOSE, _late(TimeoutType.HEARTBEAT)), False),  # it may be what ends workers
        (_late(TimeoutType.START_TO_CLOSE), False),
    ],
)
def test_a_step_that_our_own_side_did_not_take_says_nothing_of_the_source(cause: BaseException, ours: bool) -> None:
    assert failing.of_ours(_failed(cause)) is ours
