"""Two transactions of PostgreSQL that overlap: the second sees what the first has done, or waits for it.

SQLite lets one transaction write at a time; here the first is held just before its commit while the second runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import pytest
from sqlalchemy import Connection, event

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.review import Decision, DecisionVerdict
from leadproof.domain.steps import Arrival, ClaimResult, Settlement
from tests.ledger.databases import Database, emptied
from tests.ledger.steps import (
    QUESTION,
    QUIESCENCE,
    answered,
    claim,
    decision,
    divergent,
    found_absent,
    now,
    uncertain,
    won,
)
from tests.support.ledgers import (
    START,
    HandClock,
    OwnedLedger,
    a_lead_event,
    a_mutation,
    a_plan,
    an_observation,
    planned,
)

T = TypeVar("T")
RECORD = "9" * 64

pytestmark = pytest.mark.postgres


@pytest.fixture
def ledger(postgresql: Database, clock: HandClock) -> OwnedLedger:
    return OwnedLedger(emptied(postgresql.engine), clock)


@contextmanager
def held_before_commit(ledger: OwnedLedger, call: Callable[[], T]) -> Iterator[Future[T]]:
    """Run `call` to the end of its transaction, and let it commit when the block is left."""
    reached, release = threading.Event(), threading.Event()
    writer = ledger._engine._writer

    def hold(_connection: Connection) -> None:
        if not reached.is_set():  # later transactions commit freely
            reached.set()
            assert release.wait(20)

    with ThreadPoolExecutor(1) as thread:
        event.listen(writer, "commit", hold)
        future = thread.submit(call)
        assert reached.wait(20)
        try:
            yield future
        finally:
            release.set()
            future.exception(20)
            event.remove(writer, "commit", hold)


def waits_for_the_other(ledger: OwnedLedger, future: Future[Any]) -> bool:
    """Whether the call waits for a lock: its session says so, which is all that can be waited for."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    for _ in range(2000):
        if future.done():
            return False
        if ledger._engine.read(lambda connection: connection.exec_driver_sql(waiting).scalar()):
            return True
    return False


def of_one_record(ledger: OwnedLedger, minute: int, **changes: Any) -> Mutation:
    lead_event = a_lead_event(str(minute), occurred_at=START + timedelta(minutes=minute))
    return planned(ledger, lead_event, a_mutation(lead_event, target_record=RECORD, **changes))[0]


def observe(ledger: OwnedLedger, clock: HandClock, mutation: Mutation) -> Any:
    step = Settlement(status=Status.OBSERVED, observation=an_observation(mutation, clock.now()))
    return ledger.settle(mutation.mutation_key, version=mutation.version, step=step)


def test_two_mutations_of_one_event_end_at_once_and_the_event_is_done(ledger: OwnedLedger, clock: HandClock) -> None:
    lead_event = a_lead_event("1")
    pair = planned(
        ledger,
        lead_event,
        a_mutation(lead_event, target_record="a" * 64),
        a_mutation(lead_event, action=ActionKind.UPDATE, ordinal=1, target_record="b" * 64),
    )
    first, second = (won(ledger, mutation) for mutation in pair)
    with ThreadPoolExecutor(1) as thread:
        with held_before_commit(ledger, lambda: observe(ledger, clock, first)):
            other = thread.submit(observe, ledger, clock, second)
            assert waits_for_the_other(ledger, other)
        assert other.result(20).won
    lead = ledger.lead(lead_event.event_key)
    assert lead is not None
    assert lead.outcome is Outcome.DONE


def test_a_claim_waits_for_the_step_that_frees_its_record(ledger: OwnedLedger, clock: HandClock) -> None:
    holder, later = of_one_record(ledger, 1), of_one_record(ledger, 2)
    holder = won(ledger, holder)
    with ThreadPoolExecutor(1) as thread:
        with held_before_commit(ledger, lambda: observe(ledger, clock, holder)):
            claimed = thread.submit(claim, ledger, later)
            assert waits_for_the_other(ledger, claimed)
        assert claimed.result(20).result is ClaimResult.WON


def test_what_a_newer_event_observed_meanwhile_is_seen(ledger: OwnedLedger, clock: HandClock) -> None:
    """Looked at before the hold is taken, the newer mutation would still be `submitted`."""
    older, newer = of_one_record(ledger, 1), of_one_record(ledger, 2)
    newer = won(ledger, newer)
    with ThreadPoolExecutor(1) as thread:
        with held_before_commit(ledger, lambda: observe(ledger, clock, newer)):
            claimed = thread.submit(claim, ledger, older)
            assert waits_for_the_other(ledger, claimed)
        assert claimed.result(20).result is ClaimResult.SUPERSEDED
    assert now(ledger, older).reason is Reason.NEWER_EVENT


def test_nobody_overtakes_an_heir_that_comes_in_meanwhile(ledger: OwnedLedger, clock: HandClock) -> None:
    parent, other = of_one_record(ledger, 1), of_one_record(ledger, 2)
    item = divergent(ledger, clock, parent)
    ledger.record_decision(decision(item, Decision.OVERWRITE), reviewer="ann", via="test")
    with ThreadPoolExecutor(1) as thread:
        with held_before_commit(ledger, lambda: ledger.apply_decision("d1", quiescence=QUIESCENCE)) as applied:
            claimed = thread.submit(claim, ledger, other)
            assert waits_for_the_other(ledger, claimed)
        assert claimed.result(20).result is ClaimResult.WAITS
    assert applied.result().derived is not None


