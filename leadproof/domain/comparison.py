"""Intended against observed: a list of differences, and empty means equivalent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leadproof.domain.errors import MalformedValue
from leadproof.domain.fields import FieldSpec, Normal, normal
from leadproof.domain.mutation import Difference
from leadproof.domain.records import Change, FoundRecord


def _form(spec: FieldSpec, value: object) -> Normal:
    """The normal form, or the bare text of a value that its type cannot read: then it equals only itself."""
    try:
        return normal(spec, value)
    except MalformedValue:
        return str(value)


def same(spec: FieldSpec, left: object, right: object) -> bool:
    """Whether two values of one field mean the same."""
    return _form(spec, left) == _form(spec, right)


def compare(
    intended: Mapping[str, object],
    observed: Mapping[str, object],
    specs: Mapping[str, FieldSpec],
    history: Mapping[str, tuple[Change, ...]] | None = None,
) -> tuple[Difference, ...]:
    """The fields of `intended` in which `observed` differs, in the order of their names.

    Args:
        observed: what was read; a field that is not there was not returned, which is not the same as an empty one.
        specs: declared types; a field without one is text.
        history: newest first per field, from which the difference says who made the present value.
    """
    differences = []
    for name in sorted(intended):
        spec = specs.get(name, FieldSpec())
        wanted = intended[name]
        if name not in observed:
            differences.append(Difference(field=name, intended=wanted, observed=None, returned=False))
            continue
        found = observed[name]
        if same(spec, wanted, found):
            continue
        latest = latest_version(spec, found, (history or {}).get(name, ()))
        differences.append(
            Difference(
                field=name,
                intended=wanted,
                observed=found,
                changed_by=latest.by if latest else None,
                changed_at=latest.at if latest else None,
            )
        )
    return tuple(differences)


def latest_version(spec: FieldSpec, value: object, versions: Sequence[Change]) -> Change | None:
    """The version, newest first, that a present value is; `None` where the newest is another value, since history then
    ends before it: it is no longer kept of the field, or left the latest out."""
    latest = next(iter(versions), None)
    return latest if latest is not None and same(spec, latest.value, value) else None


def moved(
    base: Mapping[str, object] | None,
    record: FoundRecord,
    fields: Mapping[str, object] | tuple[str, ...],
    specs: Mapping[str, FieldSpec],
) -> tuple[Difference, ...]:
    """The fields that no longer stand at their base; `intended` of each difference is the base value.

    A field that the base does not know cannot be said to stand at it and counts as moved.
    """
    known = base or {}
    differences = list(
        compare({name: known[name] for name in fields if name in known}, record.fields, specs, record.history)
    )
    differences += [
        Difference(field=name, intended=None, observed=record.fields.get(name), returned=name in record.fields)
        for name in fields
        if name not in known
    ]
    return tuple(sorted(differences, key=lambda difference: difference.field))
