"""A decision on its way: into the ledger first, then to the lead's run, and back with a verdict."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from temporalio.client import Client, WorkflowUpdateFailedError, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.service import RPCError, RPCStatusCode

from activities.messages import Answered
from leadproof.domain.errors import NotFound
from leadproof.domain.events import Lead
from leadproof.domain.proofs import as_sent
from leadproof.domain.review import DecisionRow, DecisionVerdict, ReviewDecision, ReviewItem, ReviewState
from leadproof.ports import Ledger
from leadproof.settings import Settings
from starter import problems
from starter.off_loop import off_loop
from starter.start import TemporalUnavailable, resume_lead
from workflows.contract import SIGNAL_DECIDE, UPDATE_SUBMIT_DECISION

ANSWER_SECONDS: Final = 5.0
"""How long a caller waits for a worker; after that the decision is kept, and the same `decision_id` asks again."""

_LOOK_SECONDS: Final = 0.1
_LEAVE_SECONDS: Final = 2.0
_LEFT_AT_ONCE: Final = 32
WHY: Final = {
    DecisionVerdict.STALE: "the question has moved on since it was shown",
    DecisionVerdict.REPEATED: "the question was answered before",
    DecisionVerdict.IMPOSSIBLE: "the question does not allow this decision",
    DecisionVerdict.MALFORMED: "it is no decision",
}
"""Why, where nothing but the row of a decision is known any more."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a decision.

    Attributes:
        why: one sentence: why it was not applied, or what follows where that is known.
        until: while *pending*, from when it can be applied, where that is known.
    """

    decision_id: str
    verdict: DecisionVerdict
    why: str | None = None
    until: datetime | None = None


class Decisions:
    """Takes decisions to the runs that apply them."""

    def __init__(self, *, settings: Settings, ledger: Ledger, client: Client) -> None:
        self._key = settings.decision_key.get_secret_value() if settings.decision_key is not None else None
        self._ledger = ledger
        self._client = client

    async def decide(self, decision: ReviewDecision, *, reviewer: str, via: str = "api") -> Decided:
        """Record a decision and have it applied.

        Args:
            decision: as sent; a reviewer that it names is kept as a claim only.
            reviewer: who decides, by the sign-in.
            via: on which way it comes.

        Raises:
            NotFound: no such question.
            Problem: 409 where the `decision_id` stands for another decision.
            LedgerUnavailable: no answer in time.
        """
        item = await off_loop(lambda: self._ledger.review(decision.review_id))
        if item is None:
            raise NotFound("no review item stands under this id")
        via = f"{via}, claims to be {decision.reviewer}" if decision.reviewer else via
        decision = decision.model_copy(update={"reviewer": reviewer})
        recorded = await off_loop(lambda: self._ledger.record_decision(decision, reviewer=reviewer, via=via))
        if not stands_for(recorded, decision):
            raise problems.decision_id_taken()
        return await self.applied(item, decision.model_copy(update={"decision_id": recorded.decision_id}), recorded)

    async def applied(self, item: ReviewItem, decision: ReviewDecision, recorded: DecisionRow) -> Decided:
        """Have a decision that stands in the ledger applied.

        Args:
            item: the question as it stood before the decision was recorded.

        Raises:
            NotFound: no lead stands behind the question.
            LedgerUnavailable: no answer in time.
        """
        if recorded.verdict not in {DecisionVerdict.PENDING, DecisionVerdict.REPEATED}:
            return _decided(recorded, None)
        repeated = recorded.verdict is DecisionVerdict.REPEATED
        if repeated or item.state is not ReviewState.OPEN or decision.version < item.version:
            # a closed question and a passed version stay so: the ledger has only the verdict left to give, or its why
            told = await off_loop(lambda: self._ledger.apply_decision(decision.decision_id, quiescence=timedelta(0)))
            return Decided(decision.decision_id, told.verdict, told.why or WHY.get(told.verdict))
        lead = await self._lead(item.event_key)
        answered = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                answered = await self._submitted(lead, decision)
        row = await self._row(decision.decision_id, recorded)
        if answered is None and row.verdict is DecisionVerdict.PENDING:
            await self._leave(lead, decision)
        return _decided(row, answered)

    async def leave(self, left: Sequence[tuple[ReviewItem, ReviewDecision]]) -> None:
        """Leave recorded decisions to their runs, and do not wait for what becomes of them.

        Raises:
            LedgerUnavailable: no answer in time.
        """
        named = {item.event_key for item, _ in left}
        leads = await off_loop(lambda: {key: self._ledger.lead(key) for key in named}, patience_seconds=ANSWER_SECONDS)
        limit = asyncio.Semaphore(_LEFT_AT_ONCE)

        async def one(lead: Lead, decision: ReviewDecision) -> None:
            async with limit:
                await self._leave(lead, decision)

        found = [(lead, decision) for item, decision in left if (lead := leads[item.event_key]) is not None]
        await asyncio.gather(*(one(lead, decision) for lead, decision in found))

    async def _lead(self, event_key: str) -> Lead:
        lead = await off_loop(lambda: self._ledger.lead(event_key))
        if lead is None:
            raise NotFound("no lead stands behind this question")
        return lead

    async def _leave(self, lead: Lead, decision: ReviewDecision) -> None:
        """As a signal, which Temporal keeps till a worker comes: an update that no worker took, it may forget."""
        try:
            await self._client.get_workflow_handle(lead.workflow_id).signal(
                SIGNAL_DECIDE, self._signed(decision), rpc_timeout=timedelta(seconds=_LEAVE_SECONDS)
            )
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                _log.warning("a decision was not left with its run: %s", error.status.name)
                return
            try:  # a run that is resumed applies what is pending by itself
                await resume_lead(self._ledger, self._client, lead)
            except TemporalUnavailable as unavailable:
                _log.warning("a lead was not resumed for a decision: %s", unavailable)

    async def _submitted(self, lead: Lead, decision: ReviewDecision) -> Answered | None:
        """The run's answer; `None` where the ledger's row says all that is known."""
        try:
            answered: Answered = await self._client.get_workflow_handle(lead.workflow_id).execute_update(
                UPDATE_SUBMIT_DECISION,
                self._signed(decision),
                id=decision.decision_id,
                result_type=Answered,
                rpc_timeout=timedelta(seconds=ANSWER_SECONDS),
            )
        except WorkflowUpdateRPCTimeoutOrCancelledError:
            return None
        except WorkflowUpdateFailedError as error:
            _log.warning("a run did not answer a decision: %s", type(error.cause).__name__)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                _log.warning("a decision did not reach its run: %s", error.status.name)
                return None
        else:
            return answered
        await self._resumed(lead, decision.decision_id)
        return None

    async def _resumed(self, lead: Lead, decision_id: str) -> None:
        """Resume a lead whose run is closed; a run applies the pending decisions of its open questions first."""
        try:
            await resume_lead(self._ledger, self._client, lead)
        except TemporalUnavailable as error:
            _log.warning("a lead was not resumed for a decision: %s", error)
            return
        while True:
            row = await off_loop(lambda: self._ledger.decision(decision_id))
            if row is not None and row.verdict is not DecisionVerdict.PENDING:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def _row(self, decision_id: str, recorded: DecisionRow) -> DecisionRow:
        return await off_loop(lambda: self._ledger.decision(decision_id)) or recorded

    def _signed(self, decision: ReviewDecision) -> dict[str, Any]:
        return as_sent(decision, self._key)


def stands_for(recorded: DecisionRow, decision: ReviewDecision) -> bool:
    """Whether the row under a decision's id is this decision, by the same person, and none that came before it."""
    said = decision.review_id, decision.version, decision.decision.value, decision.reviewer
    return (recorded.review_id, recorded.review_version, recorded.decision, recorded.reviewer) == said


def _decided(row: DecisionRow, answered: Answered | None) -> Decided:
    why = answered.why if answered is not None and answered.why else WHY.get(row.verdict)
    return Decided(row.decision_id, row.verdict, why, answered.until if answered is not None else None)
