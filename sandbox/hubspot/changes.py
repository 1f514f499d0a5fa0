"""What happened to a contact, for whoever listens."""

from dataclasses import dataclass, field
from typing import Any

from sandbox.hubspot.source import Source

CREATION = "creation"
DELETION = "deletion"
RESTORE = "restore"
MERGE = "merge"
PROPERTY_CHANGE = "propertyChange"


@dataclass(frozen=True, slots=True)
class Change:
    kind: str
    record: str
    at: int
    source: Source
    details: dict[str, Any] = field(default_factory=dict)
