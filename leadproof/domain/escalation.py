"""When a stronger model plans: from the beginning, or after a first plan that is not good enough."""

from __future__ import annotations

from collections.abc import Sequence

from leadproof.domain import conditions
from leadproof.domain.events import LeadSnapshot
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.plan import GuardedAction, Verdict
from leadproof.domain.policy import Policy


def begins_stronger(policy: Policy, snapshot: LeadSnapshot) -> bool:
    """Whether the policy gives this lead to the stronger model at once."""
    stronger = policy.claude.escalation if policy.claude is not None else None
    if stronger is None or stronger.when is None:
        return False
    return conditions.holds(stronger.when, snapshot, specs_for(policy, snapshot.source_system))


def asks_stronger(policy: Policy, guarded: Sequence[GuardedAction]) -> bool:
    """Whether the policy wants a second opinion on a first plan, by what the guard made of it."""
    stronger = policy.claude.escalation if policy.claude is not None else None
    if stronger is None:
        return False
    if stronger.after_refusal and any(one.verdict is Verdict.REFUSED for one in guarded):
        return True
    bound = stronger.below_confidence
    return bound is not None and any((one.action.confidence or 0) < bound for one in guarded)
