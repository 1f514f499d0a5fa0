"""What the tests of a CRM adapter ask for."""

from __future__ import annotations

from typing import Any

from leadproof.domain.mutation import RecordRef
from leadproof.domain.steps import WriteRequest

EXTERNAL_ID = "e" * 64
MARKER = "a" * 64


def contact(record_id: str | None = None, external_id: str = EXTERNAL_ID, **unique: str) -> RecordRef:
    return RecordRef(
        target_system="hubspot",
        target_object="contact",
        external_id=external_id,
        provider_record_id=record_id,
        unique_fields=unique,
    )


def creation(marker: str = MARKER, external_id: str = EXTERNAL_ID, **fields: Any) -> WriteRequest:
    return WriteRequest(
        record=contact(external_id=external_id), creates=True, fields=fields, marker=marker, sets_external_id=True
    )


def update(record_id: str = "101", marker: str = MARKER, *, links: bool = False, **fields: Any) -> WriteRequest:
    return WriteRequest(record=contact(record_id), creates=False, fields=fields, marker=marker, sets_external_id=links)
