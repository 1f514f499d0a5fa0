"""A Salesforce record to the lead event that a notification would tell of it.

Salesforce keeps no notification after a day and lists none of them, so the record is all there is: that it was saved,
and when it last moved. The event is worded as a notification and read by the notifications' own parser. Where a kind
counts once per record, its key is that of the notification. Where it counts once per event, no record tells the
notification's id, and the event is named by the record's `SystemModstamp` instead: a notification that arrives
afterwards is a second event, which finds everything already so, and nothing is written for it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from leadproof.domain.candidates import Candidate
from leadproof.domain.keys import instant
from leadproof.inbound.reading import Readings
from leadproof.inbound.salesforce import CATCH_UP, PREFIXES, parse_event

_TYPES: Final = {prefix: object_type for object_type, prefix in PREFIXES.items()}


def readings(candidate: Candidate, *, account: str, since: datetime, until: datetime | None) -> Readings:
    """That a record was saved, where it last moved within a time; nothing otherwise.

    What it was before it last moved is not told by the record: one that moved again after `until` is left to a catch-up
    that reaches as far.

    Args:
        account: the organization's id that the record was read from.
        since, until: both inclusive; without `until` everything up to now counts.
    """
    touched = touched_at(candidate)
    if touched < since or (until is not None and touched > until):
        return []
    changed = candidate.changed.at if candidate.changed is not None else None
    body: dict[str, Any] = {
        "organizationId": account,
        "objectType": _TYPES.get(candidate.record_id[:3], candidate.record_id[:3]),
        "record": {
            "Id": candidate.record_id,
            "LastModifiedDate": instant(changed) if changed is not None else None,
            "SystemModstamp": instant(touched),
            "CreatedDate": instant(candidate.created.at),
        },
        "sentFields": [],
        "foundBy": CATCH_UP,
    }
    return [parse_event(body)]


def touched_at(candidate: Candidate) -> datetime:
    """When a record last moved, as far as it says."""
    if candidate.touched is not None:
        return candidate.touched
    return candidate.changed.at if candidate.changed is not None else candidate.created.at
