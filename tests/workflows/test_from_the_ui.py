"""What a person can do to a run in Temporal's UI: reset, terminate, delete, start again; one effect at the witness."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import WorkflowExecutionStatus, WorkflowHandle
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Status
from tests.support.house import House, eventually, eventually_answered
from tests.workflows.test_recovery import _reset, _sweep
from tests.workflows.test_reviews import BIG, _asked, _decided
from workflows.contract import LEAD_WORKFLOW, LEADS_QUEUE, SIGNAL_DECIDE


async def _unread(house: House) -> tuple[str, str]:
    """A lead whose write has landed and cannot be read back: record id and event key."""
    record_id = house.contact()
    house.control.fault("status", operation="contacts.read", after=1, times=1000, match=record_id, args={"status": 503})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await eventually(lambda: [row for row in house.writes(record_id) if row["applied"]])
    await house.until(key, lambda lead: house.mutation(key).status in {Status.SUBMITTED, Status.UNCERTAIN})
    return record_id, key


async def _first_task(handle: WorkflowHandle[Any, Any]) -> int:
    history = await handle.fetch_history()
    completed = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    return next(event.event_id for event in history.events if event.event_type == completed)


async def test_a_reset_to_the_first_task_after_the_write_landed_makes_no_second_effect(house: House) -> None:
    record_id, key = await _unread(house)
    await _reset(house, f"lead:{key}", await _first_task(house.handle(key)))
    house.control.delete("/faults")
    await house.outcome(key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1
    assert len(house.ledger.attempts_of(house.mutation(key).mutation_key)) == 1


async def test_a_reset_while_the_request_is_on_its_way_makes_no_second_effect(house: House) -> None:
    record_id = house.contact()
    house.control.fault("delay", match=record_id, args={"seconds": 0.8})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await eventually(lambda: house.writes(record_id))
    await _reset(house, f"lead:{key}", await _first_task(house.handle(key)))
    await house.outcome(key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1


async def test_of_two_sweeps_at_once_one_resumes_what_was_terminated_before_its_read_back(house: House) -> None:
    record_id, key = await _unread(house)
    await house.handle(key).terminate("a test")
    house.control.delete("/faults")

    async def resumed() -> bool:
        await asyncio.gather(_sweep(house), _sweep(house))
        lead = house.ledger.lead(key)
        return lead is not None and lead.run > 0

    await eventually_answered(resumed, within=20)
    lead = await house.outcome(key, Outcome.DONE)
    assert (lead.run, lead.workflow_id) == (1, f"lead:{key}:r1")
    assert not await _is_there(house, f"lead:{key}:r2")
    assert len(house.writes(record_id)) == 1


async def _is_there(house: House, workflow_id: str) -> bool:
    try:
        await house.client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return False
    return True


async def _deleted(house: House, workflow_id: str) -> None:
    asked = WorkflowExecution(workflow_id=workflow_id)
    request = DeleteWorkflowExecutionRequest(namespace=house.client.namespace, workflow_execution=asked)
    await house.client.workflow_service.delete_workflow_execution(request)

    async def gone() -> bool:
        return not await _is_there(house, workflow_id)

    await eventually_answered(gone)


async def test_a_redelivery_after_the_run_of_a_lead_that_is_done_was_deleted_starts_nothing(house: House) -> None:
    record_id = house.contact()
    event = house.creation(record_id)
    await house.deliver(event)
    key = house.key_of(record_id)
    await house.outcome(key, Outcome.DONE)
    await _deleted(house, f"lead:{key}")
    counts = await house.deliver(event)
    assert (counts["duplicate"], counts["started"]) == (1, 0)
    assert not await _is_there(house, f"lead:{key}")
    assert len(house.writes(record_id)) == 1


async def test_a_redelivery_after_an_open_run_was_deleted_goes_on_where_it_was(house: House) -> None:
    record_id = house.contact(**BIG)
    event = house.creation(record_id)
    await house.deliver(event)
    key = house.key_of(record_id)
    _, item = await _asked(house, key)
    await _deleted(house, f"lead:{key}")
    assert (await house.deliver(event))["started"] == 1
    await _decided(house, item, "approve")
    lead = await house.outcome(key, Outcome.DONE)
    assert lead.run == 0
    assert len(house.writes(record_id)) == 1


async def _started(house: House, key: str, workflow_id: str) -> WorkflowHandle[Any, Any]:
    """As the UI's *Start Workflow Like This One* does: no policy of ours comes with it."""
    return await house.client.start_workflow(LEAD_WORKFLOW, key, id=workflow_id, task_queue=LEADS_QUEUE)


