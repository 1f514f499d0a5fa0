"""A HubSpot record and its history to the lead events that webhooks tell of it.

Each event is worded as a webhook's body and read by the webhooks' own parser, so that key and fingerprint cannot differ
from those of the delivery that did not come, or that comes later.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from leadproof.domain.candidates import Candidate, Version
from leadproof.inbound.hubspot import REDACTED, parse_event
from leadproof.inbound.reading import Readings

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def readings(candidate: Candidate, *, account: str, since: datetime, until: datetime | None) -> Readings:
    """The creation of a record and the changes of its properties within a time, oldest first.

    Args:
        account: the portal id that the record was read from.
        since, until: both inclusive; without `until` everything up to now counts.
    """
    found: list[tuple[datetime, dict[str, Any]]] = []
    if _within(candidate.created, since, until):
        body = _body(candidate, candidate.created, account) | {
            "subscriptionType": "contact.creation",
            "changeFlag": "CREATED",
        }
        found.append((candidate.created.at, body))
    for name, versions in candidate.history.items():
        for version in _changes(versions):
            if _within(version, since, until):
                body = _body(candidate, version, account) | {
                    "subscriptionType": "contact.propertyChange",
                    "propertyName": name,
                    "propertyValue": REDACTED if name in candidate.concealed else version.value or "",
                }
                found.append((version.at, body))
    return [parse_event(body) for _, body in sorted(found, key=lambda pair: pair[0])]


def _changes(versions: tuple[Version, ...]) -> Iterator[Version]:
    """The versions that brought another value than the one before them; nothing stands before the oldest."""
    before_anything = Version(value=None, at=_EPOCH)
    for version, before in pairwise((*versions, before_anything)):
        if (version.value or "") != (before.value or ""):
            yield version


def _within(version: Version, since: datetime, until: datetime | None) -> bool:
    return since <= version.at and (until is None or version.at <= until)


def _body(candidate: Candidate, version: Version, account: str) -> dict[str, Any]:
    return {
        "portalId": account,
        "occurredAt": (version.at - _EPOCH) // _MILLISECOND,
        "objectId": candidate.record_id,
        "changeSource": version.source,
        "sourceId": version.source_id,
        "foundBy": "catch-up",
    }
