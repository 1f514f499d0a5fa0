"""The end of a question's window: a durable timer of the run, with the ledger's clock and Temporal's moved together."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import WorkflowHandle
from temporalio.testing import TimeSkipper, TimeSkippingConfig, WorkflowEnvironment

from activities.sweep import Swept
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Reason, Status
from leadproof.domain.review import BY_TIMER, DecisionVerdict, ReviewItem, ReviewState
from tests.conftest import a_server
from tests.support.house import EMBEDDED_VERSION, House, a_house, eventually, eventually_answered, quick_policy
from workflows.contract import LEADS_QUEUE, SWEEP_WORKFLOW

BIG = {"numemployees": "1000+"}
WINDOW = timedelta(hours=48)
SKIPS = ("--dynamic-config-value", "frontend.WorkflowTimeSkippingEnabled=true")
ABANDONS = {"due_hours = 4": "due_hours = 4\nabandon_after_hours = 48"}


class Ahead:
    """The system's clock, ahead of it by as much as it was moved."""

    def __init__(self) -> None:
        self.by = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.by

    def monotonic(self) -> float:
        return time.monotonic() + self.by.total_seconds()


class Years:
    """A house in which hours pass at once, for the run and for the ledger."""

    def __init__(self, house: House, clock: Ahead) -> None:
        self.house = house
        self._clock = clock
        self._skipper = TimeSkipper(house.client, config=TimeSkippingConfig(enabled=False))

    async def asked(self) -> tuple[str, str, ReviewItem]:
        """A lead whose one effect waits for an approval: its record, its key and the question."""
        record_id, key = await self.house.lead(**BIG)
        await self.house.outcome(key, Outcome.REVIEW)
        item = self.house.ledger.review_of(self.house.mutation(key).mutation_key)
        assert item is not None
        await self.timed(key)
        return record_id, key, item

    async def timed(self, key: str) -> None:
        """Once the run's timer stands."""
        await eventually_answered(lambda: _has(self.house.handle(key), "timer_started_event_attributes"))

    async def forward(self, handle: WorkflowHandle[object, object] | None, by: timedelta) -> None:
        """Let time pass: first for the ledger, then for the run, if there is one."""
        self._clock.by += by
        if handle is not None:
            await self._skipper.fast_forward(handle, by)

    def item(self, item: ReviewItem) -> ReviewItem:
        standing = self.house.ledger.review(item.review_id)
        assert standing is not None
        return standing


@pytest.fixture(scope="module")
async def skipping() -> AsyncIterator[WorkflowEnvironment]:
    async with await a_server(*SKIPS) as server:
        yield server


@pytest.fixture
async def years(skipping: WorkflowEnvironment, tmp_path: Path) -> AsyncIterator[Years]:
    clock = Ahead()
    async with a_house(skipping.client, tmp_path, policy=quick_policy(**ABANDONS), clock=clock, worker=False) as house:
        yield Years(house, clock)


def decided(years: Years, key: str, item: ReviewItem) -> None:
    """That the policy gave it up, exactly once."""
    (row,) = years.house.ledger.decisions_of(key)
    assert (row.decision, row.reviewer, row.via) == ("abandon", f"policy:{EMBEDDED_VERSION}", BY_TIMER)
    assert (row.review_id, row.verdict) == (item.review_id, DecisionVerdict.APPLIED)
    assert years.item(item).state is ReviewState.EXPIRED
    mutation = years.house.mutation(key)
    assert (mutation.status, mutation.reason) == (Status.ABANDONED, Reason.DECLINED)


async def test_what_nobody_decides_is_given_up_when_its_window_ends_and_not_before(years: Years) -> None:
    async with years.house.worked():
        record_id, key, item = await years.asked()
        assert item.expires_at == item.due_at - timedelta(hours=4) + WINDOW
        handle = years.house.handle(key)
        await years.forward(handle, timedelta(hours=47))
        assert (await handle.query("status"))["outcome"] == Outcome.REVIEW
        assert years.item(item).state is ReviewState.OPEN
        await years.forward(handle, timedelta(hours=1))
        assert await handle.result() == Outcome.ABANDONED
    decided(years, key, item)
    assert years.house.writes(record_id) == []


