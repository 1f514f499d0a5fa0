"""Nothing depends on a run staying alive: reset, terminated, deleted, resumed, all with the same single effect."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import ResetReapplyType
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from activities.sweep import Swept
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Reason, Status
from leadproof.domain.review import parse_decision
from leadproof.domain.steps import Arrival
from tests.support.house import House, eventually, eventually_answered
from tests.workflows.test_reviews import BIG
from workflows import options
from workflows.contract import LEAD_WORKFLOW, LEADS_QUEUE, SWEEP_WORKFLOW


async def _sweep(house: House) -> Swept:
    swept: Swept = await house.client.execute_workflow(
        SWEEP_WORKFLOW, id=f"sweep-{uuid.uuid4()}", task_queue=LEADS_QUEUE, result_type=Swept
    )
    return swept


async def _reset(house: House, workflow_id: str, event_id: int) -> None:
    await house.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=house.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            reason="a test",
            workflow_task_finish_event_id=event_id,
            request_id=str(uuid.uuid4()),
            reset_reapply_type=ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE,
        )
    )


async def test_a_reset_run_makes_no_second_effect(house: House) -> None:
    record_id, key = await house.lead()
    await house.outcome(key, Outcome.DONE)
    for place in (-1, 2, 1, 0):  # backwards: a run that was reset finds its outcome and is shorter
        history = await house.handle(key).fetch_history()
        completed = [e.event_id for e in history.events if e.HasField("workflow_task_completed_event_attributes")]
        await _reset(house, f"lead:{key}", completed[place])
        assert await house.client.get_workflow_handle(f"lead:{key}").result() == Outcome.DONE
    assert len(house.writes(record_id)) == 1


async def test_a_run_that_was_terminated_is_resumed_by_the_sweep(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    await house.outcome(key, Outcome.REVIEW)
    item = house.ledger.review_of(house.mutation(key).mutation_key)
    assert item is not None
    await house.handle(key).terminate("a test")
    await eventually_answered(lambda: _resumed(house, key), within=20)
    lead = house.ledger.lead(key)
    assert lead is not None
    assert (lead.run, lead.workflow_id) == (1, f"lead:{key}:r1")
    assert (await house.decide(item.review_id, "approve")).status_code == 200
    await house.outcome(key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1


async def _resumed(house: House, key: str) -> bool:
    await _sweep(house)
    lead = house.ledger.lead(key)
    return lead is not None and lead.run == 1


async def test_a_decision_for_a_run_that_is_closed_resumes_the_lead(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    await house.outcome(key, Outcome.REVIEW)
    item = house.ledger.review_of(house.mutation(key).mutation_key)
    assert item is not None
    await house.handle(key).terminate("a test")
    answer = await house.decide(item.review_id, "approve")
    assert answer.status_code in {200, 202}
    lead = await house.outcome(key, Outcome.DONE)
    assert lead.run == 1
    assert len(house.writes(record_id)) == 1


async def test_a_run_that_ends_twice_without_an_outcome_becomes_a_question(house: House) -> None:
    _, key = await house.lead(**BIG)
    await house.outcome(key, Outcome.REVIEW)
    await house.handle(key).terminate("a test")
    await eventually_answered(lambda: _resumed(house, key), within=20)
    await house.handle(key).terminate("a test")

    async def asked() -> bool:
        await _sweep(house)
        item = house.ledger.review_of(key)
        return item is not None and item.reason == Reason.RUN_FAILED

    await eventually_answered(asked, within=20)
    lead = house.ledger.lead(key)
    assert lead is not None
    assert lead.run == 1


async def test_a_redelivery_after_temporal_has_forgotten_the_run_is_refused_by_the_ledger(house: House) -> None:
    # the row of a lead whose run Temporal does not know: what retention leaves
    record_id = house.contact()
    event = house.creation(record_id)
    key = house.key_of(record_id)
    house.ledger.admit([Arrival(event=house.admitted(record_id))])
    house.ledger.close_event(key, Outcome.GONE)
    assert await house.deliver(event) == {
        "received": 1, "started": 0, "duplicate": 1, "conflict": 0, "ignored": 0, "echo": 0, "quarantined": 0,
    }  # fmt: skip
    with pytest.raises(RPCError, match="not found"):
        await house.handle(key).describe()
    assert house.writes(record_id) == []


async def test_a_mutation_waits_for_the_one_that_holds_its_record(house: House) -> None:
    record_id = house.contact()
    edit = {"fields": {"hubspot_owner_id": ""}, "user": "9003", "moment": "after_write"}
    house.control.fault("human_edit", match=record_id, args=edit)
    await house.deliver(house.creation(record_id))
    first = house.key_of(record_id)
    await house.outcome(first, Outcome.REVIEW)
    house.control.person("9003", record_id, company="Acme Ltd")
    change = house.change(record_id, "company", "Acme Ltd")
    await house.deliver(change)
    second = await eventually(lambda: _other_lead(house, record_id, first))
    await house.until(second, lambda lead: any(m.reason is Reason.WAITS for m in house.mutations(second)))
    assert len(house.writes(record_id)) == 1
    item = house.ledger.review_of(house.mutation(first).mutation_key)
    assert item is not None
    assert (await house.decide(item.review_id, "accept")).status_code == 200
    await house.outcome(first, Outcome.SUPERSEDED)
    await house.outcome(second, Outcome.DONE)
    assert house.properties(record_id)["hubspot_owner_id"] == "505"


def _other_lead(house: House, record_id: str, known: str) -> str | None:
    mutations, _ = house.ledger.mutations(source_record_id=record_id)
    return next((m.event_key for m in mutations if m.event_key != known), None)


async def test_an_older_event_yields_to_a_newer_one_that_set_the_same(house: House) -> None:
    record_id, older = await house.lead(**BIG)
    await house.outcome(older, Outcome.REVIEW)
    await house.deliver(house.change(record_id, "company", "Acme"))
    newer = await eventually(lambda: _other_lead(house, record_id, older))
    await house.outcome(newer, Outcome.REVIEW)
    for key, expected in ((newer, Outcome.DONE), (older, Outcome.SUPERSEDED)):
        item = house.ledger.review_of(house.mutation(key).mutation_key)
        assert item is not None
        assert (await house.decide(item.review_id, "approve")).status_code == 200
        await house.outcome(key, expected)
    assert (house.mutation(older).status, house.mutation(older).reason) == (Status.SUPERSEDED, Reason.NEWER_EVENT)
    assert len(house.writes(record_id)) == 1


async def test_twenty_deliveries_at_once_start_one_run(house: House) -> None:
    record_id = house.contact()
    event = house.creation(record_id)
    counts = await asyncio.gather(*(house.deliver(event) for _ in range(20)))
    assert sum(count["started"] for count in counts) == 1
    assert sum(count["duplicate"] for count in counts) == 19
    await house.outcome(house.key_of(record_id), Outcome.DONE)
    described = await house.handle(house.key_of(record_id)).describe()
    assert described.status in {WorkflowExecutionStatus.COMPLETED, WorkflowExecutionStatus.RUNNING}
    assert len(house.writes(record_id)) == 1


async def test_a_run_whose_key_no_ledger_knows_ends_and_says_so(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(options.READ_SOURCE, "schedule_to_close_timeout", timedelta(seconds=1.5))
    name = f"lead:unknown-{uuid.uuid4()}"
    run = await house.client.start_workflow(LEAD_WORKFLOW, "unknown", id=name, task_queue=LEADS_QUEUE)
    assert await run.result() == Outcome.NOTHING_TO_DO
    assert "another deployment in this Temporal namespace" in (await run.query("status"))["problem"]
    told = await run.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    assert "each ledger needs a namespace of its own" in told.current_details


async def test_a_worker_that_does_not_know_a_lead_leaves_it_to_the_one_that_does(house: House) -> None:
    """The ledger without the row is the other deployment's; the same with it is the right one."""
    record_id = house.contact()
    key = house.key_of(record_id)
    run = await house.client.start_workflow(LEAD_WORKFLOW, key, id=f"lead:{key}", task_queue=LEADS_QUEUE)

    async def failed() -> bool:
        described = await run.describe()
        pending = described.raw_description.pending_activities
        return any("knows no such lead" in activity.last_failure.message for activity in pending)

    await eventually_answered(failed)
    await house.deliver(house.creation(record_id))
    await house.outcome(key, Outcome.DONE)
    assert await run.result() == Outcome.DONE
    assert len(house.writes(record_id)) == 1


async def test_a_decision_of_which_its_run_never_heard_is_taken_to_it_by_the_sweep(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    await house.outcome(key, Outcome.REVIEW)
    item = house.ledger.review_of(house.mutation(key).mutation_key)
    assert item is not None
    sent = {"decision_id": "c-1", "review_id": item.review_id, "version": item.version, "decision": "approve"}
    house.ledger.record_decision(parse_decision([sent]), reviewer="person:dana", via="page")
    # after this row Temporal was out of reach, or the starter was killed
    await eventually_answered(lambda: _told(house), within=20)
    await house.outcome(key, Outcome.DONE)
    assert [(one.reviewer, one.via, one.verdict) for one in house.ledger.decisions_of(key)] == [
        ("person:dana", "page", "applied")
    ]
    assert len(house.writes(record_id)) == 1


async def _told(house: House) -> bool:
    return (await _sweep(house)).told == 1
