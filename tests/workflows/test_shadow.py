"""Shadow mode, from a signed delivery to the comparison; the witness is asked whether anything was written."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Schedule, ScheduleActionStartWorkflow
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.agreement import Agreement, beside
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.plan import Verdict
from starter.start import Started, resume_lead
from tests.support.house import House, a_house, quick_policy
from workers.preparation import ensure_schedule
from workflows.contract import sweep_schedule_of

SHADOW = {
    "LEADPROOF_MODE": "shadow",
    "LEADPROOF_ENVIRONMENT": "tests-shadow",
    "LEADPROOF_SHADOW_AFTER_SECONDS": "0.1",
}
PATIENT = {"observation_window_seconds = 20": "observation_window_seconds = 20"}
"""A look that is held up by a test must not end before the test lets it."""


@pytest.fixture(scope="module")
async def _shadow(temporal: WorkflowEnvironment, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    folder = tmp_path_factory.mktemp("shadow")
    async with a_house(temporal.client, folder, policy=quick_policy(**PATIENT), more=SHADOW) as house:
        yield house


@pytest.fixture
def house(_shadow: House) -> Iterator[House]:
    """A house in shadow mode; whatever a test does in it, its HubSpot has not been written to."""
    yield _shadow
    _shadow.control.delete("/faults")
    assert _shadow.control.requests("contacts.write") == []


def _compared(mutation: Mutation) -> dict[str, Agreement]:
    assert (mutation.status, mutation.reason) == (Status.ABANDONED, Reason.SHADOW)
    return {row.field: row.agreement for row in beside(mutation)}


def _verdicts(house: House, mutation: Mutation) -> list[str]:
    receipts = house.ledger.receipts(mutation.mutation_key)
    assert receipts is not None
    assert (receipts.attempts, receipts.review) == ((), None)
    return [observation.verdict for observation in receipts.observations]


async def test_what_would_have_been_written_is_compared_and_not_written(house: House) -> None:
    record_id, key = await house.lead()
    before = house.properties(record_id)
    await house.outcome(key, Outcome.ABANDONED)
    mutation = house.mutation(key)
    assert set(_compared(mutation).values()) == {Agreement.UNTOUCHED}
    assert {row.intended for row in beside(mutation)} >= {"505", "marketingqualifiedlead"}
    assert _verdicts(house, mutation) == ["one"]
    assert house.properties(record_id) == before
    run = house.handle(key)
    described = await run.describe()
    assert described.task_queue == "leads-shadow"
    assert "shadow: nothing is written" in str(await described.static_summary())
    told = await run.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    assert "nothing is written" in told.current_details
    activities = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in (await run.fetch_history()).events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    assert activities == ["read_source", "plan", "reconcile"]


async def test_what_a_person_did_meanwhile_stands_beside_it_also_while_hubspot_is_down(house: House) -> None:
    record_id = house.contact()
    house.control.fault("status", operation="contacts.read", match=record_id, after=1, times=1000, args={"status": 500})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await house.until(key, lambda _: any(_verdicts(house, one) for one in house.mutations(key)))
    house.control.person("9003", record_id, hubspot_owner_id="503", lifecyclestage="marketingqualifiedlead")
    house.control.delete("/faults")
    await house.outcome(key, Outcome.ABANDONED)
    mutation = house.mutation(key)
    compared = _compared(mutation)
    assert (compared["owner"], compared["lifecycle_stage"]) == (Agreement.PERSON, Agreement.EQUAL)
    owner = next(row for row in beside(mutation) if row.field == "owner")
    assert (owner.intended, owner.observed, owner.changed_by) == ("505", "503", "person:9003")
    *unanswered, last = _verdicts(house, mutation)
    assert (set(unanswered), last) == ({"unknown"}, "one")


async def test_nobody_is_asked_for_an_approval(house: House) -> None:
    _, key = await house.lead(numemployees="1000+")
    lead = await house.outcome(key, Outcome.ABANDONED, Outcome.REVIEW)
    assert lead.outcome is Outcome.ABANDONED
    plan = house.ledger.plan_of(key, lead.policy_version)
    assert plan is not None
    assert [action.verdict for action in plan.guarded] == [Verdict.FOR_A_PERSON]
    _verdicts(house, house.mutation(key))


async def test_effects_that_depend_on_each_other_are_each_looked_at(house: House) -> None:
    _, key = await house.lead(lifecyclestage="customer")
    await house.outcome(key, Outcome.ABANDONED)
    mutations = house.mutations(key)
    assert [mutation.action_kind for mutation in mutations] == ["qualify", "clear_stage", "set_stage"]
    assert [_verdicts(house, mutation) for mutation in mutations] == [["one"]] * 3
    assert all(_compared(mutation) for mutation in mutations)


@pytest.mark.parametrize("meanwhile", [False, True])
async def test_a_contact_that_would_have_been_made_is_looked_for(house: House, meanwhile: bool) -> None:
    number = uuid.uuid4().hex
    email = f"{number}@lead.example"
    if meanwhile:  # the look-up before the plan finds nothing, those after it nothing that can be trusted
        house.control.fault("status", "contacts.read", match=email, after=2, times=1000, args={"status": 500})
    form = {
        "source_record_id": f"form-{number}",
        "event_kind": "form.submitted",
        "occurrence": number,
        "occurred_at": "2026-11-01T10:00:00Z",
        "lead": {"email": email, "first_name": "Ada", "country": "US", "company": "Acme"},
    }
    answer = await house.http.post("/v1/leads", json=form, headers=house.authorized)
    assert answer.status_code == 202, answer.text
    key = answer.json()["event_key"]
    made = None
    if meanwhile:
        await house.until(key, lambda _: any(_verdicts(house, one) for one in house.mutations(key)))
        made = house.control.person("9003", email=email, firstname="Ada", company="Acme Holding")["id"]
        house.control.delete("/faults")
    await house.outcome(key, Outcome.ABANDONED)
    mutation = house.mutation(key)
    compared = _compared(mutation)
    assert mutation.action_kind == "create"
    assert mutation.provider_record_id == made
    assert mutation.observed_state is not None
    if meanwhile:
        assert (compared["first_name"], compared["company"]) == (Agreement.EQUAL, Agreement.PERSON)
    else:
        assert mutation.observed_state["presence"] == "absent"
        assert set(compared.values()) == {Agreement.UNSEEN}
        assert [one for one in house.control.records() if one["properties"].get("email") == email] == []


async def test_the_sweep_of_shadow_mode_is_one_of_its_own(house: House) -> None:
    await ensure_schedule(house.client, house.settings)
    handle = house.client.get_schedule_handle(sweep_schedule_of(house.settings.environment))
    try:
        schedule: Schedule = (await handle.describe()).schedule
        action = schedule.action
        assert isinstance(action, ScheduleActionStartWorkflow)
        assert (handle.id, action.task_queue, action.id) == (
            "leadproof-sweep-shadow",
            "leads-shadow",
            "leadproof-sweep-run-shadow",
        )
    finally:
        await handle.delete()


async def test_a_run_that_ended_is_resumed_and_still_writes_nothing(house: House) -> None:
    record_id = house.contact()
    house.control.fault("status", operation="contacts.read", match=record_id, after=1, times=1000, args={"status": 500})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    lead = await house.until(key, lambda _: any(_verdicts(house, one) for one in house.mutations(key)))
    planned = house.mutation(key).mutation_key
    await house.handle(key).terminate()
    house.control.delete("/faults")
    assert isinstance(await resume_lead(house.ledger, house.client, lead), Started)
    resumed = await house.outcome(key, Outcome.ABANDONED)
    assert resumed.run == 1
    assert _compared(house.mutation(key))
    assert house.mutation(key).mutation_key == planned
