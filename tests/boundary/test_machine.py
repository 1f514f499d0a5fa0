"""One mutation among lost answers, late writes, people, stopped runs and time, in any order.

`MACHINE_EXAMPLES=500` tries longer.
"""

from __future__ import annotations

import os
from datetime import datetime
from itertools import pairwise
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from leadproof.domain.mutation import AnswerClass, Reason, Status
from leadproof.domain.records import MARKER
from tests.boundary.target import UNREADABLE, Reply, accepts, answers, applies_and_is_not_heard, is_lost, late, sees
from tests.boundary.world import INTENT, TARGET, World, Worlds
from tests.support.ledgers import START

EXAMPLES = int(os.environ.get("MACHINE_EXAMPLES", "15"))
FATES: list[Reply] = [
    accepts,
    is_lost,
    applies_and_is_not_heard,
    late(1),
    late(TARGET.apply_lag_seconds),
    answers(AnswerClass.NOT_APPLIED),
    answers(AnswerClass.NOT_SENT),
    answers(AnswerClass.REFUSES_US),
]
STOPS = ["after claim", "after read", "before write", "during write", "before store_answer", "before settle"]
OPEN = {Status.RESERVED, Status.SUBMITTED, Status.UNCERTAIN}
NAMES = st.sampled_from(sorted(INTENT))
BETWEEN = "999"
"""What a person sets between the check and the write: the one edit that nothing can prevent us from overwriting."""


class OneMutation(RuleBasedStateMachine):
    """What a run does, disturbed; and what must hold at every moment."""

    worlds: ClassVar[Worlds]

    def __init__(self) -> None:
        super().__init__()
        self.checked = True
        self.in_flight: set[str | None] = set()
        self.world: World = self.worlds()

    @initialize(checked=st.booleans())
    def reserve(self, checked: bool) -> None:
        self.checked = checked
        self.world.update(base_age=None if checked else 0)

    def still_open(self) -> bool:
        return self.world.key == "" or self.world.mutation.status in OPEN

    # -- what happens ------------------------------------------------------------------------------------------------
    @precondition(still_open)
    @rule(
        fate=st.sampled_from(FATES),
        edit=st.none() | st.tuples(NAMES, st.sampled_from(["777", None, "501", "NEW"])),
        between=st.none() | NAMES,
        blind=st.booleans(),
        stops=st.none() | st.sampled_from(STOPS),
    )
    def a_step(
        self, fate: Reply, edit: tuple[str, str | None] | None, between: str | None, blind: bool, stops: str | None
    ) -> None:
        """A step or two: before it a person edits the record; in it a look says nothing, a person comes between check
        and write, the request meets its fate, the run stops."""
        target = self.world.target
        target.replies[:] = [fate]
        target.sights[:] = [sees(UNREADABLE)] if blind else []
        target.on_send[:] = [lambda: self.a_person_edits(between, BETWEEN)] if between is not None else []
        if edit is not None:
            self.a_person_edits(*edit)
        self.world.stopped(stops or "nowhere", most=2)  # a look that says so is followed by its write
        self.what_holds()

    def a_person_edits(self, name: str, value: str | None) -> None:
        self.world.clock.forward(0.5)
        fields: dict[str, Any] = {name: value}
        self.world.target.settle()
        if self.world.target.pending:  # a request that has left is applied after this: no look before it could see it
            self.in_flight.add(value)
        self.world.target.edit(**fields)
        self.world.clock.forward(0.5)

    @rule(seconds=st.sampled_from([1, 5, 40, 130, 700]))
    def time_passes(self, seconds: float) -> None:
        self.world.clock.forward(seconds)
        self.world.target.settle()

    # -- what holds --------------------------------------------------------------------------------------------------
    def what_holds(self) -> None:
        """After every step, whatever happened before it."""
        receipts, effects = self.world.receipts, self.world.effects
        mutation, attempts = receipts.mutation, receipts.attempts
        assert len(self.world.target.effects) == len(effects) <= 1
        assert all(effect.fields == INTENT for effect in effects)
        for first, second in pairwise(attempts):
            if first.outcome not in {AnswerClass.NOT_SENT, AnswerClass.NOT_APPLIED}:
                assert second.started_at >= first.send_before + TARGET.quiescence
        if self.checked or len(attempts) > 1:
            # what a look before the write could see is not overwritten
            assert set(self.overwritten()) <= {BETWEEN} | self.in_flight
        read_at = max((o.read_at for o in receipts.observations), default=START)
        unseen = self.overwritten(until=read_at)
        if mutation.status is Status.OBSERVED:
            assert bool(effects) is (mutation.reason is None)
            assert unseen == []
        elif mutation.status is Status.DIVERGENT and unseen:
            assert mutation.reason is Reason.OVERWROTE_UNSEEN_EDIT
            assert {difference.lost for difference in mutation.differences} - {None} == set(unseen)

    def overwritten(self, until: datetime | None = None) -> list[Any]:
        """Values that a person had set, neither the base nor the intent, and that a write of ours replaced."""
        return [
            older.value
            for name, intended in INTENT.items()
            for newer, older in pairwise(self.world.record.history.get(name, ()))
            if newer.by == "us" and older.by != "us" and older.value not in {None, intended}
            if until is None or newer.at <= until
        ]

    def teardown(self) -> None:
        """Undisturbed from here on, the run ends: with the effect, or with a question for a person."""
        if self.world.key == "":
            return
        target = self.world.target
        for scripted in (target.sights, target.replies, target.on_send):
            scripted.clear()
        mutation = self.world.run()
        self.world.clock.forward(TARGET.apply_lag_seconds)
        target.settle()
        self.what_holds()
        if mutation.status is Status.OBSERVED:
            landed = any(change.value == self.world.key for change in self.world.record.history.get(MARKER, ()))
            assert landed is (mutation.reason is None)
        else:
            assert self.world.receipts.review is not None


@pytest.mark.timeout(60 + 2 * EXAMPLES)
def test_whatever_happens_in_whatever_order(worlds: Worlds) -> None:
    OneMutation.worlds = worlds
    run_state_machine_as_test(
        OneMutation, settings=settings(max_examples=EXAMPLES, stateful_step_count=5, deadline=None)
    )
