"""Times as sources write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

RFC_3339: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:?\d\d)", re.ASCII
)  # Salesforce leaves the colon of an offset out
_FIRST_YEAR, _LAST_YEAR = 1970, 9998


def storable(moment: datetime) -> datetime:
    """A time that every store and every time zone can hold.

    Raises:
        ValueError: it cannot.
    """
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError("the time is out of range")
    return moment


def moment(text: str) -> datetime:
    """A time in UTC.

    Raises:
        ValueError: it is no RFC 3339 text with its offset, no time of the calendar, or out of range.
    """
    if RFC_3339.fullmatch(text) is None:
        raise ValueError("a time is RFC 3339 text with its offset")
    return storable(datetime.fromisoformat(text.upper())).astimezone(UTC)
