"""The worker of the peers, a process of its own: `python -m bench.peer TEMPORAL SANDBOX DATABASE CALLS`."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import urllib3
from temporalio import activity
from temporalio.client import Client
from temporalio.common import WorkerDeploymentVersion
from temporalio.worker import Worker, WorkerDeploymentConfig

from bench.peer_store import Commits
from bench.peer_workflows import NOTHING, QUEUE, READ, READ_BACK, RECORD, WRITE, BareWorkflow, NothingWorkflow
from workers.plugin import leads_plugin

READY = "peer ready"
RECORD_ID, KEY = "{record}", "{key}"
_THREADS = 20  # as a worker of leads has


class BareActivities:
    """The calls of an undisturbed lead, as the sandbox logged them, and the commits around them.

    Args:
        calls: method, path and body of each, with places for record id and keys.
    """

    def __init__(self, sandbox: str, commits: Commits, calls: list[dict[str, Any]]) -> None:
        self._sandbox = sandbox
        self._commits = commits
        self._read, self._write, self._read_back = calls
        self._http = urllib3.PoolManager(maxsize=_THREADS, retries=False, timeout=10)

    @activity.defn(name=READ)
    def read(self, record_id: str) -> None:
        self._call(self._read, record_id)

    @activity.defn(name=RECORD)
    def record(self, record_id: str) -> None:
        self._commits.commit(record_id, "plan")

    @activity.defn(name=WRITE)
    def write(self, record_id: str) -> None:
        self._commits.commit(record_id, "claim")
        self._call(self._write, record_id)
        self._commits.commit(record_id, "answer")

    @activity.defn(name=READ_BACK)
    def read_back(self, record_id: str) -> None:
        self._call(self._read_back, record_id)
        self._commits.commit(record_id, "settled")

    @activity.defn(name=NOTHING)
    def nothing(self, record_id: str) -> None:
        return None

    def _call(self, call: dict[str, Any], record_id: str) -> None:
        filled = json.loads(json.dumps(call).replace(RECORD_ID, record_id).replace(KEY, f"bare-{record_id}"))
        answer = self._http.request(
            filled["method"],
            self._sandbox + filled["path"],
            json=filled["body"],
            headers={"authorization": "Bearer bench"},
        )
        if answer.status != 200:
            raise RuntimeError(f"the sandbox answered {answer.status}")
        answer.json()


async def _serve(temporal: str, activities: BareActivities) -> None:
    client = await Client.connect(temporal, plugins=[leads_plugin()])
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    with ThreadPoolExecutor(_THREADS) as executor:
        worker = Worker(
            client,
            task_queue=QUEUE,
            workflows=[BareWorkflow, NothingWorkflow],
            activities=[
                activities.read,
                activities.record,
                activities.write,
                activities.read_back,
                activities.nothing,
            ],
            activity_executor=executor,
            max_concurrent_activities=_THREADS,
            max_concurrent_workflow_tasks=20,
            # as the worker of leads: without it the SDK hashes every loaded module for a build id
            deployment_config=WorkerDeploymentConfig(
                version=WorkerDeploymentVersion(deployment_name="bench", build_id="unversioned"),
                use_worker_versioning=False,
            ),
        )
        async with worker:
            print(READY, flush=True)
            await stopping.wait()


def main(temporal: str, sandbox: str, database: str, calls: str) -> None:
    """Run the peers' worker until it is told to stop."""
    commits = Commits(Path(database))
    asyncio.run(_serve(temporal, BareActivities(sandbox, commits, json.loads(Path(calls).read_text("utf-8")))))
    commits.close()
    time.sleep(0.05)  # the SDK's threads: a process that leaves at once can abort (temporalio/sdk-python#300)


if __name__ == "__main__":
    main(*sys.argv[1:])
