"""Where an event stands, from its mutations and its open question."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Reason, Status


class Standing(Protocol):
    """What of a mutation decides."""

    @property
    def mutation_key(self) -> str: ...

    @property
    def parent_key(self) -> str | None: ...

    @property
    def status(self) -> Status: ...

    @property
    def reason(self) -> Reason | None: ...


def outcome_of(mutations: Iterable[Standing], open_item: bool) -> Outcome:
    """The outcome of an event, by the first rule that holds.

    An item is open: *review*. A mutation is not final (*rejected* is not): *working*. All are observed, or answered by
    an observed derived mutation: *done*. Some are: *partly*. All are superseded, or fell with one that is
    (`dependency`): *superseded*. Else *abandoned*.

    Args:
        mutations: all of the event, derived ones included; without any there is nothing to go by but the item, and the
            event is still being worked on.
        open_item: a review item of the event or of one of its mutations is open.
    """
    standing = tuple(mutations)
    if open_item:
        return Outcome.REVIEW
    if not standing or not all(mutation.status.final for mutation in standing):
        return Outcome.WORKING
    answered = _answered(standing)
    if all(mutation.mutation_key in answered for mutation in standing):
        return Outcome.DONE
    if any(mutation.status is Status.OBSERVED for mutation in standing):
        return Outcome.PARTLY
    if all(mutation.status is Status.SUPERSEDED or mutation.reason is Reason.DEPENDENCY for mutation in standing):
        return Outcome.SUPERSEDED  # what the others fell with is among them: nobody gave anything up
    return Outcome.ABANDONED


def _answered(standing: tuple[Standing, ...]) -> set[str]:
    """Keys of the observed mutations and of the superseded ones that an observed derived mutation answers."""
    by_key = {mutation.mutation_key: mutation for mutation in standing}
    answered: set[str] = set()
    for mutation in standing:
        if mutation.status is not Status.OBSERVED:
            continue
        link: Standing | None = mutation
        while link is not None and link.mutation_key not in answered:
            answered.add(link.mutation_key)
            parent = by_key.get(link.parent_key) if link.parent_key is not None else None
            link = parent if parent is not None and parent.status is Status.SUPERSEDED else None
    return answered
