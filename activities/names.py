"""The error types by which activities tell the workflow what failed; the strings are durable."""

from __future__ import annotations

SOURCE_UNREADABLE = "SourceUnreadable"
TARGET_UNREADABLE = "TargetUnreadable"
PLANNER_FAILED = "PlannerFailed"
PLANNER_UNAVAILABLE = "PlannerUnavailable"
