"""What the doctor says of Temporal, asked of the real server."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from datetime import timedelta

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType, WorkflowTaskFailedCause
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    PollWorkflowTaskQueueRequest,
    RegisterNamespaceRequest,
    RespondWorkflowTaskFailedRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from leadproof.clock import SystemClock
from leadproof.ledger.schema import upgrade
from leadproof.ports import Clock
from leadproof.settings import Settings
from tests.support.house import eventually_answered
from tests.workers.clinic import AheadOfTime, Clinic, found, not_ok, said, states
from workers.compose import compose, crms_of, open_ledger
from workers.doctor import temporal as temporal_checks
from workers.doctor.report import Report, State
from workers.lifecycle import leads_worker
from workers.plugin import leads_plugin
from workers.preparation import ensure_schedule, register_search_attributes
from workflows.contract import LEAD_WORKFLOW, LEADS_QUEUE, SWEEP_SCHEDULE, TENANT

RETENTION = timedelta(days=7)


async def a_namespace(server: WorkflowEnvironment) -> Client:
    """A new namespace of the server, as soon as it can be used."""
    name = f"doctor-{uuid.uuid4().hex[:8]}"
    await server.client.workflow_service.register_namespace(
        RegisterNamespaceRequest(
            namespace=name, workflow_execution_retention_period=Duration(seconds=int(RETENTION.total_seconds()))
        )
    )
    address = server.client.service_client.config.target_host
    client = await Client.connect(address, namespace=name, plugins=[leads_plugin()])
    await eventually_answered(lambda: _ready(client))  # the server's caches learn of a namespace after a moment
    return client


async def _ready(client: Client) -> bool:
    try:
        await client.count_workflows()
        handle = await client.start_workflow("Nothing", id="ready", task_queue="nobody")
        await handle.terminate()
    except RPCError:
        return False
    return True


@pytest.fixture(scope="module")
async def bare(temporal: WorkflowEnvironment) -> Client:
    """A namespace in which there is nothing."""
    return await a_namespace(temporal)


@pytest.fixture(scope="module")
async def prepared(temporal: WorkflowEnvironment) -> Client:
    """A namespace with search attributes; nobody works in it."""
    client = await a_namespace(temporal)
    await register_search_attributes(client)
    return client


def configured(clinic: Clinic, client: Client, **other: str) -> Settings:
    address = client.service_client.config.target_host
    return clinic.settings(**{"temporal_address": address, "temporal_namespace": client.namespace, **other})


async def examined(clinic: Clinic, client: Client, *, clock: Clock | None = None, **other: str) -> Report:
    report = Report()
    settings = configured(clinic, client, **other)
    await temporal_checks.examine(settings, clinic.policy(), clock or SystemClock(), report)
    return report


async def once(clinic: Clinic, client: Client, check: str, state: State) -> Report:
    """The first report in which a check has this state: the server's caches learn of a change after a moment."""

    async def asked() -> Report | None:
        report = await examined(clinic, client)
        return report if found(report, check).state is state else None

    return await eventually_answered(asked)


@asynccontextmanager
async def working(settings: Settings, client: Client, clinic: Clinic) -> AsyncIterator[None]:
    """A worker of the namespace, with the schedule that a worker makes."""
    upgrade(settings.ledger_url)
    policy = clinic.policy()
    with closing(open_ledger(settings)) as ledger, ThreadPoolExecutor(settings.worker_threads) as pool:
        composition = compose(settings, client, ledger, policy, crms_of(settings, policy))
        await ensure_schedule(client, settings)
        async with leads_worker(client, composition, settings, pool):
            yield


async def test_a_namespace_with_all_that_runs_need(clinic: Clinic, prepared: Client) -> None:
    async with working(configured(clinic, prepared), prepared, clinic):
        report = await once(clinic, prepared, "temporal.worker", State.OK)  # Temporal has noted both of its polls
        assert not_ok(report) == {}
        names = ("namespace", "retention", "search-attributes", "worker", "sweep", "runs", "clock")
        assert list(states(report)) == ["temporal", *(f"temporal.{name}" for name in names)]

        handle = prepared.get_schedule_handle(SWEEP_SCHEDULE)
        await handle.pause()
        state, text = said(found(await examined(clinic, prepared), "temporal.sweep"))
        assert state is State.WRONG
        assert "is paused" in text
        await handle.unpause()
        state, text = said(found(await examined(clinic, prepared, sweep_seconds="60"), "temporal.sweep"))
        assert state is State.WRONG
        assert "runs every 120 s, LEADPROOF_SWEEP_SECONDS says 60" in text
        await handle.delete()
        report = await once(clinic, prepared, "temporal.sweep", State.WRONG)
        assert "restart it" in said(found(report, "temporal.sweep"))[1]


async def test_temporal_is_down(clinic: Clinic) -> None:
    report = Report()
    await temporal_checks.examine(clinic.settings(), clinic.policy(), SystemClock(), report)
    state, text = said(found(report, "temporal"))
    assert state is State.WRONG
    assert "127.0.0.1:1" in text
    assert "LEADPROOF_TEMPORAL_ADDRESS" in text
    assert set(states(report).values()) == {State.WRONG, State.SKIPPED}
    assert len(report.findings) == 8


