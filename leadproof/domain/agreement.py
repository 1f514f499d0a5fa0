"""What was intended beside what stood on the record, field by field, and how often the two agree. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from leadproof.domain.mutation import Difference, Mutation
from leadproof.domain.references import referred


class Agreement(StrEnum):
    """How what stands on the record compares with the intent.

    *equal*: the same. *person*, *software*, *unknown*: it was set otherwise after the plan was made, by a person, by
    software, or by somebody whom the target does not name. *untouched*: another value, and nobody has set it since.
    *unseen*: there was no record, it did not return the field, or it could not be read; or what was intended is the id
    of a record that nobody has made.
    """

    EQUAL = "equal"
    PERSON = "person"
    SOFTWARE = "software"
    UNKNOWN = "unknown"
    UNTOUCHED = "untouched"
    UNSEEN = "unseen"


SET_OTHERWISE: Final = frozenset({Agreement.PERSON, Agreement.SOFTWARE, Agreement.UNKNOWN})


class Beside(BaseModel):
    """One intended field beside the record.

    Attributes:
        stood: the value before; `None` also where there was no record.
        observed: the value at the latest look.
        changed_by: who set that value, where the target can tell, in the words of `Difference`.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    field: str
    stood: Any
    intended: Any
    observed: Any
    agreement: Agreement
    changed_by: str | None = None
    changed_at: datetime | None = None


def beside(mutation: Mutation) -> tuple[Beside, ...]:
    """The intended fields of a mutation beside its latest observation; none for a tombstone."""
    if mutation.intended_state is None:
        return ()
    base, state = mutation.base_state or {}, mutation.observed_state or {}
    fields, changes = state.get("fields", {}), state.get("changes", {})
    differences = {difference.field: difference for difference in mutation.differences}
    rows = []
    for name, intended in sorted(mutation.intended_state.fields.items()):
        latest: Mapping[str, Any] = next(iter(changes.get(name, ())), {})
        difference = differences.get(name)
        wanted = _compared_with(intended, difference, fields, name)
        rows.append(
            Beside(
                field=name,
                stood=base.get(name),
                intended=wanted,
                observed=fields.get(name),
                agreement=_agreement(mutation, difference, seen=name in fields and referred(wanted) is None),
                changed_by=latest.get("by"),
                changed_at=latest.get("at"),
            )
        )
    return tuple(rows)


def _compared_with(intended: Any, difference: Difference | None, fields: Mapping[str, Any], name: str) -> Any:
    """What the look compared the field with: in place of a reference the record's id, where it was known."""
    if referred(intended) is None or name not in fields:
        return intended
    return fields[name] if difference is None else difference.intended


def _agreement(mutation: Mutation, difference: Difference | None, *, seen: bool) -> Agreement:
    if not seen:
        return Agreement.UNSEEN
    if difference is None:
        return Agreement.EQUAL
    if not _touched(mutation, difference):
        return Agreement.UNTOUCHED
    if difference.changed_by is None:
        return Agreement.UNKNOWN
    return Agreement.PERSON if difference.changed_by.startswith("person:") else Agreement.SOFTWARE


def _touched(mutation: Mutation, difference: Difference) -> bool:
    """Whether the field was set after the plan's reading, by the target's history or by the value itself."""
    since = mutation.intent.base_read_at or mutation.created_at
    if difference.changed_at is not None and difference.changed_at > since:
        return True
    return bool(difference.observed != (mutation.base_state or {}).get(difference.field))


class FieldAgreement(BaseModel):
    """How often one field came out how."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    field: str
    equal: int = 0
    person: int = 0
    software: int = 0
    unknown: int = 0
    untouched: int = 0
    unseen: int = 0

    @property
    def equal_share(self) -> float | None:
        """Of the times that the field came to what was intended or was set otherwise, the share of the former; `None`
        where there are none. What nobody has dealt with says nothing about a plan."""
        judged = self.equal + self.person + self.software + self.unknown
        return self.equal / judged if judged else None


class Choice(BaseModel):
    """A value that was set otherwise, and how often.

    Attributes:
        by: one of `SET_OTHERWISE`.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    target_system: str
    field: str
    intended: Any
    observed: Any
    by: Agreement
    times: int


def per_field(mutations: Iterable[Mutation]) -> tuple[FieldAgreement, ...]:
    """The agreement of many mutations, by the fields' names.

    Several leads of one record (its creation, each of its changes) would each have set the same where nothing is
    written; the first would have done so and the others have found it so. Such a field counts once.

    Args:
        mutations: the newest first: of those that intend the same, the latest look counts.
    """
    counts: dict[str, Counter[str]] = {}
    for _, row in _each_once(mutations):
        counts.setdefault(row.field, Counter())[row.agreement.value] += 1
    return tuple(FieldAgreement(field=name, **counts[name]) for name in sorted(counts))


def chosen_otherwise(mutations: Iterable[Mutation], shown: Callable[[str, str], bool]) -> tuple[Choice, ...]:
    """The values that were set otherwise, counted as `per_field` counts: by field, the most frequent first.

    Args:
        mutations: the newest first.
        shown: whether the values of a target's field may be told; free ones could be personal.
    """
    choices: dict[tuple[str, ...], Choice] = {}
    for mutation, row in _each_once(mutations):
        system, by = mutation.target_system, row.agreement
        if by in SET_OTHERWISE and shown(system, row.field):
            same = (row.field, system, repr(row.intended), repr(row.observed), by.value)
            times = choices[same].times + 1 if same in choices else 1
            choices[same] = Choice(
                target_system=system,
                field=row.field,
                intended=row.intended,
                observed=row.observed,
                by=by,
                times=times,
            )
    return tuple(choice for _, choice in sorted(choices.items(), key=lambda at: (at[0][0], -at[1].times, at[0])))


def _each_once(mutations: Iterable[Mutation]) -> Iterator[tuple[Mutation, Beside]]:
    counted: set[tuple[str, ...]] = set()
    for mutation in mutations:
        record = (mutation.target_system, mutation.target_object, mutation.provider_record_id or mutation.target_record)
        for row in beside(mutation):
            effect = (*record, row.field, repr(row.intended))
            if effect not in counted:
                counted.add(effect)
                yield mutation, row
