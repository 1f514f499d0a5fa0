"""Rows of the ledger as the API answers them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from leadproof.domain.events import Lead
from leadproof.domain.mutation import Mutation
from leadproof.domain.plan import RecordedPlan
from leadproof.domain.review import About, DecisionRow, ReviewItem
from leadproof.domain.steps import Receipts


def row(model: BaseModel) -> dict[str, Any]:
    """One row's columns; times in RFC 3339."""
    return model.model_dump(mode="json")


def lead_answer(
    lead: Lead, mutations: Iterable[Mutation], plan: RecordedPlan | None, decisions: Iterable[DecisionRow]
) -> dict[str, Any]:
    """A lead's row with its effects, the plan that they come from, refused actions included, and what was decided."""
    return {
        **row(lead),
        "mutations": [row(mutation) for mutation in mutations],
        "plan": plan_answer(plan) if plan is not None else None,
        "decisions": [row(decision) for decision in decisions],
    }


def item_answer(item: ReviewItem, about: About | None) -> dict[str, Any]:
    """A review item with what it is about."""
    return {**row(item), **(row(about) if about is not None else dict.fromkeys(About.model_fields))}


def plan_answer(plan: RecordedPlan) -> dict[str, Any]:
    """What was proposed and what the guard said of each action; the lead as it was read is left out."""
    kept = plan.model_dump(mode="json", include={"summary", "planner", "planned_at", "guarded"})
    actions = [{**guarded.pop("action"), **guarded} for guarded in kept.pop("guarded")]
    return {**kept, "actions": actions}


def mutation_answer(receipts: Receipts) -> dict[str, Any]:
    """A mutation's row with all that is kept of it."""
    return {
        **row(receipts.mutation),
        "attempts": [row(attempt) for attempt in receipts.attempts],
        "observations": [row(observation) for observation in receipts.observations],
        "review": row(receipts.review) if receipts.review is not None else None,
        "decisions": [row(decision) for decision in receipts.decisions],
    }


def page(items: Iterable[BaseModel], following: str | None) -> dict[str, Any]:
    return {"items": [row(item) for item in items], "next": following}
