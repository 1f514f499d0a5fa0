"""`/v1/reviews`: questions for people, and their answers."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from leadproof import strict_json
from leadproof.domain.errors import MalformedDecision, MalformedDelivery
from leadproof.domain.review import DecisionVerdict, ReviewDecision, ReviewState, parse_decision, possible
from leadproof.ports import Ledger
from leadproof.setting_lists import ApiToken
from starter import problems
from starter.api import Limit, Text, check_key
from starter.auth import Tokens
from starter.bodies import check_json, raw_body
from starter.cases import Cases
from starter.decisions import WHY, Decided, Decisions
from starter.metrics import Metrics
from starter.off_loop import off_loop
from starter.rows import item_answer, mutation_answer, plan_answer, row
from starter.webhooks import json_body


class Reviews:
    """The routes of the review queue."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        cases: Cases,
        decisions: Decisions,
        tokens: Tokens,
        metrics: Metrics,
    ) -> None:
        self._ledger = ledger
        self._cases = cases
        self._decisions = decisions
        self._tokens = tokens
        self._metrics = metrics

    def router(self) -> APIRouter:
        """The routes, for the application."""
        router = APIRouter(prefix="/v1/reviews", tags=["reviews"])
        reader = Depends(self._tokens.require("read"))
        router.add_api_route("", self.items, methods=["GET"], dependencies=[reader], response_model=None)
        router.add_api_route("/{review_id}", self.item, methods=["GET"], dependencies=[reader], response_model=None)
        decider = Depends(self._tokens.require("decide"))

        async def decide(request: Request, review_id: str, token: ApiToken = decider) -> JSONResponse:
            """Answer a question: 200 applied, 202 kept until a worker answers, 409 not applied and why."""
            return await self.decide(request, review_id, token)

        router.add_api_route(
            "/{review_id}/decisions",
            decide,
            methods=["POST"],
            response_model=None,
            openapi_extra=json_body({"$ref": "#/components/schemas/ReviewDecision"}),
        )
        return router

    async def items(
        self, queue: Text = None, state: ReviewState | None = None, limit: Limit = 50, cursor: Text = None
    ) -> JSONResponse:
        """Review items, by due time."""
        items, following = await off_loop(
            lambda: self._ledger.reviews(queue=queue, state=state, limit=limit, cursor=cursor)
        )
        about = await off_loop(lambda: self._ledger.about(items))
        answers = [item_answer(item, about.get(item.review_id)) for item in items]
        return JSONResponse({"items": answers, "next": following})

    async def item(self, review_id: str) -> JSONResponse:
        """One question with the receipts that it is about."""
        check_key(review_id)
        return JSONResponse(await off_loop(lambda: self._shown(review_id)))

    async def decide(self, request: Request, review_id: str, token: ApiToken) -> JSONResponse:
        """Keep a decision, have it applied, and say what became of it."""
        check_key(review_id)
        check_json(request)
        try:
            decision = _decision(await raw_body(request), review_id)
        except MalformedDecision as error:
            why = str(error)
            raise problems.malformed(await off_loop(lambda: self._cases.with_possible(why, review_id))) from None
        decided = await self._decisions.decide(decision, reviewer=f"api:{token.name}")
        self._metrics.decision(decided.verdict.value)
        return _answer(decided, await off_loop(lambda: self._shown(review_id)))

    def _shown(self, review_id: str) -> dict[str, Any]:
        """A question as the API answers it."""
        case = self._cases.case(review_id)
        behind = self._cases.behind(case)
        return {
            **item_answer(case.item, case.about),
            "allowed": list(case.allowed),
            "does": self._cases.effects(case, behind),
            "waiting": [row(mutation) for mutation in behind.waiting],
            "lead": row(case.lead) if case.lead is not None else None,
            "plan": plan_answer(case.plan) if case.plan is not None else None,
            "owners": case.owners,
            "mutation": mutation_answer(case.receipts) if case.receipts is not None else None,
            "decisions": [row(decision) for decision in case.decisions],
            "shown_digest": case.digest,
        }


def _decision(body: bytes, review_id: str) -> ReviewDecision:
    try:
        sent = strict_json.read(body)
        strict_json.check(sent)
        if isinstance(sent, dict):
            if sent.get("review_id", review_id) != review_id:
                raise MalformedDecision("its review_id is another one than the address names")
            sent = {**sent, "review_id": review_id}
        return parse_decision([sent])
    except MalformedDelivery as error:
        raise problems.malformed(str(error)) from None


def _answer(decided: Decided, shown: dict[str, Any]) -> JSONResponse:
    answer = {
        "decision_id": decided.decision_id,
        "verdict": decided.verdict.value,
        "why": decided.why,
        "until": decided.until.isoformat() if decided.until is not None else None,
        "review": shown,
    }
    if decided.verdict is DecisionVerdict.APPLIED:
        return JSONResponse(answer)
    if decided.verdict is DecisionVerdict.PENDING:
        return JSONResponse(answer, 202)
    why = decided.why
    if decided.verdict is DecisionVerdict.IMPOSSIBLE and why == WHY[DecisionVerdict.IMPOSSIBLE]:
        why = f"{why}; {possible(shown['allowed'])}"
    return problems.decision_refused(decided.verdict.value, why, answer).response()
