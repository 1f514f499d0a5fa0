"""Which effect of ours, or which change by somebody else, made each value that stands on a record now. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from leadproof.domain.attribution import IN_OUR_WRITE, US, Specs, marker_of
from leadproof.domain.comparison import latest_version, same
from leadproof.domain.fields import FieldSpec
from leadproof.domain.mutation import Mutation, Status
from leadproof.domain.records import Change, FoundRecord

_FROZEN: Final = ConfigDict(frozen=True, defer_build=True)


class Basis(StrEnum):
    """What says who made a value.

    *history*: the target's own history of the field. *record*: the target keeps none, and the record says that it was
    last changed by us and carries this effect's marker. *ledger*: our read-back of that effect saw the value, and what
    happened since is not known. *nothing*: neither history nor ledger tells.
    """

    HISTORY = "history"
    RECORD = "record"
    LEDGER = "ledger"
    NOTHING = "nothing"


class Origin(BaseModel):
    """Where one value came from.

    Attributes:
        value: normalised.
        at: when it was made; by the ledger, when it was last seen.
        by: `us`, `person:<id>`, `automation:<id>`, `integration:<id>`; `None` where nothing tells.
        mutation_key: the effect of ours that wrote it, or with whose write software made it.
    """

    model_config = _FROZEN

    value: Any
    basis: Basis
    at: datetime | None = None
    by: str | None = None
    mutation_key: str | None = None


class Provenance(BaseModel):
    """One field of a record.

    Attributes:
        now: where its present value came from.
        earlier: the values before it, newest first, as far as the target's history reaches.
    """

    model_config = _FROZEN

    field: str
    now: Origin
    earlier: tuple[Origin, ...] = ()


def provenance(record: FoundRecord, effects: Sequence[Mutation], specs: Specs) -> tuple[Provenance, ...]:
    """The provenance of each field that the record has, in the order of their names.

    Args:
        record: read now, with its history as far as the target keeps one.
        effects: our effects on this record, the newest first.
        specs: declared types; a field without one is text.
    """
    known = {effect.mutation_key: effect for effect in effects}
    return tuple(_field(name, record, known, specs.get(name, FieldSpec())) for name in sorted(record.fields))


def as_last_seen(effects: Sequence[Mutation]) -> FoundRecord | None:
    """The record as our latest read-back saw it, for where the target cannot be asked; `None` where there was none."""
    for effect in effects:
        seen = effect.observed_state or {}
        if seen.get("fields") is not None:
            shown = {
                name: seen[name] for name in ("record_id", "external_id", "marker", "fields", "raw") if name in seen
            }
            return FoundRecord.model_validate({**shown, "history": seen.get("changes", {})})
    return None


def _field(name: str, record: FoundRecord, known: Mapping[str, Mutation], spec: FieldSpec) -> Provenance:
    versions = record.history.get(name, ())
    value = record.fields[name]
    latest = latest_version(spec, value, versions)
    if latest is not None:
        now, older = _of_version(name, latest, record, known), versions[1:]
    else:  # the history ends before the present value, or there is none
        now, older = _without_history(name, record, known, spec), versions
    return Provenance(field=name, now=now, earlier=tuple(_of_version(name, one, record, known) for one in older))


def _of_version(name: str, change: Change, record: FoundRecord, known: Mapping[str, Mutation]) -> Origin:
    """One entry of a field's history: an effect's where it was made together with that effect's marker."""
    marker = marker_of(record, change)
    key = str(marker.value) if marker is not None and marker.value else None
    effect = known.get(key) if key is not None else None
    by = change.by
    if effect is not None and effect.intended_state is not None and name not in effect.intended_state.fields:
        by = IN_OUR_WRITE
    return Origin(value=change.value, basis=Basis.HISTORY, at=change.at, by=by, mutation_key=key)


def _without_history(name: str, record: FoundRecord, known: Mapping[str, Mutation], spec: FieldSpec) -> Origin:
    value = record.fields[name]
    last = known.get(record.marker or "")
    if record.changed_by == US and last is not None and _set(last, name, value, spec):
        return Origin(value=value, basis=Basis.RECORD, at=record.changed_at, by=US, mutation_key=last.mutation_key)
    for effect in known.values():  # the newest first
        if _set(effect, name, value, spec) and _saw(effect, name, value, spec):
            return Origin(
                value=value, basis=Basis.LEDGER, at=effect.updated_at, by=US, mutation_key=effect.mutation_key
            )
    return Origin(value=value, basis=Basis.NOTHING)


def _set(effect: Mutation, name: str, value: Any, spec: FieldSpec) -> bool:
    """Whether an effect intended exactly this value and may have written it."""
    intent = effect.intended_state
    if intent is None or name not in intent.fields or effect.status is Status.RESERVED:
        return False
    return same(spec, intent.fields[name], value)


def _saw(effect: Mutation, name: str, value: Any, spec: FieldSpec) -> bool:
    seen = (effect.observed_state or {}).get("fields") or {}
    return name in seen and same(spec, seen[name], value)
