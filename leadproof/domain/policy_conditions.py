"""Faults of a policy's conditions, which approvals, rules and the choice of a model share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from leadproof.domain import field_catalog
from leadproof.domain.field_catalog import EMAIL, specs_for
from leadproof.domain.field_values import ValueRefused, well_formed
from leadproof.domain.fields import FieldSpec, FieldType
from leadproof.domain.policy import Condition, Policy

_NUMBERS: Final = frozenset({FieldType.NUMBER, FieldType.MONEY})
_TEXTS: Final = frozenset(
    {FieldType.TEXT, FieldType.EMAIL, FieldType.PHONE, FieldType.PICKLIST, FieldType.OWNER, FieldType.COUNTRY}
)
_DOMAIN: Final = re.compile(r"[^\s@.,;]+(\.[^\s@.,;]+)+")


class Fault(NamedTuple):
    """What is wrong, and under which path of the model."""

    path: tuple[str | int, ...]
    why: str


def condition_faults(policy: Policy, here: tuple[str | int, ...], condition: Condition) -> Iterator[Fault]:
    """Every fault of one condition, under its path in the model."""
    specs = specs_of_any_target(policy)
    for index, source in enumerate(condition.source):
        if source not in policy.sources:
            yield Fault((*here, "source", index), f"the source {source!r} is not in [sources]")
    for part in ("present", "absent"):
        for index, field in enumerate(getattr(condition, part)):
            if field not in specs:
                yield Fault((*here, part, index), f"the field {field!r} is unknown")
    for part in ("equals", "at_least", "at_most"):
        for field in getattr(condition, part):
            if field not in specs:
                yield Fault((*here, part, field), f"the field {field!r} is unknown")
            elif part != "equals" and specs[field].type not in _NUMBERS:
                yield Fault((*here, part, field), f"the field {field!r} is no number")
    for field, values in condition.equals.items():
        if field in specs:
            yield from _values(here, field, specs[field], values)
    for index, domain in enumerate(condition.email_domain):
        if not _DOMAIN.fullmatch(domain):
            yield Fault((*here, "email_domain", index), f"{domain!r} is no domain; write what stands behind the @")
    yield from _never(here, condition)


def filled(condition: Condition) -> set[str]:
    """The fields that have a value wherever the condition holds."""
    named = {*condition.present, *condition.equals, *condition.at_least, *condition.at_most}
    return named | ({EMAIL} if condition.email_domain else set())


def _values(here: tuple[str | int, ...], field: str, spec: FieldSpec, values: tuple[Any, ...]) -> Iterator[Fault]:
    """Values that no lead's field can equal."""
    if not values:
        yield Fault((*here, "equals", field), f"{field!r} has no value to equal; for an empty field there is absent")
    for value in values:
        try:
            if spec.type in _TEXTS and not isinstance(value, str):
                raise ValueRefused(f"{field!r} is compared with texts, which stand in quotes")
            if well_formed(field, spec, value) is None:
                raise ValueRefused(f"{field!r} equals nothing that is empty; for an empty field there is absent")
        except ValueRefused as refused:
            yield Fault((*here, "equals", field), f"a condition that never holds: {refused}")


def _never(here: tuple[str | int, ...], condition: Condition) -> Iterator[Fault]:
    """Parts of a condition of which one or the other must fail."""
    has = filled(condition)
    for index, field in enumerate(condition.absent):
        if field in has:
            yield Fault((*here, "absent", index), f"{field!r} cannot be absent and have a value")
    for field in condition.at_least.keys() & condition.at_most.keys():
        if condition.at_least[field] > condition.at_most[field]:
            yield Fault((*here, "at_least", field), f"no {field!r} is at least that and at most what at_most says")


def specs_of_any_target(policy: Policy) -> dict[str, FieldSpec]:
    """The declaration of each field that the policy can name."""
    known = dict(field_catalog.CATALOG)
    for target in policy.targets:
        known.update(specs_for(policy, target))
    return known


def fields_of_any_target(policy: Policy) -> dict[str, FieldType]:
    """The type of each field that the policy can name."""
    return {name: spec.type for name, spec in specs_of_any_target(policy).items()}


def twice(section: str, names: list[str], what: str) -> Iterator[Fault]:
    """The entries of a list whose name another one before them has."""
    for position, name in enumerate(names):
        if name in names[:position]:
            yield Fault((section, position), f"the {what} {name!r} is there twice")
