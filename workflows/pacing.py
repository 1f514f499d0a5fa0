"""When a mutation's next step is due, while the run takes a step of another one of the same lead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from leadproof.domain.progress import MutationView


def at_their_own_pace(
    views: Iterable[MutationView], known: Mapping[str, MutationView], stepped: str | None
) -> dict[str, MutationView]:
    """The views of what has not moved, with the step that the run knows of, where the row alone says another.

    A row does not say when it is to be looked at again, nor the answer that the ledger was not there for. Without this,
    two mutations that wait would each make the other's step due at once, and go round without a pause.

    Args:
        stepped: the mutation whose step this was: of that one the views tell what is next.
    """
    kept = {}
    for view in views:
        before = known.get(view.mutation_key)
        if before is None or view.mutation_key == stepped or _stands(before) != _stands(view):
            continue
        if before.step != view.step:
            kept[view.mutation_key] = view.model_copy(update={"step": before.step})
    return kept


def _stands(view: MutationView) -> tuple[object, ...]:
    """What of a row its next step depends on."""
    asked = view.review.review_id if view.review is not None else None
    return view.version, view.status, view.reason, view.attempts, view.depends_on, asked
