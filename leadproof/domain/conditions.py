"""Whether a condition of the policy holds for a lead as it was read."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from leadproof.domain.errors import MalformedValue
from leadproof.domain.events import LeadSnapshot
from leadproof.domain.field_catalog import EMAIL
from leadproof.domain.fields import FieldSpec, FieldType, Normal, normal
from leadproof.domain.policy import Condition

_TEXT = FieldSpec()
_NUMBER = FieldSpec(type=FieldType.NUMBER)


def holds(condition: Condition, snapshot: LeadSnapshot, specs: Mapping[str, FieldSpec]) -> bool:
    """Whether every part of `condition` holds.

    A value that cannot be read as its field's type equals nothing and is in no bounds.

    Args:
        specs: declared types by field name; a field without one counts as text.
    """
    given = snapshot.fields
    fields = {name: _read(specs.get(name, _TEXT), given[name]) for name in looked_at(condition) if name in given}
    return (
        (not condition.source or snapshot.source_system in condition.source)
        and all(_equals(specs.get(name, _TEXT), fields.get(name), of) for name, of in condition.equals.items())
        and (not condition.email_domain or _in_domain(fields.get(EMAIL), condition.email_domain))
        and all(fields.get(name) is not None for name in condition.present)
        and all(given.get(name) in (None, "", []) for name in condition.absent)
        and all(_compared(fields.get(name), bound) in {0, 1} for name, bound in condition.at_least.items())
        and all(_compared(fields.get(name), bound) in {0, -1} for name, bound in condition.at_most.items())
    )


def looked_at(condition: Condition) -> tuple[str, ...]:
    """The fields that a condition looks at, each once, in the order of the condition's parts."""
    address = (EMAIL,) if condition.email_domain else ()
    parts = (condition.equals, address, condition.present, condition.absent, condition.at_least, condition.at_most)
    return tuple(dict.fromkeys(name for part in parts for name in part))


def _read(spec: FieldSpec, value: object) -> Normal:
    try:
        return normal(spec, value)
    except MalformedValue:
        return None


def _equals(spec: FieldSpec, found: Normal, of: tuple[object, ...]) -> bool:
    if found is None:
        return False
    wanted = [_read(spec, value) for value in of]
    if isinstance(found, list):
        return any(set(one) <= set(found) for one in wanted if isinstance(one, list))
    return any(found == one and type(found) is type(one) for one in wanted)


def _in_domain(address: Normal, domains: tuple[str, ...]) -> bool:
    if not isinstance(address, str) or "@" not in address:
        return False
    spec = FieldSpec(type=FieldType.EMAIL)
    domain = address.rpartition("@")[2]
    return any(_read(spec, f"x@{one}") == f"x@{domain}" for one in domains)


def _compared(found: Normal, bound: float) -> int | None:
    if not isinstance(found, str):
        return None
    try:
        number = Decimal(str(normal(_NUMBER, found)))
    except MalformedValue:
        return None
    return (number > Decimal(str(bound))) - (number < Decimal(str(bound)))
