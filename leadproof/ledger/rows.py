"""From rows to the domain's types and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import RowMapping, bindparam, select

from leadproof.domain.events import Lead
from leadproof.domain.mutation import Attempt, Mutation, Observation
from leadproof.domain.plan import RecordedPlan
from leadproof.domain.review import DecisionRow, ReviewItem
from leadproof.domain.steps import QuarantineEntry, TargetRow
from leadproof.ledger.tables import ATTEMPT, LEAD_EVENT, MUTATION, OBSERVATION, REVIEW_ITEM
from leadproof.ledger.transaction import Transaction

Row = RowMapping | Mapping[str, Any]

_JSON_OF_MUTATION = (
    "depends_on",
    "base_state",
    "intended_state",
    "acceptance_receipt",
    "observed_state",
    "differences",
)


def to_lead(row: Row) -> Lead:
    return Lead.model_validate(dict(row))


def to_mutation(row: Row) -> Mutation:
    values = dict(row)
    values["differences"] = values["differences"] or ()  # null in a tombstone
    return Mutation.model_validate(values)


def to_attempt(row: Row) -> Attempt:
    return Attempt.model_validate(dict(row))


def to_observation(row: Row) -> Observation:
    values = dict(row)
    values["differences"] = values["differences"] or ()
    return Observation.model_validate(values)


def to_item(row: Row) -> ReviewItem:
    return ReviewItem.model_validate(dict(row))


def to_decision(row: Row) -> DecisionRow:
    return DecisionRow.model_validate(dict(row))


def to_plan(row: Row) -> RecordedPlan:
    values = dict(row)
    return RecordedPlan.model_validate(values | (values.pop("plan") or {"summary": "", "guarded": ()}))


def to_target(row: Row) -> TargetRow:
    return TargetRow.model_validate(dict(row))


def to_entry(row: Row) -> QuarantineEntry:
    return QuarantineEntry.model_validate(dict(row))


def of_mutation(mutation: Mutation) -> dict[str, Any]:
    """The column values of a mutation."""
    values = mutation.model_dump(exclude=set(_JSON_OF_MUTATION))
    return values | mutation.model_dump(mode="json", include=set(_JSON_OF_MUTATION))


def of_plan(plan: RecordedPlan) -> dict[str, Any]:
    values = plan.model_dump(mode="json")
    return {
        "event_key": plan.event_key,
        "policy_version": plan.policy_version,
        "snapshot": values["snapshot"],
        "plan": {"summary": values["summary"], "guarded": values["guarded"]},
        "planner": values["planner"],
        "planned_at": plan.planned_at,
    }


_LEAD = select(LEAD_EVENT).where(LEAD_EVENT.c.event_key == bindparam("event_key"))
_MUTATION = select(MUTATION).where(MUTATION.c.mutation_key == bindparam("mutation_key"))
_MUTATION_LOCKED = _MUTATION.with_for_update(key_share=True)
_MUTATIONS = select(MUTATION).where(MUTATION.c.event_key == bindparam("event_key"))
_ATTEMPTS = select(ATTEMPT).where(ATTEMPT.c.mutation_key == bindparam("mutation_key")).order_by(ATTEMPT.c.number)
_OBSERVATIONS = (
    select(OBSERVATION).where(OBSERVATION.c.mutation_key == bindparam("mutation_key")).order_by(OBSERVATION.c.number)
)
_OPEN_ITEM = select(REVIEW_ITEM).where(REVIEW_ITEM.c.subject == bindparam("subject"), REVIEW_ITEM.c.state == "open")


def find_lead(tx: Transaction, event_key: str) -> Lead | None:
    row = tx.row(_LEAD, {"event_key": event_key})
    return to_lead(row) if row is not None else None


def find_mutation(tx: Transaction, mutation_key: str, *, lock: bool = False) -> Mutation | None:
    row = tx.row(_MUTATION_LOCKED if lock else _MUTATION, {"mutation_key": mutation_key})
    return to_mutation(row) if row is not None else None


def mutations_of(tx: Transaction, event_key: str) -> tuple[Mutation, ...]:
    """By ordinal, a derived mutation after its parent."""
    return in_order([to_mutation(row) for row in tx.rows(_MUTATIONS, {"event_key": event_key})])


def in_order(mutations: Iterable[Mutation]) -> tuple[Mutation, ...]:
    known = {mutation.mutation_key: mutation for mutation in mutations}

    def depth(mutation: Mutation) -> int:
        first = [known[key] for key in (mutation.parent_key, *mutation.depends_on) if key in known]
        return max((1 + depth(one) for one in first if one.ordinal == mutation.ordinal), default=0)

    return tuple(sorted(known.values(), key=lambda m: (m.ordinal, depth(m), m.created_at, m.mutation_key)))


def attempts_of(tx: Transaction, mutation_key: str) -> tuple[Attempt, ...]:
    return tuple(to_attempt(row) for row in tx.rows(_ATTEMPTS, {"mutation_key": mutation_key}))


def observations_of(tx: Transaction, mutation_key: str) -> tuple[Observation, ...]:
    return tuple(to_observation(row) for row in tx.rows(_OBSERVATIONS, {"mutation_key": mutation_key}))


def open_item(tx: Transaction, subject: str) -> ReviewItem | None:
    row = tx.row(_OPEN_ITEM, {"subject": subject})
    return to_item(row) if row is not None else None


def models(items: Sequence[Any]) -> list[Any]:
    """JSON of a sequence of the domain's types."""
    return [item.model_dump(mode="json") for item in items]
