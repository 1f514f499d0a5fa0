"""Two mutations of one record among people and their decisions, lost and late answers, late reads, stops and time.

`MACHINE_EXAMPLES=500` tries longer.
"""

from __future__ import annotations

import os
from datetime import timedelta
from itertools import pairwise
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from leadproof.domain.mutation import AnswerClass, Mutation, Reason, Status
from leadproof.domain.review import Decision, DecisionVerdict, ReviewDecision, ReviewItem, ReviewState
from leadproof.domain.steps import Receipts
from tests.boundary.target import UNREADABLE, Reply, accepts, answers, applies_and_is_not_heard, is_lost, late, sees
from tests.boundary.world import INTENT, TARGET, World, Worlds

EXAMPLES = int(os.environ.get("MACHINE_EXAMPLES", "8"))
FATES: list[Reply] = [
    accepts,
    accepts,
    is_lost,
    applies_and_is_not_heard,
    late(TARGET.apply_lag_seconds),
    answers(AnswerClass.NOT_APPLIED),
    answers(AnswerClass.REFUSES_US),
    answers(AnswerClass.REFUSES_THIS, code="INVALID_OWNER"),
]
NEWER = {"lead_status": "OPEN"}
EDITS = st.tuples(st.sampled_from(["owner", "lead_status"]), st.sampled_from(["777", None, "501", "NEW", "OPEN"]))
LAG = TARGET.clock_margin_seconds - 2
"""So many seconds a read can be behind; what is longer has to be in the policy's numbers."""
FINALLY = [Decision.RESTORE, Decision.RETRY, Decision.OVERWRITE, Decision.ACCEPT, Decision.ABANDON]


