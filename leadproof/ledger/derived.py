"""The mutation that a decision derives from another one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from leadproof.domain import keys
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.review import Decision


def derive(parent: Mutation, decision: Decision, *, review_id: str, now: datetime) -> Mutation | None:
    """The mutation that answers a divergent one: `overwrite` writes its intent again, `restore` what it replaced.

    Its base is the state that the decision was shown; the check before its write reads again in any case. It addresses
    the record that was seen there, so it never creates one.

    Returns:
        `None` where there is nothing to restore.
    """
    intent = parent.intent
    fields = intent.fields if decision is Decision.OVERWRITE else _lost(parent)
    if not fields:
        return None
    state = parent.observed_state or {}
    record_id = state.get("record_id") or parent.provider_record_id or intent.record.provider_record_id
    key = keys.derived_key(parent.mutation_key, decision.value)
    linked = state.get("external_id") is not None if "external_id" in state else intent.record.linked
    return parent.model_copy(
        update={
            "mutation_key": key,
            "parent_key": parent.mutation_key,
            "depends_on": (),
            "action_kind": ActionKind.UPDATE.value if intent.creates else parent.action_kind,
            "fingerprint": keys.digest(["fingerprint/1", fields]) if fields != intent.fields else parent.fingerprint,
            "base_state": state.get("fields"),
            "intended_state": intent.model_copy(
                update={
                    "record": intent.record.model_copy(update={"provider_record_id": record_id, "linked": linked}),
                    "creates": False,
                    "fields": fields,
                    "base_read_at": None,
                    "reason": f"{decision.value}, decided in review {review_id}",
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


def _lost(parent: Mutation) -> dict[str, Any]:
    """The values that the parent's write replaced unseen; one that a person had cleared is lost as empty."""
    return {
        difference.field: difference.lost
        for difference in parent.differences
        if difference.lost is not None or difference.intended == difference.observed
    }
