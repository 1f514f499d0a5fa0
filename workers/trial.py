"""What would be done with one lead under a policy: no network, no ledger, no write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from leadproof.domain import escalation
from leadproof.domain.errors import MalformedPlan
from leadproof.domain.events import Lead, LeadEvent, LeadSnapshot, Outcome, Scope, source_object, workflow_id
from leadproof.domain.field_values import readable_values
from leadproof.domain.guard import guard
from leadproof.domain.plan import Action, ActionKind, GuardedAction, Plan, TargetObject
from leadproof.domain.planning import TargetState, settle_verdicts
from leadproof.domain.policy import PlannerKind, Policy
from leadproof.domain.records import LookUp, Presence
from leadproof.planners.about_the_lead import said_of_the_person
from leadproof.planners.prompt import prompt_of
from leadproof.planners.rules import RulesPlanner
from leadproof.settings import Settings
from starter.admission import HeldBack, LeftAlone, judge
from workers.trial_lead import TrialLead, read_lead


class Tried(BaseModel):
    """One action of the plan.

    Attributes:
        stands: the present values of its fields, as far as a record is there.
        already_so: the record holds all of it: the check before the write finds that, and nothing is sent.
    """

    model_config = ConfigDict(frozen=True)

    guarded: GuardedAction
    stands: dict[str, Any]
    already_so: bool


class Trial(BaseModel):
    """What would be done.

    Attributes:
        scope: what the event counts as the same as; `None` where it is not acted on.
        left_alone: why nothing is done with it; it would be counted as ignored, or kept in the quarantine.
        planner: who plans events of this kind.
        model: which model would be asked, where Claude plans.
        shown: the document that it would be shown: of the lead and of the record what the policy's `shows` lists.
        summary: of the plan; `None` where nobody planned: Claude is not asked here.
        from_file: the plan is the file's own.
        problem: why the plan could not be recorded; a person would be asked about the event.
        second_opinion: the stronger model that would then be asked instead.
    """

    model_config = ConfigDict(frozen=True)

    source: str
    event_kind: str
    source_record_id: str
    scope: Scope | None = None
    left_alone: str | None = None
    planner: PlannerKind | None = None
    model: str | None = None
    shown: dict[str, Any] = {}
    summary: str | None = None
    from_file: bool = False
    actions: tuple[Tried, ...] = ()
    problem: str | None = None
    second_opinion: str | None = None


class _Case(NamedTuple):
    policy: Policy
    given: TrialLead
    lead: Lead
    snapshot: LeadSnapshot

    def state(self, system: str, target_object: str) -> TargetState:
        """The record in a target, as it would be looked up."""
        record = self.given.record if (system, target_object) == self.given.stands_in else None
        if record is not None and self.given.linked_to == "this_lead":
            record = record.model_copy(update={"external_id": self.lead.external_id})
        found = LookUp(presence=Presence.ABSENT if record is None else Presence.ONE, record=record)
        of_the_event = self.snapshot.record is not None and (system, target_object) == (
            self.snapshot.source_system,
            self.snapshot.source_object,
        )
        return TargetState(found=found, read_at=self.lead.occurred_at, of_the_event=of_the_event)


def try_lead(policy: Policy, body: bytes) -> Trial:
    """Plan one lead and let the guard judge the plan.

    What a target keeps no history of is not known here, and who else writes at the same time is not either.

    Args:
        body: a lead in the schema of `POST /v1/leads`, in JSON, and beside it what `TrialLead` adds.

    Raises:
        MalformedDelivery: naming what is missing or wrong in it.
    """
    given = read_lead(policy, body)
    event = given.event
    told = Trial(source=event.source_system, event_kind=event.event_kind, source_record_id=event.source_record_id)
    judged = judge(event, policy=policy, settings=Settings(), fields={}, now=event.occurred_at)
    if isinstance(judged, LeftAlone | HeldBack):
        return told.model_copy(update={"left_alone": judged.why})
    kind = policy.event_kind(event.source_system, event.event_kind)
    planner = policy.planner_of(event.source_system, event.event_kind)
    case = _Case(policy, given, _lead(judged), _snapshot(policy, given))
    asked = _asked(case) if planner == "claude" else {}
    told = told.model_copy(
        update={"scope": kind.scope_at(event.occurred_at) if kind is not None else None, "planner": planner, **asked}
    )
    plan = _completed(case, given.plan) if given.plan is not None else None
    if plan is None and planner == "rules":
        plan, _ = RulesPlanner().plan(case.lead, case.snapshot, policy)
    if plan is None:
        return told
    told = told.model_copy(update={"summary": plan.summary, "from_file": given.plan is not None})
    try:
        guarded, settled = _verdicts(case, plan)
    except MalformedPlan as error:
        return told.model_copy(update={"problem": str(error)})
    return told.model_copy(
        update={
            "actions": tuple(_tried(case, one) for one in settled),
            "second_opinion": _second_opinion(policy, told, guarded),
        }
    )


def _lead(event: LeadEvent) -> Lead:
    return Lead(
        **dict(event),
        outcome=Outcome.WORKING,
        workflow_id=workflow_id(event.event_key, 0),
        first_seen_at=event.occurred_at,
        last_seen_at=event.occurred_at,
    )


def _snapshot(policy: Policy, given: TrialLead) -> LeadSnapshot:
    """The lead as its run would read it: from the CRM where that is its source, else as it was sent."""
    event = given.event
    from_crm = event.source_system in policy.targets
    record = given.record if from_crm else None
    return LeadSnapshot(
        source_system=event.source_system,
        source_object=source_object(event.event_kind) if from_crm else TargetObject.LEAD,
        source_record_id=event.source_record_id,
        fields=record.fields if record is not None else readable_values(event.lead),
        record=record,
        read_at=event.occurred_at,
    )


def _asked(case: _Case) -> dict[str, Any]:
    """Which model would be asked, and what it would be shown."""
    claude = case.policy.claude
    if claude is None:
        return {}
    stronger = claude.escalation if escalation.begins_stronger(case.policy, case.snapshot) else None
    return {
        "model": stronger.model if stronger is not None else claude.model,
        "shown": json.loads(prompt_of(case.lead, case.snapshot, case.policy, claude).document),
    }


def _completed(case: _Case, plan: Plan) -> Plan:
    """The file's plan as the planner completes one: the model that proposes a create is not shown all of the person."""

    def completed(action: Action) -> Action:
        if action.kind is not ActionKind.CREATE:
            return action
        said = said_of_the_person(case.snapshot, case.policy, action.target_system, action.target_object)
        return action.model_copy(update={"fields": {**said, **action.fields}})

    return plan.model_copy(update={"actions": tuple(completed(action) for action in plan.actions)})


def _verdicts(case: _Case, plan: Plan) -> tuple[Sequence[GuardedAction], Sequence[GuardedAction]]:
    """What the guard says, and what of it stands once the records are known."""
    places = {(action.target_system, str(action.target_object)) for action in plan.actions}
    targets = {place: case.state(*place) for place in places if place[0] in case.policy.targets}
    guarded = guard(
        plan,
        case.policy,
        snapshot=case.snapshot,
        records={place: state.found.record for place, state in targets.items()},
        from_model=case.given.plan is not None,
    )
    return guarded, settle_verdicts(guarded, targets, case.lead.external_id, case.policy)


def _second_opinion(policy: Policy, told: Trial, guarded: Sequence[GuardedAction]) -> str | None:
    stronger = policy.claude.escalation if policy.claude is not None else None
    if stronger is None or told.planner != "claude" or told.model == stronger.model:
        return None
    return stronger.model if escalation.asks_stronger(policy, guarded) else None


def _tried(case: _Case, guarded: GuardedAction) -> Tried:
    action = guarded.action
    base = case.state(action.target_system, action.target_object).base or {}
    stands = {name: base[name] for name in action.fields if name in base}
    return Tried(guarded=guarded, stands=stands, already_so=bool(stands) and stands == action.fields)
