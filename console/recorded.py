"""Recorded webhook bodies, with the ids of records that exist now."""

from __future__ import annotations

import json
import time
from importlib.resources import files

_FIRST_ID = 101
"""What the recordings call their first record; the next is 102."""


def delivery(name: str, *record_ids: str) -> bytes:
    """The bytes of a recorded delivery.

    Args:
        name: of the recording.
        record_ids: what stands for the recording's records, in order.
    """
    recording = files("console") / "deliveries" / f"{name}.json"
    events = json.loads(recording.read_text(encoding="utf-8"))
    now = time.time_ns() // 1_000_000
    for event in events:
        event["objectId"] = int(record_ids[event["objectId"] - _FIRST_ID])
        event["occurredAt"] = now
    return json.dumps(events, separators=(",", ":")).encode()
