"""Planning once, recorded with the effects that it reserves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NoReturn

import pytest
from temporalio.exceptions import ApplicationError

from activities.messages import ActionView, Book, PlanView
from activities.names import PLANNER_FAILED, TARGET_UNREADABLE
from leadproof.domain import keys
from leadproof.domain.errors import MalformedPlan
from leadproof.domain.events import LeadSnapshot, Outcome
from leadproof.domain.mutation import Mutation, Reason, RecordRef
from leadproof.domain.plan import Action, ActionKind, Evidence, Plan, PlannerInfo
from leadproof.domain.progress import StepKind
from leadproof.domain.records import LookUp, Presence
from leadproof.domain.steps import Settlement
from tests.activities.room import ABSENT, RECORD, Proposes, Room, one, qualifies
from tests.boundary.world import POLICY
from tests.ledger.steps import done
from tests.support.ledgers import START, a_mutation, planned


def never() -> NoReturn:
    raise AssertionError("the planner was asked")


def owners(room: Room, key: str) -> list[str]:
    return [mutation.intent.fields["owner"] for mutation in room.ledger.mutations_of(key)]


def summary(room: Room, key: str) -> str | None:
    plan = room.ledger.plan_of(key, POLICY.version)
    return plan.summary if plan is not None else None


# -- once --------------------------------------------------------------------------------------------------------------
def test_a_plan_and_its_effects_are_recorded_together(room: Room) -> None:
    key = room.admit()
    book = room.plan(key, Proposes(qualifies), room.snapshot())
    (view,) = book.views
    (mutation,) = room.ledger.mutations_of(key)
    assert (view.mutation_key, view.version, view.step.kind) == (mutation.mutation_key, 1, StepKind.WRITE)
    assert (mutation.base_state, mutation.provider_record_id) == ({"owner": None, "email": "dana@example.com"}, "101")
    plan = room.ledger.plan_of(key, POLICY.version)
    assert plan is not None
    assert (plan.planner.kind, plan.snapshot is not None) == ("rules", True)
    assert room.crm.asked == []
    assert book.plan == PlanView(
        planner="rules", because="give it to dana", record="hubspot contact 101", actions=(ActionView(),)
    )


class Writes(Proposes):
    """A model, which may write what it was told by the lead."""

    def plan(self, *args: Any, **more: Any) -> tuple[Plan, PlannerInfo]:
        return self.propose(), PlannerInfo(kind="claude", model="a-model")


def test_nothing_that_a_model_wrote_is_shown_of_its_plan(room: Room) -> None:
    lead = "hubspot contact 101"
    evidence = (
        Evidence(source=f"{lead}, country", says="Dana of Gent"),
        Evidence(source=f"{lead}, Dana", says="Dana is it"),
        Evidence(source=lead, says="company is Dana & Co"),
    )
    key = room.admit()
    first = room.plan(key, Writes(lambda: qualifies(evidence=evidence)), room.snapshot())
    again = room.plan(key, Proposes(never))
    assert first.plan == again.plan
    assert first.plan == PlanView(
        planner="claude a-model", record=lead, actions=(ActionView(evidence=("country", "company")),)
    )


def test_a_second_call_finds_the_plan_and_asks_no_planner(room: Room) -> None:
    key = room.admit()
    first = room.plan(key, Proposes(qualifies), room.snapshot())
    second = room.plan(key, Proposes(never), room.snapshot())
    assert second == first


def test_of_two_runs_that_plan_at_once_the_first_that_records_wins(room: Room) -> None:
    key = room.admit()

    def meanwhile_another_run_records() -> Plan:
        room.plan(key, Proposes(lambda: qualifies("kofi")), room.snapshot())
        return qualifies("dana")

    book = room.plan(key, Proposes(meanwhile_another_run_records), room.snapshot())
    assert (owners(room, key), summary(room, key)) == (["502"], "give it to kofi")
    assert [view.mutation_key for view in book.views] == [m.mutation_key for m in room.ledger.mutations_of(key)]


def test_without_a_snapshot_the_rows_are_read_and_nothing_is_planned(room: Room) -> None:
    key = room.admit()
    room.plan(key, Proposes(qualifies), room.snapshot())
    assert [view.step.kind for view in room.plan(key, Proposes(never)).views] == [StepKind.WRITE]


def test_an_event_that_has_its_outcome_is_never_planned(room: Room) -> None:
    key = room.admit()
    room.ledger.close_event(key, Outcome.GONE)
    book = room.plan(key, Proposes(never), room.snapshot())
    assert (book.outcome, book.views) == (Outcome.GONE, ())


@pytest.mark.parametrize(
    ("plan", "outcome"),
    [
        (Plan(summary="nothing"), Outcome.NOTHING_TO_DO),
        (qualifies("nobody"), Outcome.REFUSED),
    ],
)
def test_a_plan_without_effects_ends_the_event(room: Room, plan: Plan, outcome: Outcome) -> None:
    key = room.admit()
    book = room.plan(key, Proposes(lambda: plan), room.snapshot())
    assert (book.outcome, book.views) == (outcome, ())
    assert summary(room, key) == plan.summary


# -- what cannot be recorded -------------------------------------------------------------------------------------------
def raises() -> Plan:
    raise MalformedPlan("the model said nothing that can be used")


def twice() -> Plan:
    return Plan(summary="twice", actions=qualifies("dana").actions + qualifies("kofi").actions)


@pytest.mark.parametrize("propose", [raises, twice])
def test_a_malformed_plan_fails_for_good_by_name(room: Room, propose: object) -> None:
    key = room.admit()
    with pytest.raises(ApplicationError) as failed:
        room.plan(key, Proposes(propose), room.snapshot())  # type: ignore[arg-type]
    assert (failed.value.type, failed.value.non_retryable) == (PLANNER_FAILED, True)
    assert summary(room, key) is None
    assert room.ledger.mutations_of(key) == ()


def key_of(event_key: str) -> str:
    return keys.mutation_key(
        event_key=event_key,
        policy_version=POLICY.version,
        action_kind="qualify",
        target_system="hubspot",
        target_object="contact",
        discriminator=None,
    )


def test_a_key_that_stands_for_another_payload_is_a_problem_for_a_person_and_nothing_is_recorded(room: Room) -> None:
    key = room.admit()
    other = room.event("55")
    standing = planned(room.ledger, other, a_mutation(other, mutation_key=key_of(key)))
    book = room.plan(key, Proposes(qualifies), room.snapshot())
    assert (book.problem, book.views) == (Reason.KEY_CONFLICT, ())
    assert summary(room, key) is None
    assert room.ledger.mutation(key_of(key)) == standing[0]


# -- the target's record -----------------------------------------------------------------------------------------------
def creates() -> Plan:
    action = Action(
        kind=ActionKind.CREATE,
        target_system="hubspot",
        fields={"owner": "dana", "email": "dana@example.com"},
        reason="because",
    )
    return Plan(summary="make one", actions=(action,))


def website(room: Room) -> tuple[str, LeadSnapshot]:
    key = room.admit("7", source_system="website", event_kind="form.submitted", occurrence="7")
    snapshot = room.snapshot(
        source_system="website", source_object="lead", source_record_id="7", fields={"email": "dana@example.com"}
    )
    return key, snapshot.model_copy(update={"record": None})


def test_a_target_that_is_not_the_source_is_looked_up_by_external_id_and_unique_fields(room: Room) -> None:
    key, snapshot = website(room)
    room.crm.found = ABSENT
    room.plan(key, Proposes(creates), snapshot)
    (asked,) = room.crm.asked
    lead = room.ledger.lead(key)
    assert lead is not None
    assert isinstance(asked, RecordRef)
    assert (asked.external_id, asked.unique_fields) == (lead.external_id, {"email": "dana@example.com"})
    (mutation,) = room.ledger.mutations_of(key)
    assert (mutation.intent.creates, mutation.base_state) == (True, None)


def test_a_record_of_another_lead_is_a_question_before_anything_is_written(room: Room) -> None:
    key, snapshot = website(room)
    room.crm.found = one(external_id="x" * 64)
    (view,) = room.plan(key, Proposes(creates), snapshot).views
    assert (view.reason, view.step.kind, view.step.asks) == (
        Reason.NEEDS_APPROVAL,
        StepKind.PERSON,
        Reason.NEEDS_APPROVAL,
    )


def test_a_base_that_was_looked_up_is_as_old_as_its_question(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    key, snapshot = website(room)
    asked_at = room.clock.now()

    def answered_late(*_: object, **__: object) -> LookUp:
        room.clock.forward(10)
        return one(external_id=room.event("7", source_system="website").external_id)

    monkeypatch.setattr(room.crm, "find", answered_late)
    room.plan(key, Proposes(creates), snapshot)
    (mutation,) = room.ledger.mutations_of(key)
    assert mutation.intent.base_read_at == asked_at


@pytest.mark.parametrize(("told", "wait"), [(None, None), (33.0, timedelta(seconds=33))])
def test_nothing_is_planned_on_a_look_up_that_says_nothing(
    room: Room, told: float | None, wait: timedelta | None
) -> None:
    key, snapshot = website(room)
    room.crm.found = LookUp(presence=Presence.UNKNOWN, retry_after_seconds=told)
    with pytest.raises(ApplicationError) as failed:
        room.plan(key, Proposes(creates), snapshot)
    assert (failed.value.type, failed.value.non_retryable, failed.value.next_retry_delay) == (
        TARGET_UNREADABLE,
        False,
        wait,
    )
    assert summary(room, key) is None


def test_a_target_that_no_adapter_is_here_for_is_refused_in_the_plan(room: Room) -> None:
    key = room.admit()
    elsewhere = Plan(
        summary="elsewhere",
        actions=(Action(kind=ActionKind.QUALIFY, target_system="salesforce", fields={"owner": "1"}, reason="r"),),
    )
    assert room.plan(key, Proposes(lambda: elsewhere), room.snapshot()).outcome is Outcome.REFUSED


def test_a_field_of_which_the_target_keeps_no_history_is_refused_unless_the_policy_says_so(room: Room) -> None:
    key = room.admit()
    room.crm.without_history = {"owner"}
    assert room.plan(key, Proposes(qualifies), room.snapshot()).outcome is Outcome.REFUSED


def test_the_snapshot_that_is_kept_is_the_one_that_was_planned_on(room: Room) -> None:
    key = room.admit()
    room.plan(key, Proposes(qualifies), room.snapshot())
    plan = room.ledger.plan_of(key, POLICY.version)
    assert plan is not None
    assert plan.snapshot is not None
    assert plan.snapshot["fields"] == RECORD.fields


def test_a_mutation_that_stands_under_its_key_is_taken_as_it_is(room: Room) -> None:
    key = room.admit()
    first = room.plan(key, Proposes(qualifies), room.snapshot())
    (mutation,) = room.ledger.mutations_of(key)
    claim = room.ledger.claim(
        mutation.mutation_key, version=1, number=1, send_within=timedelta(seconds=5), quiescence=timedelta(seconds=5)
    )
    step = Settlement(status=claim.mutation.status)
    settled: Mutation = room.ledger.settle(mutation.mutation_key, version=claim.mutation.version, step=step).mutation
    again: Book = room.plan(key, Proposes(never), room.snapshot())
    assert again.views[0].version == settled.version > first.views[0].version


# -- a loop with software ----------------------------------------------------------------------------------------------
def writes(room: Room, number: int) -> None:
    """An earlier event of the same record that has written to it."""
    event = room.event(
        event_kind="contact.propertyChange", occurrence=str(number), occurred_at=START + timedelta(seconds=number)
    )
    mutation = room.effect(event, a_mutation(event, provider_record_id="101"))
    done(room.ledger, room.clock, mutation)


@pytest.mark.parametrize(
    ("rounds", "by", "later", "told", "asks"),
    [
        pytest.param(3, "automation:flow", 0, "", True, id="a-loop"),
        pytest.param(3, "us", 0, "", True, id="a-loop-within-our-own-writes"),
        pytest.param(2, "automation:flow", 0, "", False, id="too-few-rounds"),
        pytest.param(3, "person:9001", 0, "", False, id="a-person-answered"),
        pytest.param(3, None, 0, "", False, id="nobody-knows-who"),
        pytest.param(3, "automation:flow", 3601, "", False, id="long-ago"),
        pytest.param(3, "us", 0, "userId:9001", False, id="a-person-whom-we-came-after"),
    ],
)
def test_after_a_few_rounds_with_software_a_person_is_asked_before_the_next_write(
    room: Room, rounds: int, by: str | None, later: float, told: str, asks: bool
) -> None:
    for number in range(rounds):
        writes(room, number)
    room.clock.forward(later)
    key = room.admit(lead={"lead": {}, "extra": {"sourceId": told}})
    record = RECORD.model_copy(update={"raw": {}, "changed_by": by})
    book = room.plan(key, Proposes(qualifies), room.snapshot(record=record))
    (mutation,) = room.ledger.mutations_of(key)
    assert mutation.reason is (Reason.NEEDS_APPROVAL if asks else None)
    plan = room.ledger.plan_of(key, POLICY.version)
    assert plan is not None
    assert ("loop" in (plan.guarded[0].why or "")) is asks
    assert book.views[0].step.kind is (StepKind.PERSON if asks else StepKind.WRITE)
