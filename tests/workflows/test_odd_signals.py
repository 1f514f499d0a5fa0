"""Whatever is sent to a run, and whenever: nothing is lost, nobody speaks in another's name, and the run goes on."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload, Payloads, WorkflowExecution
from temporalio.api.workflowservice.v1 import SignalWorkflowExecutionRequest
from temporalio.client import WorkflowUpdateFailedError
from temporalio.common import RawValue

from activities.review import ReviewActivities
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Reason
from leadproof.domain.review import DecisionVerdict, ReviewItem
from leadproof.ledger.engine import connect
from leadproof.ledger.tables import REVIEW_DECISION
from tests.support.house import House, eventually, eventually_answered
from tests.workflows.test_recovery import _reset
from tests.workflows.test_reviews import BIG
from workflows.contract import SIGNAL_DECIDE, SIGNAL_RECORD_FREE, UPDATE_SUBMIT_DECISION

SURROGATE = b'{"review_id": "x", "reason": "\\ud800 anna@muster.example"}'


async def _asked(house: House) -> tuple[str, str, ReviewItem]:
    record_id, key = await house.lead(**BIG)
    await house.outcome(key, Outcome.REVIEW)
    item = house.ledger.review_of(house.mutation(key).mutation_key)
    assert item is not None
    return record_id, key, item


def _approval(item: ReviewItem, **more: Any) -> dict[str, Any]:
    return {"review_id": item.review_id, "version": item.version, "decision": "approve", "reason": "a test"} | more


async def _signal(house: House, key: str, data: bytes, *, identity: str, **metadata: bytes) -> None:
    """A signal whose one input is exactly these bytes, as any program can send it."""
    described = {"encoding": b"json/plain"} | metadata
    await house.client.workflow_service.signal_workflow_execution(
        SignalWorkflowExecutionRequest(
            namespace=house.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=house.handle(key).id),
            signal_name=SIGNAL_DECIDE,
            input=Payloads(payloads=[Payload(metadata=described, data=data)]),
            identity=identity,
        )
    )


def _decisions(house: House, key: str) -> list[tuple[str, str]]:
    """Reviewer and verdict of each decision since this lead came in, as they came."""
    lead = house.ledger.lead(key)
    assert lead is not None
    since = lead.first_seen_at
    query = REVIEW_DECISION.select().order_by(REVIEW_DECISION.c.decided_at)
    engine = connect(house.settings.ledger_url)
    try:
        rows = engine.read(lambda connection: connection.execute(query).fetchall())
    finally:
        engine.dispose()
    return [(row.reviewer, row.verdict) for row in rows if row.decided_at >= since]


async def test_a_signal_that_cannot_be_read_is_kept_under_its_sender_and_moves_nobody_elses(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    record_id, key, item = await _asked(house)
    with caplog.at_level(logging.DEBUG):
        await _signal(house, key, SURROGATE, identity="alice@corp.example")
        body = house.client.data_converter.payload_converter.to_payload(_approval(item)).data
        await _signal(house, key, body, identity="bob@corp.example")
        await house.outcome(key, Outcome.DONE)
    decided = _decisions(house, key)
    assert ("temporal:alice@corp.example", DecisionVerdict.MALFORMED) in decided
    assert ("temporal:bob@corp.example", DecisionVerdict.APPLIED) in decided
    assert len(house.writes(record_id)) == 1
    assert "muster" not in caplog.text


@pytest.mark.parametrize(
    ("metadata", "data"),
    [
        ({"encoding": b"binary/plain"}, b"\xff\xfe"),
        ({"encoding": b"json/protobuf", "messageType": b"temporal.api.common.v1.WorkflowType"}, b"{}"),
        ({"encoding": b"json/plain"}, b'"' + b"x" * 2_097_000 + b'"'),
    ],
    ids=["bytes", "message", "large"],
)
async def test_a_signal_that_no_step_could_be_handed_stops_nobody(
    house: House, metadata: dict[str, bytes], data: bytes
) -> None:
    record_id, key, item = await _asked(house)
    await _signal(house, key, data, identity="alice@corp.example", **metadata)
    await eventually(lambda: _decisions(house, key) or None)
    assert _decisions(house, key) == [("temporal:alice@corp.example", DecisionVerdict.MALFORMED)]
    assert (await house.decide(item.review_id, "approve")).status_code == 200
    await house.outcome(key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1


async def test_an_update_that_cannot_be_read_is_refused_without_repeating_it(house: House) -> None:
    _, key, item = await _asked(house)
    raw = RawValue(Payload(metadata={"encoding": b"json/plain"}, data=SURROGATE))
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await house.handle(key).execute_update(UPDATE_SUBMIT_DECISION, raw)
    assert "muster" not in str(refused.value) + str(refused.value.__cause__)
    assert (await house.decide(item.review_id, "abandon")).status_code == 200


async def test_a_record_that_is_said_to_be_free_wakes_only_who_waits_for_it(house: House) -> None:
    record_id, key, item = await _asked(house)
    await house.handle(key).signal(SIGNAL_RECORD_FREE)
    await eventually_answered(lambda: _in_review(house, key))
    assert (await house.decide(item.review_id, "approve")).status_code == 200
    await house.outcome(key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1


async def _in_review(house: House, key: str) -> bool:
    """Whether the run answers and knows of its question, as the ledger does a moment before."""
    status = await house.handle(key).query("status")
    return bool(status["outcome"] == Outcome.REVIEW)


async def test_a_reset_run_that_was_sent_decisions_before_goes_on(house: House) -> None:
    """Temporal hands signals and updates to the new run before its first line."""
    record_id, key, item = await _asked(house)
    handle = house.handle(key)
    await handle.signal(SIGNAL_DECIDE, {"x": 1})
    await eventually(lambda: _decisions(house, key) or None)
    await _reset(house, handle.id, await _first_task(house, key))
    answer = await house.decide(item.review_id, "approve")
    assert (answer.status_code, answer.json()["verdict"]) == (200, "applied")
    await house.outcome(key, Outcome.DONE)
    await _reset(house, handle.id, await _first_task(house, key))
    assert await house.client.get_workflow_handle(handle.id).result() == Outcome.DONE
    assert len(house.writes(record_id)) == 1
    verdicts = [verdict for _, verdict in _decisions(house, key)]
    assert verdicts.count(DecisionVerdict.APPLIED) == 1
    assert verdicts.count(DecisionVerdict.MALFORMED) == 1


async def test_what_no_waiting_cures_becomes_a_question(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that fails by a fault of ours is not tried for ever: a person is asked, and can have it planned again."""
    record_id, key, item = await _asked(house)

    def fails(*_: object) -> None:
        raise KeyError("anna@muster.example")

    with monkeypatch.context() as patched:
        patched.setattr(ReviewActivities, "_apply", fails)
        await house.handle(key).signal(SIGNAL_DECIDE, _approval(item))
        asked = await eventually(lambda: house.ledger.review_of(key))
    assert asked.reason == Reason.RUN_FAILED
    await eventually_answered(lambda: _told(house, key))
    assert (await house.decide(asked.review_id, "plan_again")).status_code == 200
    await house.outcome(key, Outcome.DONE)  # the approval was in the ledger before it failed, and is applied now
    assert len(house.writes(record_id)) == 1


async def _told(house: House, key: str) -> bool:
    status = await house.handle(key).query("status")
    return bool(status["outcome"] == Outcome.REVIEW and status["problem"] is None)  # no text that is not ours


async def _first_task(house: House, key: str) -> int:
    history = await house.client.get_workflow_handle(house.handle(key).id).fetch_history()
    return next(e.event_id for e in history.events if e.HasField("workflow_task_completed_event_attributes"))
