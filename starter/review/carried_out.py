"""What came of a decision that was applied: the effect that carries it out, and what kept that from being written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from leadproof.domain.keys import derived_key
from leadproof.domain.mutation import AnswerClass, Difference, Mutation, Reason, Status
from leadproof.domain.review import Decision, DecisionRow
from leadproof.domain.steps import Receipts
from leadproof.domain.wording import author, plain, reason_in_words, value_in_words
from starter.cases import Behind, Case
from starter.review.field_table import moved_before_write
from starter.review.rendering import moment

_DERIVED: Final = (Decision.OVERWRITE, Decision.RESTORE)
_OF_ITSELF: Final = frozenset({Decision.APPROVE, Decision.RETRY})
_ENDED: Final = frozenset({Status.DIVERGENT, Status.SUPERSEDED, Status.ABANDONED})
_HINDERED: Final[Mapping[Reason, str]] = {
    Reason.REMOVED: "the record is archived or deleted",
    Reason.MERGED: "the record was merged into another one",
    Reason.SEVERAL: "several records fit",
}


def unwritten(row: DecisionRow, case: Case, behind: Behind) -> str | None:
    """Why a decision that was applied has written nothing, in a part of a sentence; `None` where it has, or may yet."""
    receipts = _carrying(row, case, behind)
    if receipts is None:
        return None
    mutation, attempts = receipts.mutation, receipts.attempts
    if mutation.status is Status.SUPERSEDED and mutation.reason is Reason.NEWER_EVENT:
        return "a newer event has set the same already"
    sent = bool(attempts) and attempts[-1].outcome is not AnswerClass.NOT_SENT
    if sent or mutation.reason is None:
        return None
    if mutation.status is Status.OBSERVED and mutation.reason is Reason.ALREADY_SO:
        return "the record is so already"
    if mutation.status not in _ENDED:
        return None
    if mutation.reason is Reason.CHANGED_BEFORE_WRITE:
        moved = moved_before_write(mutation, case.specs)
        return "; ".join(_changed(one, case) for one in moved) or reason_in_words(mutation.reason)
    return _HINDERED.get(mutation.reason)


def decision_of(parent: Mutation, derived: Mutation) -> str:
    """The decision that a derived effect carries out, or prepares."""
    keys = {derived_key(parent.mutation_key, one.value): one.value for one in _DERIVED}
    return keys.get(derived.mutation_key, "the decision")


def _carrying(row: DecisionRow, case: Case, behind: Behind) -> Receipts | None:
    mutation = case.mutation
    if mutation is None or row.decision is None:
        return None
    if row.decision in _OF_ITSELF:
        return case.receipts
    if row.decision not in _DERIVED:
        return None
    key = derived_key(mutation.mutation_key, row.decision)
    return next((one for one in behind.written if one.mutation.mutation_key == key), None)


def _changed(one: Difference, case: Case) -> str:
    who = author(one.changed_by, case.owners) if one.changed_by is not None else "somebody"
    at = f" at {moment(one.changed_at)}" if one.changed_at is not None else ""
    return f"{who} changed {plain(one.field)} to {value_in_words(one.field, one.observed, case.owners)}{at}"
