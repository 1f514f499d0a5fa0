"""Faults of a policy's conditions, which approvals, rules and the choice of a model share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from leadproof.domain import field_catalog
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.fields import FieldType
from leadproof.domain.policy import Condition, Policy

_NUMBERS: Final = frozenset({FieldType.NUMBER, FieldType.MONEY})


class Fault(NamedTuple):
    """What is wrong, and under which path of the model."""

    path: tuple[str | int, ...]
    why: str


def condition_faults(policy: Policy, here: tuple[str | int, ...], condition: Condition) -> Iterator[Fault]:
    """Every fault of one condition, under its path in the model."""
    fields = fields_of_any_target(policy)
    for index, source in enumerate(condition.source):
        if source not in policy.sources:
            yield Fault((*here, "source", index), f"the source {source!r} is not in [sources]")
    for part in ("present", "absent"):
        for index, field in enumerate(getattr(condition, part)):
            if field not in fields:
                yield Fault((*here, part, index), f"the field {field!r} is unknown")
    for part in ("equals", "at_least", "at_most"):
        for field in getattr(condition, part):
            if field not in fields:
                yield Fault((*here, part, field), f"the field {field!r} is unknown")
            elif part != "equals" and fields[field] not in _NUMBERS:
                yield Fault((*here, part, field), f"the field {field!r} is no number")


def fields_of_any_target(policy: Policy) -> dict[str, FieldType]:
    """The type of each field that the policy can name."""
    known = {name: spec.type for name, spec in field_catalog.CATALOG.items()}
    for target in policy.targets:
        known.update({name: spec.type for name, spec in specs_for(policy, target).items()})
    return known
