"""Whose write a record shows: this mutation's, an earlier effect of ours, or somebody else's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from leadproof.domain.comparison import latest_version, same
from leadproof.domain.fields import FieldSpec
from leadproof.domain.mutation import Difference, Mutation
from leadproof.domain.records import MARKER, Change, FoundRecord

US: Final = "us"
"""What a record's history and its last change say of our own writes."""

IN_OUR_WRITE: Final = "automation:in_our_write"
"""Who made a value that came with a mutation's own write and is not what it intended: software that the target ran in
our transaction, and therefore as us (Salesforce's flows and triggers)."""

SAME_WRITE = timedelta(seconds=1)
"""Fields of one request stand in a record's history within this time of each other."""

Specs = Mapping[str, FieldSpec]
Effects = Mapping[str, Mapping[str, Any]]
"""Effect marker to what was observed of the fields that this earlier effect of ours set."""


def together(one: Change, other: Change) -> bool:
    """Whether two entries of a record's history are of one write: by the same author, at the same moment."""
    return one.by == other.by and abs(one.at - other.at) <= SAME_WRITE


def landed(record: FoundRecord, mutation_key: str) -> bool:
    """Whether the record or its marker's history says that a write of this mutation landed."""
    return record.marker == mutation_key or any(c.value == mutation_key for c in record.history.get(MARKER, ()))


def with_automation(
    mutation_key: str, record: FoundRecord, differences: tuple[Difference, ...], specs: Specs
) -> tuple[Difference, ...]:
    """The differences, with software named where the target says that we made a value which we did not write.

    That is a version of ours that was made together with this mutation's marker. Where the target has no version of the
    field, the record has to say that nobody came after us: it was last changed by us and carries this marker.
    """
    return tuple(
        difference.model_copy(
            update={"changed_by": IN_OUR_WRITE, "changed_at": difference.changed_at or record.changed_at}
        )
        if difference.returned and _came_with(mutation_key, record, difference.field, specs)
        else difference
        for difference in differences
    )


def _came_with(mutation_key: str, record: FoundRecord, name: str, specs: Specs) -> bool:
    """Whether the present value of a field came with a write of this mutation."""
    spec = specs.get(name, FieldSpec())
    latest = latest_version(spec, record.fields.get(name), record.history.get(name, ()))
    if latest is None:
        return record.changed_by == US and record.marker == mutation_key
    marker = marker_of(record, latest)
    return marker is not None and marker.value == mutation_key


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


def _read_at(mutation: Mutation, margin: timedelta) -> datetime | None:
    """From when on a version can be newer than the base; `None` where the base is no record, so that any is.

    The base of a derived mutation is what its decision was shown, and nobody else of us writes to the record from then
    until the mutation is made.
    """
    if mutation.base_state is None:
        return None
    return (mutation.intent.base_read_at or mutation.created_at) - margin


def marker_of(record: FoundRecord, change: Change) -> Change | None:
    """The marker's entry that was written together with a version of ours; the nearest, where two come close."""
    entries = [one for one in record.history.get(MARKER, ()) if change.by == US and together(one, change)]
    return min(entries, key=lambda one: abs(one.at - change.at), default=None)


