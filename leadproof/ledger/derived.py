"""The mutations that a decision derives from another one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from leadproof.domain import keys
from leadproof.domain.derivation import PolicyOf, derived_fields, empties_the_stage_first, shown_fields
from leadproof.domain.field_catalog import LIFECYCLE_STAGE
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.review import Decision

_EMPTIES = "reverse"
"""The operation in the key of the half that empties the stage; see docs/decisions/0015."""


def derive(
    parent: Mutation, decision: Decision, *, review_id: str, now: datetime, policy_of: PolicyOf
) -> tuple[Mutation, ...]:
    """The mutations that answer a divergent one: `overwrite` writes its intent again, `restore` what it replaced.

    Their base is the state that the decision was shown; the check before each write reads again in any case. They
    address the record that was seen there, so they never create one. Where the stage would move backward, the first of
    two empties it and the other, which does what was decided, depends on that.

    Args:
        policy_of: asked where the stage would move.

    Returns:
        In their order: the last one does what was decided. None where there is nothing to write.
    """
    fields = derived_fields(parent, decision)
    if not fields:
        return ()
    why = f"{decision.value}, decided in review {review_id}"
    key = keys.derived_key(parent.mutation_key, decision.value)
    done = _derived(parent, key, fields, base=shown_fields(parent), why=why, now=now)
    if not empties_the_stage_first(parent, decision, policy_of):
        return (done,)
    first = _derived(
        parent,
        keys.derived_key(parent.mutation_key, _EMPTIES),
        {LIFECYCLE_STAGE: None},
        base=shown_fields(parent),
        why=f"{why}: a stage only moves backward from an emptied one",
        now=now,
    )
    first = first.model_copy(update={"action_kind": ActionKind.CLEAR_STAGE.value})
    kind = ActionKind.SET_STAGE.value if set(fields) == {LIFECYCLE_STAGE} else done.action_kind
    second = {
        "action_kind": kind,
        "depends_on": (first.mutation_key,),
        "reason": Reason.DEPENDS,
        "base_state": {**(done.base_state or {}), LIFECYCLE_STAGE: None},
    }
    return (first, done.model_copy(update=second))


def _derived(
    parent: Mutation, key: str, fields: Mapping[str, Any], *, base: dict[str, Any] | None, why: str, now: datetime
) -> Mutation:
    intent, state = parent.intent, parent.observed_state or {}
    record_id = state.get("record_id") or parent.provider_record_id or intent.record.provider_record_id
    linked = state.get("external_id") is not None if "external_id" in state else intent.record.linked
    return parent.model_copy(
        update={
            "mutation_key": key,
            "parent_key": parent.mutation_key,
            "depends_on": (),
            "action_kind": ActionKind.UPDATE.value if intent.creates else parent.action_kind,
            "fingerprint": keys.digest(["fingerprint/1", dict(fields)])
            if fields != intent.fields
            else parent.fingerprint,
            "base_state": base,
            "intended_state": intent.model_copy(
                update={
                    "record": intent.record.model_copy(update={"provider_record_id": record_id, "linked": linked}),
                    "creates": False,
                    "fields": dict(fields),
                    "base_read_at": None,
                    "without_history": tuple(name for name in intent.without_history if name in fields),
                    "reason": why,
                    "mutation_key": key,
                }
            ),
            "status": Status.RESERVED,
            "reason": Reason.APPROVED,
            "provider_record_id": record_id,
            "acceptance_receipt": None,
            "observed_state": None,
            "differences": (),
            "version": 1,
            "created_at": now,
            "updated_at": now,
        }
    )