async def test_another_run_of_the_same_id_is_refused_while_one_is_open_and_finds_all_done_later(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    with pytest.raises(WorkflowAlreadyStartedError):
        await _started(house, key, f"lead:{key}")
    await _decided(house, item, "approve")
    await house.outcome(key, Outcome.DONE)
    await house.handle(key).result()
    again = await _started(house, key, f"lead:{key}")
    assert await again.result() == Outcome.DONE
    assert len(house.writes(record_id)) == 1


async def test_a_run_under_an_id_typed_by_hand_leaves_the_lead_to_its_own_run_and_ends(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    by_hand = await _started(house, key, f"by-hand-{uuid.uuid4()}")
    assert await asyncio.wait_for(by_hand.result(), 10) == Outcome.REVIEW
    assert f"lead:{key}" in (await by_hand.query("status"))["problem"]
    await _decided(house, item, "approve")
    await house.outcome(key, Outcome.DONE)
    assert await house.handle(key).result() == Outcome.DONE
    assert len(house.writes(record_id)) == 1


async def test_a_run_under_an_id_typed_by_hand_resumes_a_lead_whose_own_run_is_closed(house: House) -> None:
    record_id, key = await _unread(house)
    await house.handle(key).terminate("a test")
    house.control.delete("/faults")
    by_hand = await _started(house, key, f"by-hand-{uuid.uuid4()}")
    lead = await house.outcome(key, Outcome.DONE)
    assert (lead.run, lead.workflow_id) == (1, f"lead:{key}:r1")
    await asyncio.wait_for(by_hand.result(), 10)
    assert len(house.writes(record_id)) == 1


async def test_a_run_that_was_reset_after_another_was_elected_leaves_the_lead_to_that_one(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    first = house.handle(key)
    await first.terminate("a test")

    async def resumed() -> bool:
        await _sweep(house)
        return await _is_there(house, f"lead:{key}:r1")

    await eventually_answered(resumed, within=20)
    await _reset(house, f"lead:{key}", await _first_task(first))
    assert await asyncio.wait_for(house.client.get_workflow_handle(f"lead:{key}").result(), 10) == Outcome.REVIEW
    described = await house.client.get_workflow_handle(f"lead:{key}:r1").describe()
    assert described.status is WorkflowExecutionStatus.RUNNING
    await _decided(house, item, "approve")
    await house.outcome(key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1


async def test_a_run_that_was_cancelled_while_its_request_was_on_its_way_is_resumed(house: House) -> None:
    record_id = house.contact()
    house.control.fault("delay", match=record_id, args={"seconds": 0.8})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await eventually(lambda: house.writes(record_id))
    await house.handle(key).cancel()

    async def resumed() -> bool:
        await _sweep(house)
        return await _is_there(house, f"lead:{key}:r1")

    await eventually_answered(resumed, within=20)
    await house.outcome(key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1


async def test_what_is_decided_in_a_run_that_is_not_the_leads_own_reaches_its_own_run(house: House) -> None:
    """`temporal workflow signal-with-start`, and a reset, which brings a run its old signals once more."""
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    decided = {"review_id": item.review_id, "version": item.version, "decision": "approve", "reason": "by a test"}
    other = await house.client.start_workflow(
        LEAD_WORKFLOW,
        key,
        id=f"by-hand-{uuid.uuid4()}",
        task_queue=LEADS_QUEUE,
        start_signal=SIGNAL_DECIDE,
        start_signal_args=[decided],
    )
    await asyncio.wait_for(other.result(), 10)
    await house.outcome(key, Outcome.DONE)
    assert await house.handle(key).result() == Outcome.DONE
    assert len(house.writes(record_id)) == 1
    (row,) = house.ledger.decisions_of(key)
    assert (row.decision, row.verdict) == ("approve", "applied")
