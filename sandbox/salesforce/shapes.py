"""Records as the control plane shows them."""

from typing import Any

from sandbox.clock import rfc3339
from sandbox.salesforce.record import Record
from sandbox.salesforce.values import json_value


def witnessed(record: Record) -> dict[str, Any]:
    """One record with everything there is to know about it."""
    state = record.now
    deleted = not state.live
    return {
        "id": record.id,
        "object": f"{record.kind.lower()}s",
        "properties": {name: json_value(value) for name, value in state.values.items() if value is not None},
        "history": {name: list(versions) for name, versions in state.versions.items()},
        "createdAt": rfc3339(record.created_at),
        "updatedAt": rfc3339(state.at),
        "archived": deleted,
        "archivedAt": rfc3339(state.at) if deleted else None,
        "mergedInto": state.merged_into,
    }
