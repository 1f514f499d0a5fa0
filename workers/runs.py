"""Runs and senders as Temporal knows them: what the activities ask through their ports."""

from __future__ import annotations

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from activities.sweep import RunState
from leadproof.domain.events import Lead
from leadproof.domain.proofs import as_sent
from leadproof.domain.review import ReviewDecision
from leadproof.ports import Ledger
from starter.start import resume_lead
from workflows.contract import SIGNAL_DECIDE


class TemporalRuns:
    """The port `Runs` over a client.

    Args:
        decision_key: key of the proof on decisions; `None` where there is none.
    """

    def __init__(self, client: Client, ledger: Ledger, decision_key: str | None = None) -> None:
        self._client = client
        self._ledger = ledger
        self._decision_key = decision_key

    async def state(self, lead: Lead) -> RunState:
        try:
            description = await self._client.get_workflow_handle(lead.workflow_id).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return RunState.NONE
            raise
        return RunState.OPEN if description.status is WorkflowExecutionStatus.RUNNING else RunState.CLOSED

    async def resume(self, lead: Lead) -> None:
        await resume_lead(self._ledger, self._client, lead)

    async def tell(self, lead: Lead, decision: ReviewDecision) -> None:
        sent = as_sent(decision, self._decision_key)
        await self._client.get_workflow_handle(lead.workflow_id).signal(SIGNAL_DECIDE, sent)


class TemporalSenders:
    """The port `Senders`: the identity stands in the history event of the signal or the update."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def identity(self, workflow_id: str, run_id: str, *, via: str, place: str) -> str:
        handle = self._client.get_workflow_handle(workflow_id, run_id=run_id)
        signals = 0
        async for event in handle.fetch_history_events():
            if via == "update" and event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED:
                meta = event.workflow_execution_update_accepted_event_attributes.accepted_request.meta
                if meta.update_id == place:
                    return meta.identity or "unknown"
            elif via == "signal" and event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
                signal = event.workflow_execution_signaled_event_attributes
                if signal.signal_name == SIGNAL_DECIDE:
                    if str(signals) == place:
                        return signal.identity or "unknown"
                    signals += 1
        return "unknown"
