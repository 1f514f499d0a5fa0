"""The sweep: a schedule starts it every few minutes to resume what no run looks after."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.sweep import SweepActivities, Swept
    from workflows import contract, options


@workflow.defn(name=contract.SWEEP_WORKFLOW)
class SweepWorkflow:
    """One sweep."""

    @workflow.run
    async def run(self) -> Swept:
        return await workflow.execute_activity_method(
            SweepActivities.sweep, summary="resume leads without an open run", **options.SWEEP
        )
