"""What Temporal's UI shows of a lead: where it stands, its receipts in short, and what a person can decide. Never a
field's value: summaries and details of a run are kept as long as the namespace keeps histories."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from activities.messages import ActionView, Answered, LeadView, PlanView
from leadproof.domain.decision_words import in_general
from leadproof.domain.differing import FieldDifference, Way
from leadproof.domain.environment import is_shadow
from leadproof.domain.events import Outcome
from leadproof.domain.progress import MutationView, StepKind
from leadproof.domain.review import Decision, ReviewItem, allowed_decisions, why_asked
from leadproof.domain.wording import author
from workflows import contract

HOW_TO_DECIDE: Final = (
    "Answers the open question. Data is one JSON object, which the current details (User Metadata) have ready to be "
    'copied, as {"review_id": "7d0c…", "version": 1, "decision": "approve", "reason": "spoke to them"}.'
)
NOT_FOR_PEOPLE: Final = "Leads send this to each other: the record that this one waits for is free. Data stays empty."

_DIFFERS: Final = {
    Way.LOST: "we wrote over a value that nobody had seen",
    Way.MOVED: "changed since it was planned",
    Way.NOT_RETURNED: "not returned by the target",
    Way.EMPTY: "our value is not there: it is empty",
    Way.OTHER: "our value is not there: another stands",
}
_BY: Final = {
    "person": "changed by a person",
    "automation": "changed by automation",
    "integration": "changed by another integration",
}
_CHOOSE: Final = "CHOOSE ONE"
"""No decision: what is copied and sent as it is answers nothing."""
_SPACED: Final = "\N{NO-BREAK SPACE}"
"""The UI sets a table's cells side by side without any room between them."""


def carries_proof(sent: Sequence[Any]) -> bool:
    """Whether a decision came through the starter, which says whose it is; anything else needs its sender asked for."""
    return len(sent) == 1 and isinstance(sent[0], dict) and "proof" in sent[0]


def details(
    lead: LeadView | None,
    outcome: Outcome,
    views: Sequence[MutationView],
    asked: ReviewItem | None,
    *,
    problem: str | None = None,
    plan: PlanView | None = None,
    refused: Answered | None = None,
    review_page: str | None = None,
) -> str:
    """Markdown for the run's current details.

    Args:
        problem: why there is no plan, or no lead, in one sentence.
        refused: the last decision, where it was not taken.
        review_page: where people find questions, each under its own id.
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
        rows = [_receipts(view, views, asked) for view in views]
        lines += _table(("effect", "status", "answer", "read back", "next"), rows)
    for view in views:
        if view.review is not None:
            allowed = view.allowed or allowed_decisions(status=view.status, reason=view.reason)
            lines += _question(view.review, allowed, _about(view.review, view, plan), review_page)
    if asked is not None:
        lines += ["", f"**There is no plan: {problem}**"] if problem is not None else []
        lines += _question(asked, allowed_decisions(status=None, reason=None), [], review_page)
    if refused is not None:
        lines += ["", f"**Last decision not taken: {refused.verdict}: {refused.why or 'nothing more is known'}**"]
    return "\n".join(lines)


def awaited(views: Iterable[MutationView], at: datetime | None, decision_at: datetime | None) -> str:
    """What a timer is for: the summary under which the UI shows it.

    Args:
        at: when it fires.
        decision_at: from when a decision that is pending can be applied.
    """
    if at is not None and at == decision_at:
        return "until an earlier request can arrive no more and the decision is applied"
    for view in views:
        if view.step.at == at and view.step.kind in _AWAITED:
            return f"{_AWAITED[view.step.kind]} {_record(view)}"
    return "until the end of the question's window"


_AWAITED: Final = {
    StepKind.LOOK: "until the next look at",
    StepKind.WRITE: "until the next attempt on",
    StepKind.WAITS: "until it is asked again whether another effect still holds",
}


def _planned(plan: PlanView) -> list[str]:
    if plan.because is None:
        return ["", f"Planned by {plan.planner}; what it says stands in the ledger: `leadproof lead show`"]
    return ["", f"Planned by {plan.planner}: {plan.because}"]


def _about(item: ReviewItem, view: MutationView, plan: PlanView | None) -> list[str]:
    """Why a person is asked, about which record, what would be set, and what differs; names of fields only."""
    from_plan = plan is not None and view.parent_key is None and view.ordinal < len(plan.actions)
    action = plan.actions[view.ordinal] if plan is not None and from_plan else ActionView()
    why = why_asked(item.reason, action.why, view.refused)
    would = f"It would set {', '.join(view.fields)} of {_record(view)}" if view.fields else f"About {_record(view)}"
    seen = f"; looked at: {', '.join(action.evidence)}" if action.evidence else ""
    lines = ["", *([f"Why: {why}"] if why is not None else []), f"{would}{seen}"]
    if view.differences:
        lines += _table(("field", "differs how", "who changed it", "when"), map(_difference, view.differences))
    return lines


def _difference(one: FieldDifference) -> tuple[str, ...]:
    by = (one.changed_by or "").partition(":")[0]
    how = _BY.get(by, _DIFFERS[one.way]) if one.way is Way.OTHER else _DIFFERS[one.way]
    return one.field, how, author(one.changed_by, {}), _moment(one.changed_at) if one.changed_at is not None else "-"


def _receipts(view: MutationView, views: Sequence[MutationView], asked: ReviewItem | None) -> tuple[str, ...]:
    """An effect's three receipts in short, and what it waits for."""
    answer = view.answer or "-"
    if view.http_status is not None:
        answer += f" ({view.http_status})"
    if view.attempts > 1:
        answer += f", attempt {view.attempts}"
    return (
        f"{view.action_kind} {_record(view)} `{view.mutation_key[:12]}`",
        f"{view.status} ({view.reason})" if view.reason is not None else str(view.status),
        answer,
        f"differs in {', '.join(view.differing)}" if view.differing else "-",
        "the answer about this lead" if asked is not None and not view.status.final else _next(view, views),
    )


