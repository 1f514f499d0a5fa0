"""`POST /v1/reviews/decisions`: many questions answered by one request, each by a decision of its own."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from leadproof.domain.errors import LedgerUnavailable, NotFound
from leadproof.domain.policy import Policy
from leadproof.domain.review import DecisionRow, DecisionVerdict
from leadproof.ports import Ledger
from leadproof.setting_lists import ApiToken
from starter import decisions
from starter.auth import Tokens
from starter.bodies import check_json, raw_body
from starter.cases import Cases
from starter.choosing import Choice, Choosing
from starter.decisions import Decided, Decisions, stands_for
from starter.many import ManyDecisions, checked, read_many
from starter.metrics import Metrics
from starter.off_loop import off_loop
from starter.webhooks import json_body

MOST_SECONDS: Final = 30.0
"""So long a request with many decisions is answered at most, while workers go on answering."""

_AT_ONCE: Final = 16
_PATIENCE_SECONDS: Final = 10.0
"""For the ledger steps that are about all of them."""

_KEPT: Final = "no worker has answered yet; it is kept, and applied as soon as one does"


@dataclass(frozen=True, slots=True)
class OneOfMany:
    """What became of one of many decisions; its members are those of the answer.

    Attributes:
        decision_id: `None` where nothing was kept.
        until: while *pending*, from when it can be applied, where that is known.
    """

    review_id: str
    mutation_key: str | None
    event_key: str | None
    decision_id: str | None
    verdict: DecisionVerdict
    why: str | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """What became of many decisions.

    Attributes:
        more: there are further questions of the kind, for another request.
    """

    answers: tuple[OneOfMany, ...]
    more: bool = False

    @property
    def applied(self) -> int:
        return sum(one.verdict is DecisionVerdict.APPLIED for one in self.answers)

    @property
    def kept(self) -> int:
        """Decisions that are applied later: once a worker runs, or an earlier request can no longer arrive."""
        return sum(one.verdict is DecisionVerdict.PENDING for one in self.answers)

    @property
    def refused(self) -> int:
        return len(self.answers) - self.applied - self.kept

    def told(self) -> dict[str, Any]:
        """The answer of `POST /v1/reviews/decisions`."""
        answers = [
            {**asdict(one), "until": one.until.isoformat() if one.until is not None else None} for one in self.answers
        ]
        numbers = {"applied": self.applied, "kept": self.kept, "refused": self.refused}
        return {"answers": answers, **numbers, "more": self.more}


def _everywhere(_: str) -> bool:
    return True


class Bulk:
    """Decides many questions, for the API and for the page."""

    def __init__(self, *, ledger: Ledger, decisions: Decisions, cases: Cases, policy: Policy, metrics: Metrics) -> None:
        self._ledger = ledger
        self._decisions = decisions
        self._choosing = Choosing(ledger=ledger, cases=cases, policy=policy)
        self._metrics = metrics

    def router(self, tokens: Tokens) -> APIRouter:
        """The route, for the application."""
        router = APIRouter(prefix="/v1/reviews", tags=["reviews"])
        decider = Depends(tokens.require("decide"))

        async def decide_many(request: Request, token: ApiToken = decider) -> JSONResponse:
            """Answer many questions: each is told what became of it, and how many are applied, kept and refused."""
            check_json(request)
            asked = read_many(await raw_body(request))
            answers = await self.decide(asked, reviewer=f"api:{token.name}")
            return JSONResponse(answers.told())

        body = json_body({"$ref": "#/components/schemas/ManyDecisions"})
        router.add_api_route("/decisions", decide_many, methods=["POST"], response_model=None, openapi_extra=body)
        return router

    async def decide(
        self,
        asked: ManyDecisions,
        *,
        reviewer: str,
        via: str = "api",
        may: Callable[[str], bool] = _everywhere,
    ) -> Answers:
        """Keep the decisions that a request means, all of them at once, and have each applied.

        Args:
            reviewer: who decides, by the sign-in.
            via: on which way it comes.
            may: whether the reviewer decides in a queue.

        Raises:
            NotFound: the question that others wait behind is none.
            Problem: 403 for a queue of others; 422 for a request that cannot be meant.
            LedgerUnavailable: no answer in time.
        """
        checked(asked)
        chosen = await off_loop(lambda: self._choosing.chosen(asked, reviewer, may), patience_seconds=_PATIENCE_SECONDS)
        stages = [_in_the_name_of(reviewer, stage) for stage in chosen.stages]
        wanted = [choice.decision for stage in stages for choice in stage]
        rows = await off_loop(
            lambda: self._ledger.record_decisions(wanted, reviewer=reviewer, via=via),
            patience_seconds=_PATIENCE_SECONDS,
        )
        recorded = iter(rows)
        parties = [[_Party(choice, next(recorded)) for choice in stage] for stage in stages]
        await _Round(self._decisions).hold(parties)
        answers = [party.answer() for stage in parties for party in stage]
        for answer in answers:
            self._metrics.decision(answer.verdict.value)
        refused = (
            OneOfMany(review_id, None, None, None, DecisionVerdict.IMPOSSIBLE, why) for review_id, why in chosen.refused
        )
        return Answers((*answers, *refused), chosen.more)


def _in_the_name_of(reviewer: str, stage: Iterable[Choice]) -> list[Choice]:
    return [Choice(one.item, one.decision.model_copy(update={"reviewer": reviewer})) for one in stage]


class _Party:
    """One decision of a request, and what became of it."""

    def __init__(self, choice: Choice, recorded: DecisionRow) -> None:
        self.item = choice.item
        self.decision = choice.decision.model_copy(update={"decision_id": recorded.decision_id})
        self.recorded = recorded
        self.decided: Decided | None = None
        if not stands_for(recorded, self.decision):
            why = "its decision_id stands for another decision"
            self.decided = Decided(recorded.decision_id, DecisionVerdict.IMPOSSIBLE, why)

    @property
    def heard(self) -> bool:
        """Whether its run has answered."""
        decided = self.decided
        return decided is not None and (decided.verdict is not DecisionVerdict.PENDING or decided.until is not None)

    def answer(self) -> OneOfMany:
        decided = self.decided or Decided(self.decision.decision_id, self.recorded.verdict)
        kept = decided.verdict is DecisionVerdict.PENDING and decided.why is None
        return OneOfMany(
            self.item.review_id,
            self.item.mutation_key,
            self.item.event_key,
            decided.decision_id,
            decided.verdict,
            _KEPT if kept else decided.why,
            decided.until,
        )


class _Round:
    """Takes the decisions of one request to their runs, some at a time, for as long as workers answer."""

    def __init__(self, deciding: Decisions) -> None:
        self._decisions = deciding
        self._limit = asyncio.Semaphore(_AT_ONCE)
        self._ends = time.monotonic() + MOST_SECONDS
        self._answers = True

    async def hold(self, stages: Sequence[Sequence[_Party]]) -> None:
        """Have every decision applied; what no worker answers for stays with its run."""
        for stage in stages:
            if self._answers:
                await self._have_applied(stage)
            pending = [party for party in stage if party.recorded.verdict is DecisionVerdict.PENDING]
            left = [party for party in pending if party.decided is None]
            with contextlib.suppress(LedgerUnavailable):  # they are kept; the same request again leaves them anew
                await self._decisions.leave([(party.item, party.decision) for party in left])

    async def _have_applied(self, stage: Sequence[_Party]) -> None:
        running = {asyncio.create_task(self._apply(party)): party for party in stage if party.decided is None}
        waiting = set(running)
        heard_at = time.monotonic()
        try:
            while waiting and self._answers:
                done, waiting = await asyncio.wait(
                    waiting, timeout=decisions.ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                now = time.monotonic()
                if any(running[task].heard for task in done):
                    heard_at = now
                self._answers = now < self._ends and now - heard_at < decisions.ANSWER_SECONDS
        finally:
            for task in waiting:
                task.cancel()
            ended = await asyncio.gather(*running, return_exceptions=True)
        for one in ended:
            if isinstance(one, Exception):
                raise one

    async def _apply(self, party: _Party) -> None:
        async with self._limit:
            try:
                party.decided = await self._decisions.applied(party.item, party.decision, party.recorded)
            except (LedgerUnavailable, NotFound) as error:  # it is kept; the same request again asks what became of it
                party.decided = Decided(party.decision.decision_id, party.recorded.verdict, str(error))
