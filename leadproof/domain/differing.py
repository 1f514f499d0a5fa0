"""How a field differs, without any value of it: for what is kept where no value of a lead may stand."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from leadproof.domain.mutation import Difference, Mutation, Reason


class Way(StrEnum):
    """*lost*: our write replaced a value unseen. *moved*: it no longer stands as it did when this was planned.
    *not_returned*: the target left it out. *empty*: nothing stands where ours should. *other*: another value does."""

    LOST = "lost"
    MOVED = "moved"
    NOT_RETURNED = "not_returned"
    EMPTY = "empty"
    OTHER = "other"


class FieldDifference(BaseModel):
    """One field in which a record is not as it was intended; `changed_by` and `changed_at` as in `Difference`."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    field: str
    way: Way
    changed_by: str | None = None
    changed_at: datetime | None = None


def differences_of(mutation: Mutation) -> tuple[FieldDifference, ...]:
    """The differences of a mutation, without their values."""
    return tuple(
        FieldDifference(
            field=one.field,
            way=_way(one, mutation.reason),
            changed_by=one.changed_by,
            changed_at=one.changed_at,
        )
        for one in mutation.differences
    )


def _way(difference: Difference, reason: Reason | None) -> Way:
    if not difference.returned:
        return Way.NOT_RETURNED
    if reason is Reason.OVERWROTE_UNSEEN_EDIT and (
        # a value that a person had cleared is lost as empty
        difference.lost is not None or difference.intended == difference.observed
    ):
        return Way.LOST
    if reason is Reason.CHANGED_BEFORE_WRITE:
        return Way.MOVED
    return Way.EMPTY if difference.observed in (None, "", []) else Way.OTHER