class _Explaining:
    """Says whether what stands, or stood, in a field is an earlier effect of ours.

    A version is explained and never a value: whoever else sets what we once wrote has made a change of their own. A
    target that keeps no history of the field has no versions. There the record has to say that nobody changed it after
    that effect: it was last changed by us, and carries that effect's marker.

    Args:
        margin: how far the target's clock and ours may differ.
    """

    def __init__(
        self, mutation: Mutation, record: FoundRecord, specs: Specs, effects: Effects, margin: timedelta
    ) -> None:
        self._record = record
        self._specs = specs
        self._effects = effects
        self._since = _read_at(mutation, margin)

    def stands(self, name: str) -> bool:
        """Whether the present value is explained."""
        record = self._record
        if name not in record.fields:
            return False
        if name not in record.history:
            ours = record.changed_by == US and self._later(record.changed_at)
            return ours and self._wrote(record.marker, name, record.fields[name])
        spec = self._specs.get(name, FieldSpec())
        latest = latest_version(spec, record.fields[name], record.history[name])
        return latest is not None and self.version(name, latest)

    def version(self, name: str, change: Change) -> bool:
        """Whether a version is an earlier effect's, and later than the base."""
        marker = marker_of(self._record, change)
        return marker is not None and self._later(change.at) and self._wrote(marker.value, name, change.value)

    def _later(self, at: datetime | None) -> bool:
        return self._since is None or at is None or at > self._since

    def _wrote(self, marker: str | None, name: str, value: Any) -> bool:
        effect = self._effects.get(marker, {}) if marker is not None else {}
        return name in effect and same(self._specs.get(name, FieldSpec()), value, effect[name])


def explained_base(
    mutation: Mutation,
    record: FoundRecord,
    specs: Specs,
    effects: Effects,
    margin: timedelta = timedelta(0),
) -> dict[str, Any] | None:
    """The base, moved on where an earlier effect of ours explains what now stands on the record.

    The base of a create is no record; where an earlier effect of ours explains that there is one, an empty record.

    Args:
        margin: how far the target's clock and ours may differ.
    """
    if mutation.base_state is None and not effects:
        return None
    base = _base(mutation)
    explaining = _Explaining(mutation, record, specs, effects, margin)
    for name in {name for fields in effects.values() for name in fields}:
        if explaining.stands(name):
            base[name] = record.fields[name]
    return base


def overwritten_unseen(
    mutation: Mutation,
    record: FoundRecord,
    specs: Specs,
    effects: Effects,
    margin: timedelta = timedelta(0),
) -> tuple[Difference, ...]:
    """Values that our write replaced without having seen them, from the target's history.

    The value before each write of ours must be the base or the intent itself, or its version an earlier effect of ours.

    Args:
        margin: how far the target's clock and ours may differ.
    """
    explaining = _Explaining(mutation, record, specs, effects, margin)
    base = _base(mutation)
    lost = []
    for name, wanted in sorted(mutation.intent.fields.items()):
        if name not in base:
            continue
        spec = specs.get(name, FieldSpec())
        for before, first in _replaced(mutation.mutation_key, record, name, wanted, spec):
            at_base = first and same(spec, before.value, base[name])
            if at_base or same(spec, before.value, wanted) or explaining.version(name, before):
                continue
            lost.append(_lost(name, wanted, record, before))
            break
    return tuple(lost)


def _replaced(
    mutation_key: str, record: FoundRecord, name: str, wanted: Any, spec: FieldSpec
) -> Iterator[tuple[Change, bool]]:
    """The versions of a field that the writes of a mutation replaced, the latest write first, and whether it was the
    first of them, which alone may find the field at its base.

    A write that landed once more leaves no entry of the marker, which stands there already: it is known by its value.
    """
    written = [change for change in record.history.get(MARKER, ()) if change.value == mutation_key]
    if not written:
        return
    versions = record.history.get(name, ())
    for version, before in pairwise(versions):
        again = version.by == US and version.at > written[-1].at and same(spec, version.value, wanted)
        if again and marker_of(record, version) is None:
            yield before, False
    for marker in written:
        # its own version may stand a moment before its marker's entry
        older = (change for change in versions if change.at < marker.at)
        replaced = next((change for change in older if marker_of(record, change) is not marker), None)
        if replaced is not None:
            yield replaced, marker is written[-1]


def _lost(name: str, wanted: Any, record: FoundRecord, before: Change) -> Difference:
    return Difference(
        field=name,
        intended=wanted,
        observed=record.fields.get(name),
        changed_by=before.by,
        changed_at=before.at,
        lost=before.value,
    )
