"""What the end of a mutation means for those that depend on it, in the same transaction."""

from __future__ import annotations

from leadproof.domain.mutation import Mutation, Reason, Status, legal
from leadproof.ledger.questions import resolve
from leadproof.ledger.rows import find_mutation, mutations_of
from leadproof.ledger.transaction import Transaction
from leadproof.ledger.transitions import move, touch


def follow(tx: Transaction, ended: Mutation, derived: Mutation | None = None) -> None:
    """Free, re-tie or give up the dependents of a mutation that has become final.

    Observed: those that waited for it alone are free. Superseded with a derived mutation: they depend on that one now.
    Superseded without one, or abandoned: they are abandoned (`dependency`), and so are theirs. In shadow mode nothing
    was sent, so nothing came of it that they could depend on: each of them is looked at by itself.
    """
    if ended.reason is Reason.SHADOW:
        return
    siblings = mutations_of(tx, ended.event_key)
    dependents = [_locked(tx, other) for other in siblings if ended.mutation_key in other.depends_on]
    dependents = [other for other in dependents if not other.status.final]
    if derived is not None:
        for other in dependents:
            needs = [derived.mutation_key if key == ended.mutation_key else key for key in other.depends_on]
            touch(tx, other, other.reason, depends_on=needs)
        return
    if ended.status is not Status.OBSERVED:
        for other in dependents:
            _give_up(tx, other)
        return
    observed = {other.mutation_key for other in siblings if other.status is Status.OBSERVED}
    for other in dependents:
        if other.reason is Reason.DEPENDS and observed.issuperset(other.depends_on):
            touch(tx, other, None)


def _locked(tx: Transaction, known: Mutation) -> Mutation:
    """The row as it is now that nobody else can change it: what its need's end means for it must not be lost."""
    return find_mutation(tx, known.mutation_key, lock=True) or known


def _give_up(tx: Transaction, dependent: Mutation) -> None:
    if not legal(dependent.status, Status.ABANDONED, Reason.DEPENDENCY):
        return  # it was sent although it depends on what failed: its own evidence decides
    abandoned = move(tx, dependent, Status.ABANDONED, Reason.DEPENDENCY)
    if abandoned is None:
        raise AssertionError("a locked row was changed by someone else")
    resolve(tx, abandoned.mutation_key)
    follow(tx, abandoned)
