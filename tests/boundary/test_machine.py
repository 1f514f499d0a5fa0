"""One mutation among lost answers, late writes, people, stopped runs and time, in any order."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from leadproof.domain.mutation import AnswerClass, Reason, Status
from leadproof.domain.records import MARKER
from tests.boundary.conftest import MEMORY
from tests.boundary.target import UNREADABLE, Reply, accepts, answers, applies_and_is_not_heard, is_lost, late, sees
from tests.boundary.world import INTENT, TARGET, World, a_world

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

    def __init__(self) -> None:
        super().__init__()
        self.checked = True
        self.opened = ExitStack()
        folder = self.opened.enter_context(tempfile.TemporaryDirectory(dir=MEMORY))
        self.world: World = self.opened.enter_context(a_world(Path(folder)))

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
        between=st.none() | NAMES,
        blind=st.booleans(),
        stops=st.none() | st.sampled_from(STOPS),
    )
    def a_step(self, fate: Reply, between: str | None, blind: bool, stops: str | None) -> None:
        """One step, in which a request meets a fate, a person comes in between, a look says nothing, the run stops."""
        target = self.world.target
        target.replies[:] = [fate]
        target.sights[:] = [sees(UNREADABLE)] if blind else []
        target.on_send[:] = [lambda: self.a_person_edits(between, BETWEEN)] if between is not None else []
        self.world.stopped(stops or "nowhere", most=1)

    @rule(name=NAMES, value=st.sampled_from(["777", None, "501", "NEW"]))
    def a_person_edits(self, name: str, value: Any) -> None:
        self.world.clock.forward(0.5)
        self.world.target.edit(**{name: value})
        self.world.clock.forward(0.5)

    @rule(seconds=st.sampled_from([1, 5, 40, 130, 700]))
    def time_passes(self, seconds: float) -> None:
        self.world.clock.forward(seconds)
        self.world.target.settle()

    # -- what holds --------------------------------------------------------------------------------------------------
    @invariant()
    def what_was_applied_is_one_effect(self) -> None:
        assert all(effect.fields == INTENT for effect in self.world.effects)
        assert len(self.world.target.effects) == len(self.world.effects) <= 1

    @invariant()
    def no_request_leaves_while_an_earlier_one_may_land(self) -> None:
        if self.world.key == "":
            return
        answered = {AnswerClass.NOT_SENT, AnswerClass.NOT_APPLIED}
        for first, second in pairwise(self.world.attempts):
            if first.outcome not in answered:
                assert second.started_at >= first.send_before + TARGET.quiescence

    @invariant()
    def what_a_look_before_the_write_could_see_is_not_overwritten(self) -> None:
        if self.world.key == "":
            return
        unchecked = not self.checked and len(self.world.attempts) == 1
        assert unchecked or set(self.overwritten()) <= {BETWEEN}

    @invariant()
    def what_is_observed_is_there_and_nobody_lost_anything(self) -> None:
        if self.world.key == "":
            return
        mutation = self.world.mutation
        if mutation.status is Status.OBSERVED:
            assert bool(self.world.effects) is (mutation.reason is None)
            assert self.unseen() == []
        elif mutation.status is Status.DIVERGENT and self.unseen():
            assert mutation.reason is Reason.OVERWROTE_UNSEEN_EDIT
            assert {difference.lost for difference in mutation.differences} == set(self.unseen())

    def unseen(self) -> list[Any]:
        """What was overwritten before the run looked for the last time."""
        reads = [o.read_at for o in self.world.receipts.observations]
        return self.overwritten(until=max(reads)) if reads else []

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
        try:
            if self.world.key:
                self.world.target.sights.clear()
                self.world.target.replies.clear()
                self.world.target.on_send.clear()
                mutation = self.world.run()
                self.world.clock.forward(TARGET.apply_lag_seconds)
                self.world.target.settle()
                for check in (
                    self.what_was_applied_is_one_effect,
                    self.no_request_leaves_while_an_earlier_one_may_land,
                    self.what_a_look_before_the_write_could_see_is_not_overwritten,
                    self.what_is_observed_is_there_and_nobody_lost_anything,
                ):
                    check()
                if mutation.status is Status.OBSERVED and mutation.reason is None:
                    assert any(change.value == self.world.key for change in self.world.record.history[MARKER])
                else:
                    review = self.world.receipts.review
                    assert mutation.reason is Reason.ALREADY_SO or review is not None
        finally:
            self.opened.close()


TestOneMutation = OneMutation.TestCase
TestOneMutation.settings = settings(
    max_examples=50,
    stateful_step_count=5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
