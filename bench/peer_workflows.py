"""What a lead is held beside: workflows that decide nothing."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

QUEUE = "bench"
READ, RECORD, WRITE, READ_BACK, NOTHING = "bare_read", "bare_record", "bare_write", "bare_read_back", "nothing"
_BARE = (READ, RECORD, WRITE, READ_BACK)
_ONCE = RetryPolicy(maximum_attempts=1)  # a peer that fails is to be seen


@workflow.defn
class BareWorkflow:
    """As many activities as a lead has, which make the same calls and as many commits."""

    @workflow.run
    async def run(self, record_id: str) -> None:
        for name in _BARE:
            await workflow.execute_activity(
                name, record_id, start_to_close_timeout=timedelta(seconds=60), retry_policy=_ONCE
            )


@workflow.defn
class NothingWorkflow:
    """As many activities as a lead has, which do nothing."""

    @workflow.run
    async def run(self, record_id: str) -> None:
        for _ in _BARE:
            await workflow.execute_activity(
                NOTHING, record_id, start_to_close_timeout=timedelta(seconds=60), retry_policy=_ONCE
            )
