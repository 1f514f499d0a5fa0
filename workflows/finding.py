"""How a lead's run is found in Temporal: its search attributes, brought up to date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from temporalio import workflow
from temporalio.common import SearchAttributeUpdate

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Status
from leadproof.domain.progress import MutationView
from leadproof.domain.review import ReviewItem
from workflows import contract

_WORTH_FINDING: Final = (Status.UNCERTAIN, Status.DIVERGENT, Status.REJECTED)
"""A lead that goes its way is found by its outcome; telling each status of it would cost it a history event each."""

_STATUSES: Final = "mutation-statuses"
"""Runs whose history is older tell none, on replay as before; asked only where there is something to tell."""


class Told:
    """What the run's search attributes say already, so that only a change makes a history event."""

    def __init__(self) -> None:
        self._outcome: str | None = Outcome.WORKING
        self._queue: str | None = None
        self._keys: list[str] = []
        self._statuses: list[str] = []

    def changes(
        self, outcome: Outcome, views: Sequence[MutationView], question: ReviewItem | None
    ) -> list[SearchAttributeUpdate[Any]]:
        """The updates that bring the search attributes up to date."""
        items = [view.review for view in views if view.review is not None]
        items += [question] if question is not None else []
        queue = items[0].queue if items else None
        keys = _newest_keys(views)
        statuses = [status.value for status in _WORTH_FINDING if any(view.status is status for view in views)]
        updates: list[SearchAttributeUpdate[Any]] = []
        if outcome != self._outcome:
            updates.append(contract.OUTCOME.value_set(outcome.value))
        if queue != self._queue:
            unset = contract.REVIEW_QUEUE.value_unset()
            updates.append(contract.REVIEW_QUEUE.value_set(queue) if queue is not None else unset)
        if keys != self._keys:
            updates.append(contract.MUTATION_KEYS.value_set(keys))
        if statuses != self._statuses and workflow.patched(_STATUSES):
            none = contract.MUTATION_STATUS.value_unset()
            updates.append(contract.MUTATION_STATUS.value_set(statuses) if statuses else none)
        self._outcome, self._queue, self._keys, self._statuses = outcome, queue, keys, statuses
        return updates


def _newest_keys(views: Sequence[MutationView]) -> list[str]:
    """Keys to find the run by; where there are too many, derived keys replace their parents, the newest first."""
    answered = {view.parent_key for view in views}
    keys = [view.mutation_key for view in views]
    if len(keys) > contract.MOST_MUTATION_KEYS:
        keys = [key for key in keys if key not in answered]
    return keys[-contract.MOST_MUTATION_KEYS :]