async def test_a_window_that_ends_while_no_worker_runs_ends_when_one_is_back(years: Years) -> None:
    async with years.house.worked():
        _, key, item = await years.asked()
    handle = years.house.handle(key)
    async with passing(years.forward(handle, WINDOW * 2)):
        await eventually_answered(lambda: _has(handle, "timer_fired_event_attributes"))
        assert years.item(item).state is ReviewState.OPEN
        async with years.house.worked():
            assert await handle.result() == Outcome.ABANDONED
    async with years.house.worked():
        decided(years, key, item)
        history = await handle.fetch_history()
        first = next(e.event_id for e in history.events if e.HasField("workflow_task_completed_event_attributes"))
        await years.house.client.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace=years.house.client.namespace,
                workflow_execution=WorkflowExecution(workflow_id=handle.id),
                reason="a test",
                workflow_task_finish_event_id=first,
                request_id=str(uuid.uuid4()),
            )
        )
        assert await years.house.client.get_workflow_handle(handle.id).result() == Outcome.ABANDONED
    decided(years, key, item)


async def test_a_person_who_decided_while_no_worker_ran_is_before_the_policy(
    years: Years, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("starter.decisions.ANSWER_SECONDS", 0.4)
    async with years.house.worked():
        record_id, key, item = await years.asked()
    kept = await years.house.decide(item.review_id, "approve")
    assert kept.status_code == 202
    await years.forward(None, WINDOW)
    async with years.house.worked():
        await years.house.outcome(key, Outcome.DONE)
    assert years.item(item).state is ReviewState.DECIDED
    assert [row.verdict for row in years.house.ledger.decisions_of(key) if row.via == BY_TIMER] in ([], ["repeated"])
    assert len(years.house.writes(record_id)) == 1


async def test_a_run_that_was_terminated_is_resumed_and_its_timer_stands_again(years: Years) -> None:
    async with years.house.worked():
        _, key, item = await years.asked()
        await years.house.handle(key).terminate()
        await years.forward(None, timedelta(hours=1))
        await _swept(years)
        handle = years.house.handle(key)
        assert handle.id == f"lead:{key}:r1"
        await years.timed(key)
        await years.forward(handle, timedelta(hours=46))
        assert years.item(item).state is ReviewState.OPEN
        await years.forward(handle, timedelta(hours=2))
        assert await handle.result() == Outcome.ABANDONED
    decided(years, key, item)


async def test_a_run_that_is_not_resumed_any_more_leaves_no_question_open_for_ever(years: Years) -> None:
    async with years.house.worked():
        _, key, item = await years.asked()
        await years.house.handle(key).terminate()
        await years.forward(None, timedelta(hours=1))
        await _swept(years)
        await years.house.handle(key).terminate()
        await years.forward(None, WINDOW)
        swept = await _swept(years)
    assert (swept.expired, swept.asked) == (1, 0)
    decided(years, key, item)
    lead = years.house.ledger.lead(key)
    assert lead is not None
    assert lead.outcome is Outcome.ABANDONED


async def test_what_cannot_be_decided_yet_is_not_asked_for_again_and_again_while_the_clocks_disagree(
    years: Years,
) -> None:
    async with years.house.worked():
        house = years.house
        await years.forward(None, timedelta(seconds=-4))  # the ledger's clock, behind Temporal's
        record_id = house.contact()
        house.control.fault("apply_later", match=record_id, args={"seconds": 0.3})
        await house.deliver(house.creation(record_id))
        key = house.key_of(record_id)
        await eventually(lambda: house.writes(record_id))
        house.control.delete("/records", {"provider": "hubspot", "object": "contacts", "id": record_id, "user": "9001"})
        item = await eventually(lambda: house.ledger.review_of(house.mutation(key).mutation_key))
        assert (await house.decide(item.review_id, "abandon", version=item.version)).status_code == 202
        await house.outcome(key, Outcome.ABANDONED)
        assert [one.verdict for one in house.ledger.decisions_of(key)] == [DecisionVerdict.APPLIED]
        history = await house.handle(key).fetch_history()
        kinds = [one.activity_task_scheduled_event_attributes.activity_type.name for one in history.events]
        assert kinds.count("apply_decision") <= 6  # without a pause it was five times as many


@asynccontextmanager
async def passing(time_: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Time passes beside what is done; where a run waits for a worker, it stands still."""
    passes = asyncio.create_task(time_)
    try:
        yield
    finally:
        passes.cancel()
        with suppress(asyncio.CancelledError):
            await passes


async def _has(handle: WorkflowHandle[object, object], kind: str) -> bool:
    history = await handle.fetch_history()
    return any(event.WhichOneof("attributes") == kind for event in history.events)


async def _swept(years: Years) -> Swept:
    swept: Swept = await years.house.client.execute_workflow(
        SWEEP_WORKFLOW, id=f"sweep-{uuid.uuid4()}", task_queue=LEADS_QUEUE, result_type=Swept
    )
    return swept
