"""A time as people type it, so long ago or a moment, and as they read it."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import typer

_DURATION = re.compile(r"(\d{1,6})([smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(text: str, now: datetime, option: str) -> datetime:
    """A time of RFC 3339, or so long before now.

    Raises:
        typer.BadParameter: it is neither.
    """
    duration = _DURATION.fullmatch(text)
    with suppress(ValueError, OverflowError):
        if duration is not None:
            return now - timedelta(**{_UNITS[duration[2]]: int(duration[1])})
        read = datetime.fromisoformat(text)
        if read.tzinfo is not None:
            return read.astimezone(UTC)
    raise typer.BadParameter(
        "is neither a duration such as 2h or 3d nor a time such as 2026-11-30T08:00:00Z", param_hint=option
    )


def in_seconds(at: datetime | str | None) -> str | None:
    """A moment for people, in whole seconds, which is as fine as any CRM tells it."""
    if at is None:
        return None
    read = datetime.fromisoformat(at) if isinstance(at, str) else at
    return str(read.replace(microsecond=0))
