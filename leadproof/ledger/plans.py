"""Recording a plan, which reserves its effects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import bindparam, insert, select
from sqlalchemy.sql.dml import ReturningInsert

from leadproof.domain.errors import MalformedPlan
from leadproof.domain.events import Lead, Outcome
from leadproof.domain.mutation import FOR_A_PERSON_ALONE, Mutation, Status
from leadproof.domain.plan import RecordedPlan, Verdict
from leadproof.domain.steps import RecordedResult, Reservation
from leadproof.ledger.events import locked, recompute, set_outcome
from leadproof.ledger.questions import resolve
from leadproof.ledger.rows import find_mutation, mutations_of, of_mutation, of_plan, open_item, to_plan
from leadproof.ledger.tables import LEAD_PLAN, MUTATION
from leadproof.ledger.transaction import Store, Transaction, Undone, insert_into

_PLAN = select(LEAD_PLAN).where(
    LEAD_PLAN.c.event_key == bindparam("event_key"), LEAD_PLAN.c.policy_version == bindparam("policy_version")
)


class Plans(Store):
    """Plans and the mutations that are reserved with them."""

    def record_plan(self, plan: RecordedPlan, mutations: Sequence[Mutation]) -> RecordedResult:
        """Insert the plan or nothing; see `leadproof.ports.Ledger.record_plan`.

        Raises:
            MalformedPlan: two mutations have the same key, or one is no fresh row of this event.
            NotFound: no such event.
        """
        if len({mutation.mutation_key for mutation in mutations}) != len(mutations):
            raise MalformedPlan("two actions of the plan have the same key")
        if any(m.event_key != plan.event_key or m.status is not Status.RESERVED for m in mutations):
            raise MalformedPlan("a mutation of the plan is no fresh one of its event")
        return self._write(lambda tx: _record(tx, plan, mutations))

    def reserve(self, mutation: Mutation) -> tuple[Reservation, Mutation]:
        """Reserve one derived mutation; see `leadproof.ports.Ledger.reserve`.

        Raises:
            MalformedPlan: the mutation is not derived, or not fresh.
            NotFound: no such event.
        """
        if mutation.parent_key is None or mutation.status is not Status.RESERVED:
            raise MalformedPlan("outside a plan only a fresh derived mutation is reserved")
        return self._write(lambda tx: _reserve(tx, mutation))


def find_plan(tx: Transaction, event_key: str, policy_version: str) -> RecordedPlan | None:
    row = tx.row(_PLAN, {"event_key": event_key, "policy_version": policy_version})
    return to_plan(row) if row is not None else None


def insert_mutations(tx: Transaction, mutations: Sequence[Mutation]) -> set[str]:
    """Insert fresh rows where their keys are free, with the ledger's times.

    Returns:
        The keys that were inserted.
    """
    fresh = {"version": 1, "created_at": tx.now, "updated_at": tx.now}
    rows = tx.rows(_insert(tx.dialect), [of_mutation(mutation) | fresh for mutation in mutations])
    return {row["mutation_key"] for row in rows}


@cache
def _insert(dialect: str) -> ReturningInsert[Any]:
    return (
        insert_into(MUTATION, dialect)
        .on_conflict_do_nothing(index_elements=[MUTATION.c.mutation_key])
        .returning(MUTATION.c.mutation_key)
    )


def _record(tx: Transaction, plan: RecordedPlan, mutations: Sequence[Mutation]) -> RecordedResult:
    lead = locked(tx, plan.event_key)
    standing = find_plan(tx, plan.event_key, plan.policy_version)
    if standing is not None:
        closed = lead.outcome if lead.outcome.final else None
        return RecordedResult(plan=standing, mutations=mutations_of(tx, plan.event_key), closed=closed)
    if lead.outcome.final:
        return RecordedResult(plan=None, closed=lead.outcome)
    asked = open_item(tx, plan.event_key) if lead.outcome is Outcome.REVIEW else None
    if asked is not None and asked.reason in FOR_A_PERSON_ALONE:
        return RecordedResult(plan=None)
    tx.run(insert(LEAD_PLAN), of_plan(plan))
    reservations = _reserve_all(tx, mutations)
    if lead.outcome is Outcome.REVIEW:
        resolve(tx, lead.event_key)  # the question was how to plan
    lead = _close(tx, lead, plan) if not mutations else recompute(tx, lead)
    return RecordedResult(
        plan=plan,
        mutations=mutations_of(tx, plan.event_key),
        reservations=reservations,
        closed=lead.outcome if lead.outcome.final else None,
    )


def _reserve_all(tx: Transaction, mutations: Sequence[Mutation]) -> dict[str, Reservation]:
    if not mutations:
        return {}
    won = insert_mutations(tx, mutations)
    reservations = dict.fromkeys((m.mutation_key for m in mutations), Reservation.WON)
    for mutation in mutations:
        if mutation.mutation_key in won:
            continue
        if not _is_replay(tx, mutation):
            raise Undone(RecordedResult(plan=None, conflict=mutation.mutation_key))
        reservations[mutation.mutation_key] = Reservation.REPLAY
    return reservations


def _is_replay(tx: Transaction, mutation: Mutation) -> bool:
    standing = find_mutation(tx, mutation.mutation_key)
    return standing is not None and standing.fingerprint in {mutation.fingerprint, ""}


def _close(tx: Transaction, lead: Lead, plan: RecordedPlan) -> Lead:
    refused = bool(plan.guarded) and all(action.verdict is Verdict.REFUSED for action in plan.guarded)
    return set_outcome(tx, lead, Outcome.REFUSED if refused else Outcome.NOTHING_TO_DO)


def _reserve(tx: Transaction, mutation: Mutation) -> tuple[Reservation, Mutation]:
    lead = locked(tx, mutation.event_key)
    won = insert_mutations(tx, [mutation])
    standing = find_mutation(tx, mutation.mutation_key)
    if standing is None:
        raise AssertionError("an inserted row is not there")
    if won:
        recompute(tx, lead)
        return Reservation.WON, standing
    return (Reservation.REPLAY if _is_replay(tx, mutation) else Reservation.CONFLICT), standing