class TwoOnARecord(RuleBasedStateMachine):
    """An older and a newer event about one record, and whatever is derived from them."""

    worlds: ClassVar[Worlds]

    def __init__(self) -> None:
        super().__init__()
        self.world: World = self.worlds()
        self.keys: list[str] = []

    @initialize(age=st.sampled_from([None, 0]), lag=st.sampled_from([0, LAG]), held=st.booleans())
    def reserve(self, age: float | None, lag: float, held: bool) -> None:
        more: dict[str, Any] = {"reason": Reason.NEEDS_APPROVAL} if held else {}
        self.keys = [
            self.world.update(base_age=age, fields=INTENT, **more).mutation_key,
            self.world.update(base_age=age, fields=NEWER, later=60).mutation_key,
        ]
        self.world.target.lag = timedelta(seconds=lag)

    # -- what happens ------------------------------------------------------------------------------------------------
    @rule(
        which=st.integers(0, 5),
        fate=st.sampled_from(FATES),
        edit=st.none() | EDITS,
        between=st.none() | st.none() | EDITS,
        blind=st.booleans(),
        stops=st.none() | st.integers(1, 24),
        most=st.sampled_from([1, 2, 5]),
    )
    def a_run_goes_on(
        self,
        which: int,
        fate: Reply,
        edit: tuple[str, str | None] | None,
        between: tuple[str, str | None] | None,
        blind: bool,
        stops: int | None,
        most: int,
    ) -> None:
        """Some steps of one run: before them a person edits the record; in them a look says nothing, a person comes
        between check and write, a request meets its fate, and the run stops at some point."""
        target = self.world.target
        target.replies[:] = [fate]
        target.sights[:] = [sees(UNREADABLE)] if blind else []
        target.on_send[:] = [lambda: self.edits(*between)] if between is not None else []
        if edit is not None:
            self.edits(*edit)
        self.goes(self.keys[which % len(self.keys)], stops or "nowhere", most)
        self.what_holds()

    @rule(seconds=st.sampled_from([1, 5, 40, 700, 5000]))
    def time_passes(self, seconds: float) -> None:
        self.world.clock.forward(seconds)
        self.world.target.settle()

    @rule(which=st.integers(0, 5), decision=st.sampled_from([Decision.APPROVE, *FINALLY]))
    def a_person_decides(self, which: int, decision: Decision) -> None:
        item = self.question(self.keys[which % len(self.keys)])
        if item is not None:
            self.decides(item, decision)
            self.what_holds()

    # -- parts of it -------------------------------------------------------------------------------------------------
    def edits(self, name: str, value: str | None) -> None:
        self.world.clock.forward(2)  # no two writes within the second in which they would be taken for one
        fields: dict[str, Any] = {name: value}
        self.world.target.edit(**fields)
        self.world.clock.forward(2)

    def goes(self, key: str, stops: int | str = "nowhere", most: int | None = None) -> None:
        self.world.key = key
        self.world.stopped(stops, most=most)

    def question(self, key: str) -> ReviewItem | None:
        receipts = self.receipts(key)
        if receipts.mutation.reason is Reason.NEEDS_APPROVAL and receipts.review is None:
            self.world.ask(key)
            receipts = self.receipts(key)
        item = receipts.review
        return item if item is not None and item.state is ReviewState.OPEN else None

    def decides(self, item: ReviewItem, decision: Decision) -> DecisionVerdict:
        """Decide, and wait until it can be applied where it cannot yet."""
        name = f"{item.review_id}:{decision}:{self.world.clock.now().isoformat()}"
        sent = ReviewDecision(decision_id=name, review_id=item.review_id, version=item.version, decision=decision)
        self.world.ledger.record_decision(sent, reviewer="dana", via="api")
        while True:
            applied = self.world.ledger.apply_decision(name, quiescence=TARGET.quiescence)
            if applied.verdict is not DecisionVerdict.PENDING:
                break
            assert applied.until is not None
            self.world.clock.forward(max((applied.until - self.world.clock.now()).total_seconds(), 0.001))
        if applied.derived is not None:
            self.keys.append(applied.derived.mutation_key)
        return applied.verdict

    def receipts(self, key: str) -> Receipts:
        found = self.world.ledger.receipts(key)
        assert found is not None
        return found

    # -- what holds --------------------------------------------------------------------------------------------------
    def what_holds(self) -> None:
        """After every step, whatever happened before it."""
        rows = [self.receipts(key) for key in self.keys]
        assert sum(row.mutation.status.holds for row in rows) <= 1
        assert {effect.marker for effect in self.world.target.effects} <= set(self.keys)
        for row in rows:
            self.holds_of(row)

    def holds_of(self, row: Receipts) -> None:
        mutation, attempts, target = row.mutation, row.attempts, self.world.target
        effects = [effect for effect in target.effects if effect.marker == mutation.mutation_key]
        assert len(effects) <= 1
        assert all(effect.fields == mutation.intent.fields for effect in effects)
        assert len([one for one in target.sent if one.request.marker == mutation.mutation_key]) <= len(attempts)
        for first, second in pairwise(attempts):
            if first.outcome in {None, AnswerClass.UNCERTAIN, AnswerClass.ACCEPTED}:
                assert second.started_at >= first.send_before + TARGET.quiescence
        unseen = self.unseen(mutation)
        if mutation.status is Status.OBSERVED:
            assert bool(effects) is (mutation.reason is not Reason.ALREADY_SO)
            assert unseen == []
        elif mutation.status in {Status.RESERVED, Status.REJECTED} or mutation.reason in {
            Reason.CHANGED_BEFORE_WRITE,
            Reason.NEWER_EVENT,
        }:
            assert effects == []
        elif mutation.status is Status.DIVERGENT and unseen:
            assert mutation.reason is Reason.OVERWROTE_UNSEEN_EDIT
            assert {difference.lost for difference in mutation.differences} >= set(unseen)

    def unseen(self, mutation: Mutation) -> list[Any]:
        """Values of people that a mutation's write replaced, and that are neither its base nor its intent."""
        intended, base = mutation.intent.fields, mutation.base_state or {}
        written = {effect.at for effect in self.world.target.effects if effect.marker == mutation.mutation_key}
        return [
            older.value
            for name, versions in self.world.record.history.items()
            for newer, older in pairwise(versions)
            if newer.by == "us" and newer.at in written and name in intended
            if older.by != "us" and older.value not in {base.get(name), intended[name]}
        ]

    def teardown(self) -> None:
        """Undisturbed from here on, and with a person who answers every question, everything ends."""
        target = self.world.target
        for scripted in (target.sights, target.replies, target.on_send):
            scripted.clear()
        target.lag = timedelta(0)
        for _ in range(12):
            for key in list(self.keys):
                self.goes(key)
                self.what_holds()
            if all(self.receipts(key).mutation.status.final for key in self.keys):
                break
            self.world.clock.forward(120)  # a queue passes over whoever does not claim
            for key in list(self.keys):
                item = self.question(key)
                if item is not None:
                    choices = [Decision.APPROVE, *FINALLY]
                    assert any(self.decides(item, one) is DecisionVerdict.APPLIED for one in choices)
        ended = [self.receipts(key).mutation for key in self.keys]
        assert [row.status for row in ended if not row.status.final] == []
        assert all(
            attempt.outcome is not None or attempt.send_before < self.world.clock.now() for attempt in self.all()
        )

    def all(self) -> list[Any]:
        return [attempt for key in self.keys for attempt in self.receipts(key).attempts]


@pytest.mark.timeout(60 + 2 * EXAMPLES)
def test_whatever_happens_to_two_of_them_in_whatever_order(worlds: Worlds) -> None:
    TwoOnARecord.worlds = worlds
    profile = settings(max_examples=EXAMPLES, stateful_step_count=6, deadline=None)
    run_state_machine_as_test(TwoOnARecord, settings=profile)
