"""What must be true of a policy against what a target says of itself.

A target describes one object at a time, and is held against the actions and rules on that object.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from leadproof.domain import policy_making
from leadproof.domain.diagnosis import WantedField
from leadproof.domain.events import source_object
from leadproof.domain.field_catalog import LIFECYCLE_STAGE, specs_for
from leadproof.domain.fields import FieldType
from leadproof.domain.plan import TargetObject
from leadproof.domain.policy import Policy
from leadproof.domain.policy_conditions import Fault
from leadproof.domain.records import Description, FieldDescription

_MOST_LISTED: Final = 20


def objects_of(policy: Policy, system: str) -> tuple[TargetObject, ...]:
    """The objects of a target that the policy acts on, and those of its records from which leads come."""
    acted_on = [permission.object for permission in policy.actions if permission.target == system]
    return tuple(dict.fromkeys([*acted_on, *source_objects(policy, system)]))


def source_objects(policy: Policy, system: str) -> tuple[TargetObject, ...]:
    """The objects of a CRM from which leads come."""
    named = (source_object(event.kind) for event in policy.events if event.source == system)
    return tuple(dict.fromkeys(named))


def against(policy: Policy, description: Description) -> Iterator[Fault]:
    """Every fault of a policy against one object of a target; none where the policy does not name the target."""
    if description.system in policy.targets:
        yield from _owners(policy, description)
        yield from (fault for fault, _ in missing(policy, description))
        yield from _fields(policy, description)
        yield from policy_making.faults(policy, description)
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
    more = f" and {len(ids) - _MOST_LISTED} more" if len(ids) > _MOST_LISTED else ""
    return f"active are {', '.join(ids[:_MOST_LISTED])}{more}"


def _named(policy: Policy, description: Description) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Where an action on this object names which field."""
    for position, permission in enumerate(policy.actions):
        if (permission.target, permission.object) == (description.system, description.target_object):
            for part in ("fields", "compare_also"):
                for index, field in enumerate(getattr(permission, part)):
                    yield ("actions", position, part, index), field


def _concerns(policy: Policy, description: Description, field: str) -> bool:
    """Whether what the policy says of a field of the target is said of this object: an action on it names the field,
    or no action on any object does."""
    naming = {
        permission.object
        for permission in policy.actions
        if permission.target == description.system and field in (*permission.fields, *permission.compare_also)
    }
    return not naming or description.target_object in naming


def _fields(policy: Policy, description: Description) -> Iterator[Fault]:
    for path, field in _named(policy, description):
        found = description.fields.get(field)
        if found is not None and "fields" in path and not found.writable:
            yield Fault(path, f"{description.system} does not let us write {field!r}")


def missing(policy: Policy, description: Description) -> Iterator[tuple[Fault, WantedField]]:
    """The fields that the policy's actions name and the object lacks, each where the policy names it first."""
    system = description.system
    specs, listed = specs_for(policy, system), policy.values.get(system, {})
    told: set[str] = set()
    for path, field in _named(policy, description):
        if field in description.fields or field in told:
            continue
        told.add(field)
        choice = specs[field].type in {FieldType.PICKLIST, FieldType.MULTI_PICKLIST}
        wanted = WantedField(
            field=field,
            target_object=description.target_object,
            name=description.names.get(field, field),
            type=specs[field].type,
            options=listed.get(field, ()) if choice else (),
            instead=description.instead.get(field),
        )
        named = f"{wanted.name} (the field {field!r})" if wanted.name != field else wanted.name
        do = wanted.instead or f"make it as {wanted.kind}"
        why = f"{system} has no {wanted.target_object} property {named}; {do}, or take the field out of the policy"
        yield Fault(path, why), wanted


def _stages(policy: Policy, description: Description) -> Iterator[Fault]:
    system = description.system
    found = description.fields.get(LIFECYCLE_STAGE)
    if found is None or not _concerns(policy, description, LIFECYCLE_STAGE):
        return
    order = found.options
    stages = policy.stages.get(system, ())
    for index, stage in enumerate(stages):
        if order and stage not in order:
            yield Fault(("stages", system, index), f"{system} has no stage {stage!r}{_meant(found, stage)}")
    known = [stage for stage in stages if stage in order]
    if known != sorted(known, key=order.index):
        yield Fault(("stages", system), f"the stages of {system} stand in another order there: {', '.join(order)}")


def _values(policy: Policy, description: Description) -> Iterator[Fault]:
    system = description.system
    specs = specs_for(policy, system)
    for field, listed in policy.values.get(system, {}).items():
        found = description.fields.get(field)
        if found is None or not _concerns(policy, description, field):
            continue
        for index, value in enumerate(listed):
            if found.options and value not in found.options:
                yield Fault(("values", system, field, index), _no_option(system, field, found, value))
    for position, rule in enumerate(policy.rules):
        for number, proposal in enumerate(rule.proposals):
            if (proposal.target, proposal.object) != (system, description.target_object):
                continue
            here = ("rules", position, "then", number - 1) if number else ("rules", position)
            for field, value in proposal.fields.items():
                found = description.fields.get(field)
                if found is None or not found.options or specs[field].type is not FieldType.PICKLIST:
                    continue
                if value not in found.options:
                    why = f"the rule {rule.name!r}: {_no_option(system, field, found, value)}"
                    yield Fault((*here, "fields", field), why)


def _no_option(system: str, field: str, found: FieldDescription, value: object) -> str:
    return f"{system} has no option {value!r} for {field!r}{_meant(found, value)}"


def _meant(found: FieldDescription, value: object) -> str:
    """Where somebody wrote what people see: the value that stands behind it; else what there is."""
    behind = found.labels.get(value) if isinstance(value, str) else None
    if behind is not None:
        return f": that is a label, and the value is {behind!r}"
    more = f" and {len(found.options) - _MOST_LISTED} more" if len(found.options) > _MOST_LISTED else ""
    return f"; it has {', '.join(found.options[:_MOST_LISTED])}{more}"
