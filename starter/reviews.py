"""`/v1/reviews`: questions for people, and their answers."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from leadproof import strict_json
from leadproof.domain.derivation import why_not
from leadproof.domain.errors import MalformedDecision, MalformedDelivery, NotFound
from leadproof.domain.policy import Policy
from leadproof.domain.review import (
    DecisionVerdict,
    ReviewDecision,
    ReviewItem,
    ReviewState,
    allowed_decisions,
    parse_decision,
    possible,
)
from leadproof.domain.shown import shown_digest
from leadproof.domain.steps import Receipts
from leadproof.domain.unanswered import may_attempt_again
from leadproof.ports import Clock, Ledger
from leadproof.setting_lists import ApiToken
from starter import problems
from starter.api import Limit, Text, check_key
from starter.auth import Tokens
from starter.bodies import check_json, raw_body
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
        decisions: Decisions,
        policy: Policy,
        tokens: Tokens,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._ledger = ledger
        self._policy = policy
        self._clock = clock
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
            raise problems.malformed(await off_loop(lambda: self._with_possible(why, review_id))) from None
        decided = await self._decisions.decide(decision, reviewer=f"api:{token.name}")
        self._metrics.decision(decided.verdict.value)
        shown = await off_loop(lambda: self._shown(review_id))
        return _answer(decided, shown)

    def _shown(self, review_id: str) -> dict[str, Any]:
        item = self._ledger.review(review_id)
        if item is None:
            raise NotFound("no review item stands under this id")
        receipts = self._ledger.receipts(item.mutation_key) if item.mutation_key is not None else None
        lead = self._ledger.lead(item.event_key)
        decided = [one for one in self._ledger.decisions_of(item.event_key) if one.review_id == review_id]
        plan = self._ledger.plan_of(lead.event_key, lead.policy_version) if lead is not None else None
        return {
            **item_answer(item, self._ledger.about([item]).get(review_id)),
            "allowed": self._allowed(item, receipts),
            "lead": row(lead) if lead is not None else None,
            "plan": plan_answer(plan) if plan is not None else None,
            "owners": self._owners(receipts),
            "mutation": mutation_answer(receipts) if receipts is not None else None,
            "decisions": [row(decision) for decision in decided],
            "shown_digest": shown_digest(item, receipts.mutation if receipts is not None else None),
        }

    def _owners(self, receipts: Receipts | None) -> dict[str, str]:
        """The policy's names of the target's owners, by the target's id."""
        named = self._policy.owners.get(receipts.mutation.target_system, {}) if receipts is not None else {}
        return {owner_id: name for name, owner_id in named.items()}

    def _with_possible(self, why: str, review_id: str) -> str:
        item = self._ledger.review(review_id)
        if item is None or item.state is not ReviewState.OPEN:
            return why
        receipts = self._ledger.receipts(item.mutation_key) if item.mutation_key is not None else None
        return f"{why}; {possible(self._allowed(item, receipts))}"

    def _allowed(self, item: ReviewItem, receipts: Receipts | None) -> list[str]:
        """What can be decided as it stands now; the ledger looks again when it is."""
        if item.state is not ReviewState.OPEN:
            return []
        if receipts is None:
            return sorted(allowed_decisions(status=None, reason=None))
        mutation = receipts.mutation
        target = self._policy.targets.get(mutation.target_system)
        absent = target is not None and may_attempt_again(
            receipts.attempts,
            receipts.observations,
            status=mutation.status,
            creates=mutation.creates,
            quiescence=target.quiescence,
            now=self._clock.now(),
        )
        allowed = allowed_decisions(status=mutation.status, reason=mutation.reason, absence_established=absent)
        return sorted(one for one in allowed if why_not(mutation, one, lambda _: self._policy) is None)


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
