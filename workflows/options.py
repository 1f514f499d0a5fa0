"""Time-outs and retry policy of every activity, each with its reason."""

from __future__ import annotations

from datetime import timedelta
from typing import TypedDict

from temporalio.common import RetryPolicy

from activities.names import LONGEST_PAUSE


class Options(TypedDict, total=False):
    """The options of one activity; `summary` is the caller's."""

    start_to_close_timeout: timedelta
    schedule_to_close_timeout: timedelta
    heartbeat_timeout: timedelta
    retry_policy: RetryPolicy


HOPELESS = (
    *("NotFound", "IllegalTransition", "PolicyRefused", "KeyConflict", "MalformedKey", "MalformedValue"),
    *("KeyError", "IndexError", "TypeError", "ValueError", "AttributeError", "AssertionError", "ValidationError"),
    "UnreadablePayload",
)
"""Errors that waiting cannot cure, by the names that Temporal records: a person is asked instead of trying for ever."""

LOST_AFTER = timedelta(seconds=4)
"""An activity whose worker is silent for so long (workers/beating.py beats for it) is lost, and tried elsewhere.

One that is only stopped, or cut off, may go on all the same: two of them in one activity are what the ledger's claims
are for.
"""

_RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=1), maximum_interval=LONGEST_PAUSE, non_retryable_error_types=HOPELESS
)
_LEDGER_RETRY = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2.0,
    maximum_interval=LONGEST_PAUSE,
    non_retryable_error_types=HOPELESS,
)

READ_SOURCE = Options(
    # one read with a total deadline of its own, and two short ledger reads
    start_to_close_timeout=timedelta(seconds=45),
    heartbeat_timeout=LOST_AFTER,
    # a source that stays down becomes a question for a person instead of an activity that is pending for ever
    schedule_to_close_timeout=timedelta(minutes=10),
    retry_policy=_RETRY,
)

PLAN = Options(
    # two answers of the slowest planner (60 s each at most), one look-up at the target and the recording transaction
    start_to_close_timeout=timedelta(seconds=150),
    heartbeat_timeout=LOST_AFTER,
    # a planner or target that stays down becomes a question for a person
    schedule_to_close_timeout=timedelta(minutes=10),
    retry_policy=_RETRY,
)

WRITE = Options(
    # above the client's own total deadlines: the check, the write, and a ledger that makes us wait
    start_to_close_timeout=timedelta(seconds=75),
    heartbeat_timeout=LOST_AFTER,
    # whether to try again is decided after a read-back, by the run, never by Temporal
    retry_policy=RetryPolicy(maximum_attempts=1),
)

RECONCILE = Options(
    # one look-up with archived and merged records included, and the settling transaction
    start_to_close_timeout=timedelta(seconds=60),
    heartbeat_timeout=LOST_AFTER,
    # no schedule-to-close: nothing can be decided without the ledger, and a target that is down is an answer (unknown)
    retry_policy=_LEDGER_RETRY,
)

LEDGER = Options(
    start_to_close_timeout=timedelta(seconds=45),
    heartbeat_timeout=LOST_AFTER,
    # no schedule-to-close: nothing can be decided without the ledger; it retries with a bounded interval
    retry_policy=_LEDGER_RETRY,
)

SENDER = Options(
    # reads the run's own history; who sent a bare signal is worth a few tries and is then recorded as unknown
    start_to_close_timeout=timedelta(seconds=20),
    schedule_to_close_timeout=timedelta(minutes=1),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_attempts=3),
)

HAND_OVER = Options(
    # a description and a start, each with a deadline of a few seconds; as LEDGER, it is tried until it is done
    start_to_close_timeout=timedelta(seconds=45),
    retry_policy=_LEDGER_RETRY,
)

SWEEP = Options(
    # bounded by the number of leads that one sweep looks at
    start_to_close_timeout=timedelta(minutes=2),
    # the next sweep comes anyway
    retry_policy=RetryPolicy(maximum_attempts=1),
)
