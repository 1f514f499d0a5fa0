"""Finding the leads that no run looks after, and resuming them."""

from __future__ import annotations

import logging
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel, ConfigDict
from temporalio import activity

from activities.views import Views
from leadproof.domain.events import Lead
from leadproof.domain.mutation import Reason
from leadproof.domain.review import Decision, DecisionRow, DecisionVerdict, ReviewDecision
from leadproof.domain.steps import Question
from leadproof.ports import Clock, Ledger
from leadproof.rulebook import Rulebook

MOST_A_SWEEP = 200

_log = logging.getLogger(__name__)


class RunState(StrEnum):
    """The run that a lead's row names, as Temporal describes it. *none*: it was never started, or is forgotten."""

    OPEN = "open"
    CLOSED = "closed"
    NONE = "none"


class Runs(Protocol):
    """The runs of leads, as Temporal itself knows them (describe, not a search)."""

    async def state(self, lead: Lead) -> RunState: ...

    async def resume(self, lead: Lead) -> None:
        """Start a run for the lead: under its own ID where none was, else the elected next one."""
        ...

    async def tell(self, lead: Lead, decision: ReviewDecision) -> None:
        """Leave a decision that the ledger keeps with the lead's open run, which answers for it by the ledger's row."""
        ...


class Swept(BaseModel):
    """What one sweep did.

    Attributes:
        seen: leads that it looked at.
        asked: questions that it opened.
        expired: questions that the policy decided, of leads whose run is not resumed any more.
        told: decisions that it left with an open run, since whoever kept them may not have reached it.
        failed: leads that it could not look at or not resume; the next sweep tries again.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    seen: int = 0
    resumed: int = 0
    asked: int = 0
    expired: int = 0
    told: int = 0
    failed: int = 0


class SweepActivities:
    """Args:
    age: rows younger than this are left to their run.
    """

    def __init__(self, ledger: Ledger, rulebook: Rulebook, clock: Clock, runs: Runs, age: timedelta) -> None:
        self._ledger = ledger
        self._rulebook = rulebook
        self._clock = clock
        self._runs = runs
        self._age = age
        self._views = Views(ledger, rulebook)

    @activity.defn
    async def sweep(self) -> Swept:
        """Resume every lead whose row is not final and whose run is not open, and take kept decisions to their runs.

        A run that ended without an outcome twice in a row is not resumed again; a person is asked (`run_failed`).
        """
        seen = resumed = asked = expired = told = failed = 0
        for row in self._ledger.decisions_left(older_than=self._age, limit=MOST_A_SWEEP):
            try:
                told += await self._tell(row)
            except Exception as error:
                failed += 1
                _log.warning("sweep: a decision was not left with its run (%s)", type(error).__name__)
        # the ledger's reads are short and local; the loop is this worker's own and serves nothing else meanwhile
        for lead in self._ledger.unfinished(older_than=self._age, limit=MOST_A_SWEEP):
            seen += 1
            try:
                state = await self._runs.state(lead)
                if state is RunState.OPEN:
                    continue
                if lead.run >= 1 and state is RunState.CLOSED:
                    expired += self._expire(lead)
                    asked += self._ask(lead)
                    continue
                await self._runs.resume(lead)
            except Exception as error:
                # whatever is wrong with one lead, the others are looked after
                failed += 1
                # the kind of the error and not its words, in which anything may stand
                _log.warning("sweep: %s was not looked after (%s)", lead.workflow_id, type(error).__name__)
            else:
                resumed += 1
        return Swept(seen=seen, resumed=resumed, asked=asked, expired=expired, told=told, failed=failed)

    async def _tell(self, row: DecisionRow) -> int:
        """Take a kept decision to its run, which Temporal's absence, or the starter's end, has kept it from."""
        item = self._ledger.review(row.review_id or "")
        lead = self._ledger.lead(item.event_key) if item is not None else None
        if item is None or lead is None:
            return 0
        if await self._runs.state(lead) is not RunState.OPEN:
            await self._runs.resume(lead)  # a run that begins applies what is pending by itself
            return 0
        decision = ReviewDecision(
            decision_id=row.decision_id,
            review_id=item.review_id,
            version=row.review_version or item.version,
            decision=Decision(row.decision or ""),
            reason=row.reason or "",
            reviewer=row.reviewer,
            shown_digest=row.shown_digest,
        )
        await self._runs.tell(lead, decision)
        return 1

    def _ask(self, lead: Lead) -> int:
        standing = self._ledger.lead(lead.event_key) or lead
        if standing.outcome.final or self._ledger.review_of(lead.event_key) is not None:
            return 0
        queue = self._rulebook.asking(lead.policy_version).queue(None)
        asked = Question.asked(Reason.RUN_FAILED, queue, self._clock.now())
        self._ledger.open_event_review(lead.event_key, asked)
        return 1

    def _expire(self, lead: Lead) -> int:
        """Have the policy decide what nobody has in time: the run that would do it is not resumed any more."""
        if not self._rulebook.readable(lead.policy_version):
            return 0  # questions stay open
        expired = 0
        for row in self._ledger.expire(lead.event_key):
            item = self._ledger.review(row.review_id) if row.review_id is not None else None
            # whoever waits for a record that this frees asks for it again by its own timer
            applied = self._ledger.apply_decision(row.decision_id, quiescence=self._views.quiescence(item))
            expired += applied.verdict is DecisionVerdict.APPLIED
        return expired
