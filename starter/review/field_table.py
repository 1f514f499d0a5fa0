"""The fields of one effect side by side: as they were, as we want them, and as they are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from leadproof.domain.comparison import same
from leadproof.domain.derivation import derived_fields, shown_fields
from leadproof.domain.fields import FieldSpec
from leadproof.domain.mutation import Difference, Mutation, Reason, Status
from leadproof.domain.review import Decision
from leadproof.domain.wording import author, plain, value_in_words
from starter.cases import Case

Mark = tuple[str, str]
SAME: Final[Mark] = ("=", "same")
DECIDED: Final[Mark] = ("✓", "as decided")
NOT_WRITTEN: Final[Mark] = ("≠", "not written")
DIFFERS: Final[Mark] = ("≠", "differs")
REPLACED: Final[Mark] = ("↺", "edit replaced")
NOT_RETURNED: Final[Mark] = ("?", "not returned")
NOT_READ: Final[Mark] = ("·", "not read yet")
NONE: Final = "–"


def field_rows(case: Case, answer: Mutation | None = None) -> list[dict[str, Any]]:
    """Each field of the intent, those that differ first.

    Args:
        answer: what a decision about the effect has written since.
    """
    mutation = case.mutation
    if mutation is None:
        return []
    table = _Table(mutation, case.owners, case.specs, answer)
    return [table.row(name) for name in _ordered(mutation)]


def before_and_after(case: Case, decision: Decision) -> list[dict[str, Any]]:
    """What a decision writes, field by field: what stands there, and what will."""
    mutation = case.mutation
    if mutation is None or mutation.intended_state is None:
        return []
    stands, written = shown_fields(mutation) or {}, derived_fields(mutation, decision)
    return [
        {
            "field": plain(name),
            "before": value_in_words(name, stands[name], case.owners) if name in stands else "(not known)",
            "after": value_in_words(name, written[name], case.owners),
            "mark": SAME if name in stands and _same(case.specs, name, stands[name], written[name]) else DIFFERS,
        }
        for name in _ordered(mutation)
        if name in written
    ]


def loses(mutation: Mutation) -> bool:
    """Whether a write of ours replaced a value unseen."""
    return any(_loses(one) for one in mutation.differences)


def moved_before_write(mutation: Mutation, specs: Mapping[str, FieldSpec]) -> list[Difference]:
    """The differences that are somebody's change since the plan; the others only lack what was not written."""
    return [one for one in mutation.differences if not _still_as_before(mutation, specs, one)]


def _ordered(mutation: Mutation) -> list[str]:
    intended = mutation.intended_state.fields if mutation.intended_state is not None else {}
    differing = [one.field for one in mutation.differences]
    return [*differing, *(name for name in intended if name not in differing)]


def _same(specs: Mapping[str, FieldSpec], name: str, left: object, right: object) -> bool:
    return same(specs.get(name, FieldSpec()), left, right)


def _still_as_before(mutation: Mutation, specs: Mapping[str, FieldSpec], one: Difference) -> bool:
    base = mutation.base_state or {}
    return (
        mutation.reason is Reason.CHANGED_BEFORE_WRITE
        and one.returned
        and one.field in base
        and _same(specs, one.field, base[one.field], one.observed)
    )


class _Table:
    """The fields of one mutation, each as it was, is wanted and is."""

    def __init__(
        self,
        mutation: Mutation,
        owners: Mapping[str, str],
        specs: Mapping[str, FieldSpec],
        answer: Mutation | None,
    ) -> None:
        self._mutation = mutation
        self._specs = specs
        self._before = mutation.base_state or {}
        self._wanted = mutation.intended_state.fields if mutation.intended_state is not None else {}
        self._now = {**(shown_fields(mutation) or {}), **_written(answer)}
        self._answered = frozenset(_written(answer))
        self._changes = (mutation.observed_state or {}).get("changes") or {}
        self._differences = {one.field: one for one in mutation.differences}
        self._owners = owners

    def row(self, name: str) -> dict[str, Any]:
        difference = self._differences.get(name)
        mark = self._mark(name, difference)
        by, at = self._changed(name, difference)
        lost = difference is not None and _loses(difference)
        returned = {name: difference.observed} if difference is not None and difference.returned else {}
        return {
            "field": plain(name),
            "before": self._value(name, self._before),
            "wanted": self._value(name, self._wanted),
            "now": self._value(name, self._now if name in self._answered else {**self._now, **returned}),
            "lost": value_in_words(name, difference.lost, self._owners) if lost and difference is not None else None,
            "mark": mark,
            "stands_out": mark in {NOT_WRITTEN, DIFFERS, REPLACED, NOT_RETURNED},
            "by": author(by, self._owners) if by is not None or mark in {DIFFERS, REPLACED} else NONE,
            "at": at,
        }

    def _value(self, name: str, values: Mapping[str, Any]) -> str:
        return value_in_words(name, values[name], self._owners) if name in values else NONE

    def _mark(self, name: str, difference: Difference | None) -> Mark:
        if name in self._answered:
            return DECIDED
        if difference is None:
            if name not in self._now:
                return NOT_READ
            # no difference is stored of a write that was refused: what is wanted is not there all the same
            return SAME if _same(self._specs, name, self._wanted.get(name), self._now[name]) else NOT_WRITTEN
        if _loses(difference):
            return REPLACED
        if not difference.returned:
            return NOT_RETURNED
        return NOT_WRITTEN if _still_as_before(self._mutation, self._specs, difference) else DIFFERS

    def _changed(self, name: str, difference: Difference | None) -> tuple[str | None, datetime | None]:
        """Who made the present value and when: as the difference says, else as the record's own history does."""
        if name in self._answered:
            return None, None
        if difference is not None:
            return difference.changed_by, difference.changed_at
        changes = self._changes.get(name) or []
        return (changes[0]["by"], datetime.fromisoformat(changes[0]["at"])) if changes else (None, None)


def _written(answer: Mutation | None) -> dict[str, Any]:
    """What a decision has written, as it was read back."""
    if answer is None or answer.status is not Status.OBSERVED or answer.intended_state is None:
        return {}
    read = shown_fields(answer) or {}
    return {name: read.get(name, value) for name, value in answer.intended_state.fields.items()}


def _loses(difference: Difference) -> bool:
    """Whether our write replaced a value unseen; one that a person had cleared is lost as empty."""
    return difference.lost is not None or (difference.returned and difference.intended == difference.observed)
