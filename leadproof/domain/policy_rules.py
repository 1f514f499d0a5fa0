"""What must be true of a policy's rules: what they propose is permitted, and every value can be written."""

from __future__ import annotations

from collections.abc import Iterator

from leadproof.domain.field_catalog import specs_for
from leadproof.domain.field_values import ValueRefused, usable_value
from leadproof.domain.fields import FieldType
from leadproof.domain.plan import ActionKind
from leadproof.domain.policy import Condition, Policy, RuleAction
from leadproof.domain.policy_conditions import Fault, condition_faults, twice
from leadproof.domain.references import RECORD_ID_OF, referred


def rules(policy: Policy) -> Iterator[Fault]:
    """Every fault of the rules."""
    yield from twice("rules", [rule.name for rule in policy.rules], "rule")
    always = next((i for i, rule in enumerate(policy.rules) if rule.when == Condition()), len(policy.rules))
    for position, rule in enumerate(policy.rules):
        here = ("rules", position)
        yield from condition_faults(policy, (*here, "when"), rule.when)
        if position > always:
            yield Fault(here, f"the rule {rule.name!r} is never reached: {policy.rules[always].name!r} always holds")
        if rule.action is None:
            if rule.fields:
                yield Fault((*here, "fields"), f"the rule {rule.name!r} does nothing and sets fields")
            if rule.then:
                yield Fault((*here, "then", 0), f"the rule {rule.name!r} does nothing and has further actions")
        for number, proposal in enumerate(rule.proposals):
            place = (*here, "then", number - 1) if number else here
            yield from _proposal(policy, place, rule.name, proposal, rule.proposals[:number])


def unruled(policy: Policy) -> Iterator[Fault]:
    """Kinds of events that are planned by rules of which none is about their source."""
    sources = [rule.when.source for rule in policy.rules]
    for position, event in enumerate(policy.events):
        by_rules = policy.planner_of(event.source, event.kind) == "rules"
        if by_rules and not any(not named or event.source in named for named in sources):
            why = f"no rule is about leads of {event.source}, so that nothing is ever done at its {event.kind}"
            yield Fault(("events", position, "kind"), why)


def _proposal(
    policy: Policy, here: tuple[str | int, ...], rule: str, proposal: RuleAction, before: tuple[RuleAction, ...]
) -> Iterator[Fault]:
    action, what = proposal.action, f"{proposal.action} on {proposal.about}"
    if proposal.target not in policy.targets:
        yield Fault((*here, "target"), f"the target {proposal.target!r} is not in this policy")
        return
    permission = policy.permission(action, proposal.target, proposal.object)
    if permission is None or action is ActionKind.CLEAR_STAGE:
        why = "is made by the guard alone" if permission is not None else "is not permitted by any [[action]]"
        yield Fault((*here, "action"), f"the rule {rule!r} proposes {what}, which {why}")
        return
    if any((one.action, one.about) == (action, proposal.about) for one in before):
        yield Fault((*here, "action"), f"the rule {rule!r} proposes {what} twice; what one record gets is one action")
    if not proposal.fields and action not in {ActionKind.CREATE, ActionKind.LINK}:
        yield Fault(here, f"the rule {rule!r} sets no field")
    for field, value in proposal.fields.items():
        if field not in permission.fields:
            why = f"the rule {rule!r} sets {field!r}, which {what} may not"
            yield Fault((*here, "fields", field), why)
            continue
        try:
            _value(policy, proposal.target, field, value, before)
        except ValueRefused as refused:
            which = f", which {refused.of_value}" if refused.of_value is not None else f": {refused}"
            yield Fault((*here, "fields", field), f"the rule {rule!r} sets {field!r} to {value!r}{which}")


def _value(policy: Policy, target: str, field: str, value: object, before: tuple[RuleAction, ...]) -> None:
    """Refuse what a field must not be given: a value, or the id of a record that no action before it is about."""
    there = tuple(dict.fromkeys(one.about for one in before))
    example = f'{{ {RECORD_ID_OF} = "{there[-1] if there else "salesforce lead"}" }}'
    to, holds_id = referred(value), specs_for(policy, target)[field].type is FieldType.RECORD_ID
    if to is None and isinstance(value, dict) and holds_id:
        other = [name for name in value if name != RECORD_ID_OF]
        why = f"{', '.join(other)} is unknown here" if other else f"{RECORD_ID_OF} names a target and an object"
        raise ValueRefused(f"{why}; the id of a record is written {example}")
    if to is None and isinstance(value, str) and holds_id:
        raise ValueRefused(f"one id would stand on every lead; the id of a record is written {example}")
    if to is None:
        usable_value(policy, target, field, value)
    elif not holds_id:
        raise ValueRefused(f"{field!r} cannot be the id of a record; declare it with the type record_id")
    elif to not in there:
        known = f"there is: {', '.join(there)}" if there else "it is the first one"
        raise ValueRefused(f"no action before it is about {to!r}; {known}")
