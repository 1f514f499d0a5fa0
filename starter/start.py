"""Starting the run of a lead: the only place that knows workflow IDs and what happens when one is taken."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from temporalio.client import Client
from temporalio.common import (
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from leadproof.domain.environment import is_shadow
from leadproof.domain.errors import LeadproofError, NotFound
from leadproof.domain.events import Lead, Outcome
from leadproof.ports import Ledger
from starter.off_loop import off_loop
from workflows.contract import LEAD_WORKFLOW, OUTCOME, SOURCE, TENANT, queue_of

PATIENCE_SECONDS: Final = 2.0
"""With the ledger's patience it stays within the 5 s that HubSpot waits."""

_TASK_LOST_AFTER: Final = timedelta(seconds=7)
"""A task of a run that a worker has taken and not finished by then is given to another: what a worker's death costs a
run whose task it held. By default it is 10 s; the longest seen on a busy machine took 2 s."""


class TemporalUnavailable(LeadproofError):
    """Temporal did not start a run, or did not answer in time; it may have been started all the same."""


@dataclass(frozen=True, slots=True)
class Started:
    """This call started the run."""

    run_id: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A run under this ID was started before; it may be closed."""

    run_id: str


async def start_lead(
    client: Client,
    *,
    event_key: str,
    workflow_id: str,
    source: str,
    event_kind: str,
    tenant: str,
    environment: str,
) -> Started | Duplicate:
    """Start the run of a lead, or say which run stands under its ID.

    There is no look before the start: reuse policy *reject duplicate* and conflict policy *fail* make Temporal decide,
    for an open and for a closed run by the same error.

    Args:
        event_key: the run's whole input; it reads everything else from the ledger.
        source: source system, for the search attribute and the summary.
        environment: of the lead's row; says which task queue the run belongs to.

    Raises:
        TemporalUnavailable: no answer in time, or an answer that is no start.
    """
    shadow = " (shadow: nothing is written)" if is_shadow(environment) else ""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            handle = await client.start_workflow(
                LEAD_WORKFLOW,
                event_key,
                id=workflow_id,
                task_queue=queue_of(environment),
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                search_attributes=TypedSearchAttributes(
                    [
                        SearchAttributePair(TENANT, tenant),
                        SearchAttributePair(SOURCE, source),
                        SearchAttributePair(OUTCOME, Outcome.WORKING.value),
                    ]
                ),
                static_summary=f"A lead from {source}: {event_kind}{shadow}",
                static_details=(
                    f"Lead event `{event_key}`, tenant {tenant}{shadow}. Its receipts stand in the ledger: "
                    f"`leadproof lead show {event_key}`."
                ),
                rpc_timeout=timedelta(seconds=PATIENCE_SECONDS),
                task_timeout=_TASK_LOST_AFTER,
            )
    except WorkflowAlreadyStartedError as error:
        return Duplicate(error.run_id or "")
    except TimeoutError:
        raise TemporalUnavailable(f"Temporal did not answer within {PATIENCE_SECONDS:g} s") from None
    except RPCError as error:
        raise TemporalUnavailable(f"Temporal did not start the run: {error.status.name}") from error
    return Started(handle.result_run_id or "")


async def resume_lead(ledger: Ledger, client: Client, lead: Lead) -> Started | Duplicate:
    """Start a run for a lead that has none that is open.

    The run named in the row is started under its own ID where it never was; only where Temporal says that this ID is
    taken and the run closed is the next ID elected, by compare-and-set in the ledger, so that of two callers one
    starts and the other finds it.

    Args:
        lead: the row, whose outcome is not final.

    Returns:
        *Duplicate* where a run is open already.

    Raises:
        TemporalUnavailable, LedgerUnavailable: no answer in time.
        NotFound: the row is gone.
    """
    first = await _start(client, lead)
    if isinstance(first, Started) or await is_open(client, lead.workflow_id):
        return first
    await off_loop(lambda: ledger.elect_run(lead.event_key, run=lead.run))
    elected = await off_loop(lambda: ledger.lead(lead.event_key))
    if elected is None:
        raise NotFound("no lead stands under this key")
    if elected.outcome.final or elected.workflow_id == lead.workflow_id:
        return first
    return await _start(client, elected)


async def is_open(client: Client, workflow_id: str) -> bool:
    """Whether the latest run under this ID is open, asked of the run itself and not of a search.

    Raises:
        TemporalUnavailable: no answer in time.
    """
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            described = await client.get_workflow_handle(workflow_id).describe(
                rpc_timeout=timedelta(seconds=PATIENCE_SECONDS)
            )
    except TimeoutError:
        raise TemporalUnavailable(f"Temporal did not answer within {PATIENCE_SECONDS:g} s") from None
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise TemporalUnavailable(f"Temporal did not describe the run: {error.status.name}") from error
    return described.close_time is None


async def _start(client: Client, lead: Lead) -> Started | Duplicate:
    return await start_lead(
        client,
        event_key=lead.event_key,
        workflow_id=lead.workflow_id,
        source=lead.source_system,
        event_kind=lead.event_kind,
        tenant=lead.tenant,
        environment=lead.environment,
    )
