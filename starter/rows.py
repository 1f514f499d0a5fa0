"""Rows of the ledger as the API answers them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from leadproof.domain.events import Lead
from leadproof.domain.mutation import Mutation
from leadproof.domain.steps import Receipts


def row(model: BaseModel) -> dict[str, Any]:
    """One row's columns; times in RFC 3339."""
    return model.model_dump(mode="json")


def lead_answer(lead: Lead, mutations: Iterable[Mutation]) -> dict[str, Any]:
    return {**row(lead), "mutations": [row(mutation) for mutation in mutations]}


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
