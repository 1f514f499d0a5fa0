"""What activities and workflow agree on: the error types by which failures are told, durable strings, and a pause."""

from __future__ import annotations

from datetime import timedelta

SOURCE_UNREADABLE = "SourceUnreadable"
TARGET_UNREADABLE = "TargetUnreadable"
UNKNOWN_TO_LEDGER = "UnknownToLedger"
PLANNER_FAILED = "PlannerFailed"
PLANNER_UNAVAILABLE = "PlannerUnavailable"

LONGEST_PAUSE = timedelta(seconds=30)
"""The longest that Temporal lets pass between two tries of an activity, unless what failed says how long."""
