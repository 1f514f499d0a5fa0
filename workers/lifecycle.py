"""A worker's life: start when everything it needs is right, say so, and let running writes finish when told to stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from temporalio.client import Client
from temporalio.common import WorkerDeploymentVersion
from temporalio.worker import Worker, WorkerDeploymentConfig

from leadproof.domain.environment import SHADOW
from leadproof.settings import Settings, check_mode
from workers.compose import Composition, check_targets, compose, crms_of, open_ledger, read_policy
from workers.connect import connect
from workers.metrics import serving
from workers.planners import check_planners
from workers.preparation import check_search_attributes, ensure_schedule
from workflows.contract import queue_of
from workflows.lead import LeadWorkflow
from workflows.sweep import SweepWorkflow

READY = "worker ready"
UNVERSIONED = WorkerDeploymentConfig(
    version=WorkerDeploymentVersion(deployment_name="leadproof", build_id="unversioned"), use_worker_versioning=False
)
"""Without it the SDK hashes every loaded module for a build id, which takes seconds (measured)."""
_STICKY = timedelta(seconds=2)
"""How long a task of a run waits for the worker that last had it: what a crash of a worker costs at least."""
_THROTTLE = timedelta(seconds=1)
"""The least time between two signs of life of an activity; by default, four fifths of what it may be silent."""

log = logging.getLogger("leadproof.worker")


def leads_worker(client: Client, composition: Composition, settings: Settings, executor: ThreadPoolExecutor) -> Worker:
    """The worker of the settings' queue of leads; the only one that polls for workflow tasks."""
    return Worker(
        client,
        task_queue=queue_of(settings.environment),
        workflows=[LeadWorkflow, SweepWorkflow],
        activities=composition.activities,
        activity_executor=executor,
        max_concurrent_activities=settings.worker_threads,
        max_concurrent_workflow_tasks=20,
        sticky_queue_schedule_to_start_timeout=_STICKY,
        max_heartbeat_throttle_interval=_THROTTLE,
        graceful_shutdown_timeout=timedelta(seconds=settings.shutdown_seconds),
        deployment_config=UNVERSIONED,
    )


async def run(settings: Settings, *, stop: asyncio.Event | None = None) -> None:
    """Run a worker until it is told to stop (SIGTERM, SIGINT, or `stop`).

    Raises:
        ConfigurationRefused, PolicyRefused, LedgerOutdated: what it needs is not right, in one sentence.
    """
    check_mode(settings)
    policy = read_policy(settings.policy)
    ledger = open_ledger(settings)
    client = await connect(settings)
    await check_search_attributes(client, settings)
    crms = crms_of(settings, policy)
    await asyncio.gather(
        asyncio.to_thread(check_targets, settings, policy, crms),
        asyncio.to_thread(check_planners, settings, policy),
    )
    composition = compose(settings, client, ledger, policy, crms)
    gc.freeze()  # hundreds of thousands of objects that stay: not to be gone through again and again for garbage
    await ensure_schedule(client, settings)
    stopping = stop or asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    with (
        serving(settings.worker_metrics, crms),
        ThreadPoolExecutor(settings.worker_threads, thread_name_prefix="activity") as executor,
    ):
        async with leads_worker(client, composition, settings, executor):
            if settings.mode == SHADOW:
                log.warning(
                    "shadow mode: nothing is written; environment %s, task queue %s, records are looked at %s s later",
                    *(settings.environment, queue_of(settings.environment), f"{settings.shadow_after_seconds:g}"),
                )
            print(READY, flush=True)  # noqa: T201 - whoever started this process waits for the line
            await stopping.wait()
            log.info("stopping: running activities have %s s to finish", settings.shutdown_seconds)
