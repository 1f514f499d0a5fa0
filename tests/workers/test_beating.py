"""Signs of life, against a real server: as long as the process lives, and without a loss of what was said."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest
from temporalio import activity, workflow
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from tests.support.house import eventually_answered
from workers.beating import BEATS
from workers.lifecycle import UNVERSIONED

LOST_AFTER = timedelta(seconds=2)
A_BEAT = LOST_AFTER / BEATS


@workflow.defn(sandboxed=False)
class OneActivity:
    @workflow.run
    async def run(self) -> list[str]:
        said: list[str] = await workflow.execute_activity(
            "work",
            start_to_close_timeout=timedelta(seconds=50),
            heartbeat_timeout=LOST_AFTER,
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=1)),
        )
        return said


class Work:
    """An activity that says something, goes on without a word, and fails twice; then it answers with what was said."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()

    @activity.defn(name="work", no_thread_cancel_exception=True)
    def work(self) -> list[str]:
        if activity.info().attempt == 1:
            activity.heartbeat("paid for")
        if activity.info().attempt <= 2:
            self.goes_on.wait(50)
            self.goes_on.clear()
            raise ApplicationError("tried again")
        return list(activity.info().heartbeat_details)


@pytest.fixture
def work() -> Iterator[Work]:
    made = Work()
    yield made
    made.goes_on.set()


async def test_a_silent_activity_is_not_lost_and_what_it_said_reaches_every_later_try(
    temporal: WorkflowEnvironment, work: Work
) -> None:
    queue = f"beating-{uuid.uuid4().hex}"
    with ThreadPoolExecutor(2) as pool:
        async with Worker(
            temporal.client,
            task_queue=queue,
            workflows=[OneActivity],
            activities=[work.work],
            activity_executor=pool,
            max_heartbeat_throttle_interval=A_BEAT,
            deployment_config=UNVERSIONED,
        ):
            handle = await temporal.client.start_workflow(OneActivity.run, id=queue, task_queue=queue)
            for attempt, alive in enumerate((LOST_AFTER, A_BEAT / 2), start=1):
                pending = await eventually_answered(partial(_alive, handle, attempt, alive))
                assert b"paid for" in pending.heartbeat_details.payloads[0].data
                work.goes_on.set()
            assert await handle.result() == ["paid for"]


async def _alive(
    handle: WorkflowHandle[OneActivity, list[str]], attempt: int, so_long: timedelta
) -> PendingActivityInfo | None:
    """The activity, once this try of it has given signs of life for longer than that."""
    described = await handle.describe()
    for pending in described.raw_description.pending_activities:
        assert pending.attempt <= attempt, "it counted as lost"
        alive = pending.last_heartbeat_time.ToDatetime() - pending.last_started_time.ToDatetime()
        runs = pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        if runs and pending.attempt == attempt and alive > so_long:
            return pending
    return None
