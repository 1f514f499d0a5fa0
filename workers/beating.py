"""Signs of life of running activities: a killed worker is missed in seconds, not when an activity's time is up.

The beats come from the worker's event loop while the activity's thread works, so they tell that the process lives; how
long the work itself may take stays the business of the activity's start-to-close.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from temporalio import activity
from temporalio.worker import (
    ActivityInboundInterceptor,
    ActivityOutboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

BEATS = 3
"""Within the time after which an activity counts as lost; one or two may come late."""


class _Remembering(ActivityOutboundInterceptor):
    """Repeats what the activity, or a try of it before, said last: a beat takes the place of what was said."""

    def __init__(self, next: ActivityOutboundInterceptor) -> None:
        super().__init__(next)
        self._said: Sequence[Any] = next.info().heartbeat_details

    def heartbeat(self, *details: Any) -> None:
        self._said = details
        super().heartbeat(*details)

    async def beat(self, every: timedelta) -> None:
        while True:
            await asyncio.sleep(every.total_seconds())
            super().heartbeat(*self._said)


class _Beating(ActivityInboundInterceptor):
    def init(self, outbound: ActivityOutboundInterceptor) -> None:
        self._outbound = _Remembering(outbound)
        super().init(self._outbound)

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        lost_after = activity.info().heartbeat_timeout
        if lost_after is None:
            return await super().execute_activity(input)
        beats = asyncio.create_task(self._outbound.beat(lost_after / BEATS))
        try:
            return await super().execute_activity(input)
        finally:
            beats.cancel()


class Beating(Interceptor):
    """Beats for every activity that has a heartbeat time-out."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Beating(next)
