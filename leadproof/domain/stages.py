"""Lifecycle stages: which move goes backward, and how one is made all the same.

HubSpot answers a move backward with success and changes nothing; it is only made from an emptied stage
(https://developers.hubspot.com/docs-beta/crm/contacts; the silence: integrate.hubspot.com, thread 1333).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from leadproof.domain.field_catalog import LIFECYCLE_STAGE
from leadproof.domain.plan import ActionKind
from leadproof.domain.policy import Policy

STAGE_MOVE: Final = (ActionKind.CLEAR_STAGE, ActionKind.SET_STAGE)
"""What a move backward becomes: the stage is emptied, and what sets it depends on that."""


def moves_back(policy: Policy, target_system: str, present: Mapping[str, Any], intended: Mapping[str, Any]) -> bool:
    """Whether a write of `intended` to a record that stands at `present` would move its stage backward."""
    stage, wanted = present.get(LIFECYCLE_STAGE), intended.get(LIFECYCLE_STAGE)
    if wanted is None or stage is None or wanted == stage:
        return False
    stages = policy.stages.get(target_system, ())
    # a stage that the policy does not list cannot be shown to be lower
    return stage not in stages or wanted not in stages or stages.index(wanted) < stages.index(stage)


def may_move_back(policy: Policy, target_system: str, target_object: str) -> bool:
    """Whether the policy permits both halves of a move backward."""
    return all(policy.permission(kind, target_system, target_object) for kind in STAGE_MOVE)