def test_whoever_frees_a_record_sees_who_has_just_queued_up(ledger: OwnedLedger, clock: HandClock) -> None:
    """Otherwise the one would see the record held, the other an empty queue, and nobody would be woken."""
    holder, other = of_one_record(ledger, 1), of_one_record(ledger, 2)
    answered(ledger, won(ledger, holder))
    holder = now(ledger, holder)
    with ThreadPoolExecutor(1) as thread:
        with held_before_commit(ledger, lambda: claim(ledger, other)) as claimed:
            freed = thread.submit(observe, ledger, clock, holder)
            assert waits_for_the_other(ledger, freed)
        assert freed.result(20).wake == other.event_key
    assert claimed.result().result is ClaimResult.WAITS


def test_of_two_decisions_at_once_one_is_applied(ledger: OwnedLedger) -> None:
    mutation = of_one_record(ledger, 1, reason=Reason.NEEDS_APPROVAL)
    item = ledger.open_review(mutation.mutation_key, QUESTION)
    for name, kind in (("d1", Decision.APPROVE), ("d2", Decision.ABANDON)):
        ledger.record_decision(decision(item, kind, name), reviewer="ann", via="test")
    with ThreadPoolExecutor(1) as thread:
        with held_before_commit(ledger, lambda: ledger.apply_decision("d1", quiescence=QUIESCENCE)) as first:
            second = thread.submit(ledger.apply_decision, "d2", quiescence=QUIESCENCE)
            assert waits_for_the_other(ledger, second)
        assert second.result(20).verdict is DecisionVerdict.REPEATED
    assert first.result().verdict is DecisionVerdict.APPLIED
    assert now(ledger, mutation).reason is Reason.APPROVED


def test_an_answer_and_a_claim_of_one_mutation_do_not_overlap(ledger: OwnedLedger) -> None:
    mutation = won(ledger, of_one_record(ledger, 1))
    with ThreadPoolExecutor(1) as thread:
        with held_before_commit(ledger, lambda: answered(ledger, mutation)):
            claimed = thread.submit(claim, ledger, mutation, 2)
            assert waits_for_the_other(ledger, claimed)
        assert claimed.result(20).result is ClaimResult.NOT_YET


def test_of_two_plans_at_once_the_second_takes_the_first(ledger: OwnedLedger) -> None:
    lead_event = a_lead_event("1")
    ledger.admit([Arrival(event=lead_event)])
    first, second = a_mutation(lead_event), a_mutation(lead_event, action=ActionKind.UPDATE)
    with ThreadPoolExecutor(1) as thread:
        with held_before_commit(ledger, lambda: ledger.record_plan(a_plan(lead_event, [first]), [first])):
            other = thread.submit(ledger.record_plan, a_plan(lead_event, [second]), [second])
            assert waits_for_the_other(ledger, other)
        assert [row.mutation_key for row in other.result(20).mutations] == [first.mutation_key]
    assert ledger.mutation(second.mutation_key) is None


def test_a_decision_sees_the_claim_that_was_made_meanwhile(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation = of_one_record(ledger, 1)
    item = uncertain(ledger, mutation)
    mutation = found_absent(ledger, clock, mutation)
    ledger.record_decision(decision(item, Decision.ABANDON), reviewer="ann", via="test")
    with ThreadPoolExecutor(1) as thread:
        with held_before_commit(ledger, lambda: claim(ledger, mutation, 2)) as claimed:
            applied = thread.submit(ledger.apply_decision, "d1", quiescence=QUIESCENCE)
            assert waits_for_the_other(ledger, applied)
        assert applied.result(20).verdict is DecisionVerdict.STALE
    assert claimed.result().result is ClaimResult.WON
    assert now(ledger, mutation).status is Status.SUBMITTED


def test_a_dependency_passes_on_although_the_dependent_was_just_touched(ledger: OwnedLedger, clock: HandClock) -> None:
    lead_event = a_lead_event("1")
    first = a_mutation(lead_event, target_record="a" * 64)
    second = a_mutation(
        lead_event,
        action=ActionKind.UPDATE,
        ordinal=1,
        depends_on=(first.mutation_key,),
        reason=Reason.DEPENDS,
        target_record="b" * 64,
    )
    planned(ledger, lead_event, first, second)
    item = divergent(ledger, clock, first)
    ledger.record_decision(decision(item, Decision.OVERWRITE), reviewer="ann", via="test")
    touch = partial(ledger.rename_reason, second.mutation_key, version=1, reason=None)
    with ThreadPoolExecutor(1) as thread:
        with held_before_commit(ledger, touch):
            applied = thread.submit(ledger.apply_decision, "d1", quiescence=QUIESCENCE)
            assert waits_for_the_other(ledger, applied)
        derived = applied.result(20).derived
    assert derived is not None
    assert now(ledger, second).depends_on == (derived.mutation_key,)
