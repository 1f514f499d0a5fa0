"""What goes on in a namespace: who polls, which runs are stuck, and what its clock says."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, PollActivityTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from leadproof.domain.diagnosis import ServerTime
from leadproof.ports import Clock
from workers.doctor.report import Report
from workflows.contract import LEAD_WORKFLOW, SWEEP_WORKFLOW

_PATIENCE: Final = timedelta(seconds=5)
_POLLED_WITHIN: Final = timedelta(minutes=2)
"""A poll lasts a minute at most, and Temporal remembers who polled for five."""

_OPEN: Final = f"WorkflowType IN ('{LEAD_WORKFLOW}', '{SWEEP_WORKFLOW}') AND ExecutionStatus = 'Running'"
_PROBLEMS: Final = "TemporalReportedProblems"
"""Set by the server after some failures in a row: five, where nothing else is configured; before server 1.30, never."""

_LOOKED_AT: Final = 300
_AT_ONCE: Final = 20
_NAMED: Final = 20
_KEEPS_FAILING: Final = 3
"""From this attempt on; a second one is also what follows a worker that was stopped in the middle of a task."""


async def worker_polls(client: Client, queue: str, clock: Clock, report: Report, check: str) -> bool:
    """Report whether a worker polls the queue of leads for workflow tasks and for activities; the answer."""
    workflow, activity = TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
    since = clock.now() - _POLLED_WITHIN
    for_runs = _recent(await _pollers(client, queue, workflow), since)
    for_activities = _recent(await _pollers(client, queue, activity), since)
    if not for_runs or not for_activities:
        says = f"no worker polls the queue `{queue}`, so that leads are stored and nothing is done about them"
        report.warn(check, says, "start `leadproof worker` with these settings")
        return False
    report.ok(check, f"{', '.join(for_runs)} {'polls' if len(for_runs) == 1 else 'poll'} the queue `{queue}`")
    return True


async def failing_runs(client: Client, report: Report, check: str) -> None:
    """Report each open run whose workflow task keeps failing; the sweep leaves such a run alone."""
    reported = await _listed(client, f"{_OPEN} AND {_PROBLEMS} IS NOT NULL")
    looked_at = list(dict.fromkeys([*reported, *await _listed(client, _OPEN)]))
    gate = asyncio.Semaphore(_AT_ONCE)

    async def failures(run: tuple[str, str]) -> int:
        async with gate:
            return await _failures(client, run)

    counts = await asyncio.gather(*(failures(run) for run in looked_at))
    stuck = [(run, count) for run, count in zip(looked_at, counts, strict=True) if count >= _KEEPS_FAILING - 1]
    once = [run for run, count in zip(looked_at, counts, strict=True) if count == 1]
    for (workflow_id, _), count in stuck[:_NAMED]:
        do = f"look at it in Temporal's UI and mend the cause, or `leadproof lead resume --replace {workflow_id}`"
        report.wrong(check, f"the workflow task of {workflow_id} has failed {count} times in a row", do)
    if len(stuck) > _NAMED:
        says = f"so it is with {len(stuck) - _NAMED} runs more"
        report.wrong(check, says, f"find them in Temporal's UI with `{_PROBLEMS} IS NOT NULL`")
    if once and not stuck:
        ids = ", ".join(workflow_id for workflow_id, _ in once[:_NAMED])
        report.warn(check, f"the workflow task of {ids} has failed and is tried again", "run this again in a minute")
    elif not stuck:
        more = f" (looked at {_LOOKED_AT} of more)" if len(looked_at) >= _LOOKED_AT else ""
        report.ok(check, f"no workflow task of the {len(looked_at)} open runs keeps failing{more}")


async def server_time(client: Client, clock: Clock) -> tuple[ServerTime | None, datetime, datetime]:
    """Temporal's clock, and ours before and after.

    No call tells the time. But Temporal notes when a queue was polled: we poll one that nobody else knows, and that is
    forgotten with our poll.
    """
    queue = f"leadproof-doctor-{uuid.uuid4().hex}"
    asked = clock.now()
    poll = asyncio.create_task(
        client.workflow_service.poll_activity_task_queue(
            PollActivityTaskQueueRequest(
                namespace=client.namespace, task_queue=TaskQueue(name=queue), identity="leadproof doctor"
            ),
            timeout=_PATIENCE,
        )
    )
    try:
        while not poll.done():
            pollers = await _pollers(client, queue, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY)
            answered = clock.now()
            if pollers:
                moment = pollers[0].last_access_time.ToDatetime(UTC)
                return ServerTime(earliest=moment, latest=moment), asked, answered
            await asyncio.sleep(0.02)  # our poll has not arrived yet: asked again, no longer than the poll lasts
        return None, asked, clock.now()
    finally:
        poll.cancel()
        with suppress(RPCError, asyncio.CancelledError):
            await poll


async def _pollers(client: Client, queue: str, kind: TaskQueueType.ValueType) -> list[PollerInfo]:
    described = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind),
        timeout=_PATIENCE,
    )
    return list(described.pollers)


def _recent(pollers: Iterable[PollerInfo], since: datetime) -> list[str]:
    return sorted({poller.identity for poller in pollers if poller.last_access_time.ToDatetime(UTC) >= since})


async def _listed(client: Client, query: str) -> list[tuple[str, str]]:
    """Workflow ids and run ids; none where the server does not know an attribute of the query."""
    try:
        found = client.list_workflows(query, limit=_LOOKED_AT, rpc_timeout=_PATIENCE)
        return [(run.id, run.run_id) async for run in found]
    except RPCError as error:
        if error.status is RPCStatusCode.INVALID_ARGUMENT:
            return []
        raise


async def _failures(client: Client, run: tuple[str, str]) -> int:
    """How often in a row the pending workflow task of a run has failed; 0 where none is pending or it is closed."""
    try:
        handle = client.get_workflow_handle(run[0], run_id=run[1])
        described = await handle.describe(rpc_timeout=_PATIENCE)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return 0
        raise
    return max(described.raw_description.pending_workflow_task.attempt - 1, 0)
