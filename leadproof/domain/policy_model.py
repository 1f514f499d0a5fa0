"""Faults of what a policy says about who plans: a model may be let near nothing that the guard cannot check."""

from __future__ import annotations

from collections.abc import Iterator

from leadproof.domain.field_catalog import ABOUT_THE_LEAD, LIFECYCLE_STAGE, specs_for
from leadproof.domain.fields import FieldType
from leadproof.domain.policy import Claude, Policy
from leadproof.domain.policy_conditions import Fault, condition_faults, fields_of_any_target


def planning(policy: Policy) -> Iterator[Fault]:
    """Every fault of `planner`, `[claude]` and what a model may write."""
    if not policy.plans_with("claude"):
        if policy.claude is not None:
            yield from _claude(policy, policy.claude)
        return
    if policy.claude is None:
        named = (("events", i, "planner") for i, event in enumerate(policy.events) if event.planner == "claude")
        yield Fault(next(named, ("planner",)), 'planner = "claude" needs a [claude] table that says how it is asked')
        return
    yield from _claude(policy, policy.claude)
    yield from _writable(policy)


def _claude(policy: Policy, claude: Claude) -> Iterator[Fault]:
    known = fields_of_any_target(policy)
    for index, field in enumerate(claude.shows):
        if field not in known:
            yield Fault(("claude", "shows", index), f"the field {field!r} is unknown")
    stronger = claude.escalation
    if stronger is None:
        return
    here = ("claude", "escalation")
    if stronger.when is None and stronger.below_confidence is None and not stronger.after_refusal:
        yield Fault(here, "[claude.escalation] says no occasion: give it when, below_confidence or after_refusal")
    if stronger.when is not None:
        yield from condition_faults(policy, (*here, "when"), stronger.when)


def _writable(policy: Policy) -> Iterator[Fault]:
    """A field that a model may write has a value that can be checked: one of a list, one that the lead itself gave,
    or prose that is declared to be prose. The id of a record it may not write at all."""
    for position, permission in enumerate(policy.actions):
        specs = specs_for(policy, permission.target)
        listed = policy.values.get(permission.target, {})
        for index, field in enumerate(permission.fields):
            spec = specs.get(field)
            if spec is None or field in ABOUT_THE_LEAD or field == LIFECYCLE_STAGE or field in listed or spec.free:
                continue
            if spec.type not in {FieldType.OWNER, FieldType.BOOLEAN, FieldType.RECORD_ID}:
                yield Fault(
                    ("actions", position, "fields", index),
                    f"Claude may write {field!r}, and nothing says which values are right; list them in "
                    f"[values.{permission.target}]",
                )
