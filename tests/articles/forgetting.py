"""What a namespace's retention does to a run that has ended."""

from __future__ import annotations

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.service import RPCError, RPCStatusCode

from tests.support.house import House, eventually_answered


async def forget(house: House, key: str) -> None:
    """Delete a lead's run, and wait until Temporal knows it no more."""
    run = house.handle(key)
    await run.result()
    await house.client.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=house.client.namespace, workflow_execution=WorkflowExecution(workflow_id=run.id)
        )
    )
    await eventually_answered(lambda: is_forgotten(house, key))


async def is_forgotten(house: House, key: str) -> bool:
    """Whether Temporal knows no run of the lead."""
    try:
        await house.handle(key).describe()
    except RPCError as error:
        return error.status is RPCStatusCode.NOT_FOUND
    return False
