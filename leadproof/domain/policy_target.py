"""What must be true of a policy against what a target says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from leadproof.domain.diagnosis import WantedField
from leadproof.domain.field_catalog import LIFECYCLE_STAGE, specs_for
from leadproof.domain.fields import FieldType
from leadproof.domain.policy import Policy
from leadproof.domain.policy_conditions import Fault
from leadproof.domain.records import Description

_MOST_OWNERS: Final = 20


def against(policy: Policy, description: Description) -> Iterator[Fault]:
    """Every fault of a policy against one target; none where the policy does not name the target."""
    system = description.system
    if system in policy.targets:
        yield from _owners(policy, description)
        yield from (fault for fault, _ in missing(policy, description))
        yield from _fields(policy, description)
        yield from _stages(policy, description)
        yield from _values(policy, description)


def _owners(policy: Policy, description: Description) -> Iterator[Fault]:
    system = description.system
    active = {owner.owner_id: owner.active for owner in description.owners}
    there = _active_owners(description)
    for name, owner_id in policy.owners.get(system, {}).items():
        if owner_id not in active:
            yield Fault(("owners", system, name), f"{system} has no owner {owner_id} ({name}); {there}")
        elif not active[owner_id]:
            yield Fault(("owners", system, name), f"the owner {owner_id} ({name}) is not active in {system}; {there}")


def _active_owners(description: Description) -> str:
    """The ids among which the policy can choose; without names and addresses, which are those of colleagues."""
    ids = [
        f"{owner.owner_id} (a queue)" if owner.queue else owner.owner_id for owner in description.owners if owner.active
    ]
    if not ids:
        return "it has no active one"
    more = f" and {len(ids) - _MOST_OWNERS} more" if len(ids) > _MOST_OWNERS else ""
    return f"active are {', '.join(ids[:_MOST_OWNERS])}{more}"


def _fields(policy: Policy, description: Description) -> Iterator[Fault]:
    system = description.system
    for position, permission in enumerate(policy.actions):
        for part in ("fields", "compare_also") if permission.target == system else ():
            for index, field in enumerate(getattr(permission, part)):
                found = description.fields.get(field)
                if found is not None and part == "fields" and not found.writable:
                    yield Fault(("actions", position, part, index), f"{system} does not let us write {field!r}")


def missing(policy: Policy, description: Description) -> Iterator[tuple[Fault, WantedField]]:
    """The fields that the policy's actions name and the target lacks, each where the policy names it first."""
    system = description.system
    specs, listed = specs_for(policy, system), policy.values.get(system, {})
    told: set[str] = set()
    for position, permission in enumerate(policy.actions):
        for part in ("fields", "compare_also") if permission.target == system else ():
            for index, field in enumerate(getattr(permission, part)):
                if field in description.fields or field in told:
                    continue
                told.add(field)
                choice = specs[field].type in {FieldType.PICKLIST, FieldType.MULTI_PICKLIST}
                wanted = WantedField(
                    field=field,
                    name=description.names.get(field, field),
                    type=specs[field].type,
                    options=listed.get(field, ()) if choice else (),
                )
                named = f"{wanted.name} (the field {field!r})" if wanted.name != field else wanted.name
                why = (
                    f"{system} has no {permission.object} property {named}; make it as {wanted.kind}, "
                    "or take the field out of the policy"
                )
                yield Fault(("actions", position, part, index), why), wanted


def _stages(policy: Policy, description: Description) -> Iterator[Fault]:
    system = description.system
    order = _options(description, LIFECYCLE_STAGE)
    stages = policy.stages.get(system, ())
    for index, stage in enumerate(stages):
        if order and stage not in order:
            yield Fault(("stages", system, index), f"{system} has no stage {stage!r}")
    known = [stage for stage in stages if stage in order]
    if known != sorted(known, key=order.index):
        yield Fault(("stages", system), f"the stages of {system} stand in another order there: {', '.join(order)}")


def _values(policy: Policy, description: Description) -> Iterator[Fault]:
    system = description.system
    specs = specs_for(policy, system)
    for field, listed in policy.values.get(system, {}).items():
        options = _options(description, field)
        for index, value in enumerate(listed):
            if options and value not in options:
                yield Fault(("values", system, field, index), f"{system} has no option {value!r} for {field!r}")
    for position, rule in enumerate(policy.rules):
        for field, value in rule.fields.items() if rule.target == system else ():
            options = _options(description, field)
            if options and specs[field].type is FieldType.PICKLIST and value not in options:
                yield Fault(
                    ("rules", position, "fields", field),
                    f"the rule {rule.name!r}: {system} has no option {value!r} for {field!r}",
                )


def _options(description: Description, field: str) -> tuple[str, ...]:
    found = description.fields.get(field)
    return found.options if found is not None else ()
