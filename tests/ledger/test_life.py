"""Whatever runs, people and clocks do, in whatever order: what the ledger promises holds after every step."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import select

from leadproof.domain.mutation import TRANSITIONS, AnswerClass, Attempt, Mutation, Reason, Status
from leadproof.domain.outcome import outcome_of
from leadproof.domain.plan import ActionKind
from leadproof.domain.review import Decision, DecisionVerdict, ReviewItem, ReviewState
from leadproof.domain.steps import ClaimResult, Settlement
from leadproof.domain.unanswered import open_until
from leadproof.ledger.engine import Engine
from leadproof.ledger.rows import to_attempt
from leadproof.ledger.tables import ATTEMPT
from tests.ledger.databases import Database, emptied
from tests.ledger.steps import QUESTION, QUIESCENCE, QUIET, SEND_WITHIN, decision
from tests.support.ledgers import (
    START,
    HandClock,
    OwnedLedger,
    a_lead_event,
    a_mutation,
    an_answer,
    an_observation,
    planned,
)

RECORD = "9" * 64
PICK = st.integers(min_value=0, max_value=30)
UNANSWERED = {None, AnswerClass.UNCERTAIN}


class Life(RuleBasedStateMachine):
    """Three events about one record, one of them with a dependent and one that needs an approval."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.clock = HandClock()
        self.ledger = OwnedLedger(emptied(engine), self.clock)
        self.before: dict[str, Mutation] = {}
        self.attempts: dict[tuple[str, int], Attempt] = {}
        self.decided = 0
        self.events = [a_lead_event(str(n), occurred_at=START + timedelta(minutes=n)) for n in range(3)]
        first, second, third = self.events
        one = a_mutation(first, target_record=RECORD, fields={"lead_status": "new"})
        two = a_mutation(
            first, action=ActionKind.UPDATE, ordinal=1, depends_on=(one.mutation_key,), target_record="8" * 64
        )
        planned(self.ledger, first, one, two)
        planned(self.ledger, second, a_mutation(second, target_record=RECORD, reason=Reason.NEEDS_APPROVAL))
        planned(self.ledger, third, a_mutation(third, target_record=RECORD, fields={"lead_status": "x", "owner": "7"}))

    def rows(self) -> tuple[Mutation, ...]:
        return self.ledger.mutations(limit=100)[0]

    def pick(self, number: int, *statuses: Status) -> Mutation | None:
        rows = [row for row in self.rows() if not statuses or row.status in statuses]
        return rows[number % len(rows)] if rows else None

    def in_flight(self, mutation: Mutation) -> bool:
        """Whether a request of this mutation may still change the record, as the ledger's evidence has it."""
        receipts = self.ledger.receipts(mutation.mutation_key)
        assert receipts is not None
        return (
            open_until(
                receipts.attempts,
                receipts.observations,
                mutation_key=mutation.mutation_key,
                quiescence=QUIESCENCE,
                now=self.clock.now(),
            )
            is not None
        )

    @rule(pick=PICK)
    def claim(self, pick: int) -> None:
        mutation = self.pick(pick)
        assert mutation is not None
        number = len(self.ledger.attempts_of(mutation.mutation_key)) + 1
        others = [
            row
            for row in self.rows()
            if row.target_record == mutation.target_record and row.status is not Status.OBSERVED
        ]
        flying = [row for row in others if self.in_flight(row)]
        claimed = self.ledger.claim(
            mutation.mutation_key,
            version=mutation.version,
            number=number,
            send_within=SEND_WITHIN,
            quiescence=QUIESCENCE,
        )
        if claimed.result is ClaimResult.WON:
            assert flying == [], "a second request left while another could still change the record"

    @rule(pick=PICK, outcome=st.sampled_from(AnswerClass), late=st.booleans())
    def answer(self, pick: int, outcome: AnswerClass, late: bool) -> None:
        mutation = self.pick(pick)
        assert mutation is not None
        attempts = self.ledger.attempts_of(mutation.mutation_key)
        if attempts:
            number = attempts[0 if late else -1].number
            self.ledger.store_answer(mutation.mutation_key, number, an_answer(outcome), request_digest=None)

    @rule(
        pick=PICK,
        status=st.sampled_from((Status.OBSERVED, Status.UNCERTAIN, Status.DIVERGENT, Status.REJECTED)),
        verdict=st.sampled_from(("one", "absent", "unknown")),
        ask=st.booleans(),
    )
    def look(self, pick: int, status: Status, verdict: str, ask: bool) -> None:
        mutation = self.pick(pick, Status.SUBMITTED, Status.UNCERTAIN)
        if mutation is None:
            return
        attempts = self.ledger.attempts_of(mutation.mutation_key)
        if status is Status.REJECTED and any(attempt.outcome in UNANSWERED for attempt in attempts):
            return  # a run calls nothing rejected that may still land
        if status is Status.OBSERVED:
            verdict = "one"
        state: dict[str, Any] = {} if status is Status.OBSERVED else {"marker": None, "ours": False}
        step = Settlement(
            status=status,
            reason=Reason.CHANGED_BEFORE_WRITE if status is Status.DIVERGENT else None,
            observation=an_observation(mutation, self.clock.now(), verdict, **(state if verdict == "one" else {})),
            question=QUESTION if ask and status is not Status.OBSERVED else None,
        )
        assert self.ledger.settle(mutation.mutation_key, version=mutation.version, step=step).won

    @rule(pick=PICK)
    def ask(self, pick: int) -> None:
        mutation = self.pick(pick)
        assert mutation is not None
        self.ledger.open_review(mutation.mutation_key, QUESTION)

    @rule(pick=PICK)
    def ask_about_an_event(self, pick: int) -> None:
        self.ledger.open_event_review(self.events[pick % 3].event_key, QUESTION)

    @rule(pick=PICK, kind=st.sampled_from(Decision), stale=st.booleans())
    def decide(self, pick: int, kind: Decision, stale: bool) -> None:
        items, _ = self.ledger.reviews()
        items = tuple(item for item in items if stale or item.state is ReviewState.OPEN)
        if not items:
            return
        self.decided += 1
        sent = decision(items[pick % len(items)], kind, f"d{self.decided}")
        self.ledger.record_decision(sent, reviewer="ann", via="test")
        self.ledger.apply_decision(sent.decision_id, quiescence=QUIESCENCE)

    @rule(pick=PICK)
    @precondition(lambda self: self.decided)
    def apply_again(self, pick: int) -> None:
        name = f"d{pick % self.decided + 1}"
        before = self.ledger.decision(name)
        applied = self.ledger.apply_decision(name, quiescence=QUIESCENCE)
        assert before is not None
        if before.verdict is not DecisionVerdict.PENDING:
            assert applied.verdict is before.verdict

    @rule(seconds=st.sampled_from((1.0, 30.0, 60.0, QUIET)))
    def wait(self, seconds: float) -> None:
        self.clock.forward(seconds)

    @invariant()
    def what_the_ledger_promises(self) -> None:
        rows = {row.mutation_key: row for row in self.rows()}
        items, _ = self.ledger.reviews(state=ReviewState.OPEN)
        self.every_move_is_in_the_table_and_nothing_leaves_a_final_status(rows)
        self.a_completed_attempt_never_changes()
        self.the_outcome_is_what_the_rule_says(rows, items)
        holders = [row.target_record for row in rows.values() if row.status.holds]
        assert len(holders) == len(set(holders)), "two mutations hold one record"
        for row in rows.values():
            if row.status is Status.RESERVED:  # nothing waits for what has failed
                assert {rows[key].status for key in row.depends_on}.isdisjoint({Status.SUPERSEDED, Status.ABANDONED})
        over = {row.mutation_key for row in rows.values() if row.status.final}
        assert over.isdisjoint(item.subject for item in items), "a question is open about what is over"

    def every_move_is_in_the_table_and_nothing_leaves_a_final_status(self, rows: dict[str, Mutation]) -> None:
        for row in rows.values():
            before = self.before.get(row.mutation_key, row)
            self.before[row.mutation_key] = row
            if before.status is row.status:
                assert not row.status.final or before.version == row.version
                continue
            assert not before.status.final
            assert row.version > before.version
            # an event that is given up makes what was sent uncertain first, in the same transaction
            through = {Status.UNCERTAIN} if before.status is Status.SUBMITTED else set()
            reachable = set(TRANSITIONS[before.status]) | {s for via in through for s in TRANSITIONS[via]}
            assert row.status in reachable

    def a_completed_attempt_never_changes(self) -> None:
        for row in self.ledger._read(lambda tx: tx.rows(select(ATTEMPT))):
            attempt = to_attempt(row)
            known = self.attempts.setdefault((attempt.mutation_key, attempt.number), attempt)
            assert known.outcome is None or known == attempt
            self.attempts[attempt.mutation_key, attempt.number] = attempt

    def the_outcome_is_what_the_rule_says(self, rows: dict[str, Mutation], items: tuple[ReviewItem, ...]) -> None:
        assert len(items) == len({item.subject for item in items})
        for lead in self.ledger.leads()[0]:
            asked = any(item.event_key == lead.event_key for item in items)
            own = [row for row in rows.values() if row.event_key == lead.event_key]
            assert lead.outcome is outcome_of(own, asked)


def test_a_life(database: Database) -> None:
    run_state_machine_as_test(
        partial(Life, database.engine),  # type: ignore[arg-type]  # it calls what makes a machine
        settings=settings(
            max_examples=4,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
