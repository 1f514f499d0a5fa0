"""Claiming an attempt, and storing its answer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from leadproof.domain.errors import NotFound
from leadproof.domain.mutation import Answer, Attempt, Mutation, Reason, Status
from leadproof.domain.steps import Claim, ClaimResult
from leadproof.domain.unanswered import may_attempt_again
from leadproof.ledger.events import locked, recompute
from leadproof.ledger.questions import resolve
from leadproof.ledger.records import answered_by, held_by, must_wait, newer_effects, shared_since
from leadproof.ledger.rows import attempts_of, find_mutation, observations_of, to_mutation
from leadproof.ledger.settling import found, leave
from leadproof.ledger.tables import ATTEMPT, LEAD_EVENT, MUTATION
from leadproof.ledger.transaction import Store, Transaction, Undone
from leadproof.ledger.transitions import move, name_record, touch

_TRIES = 3
_CLAIMABLE = frozenset({Status.RESERVED, Status.SUBMITTED, Status.UNCERTAIN, Status.REJECTED})
_NEW_HOLD = frozenset({Status.RESERVED, Status.REJECTED})

_WITH_ITS_TIME = (
    select(MUTATION, LEAD_EVENT.c.occurred_at)
    .join(LEAD_EVENT, LEAD_EVENT.c.event_key == MUTATION.c.event_key)
    .where(MUTATION.c.mutation_key == bindparam("mutation_key"))
    .with_for_update(key_share=True, of=MUTATION)
)
_ANSWERED = ("outcome", "ended_at", "http_status", "correlation_id", "request_digest", "answer")
_COMPLETE = (
    update(ATTEMPT)
    .where(
        ATTEMPT.c.mutation_key == bindparam("known_key"),
        ATTEMPT.c.number == bindparam("known_number"),
        ATTEMPT.c.outcome.is_(None),
    )
    .values({name: bindparam(name) for name in _ANSWERED})
    .returning(ATTEMPT.c.number)
)
_LATEST_ANSWERED = select(func.max(ATTEMPT.c.number)).where(
    ATTEMPT.c.mutation_key == bindparam("mutation_key"), ATTEMPT.c.outcome.is_not(None)
)
_KEEP_RECEIPT = (
    update(MUTATION)
    .where(MUTATION.c.mutation_key == bindparam("known_key"))
    .values(acceptance_receipt=bindparam("acceptance_receipt"), updated_at=bindparam("updated_at"))
)


class _Ask(NamedTuple):
    mutation_key: str
    version: int
    number: int
    send_within: timedelta
    quiescence: timedelta


class _OtherFirst(Exception):
    """The hold was taken and must be given back: another row comes first, or answered this one."""

    def __init__(self, result: ClaimResult) -> None:
        super().__init__(result)
        self.result = result


class Claims(Store):
    """The two ledger steps on either side of a request."""

    def claim(
        self, mutation_key: str, *, version: int, number: int, send_within: timedelta, quiescence: timedelta
    ) -> Claim:
        """Claim an attempt; see `leadproof.ports.Ledger.claim`.

        Raises:
            NotFound: no such mutation.
        """
        ask = _Ask(mutation_key, version, number, send_within, quiescence)
        claim = self._write(lambda tx: _claim(tx, ask))
        if claim.result is ClaimResult.SUPERSEDED:
            return self._write(lambda tx: _supersede(tx, ask))
        return claim

    def store_answer(self, mutation_key: str, number: int, answer: Answer, *, request_digest: str | None) -> None:
        """Complete an attempt once; see `leadproof.ports.Ledger.store_answer`.

        Raises:
            NotFound: no such attempt.
        """
        self._write(lambda tx: _store_answer(tx, mutation_key, number, answer, request_digest))


def _claim(tx: Transaction, ask: _Ask) -> Claim:
    row = tx.row(_WITH_ITS_TIME, {"mutation_key": ask.mutation_key})
    if row is None:
        raise NotFound(f"no mutation stands under {ask.mutation_key}")
    values = dict(row)
    occurred_at: datetime = values.pop("occurred_at")
    mutation = to_mutation(values)
    refused = _refusal(tx, mutation, ask)
    if refused is not None:
        return Claim(result=refused, mutation=mutation)
    for _ in range(_TRIES):
        try:
            with tx.savepoint():
                return _take(tx, mutation, occurred_at, ask)
        except _OtherFirst as other:
            if other.result is not ClaimResult.WAITS:
                raise Undone(Claim(result=other.result, mutation=mutation)) from None
            break
        except IntegrityError:
            # the one-record indexes, or someone else's attempt of this number; the savepoint has undone both
            if held_by(tx, mutation) is not None:
                break
    else:
        return Claim(result=ClaimResult.LOST, mutation=mutation)
    return Claim(result=ClaimResult.WAITS, mutation=_queue_up(tx, mutation))


def _refusal(tx: Transaction, mutation: Mutation, ask: _Ask) -> ClaimResult | None:
    """Why nothing may be claimed, from the row and its receipts alone."""
    if mutation.version != ask.version or mutation.status not in _CLAIMABLE:
        return ClaimResult.LOST
    if mutation.shadow:
        return ClaimResult.NOT_YET
    if mutation.status is Status.RESERVED:
        if ask.number != 1:
            return ClaimResult.LOST
        held_back = mutation.reason is Reason.NEEDS_APPROVAL or not _needs_are_met(tx, mutation)
        return ClaimResult.NOT_YET if held_back else None
    if mutation.status is Status.REJECTED and mutation.reason is not Reason.RETRY:
        return ClaimResult.NOT_YET
    attempts = attempts_of(tx, mutation.mutation_key)
    if ask.number != (attempts[-1].number if attempts else 0) + 1:
        return ClaimResult.LOST
    free = may_attempt_again(
        attempts,
        observations_of(tx, mutation.mutation_key),
        status=mutation.status,
        creates=mutation.intent.creates,
        quiescence=ask.quiescence,
        now=tx.now,
    )
    return None if free else ClaimResult.NOT_YET


def _needs_are_met(tx: Transaction, mutation: Mutation) -> bool:
    if not mutation.depends_on:
        return True
    statement = select(func.count()).where(
        MUTATION.c.mutation_key.in_(mutation.depends_on), MUTATION.c.status == Status.OBSERVED
    )
    return bool(tx.value(statement) == len(set(mutation.depends_on)))


def _take(tx: Transaction, mutation: Mutation, occurred_at: datetime, ask: _Ask) -> Claim:
    """Insert the attempt, take the hold, and only then look who else has a right to the record."""
    attempt = Attempt(
        mutation_key=mutation.mutation_key,
        number=ask.number,
        send_before=tx.now + ask.send_within,
        started_at=tx.now,
    )
    tx.run(insert(ATTEMPT), attempt.model_dump(exclude={"answer"}))
    columns: dict[str, Any] = {}
    if mutation.provider_record_id is None and mutation.intent.record.provider_record_id is not None:
        columns["provider_record_id"] = mutation.intent.record.provider_record_id
    # `approved` and `retry` are consumed with this move
    claimed = move(tx, mutation, Status.SUBMITTED, None, because=mutation.reason, **columns)
    if claimed is None:
        raise AssertionError("a locked row was changed by someone else")
    takes = mutation.status in _NEW_HOLD
    if takes and must_wait(tx, claimed, occurred_at):
        raise _OtherFirst(ClaimResult.WAITS)
    newer = newer_effects(tx, claimed, occurred_at)
    if takes and answered_by(claimed, newer):
        raise _OtherFirst(ClaimResult.SUPERSEDED)
    if resolve(tx, mutation.mutation_key) is not None:
        recompute(tx, locked(tx, mutation.event_key))
    known = {name: value for effect in newer for name, value in effect.items()}
    overtakes = {} if claimed.parent_key is not None else known
    base_at, linked = claimed.intent.base_read_at, claimed.intent.record.linked
    shared = base_at is not None and not linked and shared_since(tx, claimed, base_at)
    return Claim(result=ClaimResult.WON, mutation=claimed, attempt=attempt, newer=overtakes, shared=shared)


def _queue_up(tx: Transaction, mutation: Mutation) -> Mutation:
    """Put a row that asked for its record into the queue; one that is not `reserved` asks again by itself."""
    if mutation.status is not Status.RESERVED:
        return mutation
    return touch(tx, mutation, Reason.WAITS) or mutation


def _supersede(tx: Transaction, ask: _Ask) -> Claim:
    """A newer event set all of this; what was observed stays observed, so only this row is looked at again."""
    mutation = find_mutation(tx, ask.mutation_key)
    if mutation is None:
        raise NotFound(f"no mutation stands under {ask.mutation_key}")
    lead = locked(tx, mutation.event_key)
    before = found(tx, ask.mutation_key)
    if before.version != ask.version:
        return Claim(result=ClaimResult.LOST, mutation=before)
    after = move(tx, before, Status.SUPERSEDED, Reason.NEWER_EVENT)
    if after is None:
        raise AssertionError("a locked row was changed by someone else")
    wake = leave(tx, before, after)
    recompute(tx, lead)
    return Claim(result=ClaimResult.SUPERSEDED, mutation=after, wake=wake)


def _store_answer(tx: Transaction, mutation_key: str, number: int, answer: Answer, request_digest: str | None) -> None:
    mutation = found(tx, mutation_key)
    completed = tx.row(
        _COMPLETE,
        {
            "known_key": mutation_key,
            "known_number": number,
            "outcome": answer.outcome,
            "ended_at": tx.now,
            "http_status": answer.http_status,
            "correlation_id": answer.correlation_id,
            "request_digest": request_digest,
            "answer": answer.model_dump(mode="json"),
        },
    )
    if completed is None:
        known = select(ATTEMPT.c.number).where(ATTEMPT.c.mutation_key == mutation_key, ATTEMPT.c.number == number)
        if tx.value(known) is None:
            raise NotFound(f"mutation {mutation_key} has no attempt {number}")
        return
    if number == tx.value(_LATEST_ANSWERED, {"mutation_key": mutation_key}):
        receipt = answer.model_dump(mode="json")
        tx.run(_KEEP_RECEIPT, {"known_key": mutation_key, "acceptance_receipt": receipt, "updated_at": tx.now})
    if answer.provider_record_id is not None and mutation.provider_record_id is None:
        name_record(tx, mutation_key, answer.provider_record_id)
