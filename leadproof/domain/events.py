"""What happened, and the record as it was read."""

from __future__ import annotations

import json
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from leadproof.domain import keys
from leadproof.domain.plan import TargetObject
from leadproof.domain.records import FoundRecord


class Scope(StrEnum):
    """What an event kind's key stands for: once per record, ever; or once per real-world event."""

    RECORD = "record"
    EVENT = "event"


class Outcome(StrEnum):
    """Where a lead event stands; the search attribute `LeadproofOutcome`."""

    WORKING = "working"
    REVIEW = "review"
    DONE = "done"
    PARTLY = "partly"
    NOTHING_TO_DO = "nothing_to_do"
    REFUSED = "refused"
    GONE = "gone"
    ECHO = "echo"
    SUPERSEDED = "superseded"
    ABANDONED = "abandoned"

    @property
    def final(self) -> bool:
        return self not in {Outcome.WORKING, Outcome.REVIEW}


class SourceEvent(BaseModel):
    """One lead event as an inbound parser gives it, before policy and deployment make a `LeadEvent` of it.

    Attributes:
        account: the source's own account (HubSpot portal id), `None` where the source has none.
        occurrence: the source's stable identity of the event; used or kept as evidence, as the scope says.
        changed_field: the source's name of the field that changed, for a change event.
        changed_value: its new value as sent; used for the echo rule only, never stored in a key.
        by_person: whether the source says that a person made the change; `None` where it does not say.
        lead: lead fields in our names that came with the event.
        extra: what else came, kept as evidence.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    source_system: str
    account: str | None = None
    source_record_id: str
    event_kind: str
    occurrence: str | None
    occurred_at: datetime
    changed_field: str | None = None
    changed_value: str | None = None
    by_person: bool | None = None
    lead: dict[str, Any] = {}
    extra: dict[str, Any] = {}


def changed_field(occurrence: str | None) -> str | None:
    """The source's name of the field that changed, from the occurrence of a change event; `None` of any other."""
    try:
        parts = json.loads(occurrence or "null")
    except ValueError:
        return None
    return parts[1] if isinstance(parts, list) and len(parts) == 3 and isinstance(parts[1], str) else None


class LeadEvent(BaseModel):
    """One thing that happened to one source record, ready to be admitted.

    Attributes:
        lead: `{"lead": {...}, "extra": {...}}` as it came; personal data, emptied by retention.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    event_key: str
    tenant: str
    environment: str
    source_system: str
    source_record_id: str
    event_kind: str
    occurrence: str | None
    occurred_at: datetime
    fingerprint: str
    lead: dict[str, Any] | None
    policy_version: str

    @property
    def changed_field(self) -> str | None:
        """The source's name of the field that a change event is about."""
        return changed_field(self.occurrence)

    @property
    def external_id(self) -> str:
        return keys.external_id(
            tenant=self.tenant,
            environment=self.environment,
            source_system=self.source_system,
            source_record_id=self.source_record_id,
        )


class Lead(LeadEvent):
    """The row of a lead event."""

    outcome: Outcome
    echo_of: str | None = None
    run: int = 0
    workflow_id: str
    deliveries: int = 1
    conflicts: int = 0
    first_seen_at: datetime
    last_seen_at: datetime


class LeadSnapshot(BaseModel):
    """The source record as it was read when the event's run began, in our field names and normal forms.

    Attributes:
        source_object: kind of the source record, `contact` or `lead`.
        fields: our field name to normalised value; a field that was not returned is not there.
        record: the source record where it stands in a CRM that we also write to: the base of what is planned.
        read_at: when it was read.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    source_system: str
    source_object: str
    source_record_id: str
    fields: dict[str, Any]
    record: FoundRecord | None = None
    read_at: datetime


def workflow_id(event_key: str, run: int) -> str:
    """The workflow ID of a lead event's `run`-th resumption; run 0 is the first."""
    return f"lead:{event_key}" if run == 0 else f"lead:{event_key}:r{run}"


def source_object(event_kind: str) -> TargetObject:
    """What kind of record an event of a CRM is about: the first part of its kind says it (`lead.saved`)."""
    named = event_kind.partition(".")[0]
    return TargetObject.LEAD if named == TargetObject.LEAD else TargetObject.CONTACT
