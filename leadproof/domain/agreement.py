"""What was intended beside what stood on the record, field by field, and how often the two agree. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from leadproof.domain.mutation import Difference, Mutation


class Agreement(StrEnum):
    """How what stands on the record compares with the intent.

    *equal*: the same. *person*: a person set something else after the plan was made. *different*: something else, and
    no person is known to have set it since: it still stands as it was, or software set it. *unseen*: there was no
    record, it did not return the field, or it could not be read.
    """

    EQUAL = "equal"
    PERSON = "person"
    DIFFERENT = "different"
    UNSEEN = "unseen"


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
        rows.append(
            Beside(
                field=name,
                stood=base.get(name),
                intended=intended,
                observed=fields.get(name),
                agreement=_agreement(mutation, differences.get(name), seen=name in fields),
                changed_by=latest.get("by"),
                changed_at=latest.get("at"),
            )
        )
    return tuple(rows)


def _agreement(mutation: Mutation, difference: Difference | None, *, seen: bool) -> Agreement:
    if not seen:
        return Agreement.UNSEEN
    if difference is None:
        return Agreement.EQUAL
    since = mutation.intent.base_read_at or mutation.created_at
    by_person = difference.changed_by is not None and difference.changed_by.startswith("person:")
    later = difference.changed_at is not None and difference.changed_at > since
    return Agreement.PERSON if by_person and later else Agreement.DIFFERENT


class FieldAgreement(BaseModel):
    """How often one field came out how."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    field: str
    equal: int = 0
    person: int = 0
    different: int = 0
    unseen: int = 0


def per_field(mutations: Iterable[Mutation]) -> tuple[FieldAgreement, ...]:
    """The agreement of many mutations, by the fields' names.

    Several leads of one record (its creation, each of its changes) would each have set the same where nothing is
    written; the first would have done so and the others have found it so. Such a field counts once.

    Args:
        mutations: the newest first: of those that intend the same, the latest look counts.
    """
    counts: dict[str, Counter[str]] = {}
    counted: set[tuple[str, ...]] = set()
    for mutation in mutations:
        record = (mutation.target_system, mutation.target_object, mutation.provider_record_id or mutation.target_record)
        for row in beside(mutation):
            effect = (*record, row.field, repr(row.intended))
            if effect not in counted:
                counted.add(effect)
                counts.setdefault(row.field, Counter())[row.agreement.value] += 1
    return tuple(FieldAgreement(field=name, **counts[name]) for name in sorted(counts))
