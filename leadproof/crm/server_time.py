"""A server's clock, as its answers tell it."""

from __future__ import annotations

from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from leadproof.deadline import Response
from leadproof.domain.diagnosis import ServerTime

_RESOLUTION: Final = timedelta(seconds=1)


def server_time(response: Response) -> ServerTime | None:
    """The moment of the `Date` header, which has whole seconds (RFC 9110, section 6.6.1); `None` where it has none."""
    try:
        moment = parsedate_to_datetime(response.headers["Date"])
    except (KeyError, ValueError):
        return None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return ServerTime(earliest=moment, latest=moment + _RESOLUTION)
