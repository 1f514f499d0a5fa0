"""Storing one step of a mutation."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, func, insert, select

from leadproof.domain.errors import IllegalTransition, NotFound
from leadproof.domain.mutation import Mutation, Observation, Reason, Status
from leadproof.domain.observing import presence
from leadproof.domain.records import Presence
from leadproof.domain.steps import Settled, Settlement
from leadproof.ledger.dependents import follow
from leadproof.ledger.events import locked_by_mutation, recompute
from leadproof.ledger.questions import ask, resolve
from leadproof.ledger.records import first_waiting
from leadproof.ledger.rows import find_mutation, models, open_item
from leadproof.ledger.tables import OBSERVATION
from leadproof.ledger.transaction import Store, Transaction
from leadproof.ledger.transitions import move, name_record, touch

_LATEST = select(func.coalesce(func.max(OBSERVATION.c.number), 0)).where(
    OBSERVATION.c.mutation_key == bindparam("mutation_key")
)


class Settling(Store):
    """Read-backs, moves and questions."""

    def settle(self, mutation_key: str, *, version: int, step: Settlement) -> Settled:
        """Store one step; see `leadproof.ports.Ledger.settle`.

        Raises:
            IllegalTransition: the table does not lead there, or only a claim or a decision does.
            NotFound: no such mutation.
        """
        return self._write(lambda tx: _settle(tx, mutation_key, version, step))

    def rename_reason(self, mutation_key: str, *, version: int, reason: Reason | None) -> Settled:
        """Change the reason alone.

        Raises:
            IllegalTransition: the mutation is final, or waits for an approval, which only a decision gives.
            NotFound: no such mutation.
        """
        return self._write(lambda tx: _rename(tx, mutation_key, version, reason))


def found(tx: Transaction, mutation_key: str) -> Mutation:
    """Read a mutation and keep other writers of it waiting.

    Raises:
        NotFound: no such mutation.
    """
    mutation = find_mutation(tx, mutation_key, lock=True)
    if mutation is None:
        raise NotFound(f"no mutation stands under {mutation_key}")
    return mutation


def leave(tx: Transaction, before: Mutation, after: Mutation, derived: Mutation | None = None) -> str | None:
    """What follows from a move in the same transaction: the open question, the dependents, the queue.

    Returns:
        The event to wake, where the move freed the record and nothing inherits the hold.
    """
    if after.status is before.status:
        return None
    resolve(tx, after.mutation_key)
    if after.status.final:
        follow(tx, after, derived)
    if after.status.holds or derived is not None:
        return None
    return first_waiting(tx, after)


def _settle(tx: Transaction, mutation_key: str, version: int, step: Settlement) -> Settled:
    lead = locked_by_mutation(tx, mutation_key)
    before = found(tx, mutation_key)
    if before.version != version:
        return Settled(won=False, mutation=before, review=open_item(tx, mutation_key))
    _check(before, step)
    columns = _columns(before, step)
    if step.observation is not None:
        _append(tx, mutation_key, step.observation)
    if step.status is before.status:
        after = touch(tx, before, step.reason or before.reason, **columns)
    else:
        after = move(tx, before, step.status, step.reason, **columns)
    if after is None:
        raise AssertionError("a locked row was changed by someone else")
    named = step.provider_record_id
    if named is not None and named != after.provider_record_id and name_record(tx, mutation_key, named):
        after = after.model_copy(update={"provider_record_id": named})
    wake = leave(tx, before, after)
    if step.question is not None:
        ask(tx, subject=mutation_key, event_key=lead.event_key, mutation_key=mutation_key, question=step.question)
    review = open_item(tx, mutation_key)
    outcome = recompute(tx, lead).outcome
    return Settled(won=True, mutation=after, review=review, wake=wake, outcome=outcome)


def _check(before: Mutation, step: Settlement) -> None:
    if step.status is Status.SUBMITTED and before.status is not Status.SUBMITTED:
        raise IllegalTransition("only a claim makes a mutation submitted")
    renamed = step.status is before.status and step.reason not in {None, before.reason}
    if renamed and before.status is Status.RESERVED and before.reason is Reason.NEEDS_APPROVAL:
        raise IllegalTransition("only a decision answers for an approval")


def _columns(before: Mutation, step: Settlement) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    observation = step.observation
    if observation is not None or step.status is not before.status:
        noted = step.differences or (observation.differences if observation is not None else ())
        columns["differences"] = models(noted)
    if observation is not None and presence(observation) is not Presence.UNKNOWN:  # else what was seen stays
        columns["observed_state"] = observation.state
    if step.base_state is not None:
        columns["base_state"] = step.base_state
    return columns


def _append(tx: Transaction, mutation_key: str, observation: Observation) -> None:
    values = observation.model_dump(exclude={"differences"}) | {
        "mutation_key": mutation_key,
        "number": tx.value(_LATEST, {"mutation_key": mutation_key}) + 1,
        "differences": models(observation.differences),
    }
    tx.run(insert(OBSERVATION), values)


def _rename(tx: Transaction, mutation_key: str, version: int, reason: Reason | None) -> Settled:
    before = found(tx, mutation_key)
    if before.version != version:
        return Settled(won=False, mutation=before, review=open_item(tx, mutation_key))
    if before.status is Status.RESERVED and before.reason is Reason.NEEDS_APPROVAL:
        raise IllegalTransition("only a decision answers for an approval")
    after = touch(tx, before, reason)
    if after is None:
        raise AssertionError("a locked row was changed by someone else")
    return Settled(won=True, mutation=after, review=open_item(tx, mutation_key))
