"""What a namespace needs before a worker is of use: search attributes and the sweep's schedule."""

from __future__ import annotations

from datetime import timedelta

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)

from leadproof.domain.errors import ConfigurationRefused
from leadproof.settings import Settings
from workflows.contract import SEARCH_ATTRIBUTES, SWEEP_WORKFLOW, queue_of, sweep_id_of, sweep_schedule_of


async def missing_search_attributes(client: Client) -> list[str]:
    """Names of the project's search attributes that the namespace lacks."""
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return [key.name for key in SEARCH_ATTRIBUTES if key.name not in listed.custom_attributes]


async def register_search_attributes(client: Client) -> list[str]:
    """Register what is missing; the names that were registered."""
    missing = await missing_search_attributes(client)
    if missing:
        kinds = {key.name: IndexedValueType.ValueType(key.indexed_value_type.value) for key in SEARCH_ATTRIBUTES}
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(
                namespace=client.namespace, search_attributes={name: kinds[name] for name in missing}
            )
        )
    return missing


async def check_search_attributes(client: Client, settings: Settings) -> None:
    """Refuse a namespace without them: an unregistered upsert leaves a run stuck for ever (tried).

    Raises:
        ConfigurationRefused: naming what is missing and how to register it.
    """
    missing = await missing_search_attributes(client)
    if missing:
        raise ConfigurationRefused(
            f"the namespace {settings.temporal_namespace!r} lacks the search attributes {', '.join(missing)}; "
            "`leadproof doctor --create` registers them, or each by itself `temporal operator search-attribute create "
            "--name NAME --type Keyword` (LeadproofMutationKeys and LeadproofMutationStatus: KeywordList)"
        )


async def ensure_schedule(client: Client, settings: Settings) -> None:
    """Create the sweep's schedule, or bring its interval up to date."""
    environment = settings.environment
    name, queue = sweep_schedule_of(environment), queue_of(environment)
    spec = ScheduleSpec(intervals=[ScheduleIntervalSpec(every=timedelta(seconds=settings.sweep_seconds))])
    schedule = Schedule(
        action=ScheduleActionStartWorkflow(SWEEP_WORKFLOW, id=sweep_id_of(environment), task_queue=queue),
        spec=spec,
        # a sweep that takes longer than the interval is not started twice
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP),
    )
    try:
        await client.create_schedule(name, schedule)
    except ScheduleAlreadyRunningError:
        handle = client.get_schedule_handle(name)

        def _update(given: ScheduleUpdateInput) -> ScheduleUpdate | None:
            present = given.description.schedule
            if present.spec.intervals == spec.intervals:
                return None
            present.spec = spec
            return ScheduleUpdate(schedule=present)

        await handle.update(_update)
