"""A target's record as an adapter found it, in our field names and normal forms."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from leadproof.domain.plan import TargetObject

MARKER = "effect_marker"
"""Our name of the field that carries the effect marker; also its name in a record's history."""


class Change(BaseModel):
    """One entry of a field's history.

    Attributes:
        value: normalised; `None` where the field was cleared.
        by: `us`, `person:<id>`, `automation:<id>`, `integration:<id>`, or `None` where the target can't tell.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    value: Any
    at: datetime
    by: str | None = None


class FoundRecord(BaseModel):
    """One record, read.

    Attributes:
        record_id: the target's id of the record that answered; another one than was asked for means merged.
        external_id: the external id that it carries.
        marker: the effect marker that it carries: the mutation key of the latest write of ours.
        fields: our field name to normalised value; a field that was not returned is not there.
        raw: the same fields as the target returned them.
        history: our field name (and `effect_marker`) to its changes, newest first; a field whose history the target
            does not keep, or that was not asked for, is not there.
        changed_by, changed_at: who changed it last, and when.
        moved_at: when it last moved, where that is told: also by software that leaves the last change as it was.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    record_id: str
    external_id: str | None = None
    marker: str | None = None
    fields: dict[str, Any]
    raw: dict[str, Any] = {}
    history: dict[str, tuple[Change, ...]] = {}
    changed_by: str | None = None
    changed_at: datetime | None = None
    moved_at: datetime | None = None


class Presence(StrEnum):
    """What a look-up can say. *unknown* never turns into *absent*."""

    ONE = "one"
    ABSENT = "absent"
    REMOVED = "removed"
    SEVERAL = "several"
    UNKNOWN = "unknown"


class LookUp(BaseModel):
    """The answer of a read by id, by external id or by a unique field.

    Attributes:
        record: the record, for *one*.
        record_ids: the ids that were found, for *several* and *removed*.
        detail: why nothing can be said, for *unknown*; no personal data.
        refuses_us: the target refused our credentials or its endpoint is gone: says nothing about the record.
        retry_after_seconds: how long the target asks us to wait, for *unknown*.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    presence: Presence
    record: FoundRecord | None = None
    record_ids: tuple[str, ...] = ()
    detail: str | None = None
    refuses_us: bool = False
    retry_after_seconds: float | None = None


class OwnerDescription(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    owner_id: str
    active: bool
    queue: bool = False


class FieldDescription(BaseModel):
    """A target's own definition of one field.

    Attributes:
        options: allowed values in the target's order; empty where it lists none (owners).
        labels: what people see instead of a value, to that value; only where the two differ.
        unique: the target refuses a second record with the same value.
        keeps_history: the target keeps who set which value when.
        writable: the API may set it.
        required: the target makes no record without a value of ours.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    name: str
    options: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    unique: bool = False
    keeps_history: bool = False
    writable: bool = True
    required: bool = False


class Description(BaseModel):
    """What a target says of itself, for checking a policy and a configuration before they are trusted.

    Attributes:
        target_object: the object whose fields are described.
        fields: our field name to the target's definition; a field that the target does not have is not there.
        names: our field name to the target's own, whether the target has it or not.
        instead: our field name to what a policy can say where the target has no field of that name and nobody can make
            one.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    system: str
    account: str
    target_object: TargetObject = TargetObject.CONTACT
    owners: tuple[OwnerDescription, ...]
    fields: dict[str, FieldDescription]
    names: dict[str, str] = {}
    instead: dict[str, str] = {}
