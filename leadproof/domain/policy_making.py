"""Whether what a policy makes, or writes to, is taken by the target: required fields, and fields without history."""

from __future__ import annotations

from collections.abc import Iterator

from leadproof.domain.field_catalog import ABOUT_THE_LEAD, PROTECTED, specs_for
from leadproof.domain.plan import ActionKind
from leadproof.domain.policy import Condition, Policy, Rule, RuleAction
from leadproof.domain.policy_conditions import Fault, filled
from leadproof.domain.records import Description


def faults(policy: Policy, description: Description) -> Iterator[Fault]:
    """Creates that may not set a field without which the target makes no record."""
    system, target_object = description.system, description.target_object
    specs = specs_for(policy, system)
    for position, permission in enumerate(policy.actions):
        if (permission.kind, permission.target, permission.object) != (ActionKind.CREATE, system, target_object):
            continue
        for name in _required(description):
            if name not in permission.fields:
                do = f"add {name!r} to its fields"
                if name not in specs:
                    do = f"name it in [target.{system}.fields] and add it to its fields"
                why = f"{system} needs {description.fields[name].name} for a new {target_object}, and this create"
                yield Fault(("actions", position, "fields"), f"{why} may not set it; {do}")


def doubts(policy: Policy, description: Description) -> Iterator[Fault]:
    """What is no fault, and is refused for some of the leads: a record that is made without a required field, a write
    to a record that is there where no history is kept."""
    yield from _blind(policy, description)
    if policy.plans_with("rules"):
        for position in range(len(policy.rules)):
            yield from _unsure(policy, position, description)


def _blind(policy: Policy, description: Description) -> Iterator[Fault]:
    """Actions on an object that are refused where the record exists: the target keeps no history of a field of theirs,
    and the policy does not allow that."""
    for position, permission in enumerate(policy.actions):
        if (permission.target, permission.object) != (description.system, description.target_object):
            continue
        found = {name: description.fields.get(name) for name in permission.fields}
        unkept = [name for name, field in found.items() if field is not None and not field.keeps_history]
        if unkept and not permission.without_history:
            system, target_object = permission.target, permission.object
            why = (
                f"{system} keeps no history of {', '.join(unkept)}, so that {permission.kind} is refused for a "
                f"{target_object} that exists; let {system} keep it, or say without_history = true"
            )
            yield Fault(("actions", position, "fields"), why)


def _unsure(policy: Policy, position: int, description: Description) -> Iterator[Fault]:
    rule, before = policy.rules[position], policy.rules[:position]
    system, target_object = description.system, description.target_object
    for number, proposal in enumerate(rule.proposals):
        if (proposal.action, proposal.target, proposal.object) != (ActionKind.CREATE, system, target_object):
            continue
        permission = policy.permission(proposal.action, system, target_object)
        may = permission.fields if permission is not None else ()
        unsure = [name for name in _required(description) if name in may and not _sure(name, proposal, rule, before)]
        if unsure:
            named = ", ".join(description.fields[name].name for name in unsure)
            asked = ", ".join(f'"{name}"' for name in unsure)
            why = (
                f"{system} makes no {target_object} without {named}, and for the rule {rule.name!r} a lead need not "
                f"have it; say present = [{asked}] in its when, or set it in its fields"
            )
            yield Fault(("rules", position, "then", number - 1) if number else ("rules", position), why)


def _required(description: Description) -> list[str]:
    return [name for name, field in description.fields.items() if field.required and name not in PROTECTED]


def _sure(name: str, proposal: RuleAction, rule: Rule, before: tuple[Rule, ...]) -> bool:
    """Whether whatever a rule makes has a value there: its own, or that of the lead, which another rule was asked for
    before, or which the rule itself asks for."""
    if name in proposal.fields:
        return proposal.fields[name] not in (None, "")
    if name not in ABOUT_THE_LEAD:
        return False
    return name in filled(rule.when) or any(_takes_all_without(name, earlier.when, rule.when) for earlier in before)


def _takes_all_without(name: str, earlier: Condition, when: Condition) -> bool:
    """Whether no lead without a value comes past an earlier rule."""
    every = not earlier.source or (bool(when.source) and {*when.source} <= {*earlier.source})
    return every and earlier == Condition(source=earlier.source, absent=(name,))
