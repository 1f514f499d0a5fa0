"""Whatever is asked of the activities, and in whatever order: in shadow mode nothing is written."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from temporalio.testing import ActivityEnvironment

from activities.effects import EffectActivities
from activities.messages import AskCommand, Book, DecideCommand, LookCommand, PlanCommand, WriteCommand
from activities.planning import PlanningActivities
from activities.review import ReviewActivities
from leadproof.adapters import Adapters
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Difference, Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.progress import Step, StepKind
from leadproof.domain.steps import WriteRequest
from leadproof.rulebook import Rulebook
from leadproof.shadow import ReadOnly, WriteInShadow
from tests.boundary.target import REFUSED, UNREADABLE, sees
from tests.boundary.world import INTENT, POLICY, TARGET, World, Worlds
from tests.support.ledgers import START, a_lead_event, a_mutation, planned

AFTER = timedelta(hours=1)
HOUR = AFTER.total_seconds()
WINDOW = TARGET.observation_window.total_seconds()
EVENT = a_lead_event(environment="test-shadow", policy_version=POLICY.version)


@pytest.fixture(scope="session")
def worlds() -> Iterator[Worlds]:
    with tempfile.TemporaryDirectory() as folder:
        made = Worlds(Path(folder))
        yield made
        made.close()


class _Nobody:
    async def identity(self, workflow_id: str, run_id: str, *, via: str, place: str) -> str:
        return "unknown"


class Shadow:
    """A worker in shadow mode over an adapter that could write: an update, and a create that depends on it."""

    def __init__(self, world: World, reason: Reason | None = None) -> None:
        world.ledger.load_policy(POLICY)
        self.world, self.target = world, world.target
        self.target.stands("601")
        first = a_mutation(EVENT, fields=INTENT, provider_record_id="601", reason=reason)
        second = a_mutation(
            EVENT,
            action=ActionKind.CREATE,
            ordinal=1,
            fields={"email": "dana@example.com"},
            depends_on=(first.mutation_key,),
            reason=Reason.DEPENDS,
        )
        self.keys = [row.mutation_key for row in planned(world.ledger, EVENT, first, second)]
        rulebook, crms = Rulebook(world.ledger, parse_policy, AFTER), Adapters({"hubspot": world.target})
        self.effects = EffectActivities(world.ledger, crms, rulebook, world.clock)
        self.planning = PlanningActivities(world.ledger, crms, {}, rulebook, world.clock)
        self.review = ReviewActivities(world.ledger, rulebook, world.clock, _Nobody(), None)
        self.environment = ActivityEnvironment()

    def row(self, which: int = 0) -> Mutation:
        row = self.world.ledger.mutation(self.keys[which])
        assert row is not None
        return row

    def book(self) -> Book:
        return self.environment.run(self.planning.plan, PlanCommand(event_key=EVENT.event_key))

    def write(self, which: int = 0, version: int | None = None, number: int = 1) -> Book:
        command = WriteCommand(
            mutation_key=self.keys[which], version=version or self.row(which).version, number=number, alone=True
        )
        return self.environment.run(self.effects.write, command)

    def look(self, which: int = 0) -> Book:
        command = LookCommand(mutation_key=self.keys[which], alone=True)
        return self.environment.run(self.effects.reconcile, command)

    def ask(self, which: int = 0) -> Book:
        command = AskCommand(event_key=EVENT.event_key, mutation_key=self.keys[which], reason=Reason.NEEDS_APPROVAL)
        return self.environment.run(self.review.open_review, command)

    def decide(self, decision: str, which: int = 0) -> Book:
        item = self.world.ledger.review_of(self.keys[which])
        said = {"review_id": item.review_id if item else "none", "version": 1, "decision": decision, "reason": ""}
        command = DecideCommand(event_key=EVENT.event_key, sent=[said], sender="ann")
        return self.environment.run(self.review.apply_decision, command).book

    def observations(self, which: int = 0) -> list[str]:
        receipts = self.world.ledger.receipts(self.keys[which])
        assert receipts is not None
        return [observation.verdict for observation in receipts.observations]


@pytest.fixture
def shadow(worlds: Worlds) -> Shadow:
    return Shadow(worlds())


def steps(book: Book) -> list[Step]:
    return [view.step for view in book.views]


# -- the way of an effect ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("reason", [None, Reason.NEEDS_APPROVAL])
def test_every_effect_is_looked_at_later_and_nobody_is_asked(worlds: Worlds, reason: Reason | None) -> None:
    book = Shadow(worlds(), reason).book()
    assert steps(book) == [Step(kind=StepKind.LOOK, at=START + AFTER)] * 2
    assert [view.review for view in book.views] == [None, None]


def test_a_look_that_comes_too_early_reads_nothing(shadow: Shadow) -> None:
    shadow.world.clock.forward(HOUR - 1)
    assert steps(shadow.look())[0] == Step(kind=StepKind.LOOK, at=START + AFTER)
    assert (shadow.target.calls, shadow.row().status) == ([], Status.RESERVED)


def test_what_a_person_did_meanwhile_stands_beside_what_would_have_been_written(shadow: Shadow) -> None:
    shadow.world.clock.forward(60)
    shadow.target.edit(owner="777", lead_status="NEW")
    shadow.world.clock.forward(HOUR)
    assert steps(shadow.look())[0] == Step(kind=StepKind.DONE)
    row = shadow.row()
    assert (row.status, row.reason, shadow.observations()) == (Status.ABANDONED, Reason.SHADOW, ["one"])
    moment = START + timedelta(seconds=60)
    assert row.differences == (
        Difference(field="owner", intended="501", observed="777", changed_by="person:9", changed_at=moment),
    )
    assert row.observed_state is not None
    assert row.observed_state["changes"]["lead_status"][0]["by"] == "person:9"


def test_what_depends_on_it_is_looked_at_by_itself(shadow: Shadow) -> None:
    shadow.world.clock.forward(HOUR)
    assert shadow.look(0).outcome is Outcome.WORKING
    book = shadow.look(1)
    assert book.outcome is Outcome.ABANDONED
    absent = shadow.row(1)
    assert (absent.reason, shadow.observations(1)) == (Reason.SHADOW, ["absent"])
    assert absent.observed_state is not None
    assert absent.observed_state["presence"] == "absent"
    assert [(d.field, d.returned) for d in absent.differences] == [("email", False)]


@pytest.mark.parametrize("sight", [UNREADABLE, REFUSED])
def test_a_target_that_does_not_tell_is_asked_again_and_then_no_more(shadow: Shadow, sight: Any) -> None:
    shadow.target.always = sees(sight)
    shadow.world.clock.forward(HOUR)
    looks = 0
    while shadow.row().status is Status.RESERVED:
        looks += 1
        at = steps(shadow.look())[0].at
        shadow.world.clock.forward((at - shadow.world.clock.now()).total_seconds() if at is not None else 0)
    assert shadow.world.clock.now() - START - AFTER >= TARGET.observation_window
    assert (shadow.row().reason, shadow.row().observed_state) == (Reason.SHADOW, None)
    assert shadow.observations() == ["unknown"] * looks
    assert looks < 10


def test_a_target_that_tells_in_the_end_is_heard(shadow: Shadow) -> None:
    shadow.target.sights.append(sees(UNREADABLE))
    shadow.world.clock.forward(HOUR)
    assert steps(shadow.look())[0].at == shadow.world.clock.now() + timedelta(seconds=TARGET.read_spacing_seconds)
    shadow.look()
    assert (shadow.row().status, shadow.observations()) == (Status.ABANDONED, ["unknown", "one"])


def test_who_asks_for_a_write_is_told_to_look(shadow: Shadow) -> None:
    assert steps(shadow.write()) == [Step(kind=StepKind.LOOK, at=START + AFTER)] * 2
    assert (shadow.row().version, shadow.target.calls) == (1, [])


def test_a_target_that_refuses_us_makes_no_refused_write_of_it(shadow: Shadow) -> None:
    shadow.world.ledger.mark_target("hubspot", up=False, reason="401")
    shadow.target.always = sees(REFUSED)
    shadow.world.clock.forward(TARGET.patience_seconds)
    assert shadow.write().outcome is Outcome.WORKING
    assert (shadow.row().version, shadow.row().status) == (1, Status.RESERVED)


# -- in any order ------------------------------------------------------------------------------------------------------
WHICH = st.integers(0, 1)
ASKED = st.one_of(
    st.tuples(st.just("write"), WHICH, st.integers(1, 3), st.integers(1, 2)),
    st.tuples(st.just("look"), WHICH),
    st.tuples(st.just("ask"), WHICH),
    st.tuples(st.just("decide"), st.sampled_from(["approve", "retry", "overwrite", "abandon"]), WHICH),
    st.tuples(st.just("book")),
    st.tuples(st.just("pass"), st.sampled_from([1.0, HOUR, WINDOW])),
    st.tuples(st.just("sight"), st.sampled_from([UNREADABLE, REFUSED])),
    st.tuples(st.just("edit"), st.sampled_from(["501", "777"])),
    st.tuples(st.just("down")),
)


@settings(max_examples=25, deadline=None)
@given(asked=st.lists(ASKED, min_size=1, max_size=10), reason=st.none() | st.just(Reason.NEEDS_APPROVAL))
def test_no_sequence_of_activities_writes(worlds: Worlds, asked: list[Any], reason: Reason | None) -> None:
    shadow = Shadow(worlds(), reason)
    for what, *arguments in asked:
        if what == "pass":
            shadow.world.clock.forward(arguments[0])
        elif what == "sight":
            shadow.target.sights[:] = [sees(arguments[0])]
        elif what == "edit":
            shadow.target.edit(owner=arguments[0])
        elif what == "down":
            shadow.world.ledger.mark_target("hubspot", up=False, reason="401")
        else:
            getattr(shadow, what)(*arguments)
        assert "write" not in shadow.target.calls
        for which in (0, 1):
            row = shadow.row(which)
            assert row.status in {Status.RESERVED, Status.ABANDONED}
            assert shadow.world.ledger.attempts_of(row.mutation_key) == ()


# -- braces ------------------------------------------------------------------------------------------------------------
def test_a_crm_of_shadow_mode_reads_and_cannot_write(shadow: Shadow) -> None:
    crm = ReadOnly(cast(Any, shadow.target))
    row = shadow.row()
    request = WriteRequest(
        record=row.intent.record, creates=False, fields=INTENT, marker=row.mutation_key, sets_external_id=False
    )
    with pytest.raises(WriteInShadow):
        crm.write(request)
    assert (crm.system, crm.identity) == ("hubspot", "app:42")
    assert crm.read("contact", "601", ("owner",), history=True).record is not None
    assert crm.find(row.intent.record, ("owner",), history=False).record is None
    assert crm.keeps_history("contact", ("owner",))
    assert shadow.target.sent == []
