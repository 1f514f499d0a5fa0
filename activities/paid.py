"""What a model answered in an earlier try of the same activity: a plan that was paid for is not asked for again."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from temporalio import activity

from leadproof.domain.plan import Plan, PlannerInfo


class PaidPlans:
    """The plans of one planning activity, by whether the stronger model made them.

    They are kept in the activity's heartbeat, which Temporal hands to its next try, on whichever worker: whatever
    fails after the answer (a target that cannot be read, a ledger that is busy, a stronger model that is overloaded)
    costs no second call. A worker that is killed before the answer has arrived does. Signs of life repeat what is kept.
    """

    def __init__(self) -> None:
        self._plans: dict[bool, tuple[Plan, PlannerInfo]] = {}
        kept = activity.info().heartbeat_details
        for entry in kept[0] if kept and isinstance(kept[0], list) else ():
            try:
                answered = (Plan.model_validate(entry["plan"]), PlannerInfo.model_validate(entry["info"]))
                self._plans[bool(entry["stronger"])] = answered
            except (ValidationError, KeyError, TypeError):
                continue  # of another version of this code: asked again

    def of(self, *, stronger: bool) -> tuple[Plan, PlannerInfo] | None:
        return self._plans.get(stronger)

    def keep(self, plan: Plan, info: PlannerInfo, *, stronger: bool) -> None:
        self._plans[stronger] = (plan, info)
        activity.heartbeat([self._entry(which, *answered) for which, answered in self._plans.items()])

    @staticmethod
    def _entry(stronger: bool, plan: Plan, info: PlannerInfo) -> dict[str, Any]:
        return {"stronger": stronger, "plan": plan.model_dump(mode="json"), "info": info.model_dump(mode="json")}
