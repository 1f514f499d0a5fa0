"""What a lead says of the person, as it is written when a contact is made of it."""

from __future__ import annotations

from typing import Any

from leadproof.domain.events import LeadSnapshot
from leadproof.domain.field_catalog import ABOUT_THE_LEAD, WAYS_TO_REACH
from leadproof.domain.field_values import ValueRefused, usable_value
from leadproof.domain.plan import ActionKind, TargetObject
from leadproof.domain.policy import Policy


def said_of_the_person(
    snapshot: LeadSnapshot, policy: Policy, target: str, target_object: TargetObject
) -> dict[str, Any]:
    """The fields about the lead that a create carries: those that the policy permits and whose values are usable."""
    permission = policy.permission(ActionKind.CREATE, target, target_object)
    permitted = permission.fields if permission is not None else ()
    said = {
        name: snapshot.fields[name]
        for name in ABOUT_THE_LEAD
        if name in permitted and snapshot.fields.get(name) is not None
    }
    usable = {name: value for name, value in said.items() if _is_usable(policy, target, name, value)}
    # nobody is lost for a mistyped number; without any way to reach them, the guard says what is wrong
    return usable if usable.keys() & WAYS_TO_REACH else said


def _is_usable(policy: Policy, target: str, field: str, value: object) -> bool:
    try:
        usable_value(policy, target, field, value)
    except ValueRefused:
        return False
    return True
