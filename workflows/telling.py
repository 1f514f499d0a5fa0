"""What Temporal's UI shows of a lead: where it stands, its receipts in short, and what a person can decide. Never a
field's value: summaries and details of a run are kept as long as the namespace keeps histories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from temporalio.common import SearchAttributeUpdate

from activities.messages import ActionView, Answered, LeadView, PlanView
from leadproof.domain.environment import is_shadow
from leadproof.domain.events import Outcome
from leadproof.domain.progress import MutationView
from leadproof.domain.review import Decision, ReviewItem, allowed_decisions, why_asked
from workflows import contract

_ORDER = list(Decision)


def carries_proof(sent: Sequence[Any]) -> bool:
    """Whether a decision came through the starter, which says whose it is; anything else needs its sender asked for."""
    return len(sent) == 1 and isinstance(sent[0], dict) and "proof" in sent[0]


class Told:
    """What the run's search attributes say already, so that only a change makes a history event."""

    def __init__(self) -> None:
        self._outcome: str | None = Outcome.WORKING
        self._queue: str | None = None
        self._keys: list[str] = []

    def changes(
        self, outcome: Outcome, views: Sequence[MutationView], question: ReviewItem | None
    ) -> list[SearchAttributeUpdate[Any]]:
        """The updates that bring the search attributes up to date."""
        items = [view.review for view in views if view.review is not None]
        items += [question] if question is not None else []
        queue = items[0].queue if items else None
        keys = _newest_keys(views)
        updates: list[SearchAttributeUpdate[Any]] = []
        if outcome != self._outcome:
            updates.append(contract.OUTCOME.value_set(outcome.value))
        if queue != self._queue:
            unset = contract.REVIEW_QUEUE.value_unset()
            updates.append(contract.REVIEW_QUEUE.value_set(queue) if queue is not None else unset)
        if keys != self._keys:
            updates.append(contract.MUTATION_KEYS.value_set(keys))
        self._outcome, self._queue, self._keys = outcome, queue, keys
        return updates


def _newest_keys(views: Sequence[MutationView]) -> list[str]:
    """Keys to find the run by; where there are too many, derived keys replace their parents, the newest first."""
    answered = {view.parent_key for view in views}
    keys = [view.mutation_key for view in views]
    if len(keys) > contract.MOST_MUTATION_KEYS:
        keys = [key for key in keys if key not in answered]
    return keys[-contract.MOST_MUTATION_KEYS :]


def details(
    lead: LeadView | None,
    outcome: Outcome,
    views: Sequence[MutationView],
    asked: ReviewItem | None,
    *,
    problem: str | None = None,
    plan: PlanView | None = None,
    refused: Answered | None = None,
) -> str:
    """Markdown for the run's current details.

    Args:
        problem: why there is no plan, or no lead, in one sentence.
        refused: the last decision, where it was not taken.
    """
    lines = [f"**Outcome: {outcome}**"]
    if lead is not None:
        about = f", {plan.record}" if plan is not None and plan.record is not None else ""
        lines.append(f"`{lead.event_kind}` from {lead.source_system}{about}, policy `{lead.policy_version}`")
        lines += _planned(plan) if plan is not None else []
        lines += ["", "**Shadow: nothing is written**"] if is_shadow(lead.environment) else []
    if lead is None and problem is not None:
        lines += ["", f"**{problem}**"]
    if views:
        lines += ["", "| effect | status | why | answer | differs in |", "| --- | --- | --- | --- | --- |"]
        lines += [_row(view) for view in views]
    items = [(view.review, view) for view in views if view.review is not None]
    for item, view in items:
        lines += _question(item, allowed_decisions(status=view.status, reason=view.reason), _about(item, view, plan))
    if asked is not None:
        lines += ["", f"**There is no plan: {problem}**"] if problem is not None else []
        lines += _question(asked, allowed_decisions(status=None, reason=None), [])
    if refused is not None:
        lines += ["", f"**Last decision not taken: {refused.verdict}: {refused.why or 'nothing more is known'}**"]
    return "\n".join(lines)


def _planned(plan: PlanView) -> list[str]:
    if plan.because is None:
        return ["", f"Planned by {plan.planner}; what it says stands in the ledger: `leadproof lead show`"]
    return ["", f"Planned by {plan.planner}: {plan.because}"]


def _about(item: ReviewItem, view: MutationView, plan: PlanView | None) -> list[str]:
    """Why a person is asked, about which record, and what would be set; names of fields only."""
    from_plan = plan is not None and view.parent_key is None and view.ordinal < len(plan.actions)
    action = plan.actions[view.ordinal] if plan is not None and from_plan else ActionView()
    why = why_asked(item.reason, action.why, view.refused)
    would = f"It would set {', '.join(view.fields)} of {_record(view)}" if view.fields else f"About {_record(view)}"
    seen = f"; looked at: {', '.join(action.evidence)}" if action.evidence else ""
    return [*([f"Why: {why}"] if why is not None else []), f"{would}{seen}"]


def _row(view: MutationView) -> str:
    answer = view.answer or "-"
    if view.http_status is not None:
        answer += f" ({view.http_status})"
    return (
        f"| {view.action_kind} {_record(view)} `{view.mutation_key[:12]}` | {view.status} "
        f"| {view.reason or '-'} | {answer} | {', '.join(view.differing) or '-'} |"
    )


def _record(view: MutationView) -> str:
    return " ".join(filter(None, (view.target_system, view.target_object, view.provider_record_id)))


def _question(item: ReviewItem, allowed: frozenset[Decision], about: Sequence[str]) -> list[str]:
    choices = [decision for decision in _ORDER if decision in allowed]
    example = {
        "review_id": item.review_id,
        "version": item.version,
        "decision": choices[0] if choices else "",
        "reason": "",
    }
    return [
        "",
        f"**Question for queue `{item.queue}`: {item.reason}**, due {item.due_at:%Y-%m-%d %H:%M} UTC",
        "",
        *(part for line in about for part in (line, "")),
        f"Decide with the signal `{contract.SIGNAL_DECIDE}`, one of: {', '.join(choices) or 'nothing at present'}",
        "",
        "```json",
        json.dumps(example),
        "```",
    ]
