"""Whose write a record shows: this mutation's, an earlier effect of ours, or somebody else's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadproof.domain.comparison import same
from leadproof.domain.fields import FieldSpec
from leadproof.domain.mutation import Difference, Mutation
from leadproof.domain.records import MARKER, Change, FoundRecord

Specs = Mapping[str, FieldSpec]
Effects = Mapping[str, Mapping[str, Any]]
"""Effect marker to the observed fields of an earlier effect of ours that explains a difference."""


def landed(record: FoundRecord, mutation_key: str) -> bool:
    """Whether the record or its marker's history says that a write of this mutation landed."""
    return record.marker == mutation_key or any(c.value == mutation_key for c in record.history.get(MARKER, ()))


def stranger(mutation: Mutation, record: FoundRecord) -> bool:
    """Whether the record is not the one that was planned for.

    It meanwhile carries another external id, or a create meets a record that is not linked to this lead. Both are the
    policy's question; it is never written to.
    """
    ours = mutation.intent.record.external_id
    if mutation.intent.creates:
        return record.external_id != ours
    return record.external_id is not None and record.external_id != ours


def _base(mutation: Mutation) -> dict[str, Any]:
    """The base state; of a create, an empty record."""
    if mutation.base_state is not None:
        return dict(mutation.base_state)
    return dict.fromkeys((*mutation.intent.fields, *mutation.intent.compare_also))


def explained_base(mutation: Mutation, record: FoundRecord, specs: Specs, effects: Effects) -> dict[str, Any] | None:
    """The base, moved on where an earlier effect of ours explains what now stands on the record.

    The base of a create is no record; where an earlier effect of ours explains that there is one, an empty record.
    """
    if mutation.base_state is None and not effects:
        return None
    base = _base(mutation)
    for fields in effects.values():
        for name, value in fields.items():
            if name in record.fields and same(specs.get(name, FieldSpec()), record.fields[name], value):
                base[name] = record.fields[name]
    return base


def overwritten_unseen(
    mutation: Mutation, record: FoundRecord, specs: Specs, effects: Effects
) -> tuple[Difference, ...]:
    """Values that our write replaced without having seen them, from the target's history.

    The value before each write of ours must be the base, the intent itself, or explained by an earlier effect of ours.
    """
    written = [change.at for change in record.history.get(MARKER, ()) if change.value == mutation.mutation_key]
    base = _base(mutation)
    lost = []
    for name, wanted in sorted(mutation.intent.fields.items()):
        if name not in base:
            continue
        spec = specs.get(name, FieldSpec())
        seen = [base[name], wanted, *(e[name] for e in effects.values() if name in e)]
        for at in written:
            before = next((change for change in record.history.get(name, ()) if change.at < at), None)
            if before is not None and not any(same(spec, before.value, value) for value in seen):
                lost.append(_lost(name, wanted, record, before))
                break
    return tuple(lost)


def _lost(name: str, wanted: Any, record: FoundRecord, before: Change) -> Difference:
    return Difference(
        field=name,
        intended=wanted,
        observed=record.fields.get(name),
        changed_by=before.by,
        changed_at=before.at,
        lost=before.value,
    )