def _next(view: MutationView, views: Sequence[MutationView]) -> str:
    step = view.step
    at = f" at {_moment(step.at)}" if step.at is not None else ""
    if step.kind is StepKind.PERSON:
        return "a person's decision"
    if step.kind is StepKind.WAITS:
        return f"waits: another effect holds the record, asked for again{at}"
    if step.kind is StepKind.DEPENDS:
        open_ones = [one.mutation_key[:12] for one in views if one.mutation_key in view.depends_on]
        return f"waits for `{'`, `'.join(open_ones)}`" if open_ones else "waits for an effect before it"
    if step.kind is StepKind.DONE:
        return "-"
    return f"{'read back' if step.kind is StepKind.LOOK else 'write'}{at}"


def _record(view: MutationView) -> str:
    return " ".join(filter(None, (view.target_system, view.target_object, view.provider_record_id)))


def _question(
    item: ReviewItem, allowed: Iterable[Decision], about: Sequence[str], review_page: str | None
) -> list[str]:
    choices = [decision for decision in Decision if decision in set(allowed)]
    over = f", given up {_moment(item.expires_at)} if nobody decides" if item.expires_at is not None else ""
    lines = ["", f"**Question for queue `{item.queue}`: {item.reason}**, due {_moment(item.due_at)}{over}", *about, ""]
    if review_page is not None:
        lines += [f"[Answer it on the review page]({review_page}/{item.review_id}), which shows the values, too.", ""]
    if not choices:
        return [*lines, "Nothing can be decided at present."]
    example = {"review_id": item.review_id, "version": item.version, "decision": _CHOOSE, "reason": ""}
    return [
        *lines,
        f"Or here: *More Actions*, *Send a Signal*, `{contract.SIGNAL_DECIDE}`, and as data the lines below. "
        f"In the place of `{_CHOOSE}` stands one of",
        "",
        *(f"- `{decision}`: {in_general(decision)}" for decision in choices),
        "",
        "```json",
        json.dumps(example, indent=2),  # as the dialog lays it out itself, or its button moves away from under a click
        "```",
    ]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return ["", _cells(heads), _cells(["---"] * len(heads)).replace(_SPACED, " "), *map(_cells, rows)]


def _cells(texts: Iterable[str]) -> str:
    return "|" + "|".join(f"{_SPACED}{text.replace('|', '/')}{_SPACED}" for text in texts) + "|"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
