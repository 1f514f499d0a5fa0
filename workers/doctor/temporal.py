"""Temporal: reachable, and a namespace that has what runs need."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Final

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, ScheduleIntervalSpec
from temporalio.service import RPCError, RPCStatusCode

from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.policy import Policy
from leadproof.ports import Clock
from leadproof.settings import Settings
from workers.connect import connect
from workers.doctor import clocks, running
from workers.doctor.report import Report
from workers.preparation import register_search_attributes
from workflows.contract import SEARCH_ATTRIBUTES, queue_of, sweep_schedule_of

REACHABLE = "temporal"
NAMESPACE = "temporal.namespace"
RETENTION = "temporal.retention"
ATTRIBUTES = "temporal.search-attributes"
SCHEDULE = "temporal.sweep"
WORKER = "temporal.worker"
RUNS = "temporal.runs"
CLOCK = "temporal.clock"

_PATIENCE: Final = timedelta(seconds=5)
_CONNECT_SECONDS: Final = 10.0
_NOT_FOR_US: Final = frozenset({RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED})
_IN_A_NAMESPACE: Final = (RETENTION, ATTRIBUTES, WORKER, SCHEDULE, RUNS, CLOCK)


def without_settings(report: Report) -> None:
    report.skip("the settings cannot be read", REACHABLE, NAMESPACE, *_IN_A_NAMESPACE)


async def examine(settings: Settings, policy: Policy | None, clock: Clock, report: Report) -> None:
    """Ask Temporal."""
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            client = await connect(settings, patience_seconds=0)
    except (ConfigurationRefused, TimeoutError):
        says = f"no Temporal server answers us at {settings.temporal_address}"
        do = "start it, or set LEADPROOF_TEMPORAL_ADDRESS, LEADPROOF_TEMPORAL_TLS and LEADPROOF_TEMPORAL_API_KEY"
        report.wrong(REACHABLE, says, do)
        report.skip("Temporal cannot be reached", NAMESPACE, *_IN_A_NAMESPACE)
        return
    report.ok(REACHABLE, f"it answers at {settings.temporal_address}")
    retention = await _namespace(client, report)
    if retention is None:
        report.skip("the namespace could not be looked at", *_IN_A_NAMESPACE)
        return
    _retention(client, policy, retention, report)
    async with _asked(report, ATTRIBUTES):
        await _search_attributes(client, report)
    polled = False
    async with _asked(report, WORKER):
        polled = await running.worker_polls(client, queue_of(settings.environment), clock, report, WORKER)
    async with _asked(report, SCHEDULE):
        await _schedule(client, settings, report, polled=polled)
    async with _asked(report, RUNS):
        await running.failing_runs(client, report, RUNS)
    async with _asked(report, CLOCK):
        times = await running.server_time(client, clock)
        clocks.compare(report, CLOCK, "Temporal", times, clocks.margin_of(policy))


@asynccontextmanager
async def _asked(report: Report, check: str) -> AsyncIterator[None]:
    """One question whose refusal is a line of the report."""
    with report.guarded(check):
        try:
            yield
        except RPCError as error:
            if error.status in _NOT_FOR_US:
                report.warn(check, f"Temporal does not tell us ({error.status.name})", "look at it with Temporal's UI")
            else:
                report.wrong(check, f"Temporal could not be asked ({error.status.name})", "run this again")


async def _namespace(client: Client, report: Report) -> timedelta | None:
    """Its retention; `None` where the namespace is not there or does not tell."""
    name = client.namespace
    try:
        described = await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=name), timeout=_PATIENCE
        )
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            report.wrong(
                NAMESPACE,
                f"there is no namespace {name!r}",
                f"`temporal operator namespace create -n {name} --retention 30d`, or set LEADPROOF_TEMPORAL_NAMESPACE",
            )
        else:
            says = f"the namespace {name!r} could not be described ({error.status.name})"
            report.wrong(NAMESPACE, says, "check LEADPROOF_TEMPORAL_NAMESPACE and what the API key may do")
        return None
    report.ok(NAMESPACE, f"{name!r} is there")
    return described.config.workflow_execution_retention_ttl.ToTimedelta()


def _retention(client: Client, policy: Policy | None, retention: timedelta, report: Report) -> None:
    """At most the time for which personal data may be kept, at least that in which a source delivers again."""
    if policy is None:
        report.skip("the policy is not accepted", RETENTION)
        return
    personal = timedelta(days=policy.retention.personal_days)
    redelivery = timedelta(hours=max(policy.sources.values(), default=0))
    change = f"`temporal operator namespace update -n {client.namespace} --retention {{}}`"
    if retention > personal:
        says = f"histories hold leads for {_days(retention)}, and the policy keeps them {_days(personal)}"
        report.wrong(RETENTION, f"{says} (personal_days)", change.format(f"{int(personal / timedelta(hours=1))}h"))
    elif retention < redelivery:
        says = f"runs are forgotten after {_days(retention)}, and a source may deliver again for {_days(redelivery)}"
        hours = -(-redelivery // timedelta(hours=1))
        report.warn(RETENTION, f"{says}: the ledger knows the event, the UI does not", change.format(f"{hours}h"))
    else:
        report.ok(RETENTION, f"{_days(retention)}, within the policy's {_days(personal)}")


def _days(time: timedelta) -> str:
    days = time / timedelta(days=1)
    return f"{days:g} days" if days == int(days) else f"{time / timedelta(hours=1):g} hours"


async def _search_attributes(client: Client, report: Report) -> None:
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace), timeout=_PATIENCE
    )
    there = listed.custom_attributes
    missing = [key.name for key in SEARCH_ATTRIBUTES if key.name not in there]
    other = [
        key.name
        for key in SEARCH_ATTRIBUTES
        if key.name in there and there[key.name] != IndexedValueType.ValueType(key.indexed_value_type.value)
    ]
    if other:
        report.wrong(
            ATTRIBUTES,
            f"{', '.join(other)} {'is' if len(other) == 1 else 'are'} registered with another type",
            "`temporal operator search-attribute remove --name NAME`, then `leadproof doctor --create`",
        )
    elif missing:
        says = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not registered"
        report.wrong(ATTRIBUTES, says, "run `leadproof doctor --create`")
    else:
        report.ok(ATTRIBUTES, f"all {len(SEARCH_ATTRIBUTES)} are registered")
    if missing and not other:
        what = f"the search attributes {', '.join(missing)} in the namespace {client.namespace!r}"
        report.offer(ATTRIBUTES, what, partial(_register, client))


async def _register(client: Client) -> None:
    try:
        await register_search_attributes(client)
    except RPCError as error:
        raise ConfigurationRefused(f"Temporal did not register them ({error.status.name})") from None


async def _schedule(client: Client, settings: Settings, report: Report, *, polled: bool) -> None:
    name, wanted = sweep_schedule_of(settings.environment), timedelta(seconds=settings.sweep_seconds)
    try:
        described = await client.get_schedule_handle(name).describe(rpc_timeout=_PATIENCE)
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        tell: Callable[[str, str, str], None] = report.wrong if polled else report.warn
        says = f"there is no schedule {name}, so that nothing resumes a lead whose run has ended"
        tell(SCHEDULE, says, "start a worker, which makes it; where one runs, restart it")
        return
    schedule = described.schedule
    if schedule.state.paused:
        says = f"the schedule {name} is paused, so that nothing resumes a lead whose run has ended"
        report.wrong(SCHEDULE, says, f"`temporal schedule toggle --schedule-id {name} --unpause`")
    elif schedule.spec.intervals != [ScheduleIntervalSpec(every=wanted)]:
        found = ", ".join(f"{interval.every.total_seconds():g} s" for interval in schedule.spec.intervals)
        report.wrong(
            SCHEDULE,
            f"it runs every {found or '(never)'}, LEADPROOF_SWEEP_SECONDS says {settings.sweep_seconds:g}",
            "restart a worker with these settings, which changes it",
        )
    else:
        report.ok(SCHEDULE, f"{name} runs every {settings.sweep_seconds:g} s")
