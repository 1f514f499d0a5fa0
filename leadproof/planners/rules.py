"""The planner of the policy's own rules: deterministic, and the default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from leadproof.domain import conditions
from leadproof.domain.events import Lead, LeadSnapshot
from leadproof.domain.field_catalog import specs_of_lead
from leadproof.domain.plan import Action, ActionKind, Evidence, Plan, PlannerInfo
from leadproof.domain.policy import Policy, Rule, RuleAction
from leadproof.domain.references import reference, references_in
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
        """Propose what the rule says, each further action after the one before it.

        A create carries, besides what the rule sets, what the lead says about the person, as far as the policy permits
        it and the value is usable.
        """
        info = PlannerInfo(kind=self.kind, policy_digest=policy.digest)
        for rule in policy.rules:
            if conditions.holds(rule.when, snapshot, specs_of_lead(policy, snapshot.source_system, rule.target)):
                return _plan(rule, snapshot, policy), info
        return Plan(summary="No rule holds for this lead"), info


def _plan(rule: Rule, snapshot: LeadSnapshot, policy: Policy) -> Plan:
    because = rule.reason or f"The rule {rule.name} holds"
    proposals = rule.proposals
    actions = tuple(
        Action(
            kind=proposal.action,
            target_system=proposal.target,
            target_object=proposal.object,
            fields=_fields(proposal, proposals[:ordinal], snapshot, policy),
            reason=because[:_LONGEST],
            evidence=_evidence(rule, snapshot),
            depends_on=_needs(proposal, proposals[:ordinal]),
        )
        for ordinal, proposal in enumerate(proposals)
    )
    return Plan(summary=f"{rule.name}: {because}"[:_LONGEST], actions=actions)


def _fields(
    proposal: RuleAction, before: Sequence[RuleAction], snapshot: LeadSnapshot, policy: Policy
) -> dict[str, Any]:
    said = (
        said_of_the_person(snapshot, policy, proposal.target, proposal.object)
        if proposal.action is ActionKind.CREATE
        else {}
    )
    refers = {name: reference(_about(to, before)) for name, to in references_in(proposal.fields).items()}
    return {**said, **proposal.fields, **refers}


def _needs(proposal: RuleAction, before: Sequence[RuleAction]) -> tuple[int, ...]:
    """The action before it, those whose records it refers to, and the last one about its own record, which may be the
    one that makes it."""
    named = {_about(to, before) for to in references_in(proposal.fields).values()}
    own = {ordinal for ordinal, one in enumerate(before) if one.about == proposal.about}
    return tuple(sorted({len(before) - 1, *named, *sorted(own)[-1:]} - {-1}))


def _about(to: int | str, before: Sequence[RuleAction]) -> int:
    """The ordinal of the last action before it that is about a record; a policy that names none is refused."""
    return max(ordinal for ordinal, one in enumerate(before) if one.about == to)


def _evidence(rule: Rule, snapshot: LeadSnapshot) -> tuple[Evidence, ...]:
    source = f"{snapshot.source_system} {snapshot.source_object} {snapshot.source_record_id}"[:200]
    seen = []
    for name in conditions.looked_at(rule.when):
        value = snapshot.fields.get(name)
        says = f"{name} is empty" if value is None else f"{name} is {value}"
        seen.append(Evidence(source=source, says=says[:_LONGEST]))
    return tuple(seen)
