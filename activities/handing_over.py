"""A run that is not its lead's own: one that a person started in Temporal's UI under an ID of their own."""

from __future__ import annotations

from temporalio import activity

from activities.foreign import unknown
from activities.sweep import Runs, RunState
from leadproof.ports import Ledger


class HandingOverActivities:
    def __init__(self, ledger: Ledger, runs: Runs) -> None:
        self._ledger = ledger
        self._runs = runs

    @activity.defn
    async def hand_over(self, event_key: str) -> str:
        """See to it that the lead's own run goes on, and say under which ID.

        Two runs of one lead would make no second effect, but what one of them settles the other never learns of: it
        would stay open for good, and show what is past.
        """
        lead = self._ledger.lead(event_key)
        if lead is None:
            raise unknown("lead")
        if lead.outcome.final or await self._runs.state(lead) is RunState.OPEN:
            return lead.workflow_id
        await self._runs.resume(lead)
        return (self._ledger.lead(event_key) or lead).workflow_id
