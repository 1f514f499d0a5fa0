"""The planner of the policy's own rules: deterministic, and the default."""

from __future__ import annotations

from typing import Any, Final

from leadproof.domain import conditions
from leadproof.domain.events import Lead, LeadSnapshot
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.plan import Action, ActionKind, Evidence, Plan, PlannerInfo
from leadproof.domain.policy import Policy, Rule
from leadproof.planners.about_the_lead import said_of_the_person

_LONGEST: Final = 2000


class RulesPlanner:
    """Proposes what the first rule says whose condition holds."""

    @property
    def kind(self) -> str:
        return "rules"

    def plan(
        self, lead: Lead, snapshot: LeadSnapshot, policy: Policy, *, stronger: bool = False
    ) -> tuple[Plan, PlannerInfo]:
        """Propose at most one action.

        A create carries, besides what the rule sets, what the lead says about the person, as far as the policy permits
        it and the value is usable.
        """
        info = PlannerInfo(kind=self.kind, policy_digest=policy.digest)
        for rule in policy.rules:
            if conditions.holds(rule.when, snapshot, specs_for(policy, rule.target)):
                return _plan(rule, snapshot, policy), info
        return Plan(summary="No rule holds for this lead"), info


def _plan(rule: Rule, snapshot: LeadSnapshot, policy: Policy) -> Plan:
    because = rule.reason or f"The rule {rule.name} holds"
    summary = f"{rule.name}: {because}"[:_LONGEST]
    if rule.action is None:
        return Plan(summary=summary)
    action = Action(
        kind=rule.action,
        target_system=rule.target,
        target_object=rule.object,
        fields=_fields(rule, snapshot, policy),
        reason=because[:_LONGEST],
        evidence=_evidence(rule, snapshot),
    )
    return Plan(summary=summary, actions=(action,))


def _fields(rule: Rule, snapshot: LeadSnapshot, policy: Policy) -> dict[str, Any]:
    if rule.action is not ActionKind.CREATE:
        return dict(rule.fields)
    return {**said_of_the_person(snapshot, policy, rule.target, rule.object), **rule.fields}


def _evidence(rule: Rule, snapshot: LeadSnapshot) -> tuple[Evidence, ...]:
    source = f"{snapshot.source_system} {snapshot.source_object} {snapshot.source_record_id}"[:200]
    seen = []
    for name in conditions.looked_at(rule.when):
        value = snapshot.fields.get(name)
        says = f"{name} is empty" if value is None else f"{name} is {value}"
        seen.append(Evidence(source=source, says=says[:_LONGEST]))
    return tuple(seen)
