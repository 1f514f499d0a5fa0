"""The one place where a mutation's row changes: by the table of transitions, by compare-and-set on its version."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import bindparam, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.dml import ReturningUpdate

from leadproof.domain.errors import IllegalTransition
from leadproof.domain.mutation import Mutation, Reason, Status, check_transition
from leadproof.ledger.rows import to_mutation
from leadproof.ledger.tables import MUTATION
from leadproof.ledger.transaction import Transaction


def move(
    tx: Transaction,
    mutation: Mutation,
    status: Status,
    reason: Reason | None,
    *,
    because: Reason | None = None,
    **columns: Any,
) -> Mutation | None:
    """Move a mutation to another status, or from an attempt to the next.

    Args:
        reason: what the row says from now on.
        because: a reason that allows the move and is consumed by it.

    Returns:
        The row as it is now; `None` where someone else changed it first.

    Raises:
        IllegalTransition: the table of transitions does not lead there.
    """
    check_transition(mutation.status, status, because or reason)
    return _compare_and_set(tx, mutation, status=status, reason=reason, **columns)


def touch(tx: Transaction, mutation: Mutation, reason: Reason | None, **columns: Any) -> Mutation | None:
    """Change what is kept beside the status: no transition, but the version rises.

    Raises:
        IllegalTransition: the mutation is final.
    """
    if mutation.status.final:
        raise IllegalTransition(f"a mutation that is {mutation.status} stays as it is")
    return _compare_and_set(tx, mutation, reason=reason, **columns)


def _compare_and_set(tx: Transaction, mutation: Mutation, **columns: Any) -> Mutation | None:
    values = columns | {"version": mutation.version + 1, "updated_at": tx.now}
    known = {"known_key": mutation.mutation_key, "known_version": mutation.version}
    row = tx.row(_update(frozenset(values)), values | known)
    return to_mutation(row) if row is not None else None


@cache
def _update(names: frozenset[str]) -> ReturningUpdate[Any]:
    return (
        update(MUTATION)
        .where(
            MUTATION.c.mutation_key == bindparam("known_key"),
            MUTATION.c.version == bindparam("known_version"),
        )
        .values({name: bindparam(name) for name in sorted(names)})
        .returning(*MUTATION.c)
    )


_NAME = (
    update(MUTATION)
    .where(MUTATION.c.mutation_key == bindparam("known_key"))
    .values(provider_record_id=bindparam("provider_record_id"))
)


def name_record(tx: Transaction, mutation_key: str, provider_record_id: str) -> bool:
    """Put the target's own id on a mutation, unless another mutation that holds that record has it.

    Neither version nor status changes: whoever read the row before still may move it.

    Returns:
        Whether it was put there; storing an answer never fails on an index.
    """
    try:
        with tx.savepoint():
            tx.run(_NAME, {"known_key": mutation_key, "provider_record_id": provider_record_id})
    except IntegrityError:
        return False
    return True
