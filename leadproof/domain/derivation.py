"""What a decision about a divergent mutation would write, and whether it can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leadproof.domain.field_catalog import LIFECYCLE_STAGE
from leadproof.domain.mutation import Mutation
from leadproof.domain.policy import Policy
from leadproof.domain.review import Decision
from leadproof.domain.stages import may_move_back, moves_back

PolicyOf = Callable[[str], Policy | None]
"""A policy version to the policy; `None` where it is not known or can no longer be read."""


def derived_fields(parent: Mutation, decision: Decision) -> dict[str, Any]:
    """The fields that a derived mutation sets: `overwrite` the intent once more, `restore` what it had replaced."""
    if decision is Decision.OVERWRITE:
        return parent.intent.fields
    if decision is Decision.RESTORE:
        return _lost(parent)
    return {}


def shown_fields(parent: Mutation) -> dict[str, Any] | None:
    """The record's fields as the decision was shown them."""
    fields: dict[str, Any] | None = (parent.observed_state or {}).get("fields")
    return fields


def empties_the_stage_first(parent: Mutation, decision: Decision, policy_of: PolicyOf) -> bool:
    """Whether what a decision would write moves the record's stage backward, which takes two writes.

    Without its policy nobody knows the order of the stages; then any move may be one.
    """
    fields, shown = derived_fields(parent, decision), shown_fields(parent) or {}
    stage, wanted = shown.get(LIFECYCLE_STAGE), fields.get(LIFECYCLE_STAGE)
    if stage is None or wanted is None or stage == wanted:
        return False
    policy = policy_of(parent.policy_version)
    return policy is None or moves_back(policy, parent.target_system, shown, fields)


def why_not(parent: Mutation, decision: Decision, policy_of: PolicyOf) -> str | None:
    """Why a decision that the question allows cannot be carried out, in one sentence; `None` where it can."""
    if decision not in {Decision.OVERWRITE, Decision.RESTORE}:
        return None
    if not derived_fields(parent, decision):
        return "there is nothing to put back"
    if not empties_the_stage_first(parent, decision, policy_of):
        return None
    policy = policy_of(parent.policy_version)
    if policy is not None and may_move_back(policy, parent.target_system, parent.target_object):
        return None
    return "the stage would move backward, and the policy does not permit clear_stage and set_stage"


def _lost(parent: Mutation) -> dict[str, Any]:
    """The values that the parent's write replaced unseen; one that a person had cleared is lost as empty."""
    return {
        difference.field: difference.lost
        for difference in parent.differences
        if difference.lost is not None or difference.intended == difference.observed
    }