async def test_a_namespace_that_is_not_there(clinic: Clinic, bare: Client) -> None:
    report = await examined(clinic, bare, temporal_namespace="nowhere")
    state, text = said(found(report, "temporal.namespace"))
    assert state is State.WRONG
    assert "temporal operator namespace create -n nowhere" in text
    assert [check for check, state in states(report).items() if state is State.SKIPPED] == [
        "temporal.retention",
        "temporal.search-attributes",
        "temporal.worker",
        "temporal.sweep",
        "temporal.runs",
        "temporal.clock",
    ]


async def test_a_namespace_in_which_nothing_is(clinic: Clinic, bare: Client) -> None:
    report = await examined(clinic, bare)
    assert {check: state for check, state in states(report).items() if state is not State.OK} == {
        "temporal.search-attributes": State.WRONG,
        "temporal.worker": State.WARN,
        "temporal.sweep": State.WARN,
    }
    assert "leadproof worker" in said(found(report, "temporal.worker"))[1]
    (offer,) = report.offers
    assert "LeadproofTenant" in offer.what
    await offer.make()
    report = await once(clinic, bare, "temporal.search-attributes", State.OK)
    assert report.offers == []


async def test_a_search_attribute_of_another_type(clinic: Clinic, temporal: WorkflowEnvironment) -> None:
    client = await a_namespace(temporal)
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace=client.namespace, search_attributes={TENANT.name: IndexedValueType.INDEXED_VALUE_TYPE_INT}
        )
    )

    async def told() -> Report | None:
        report = await examined(clinic, client)
        return report if "type" in found(report, "temporal.search-attributes").says else None

    report = await eventually_answered(told)
    state, text = said(found(report, "temporal.search-attributes"))
    assert state is State.WRONG
    assert "LeadproofTenant is registered with another type" in text
    assert report.offers == []


@pytest.mark.parametrize(
    ("policy", "state", "says"),
    [
        ({"personal_days = 365": "personal_days = 6.5"}, State.WRONG, "--retention 156h"),
        ({"website = 75 ": "website = 200 "}, State.WARN, "--retention 200h"),
        ({}, State.OK, "7 days, within the policy's 365 days"),
    ],
)
async def test_the_retention_of_the_namespace(
    clinic: Clinic, bare: Client, policy: dict[str, str], state: State, says: str
) -> None:
    clinic.write_policy(**policy)
    finding = found(await examined(clinic, bare), "temporal.retention")
    assert finding.state is state
    assert says in said(finding)[1]


async def test_a_run_whose_workflow_task_keeps_failing_is_named(clinic: Clinic, bare: Client) -> None:
    workflow_id = f"lead:{uuid.uuid4().hex}"
    handle = await bare.start_workflow(LEAD_WORKFLOW, "key", id=workflow_id, task_queue=LEADS_QUEUE)
    await seen(bare, workflow_id)
    assert found(await examined(clinic, bare), "temporal.runs").state is State.OK
    await fail_the_workflow_task(bare)
    state, text = said(found(await examined(clinic, bare), "temporal.runs"))
    assert (state, workflow_id in text) == (State.WARN, True)
    await fail_the_workflow_task(bare)
    state, text = said(found(await examined(clinic, bare), "temporal.runs"))
    assert state is State.WRONG
    assert f"{workflow_id} has failed 2 times in a row" in text
    assert f"leadproof lead resume --replace {workflow_id}" in text
    await handle.terminate()


async def seen(client: Client, workflow_id: str) -> None:
    """Until the index of runs, which lags, shows a run."""

    async def listed() -> bool:
        return bool([run async for run in client.list_workflows(f"WorkflowId = '{workflow_id}'")])

    await eventually_answered(listed)


async def fail_the_workflow_task(client: Client) -> None:
    """Be a worker that cannot do its task; one of the SDK's waits before it says so a second time."""
    queue = TaskQueue(name=LEADS_QUEUE)
    task = await client.workflow_service.poll_workflow_task_queue(
        PollWorkflowTaskQueueRequest(namespace=client.namespace, task_queue=queue, identity="a worker"),
        timeout=timedelta(seconds=30),
    )
    assert task.task_token
    await client.workflow_service.respond_workflow_task_failed(
        RespondWorkflowTaskFailedRequest(
            namespace=client.namespace,
            task_token=task.task_token,
            cause=WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE,
        )
    )


@pytest.mark.parametrize(("ours", "says"), [(40, "ahead of"), (-40, "behind")])
async def test_our_clock_against_temporals(clinic: Clinic, bare: Client, ours: float, says: str) -> None:
    state, text = said(found(await examined(clinic, bare, clock=AheadOfTime(ours)), "temporal.clock"))
    assert state is State.WRONG
    assert f"s {says} that of Temporal" in text
    assert "ours is 39." in text or "ours is 40.0" in text
