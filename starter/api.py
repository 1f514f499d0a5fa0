"""`/v1`: leads from forms and other systems, and what became of leads and mutations."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse

from leadproof.domain.errors import MalformedDelivery
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Status
from leadproof.domain.policy import Policy
from leadproof.inbound import standard
from leadproof.ports import Ledger
from starter import problems
from starter.admission import CONFLICT
from starter.auth import Tokens
from starter.bodies import check_json, raw_body
from starter.intake import Intake, Result
from starter.metrics import Metrics
from starter.off_loop import off_loop
from starter.rows import lead_answer, mutation_answer, page
from starter.webhooks import RESERVED, digest, json_body

KEY: Final = re.compile(r"[0-9a-f]{64}")
MOST_ITEMS: Final = 200

Text = Annotated[str | None, Query(max_length=200, pattern=r"^[^\x00]*$")]
Limit = Annotated[int, Query(ge=1, le=MOST_ITEMS)]


class Api:
    """The routes of leads and mutations."""

    def __init__(self, *, ledger: Ledger, intake: Intake, policy: Policy, tokens: Tokens, metrics: Metrics) -> None:
        self._ledger = ledger
        self._intake = intake
        self._policy = policy
        self._tokens = tokens
        self._metrics = metrics

    def router(self) -> APIRouter:
        """The routes, for the application."""
        router = APIRouter(prefix="/v1", tags=["leads"])
        router.add_api_route(
            "/leads",
            self.submit,
            methods=["POST"],
            dependencies=[Depends(self._tokens.require("events"))],
            status_code=202,
            response_model=None,
            summary="A lead of a form or another system",
            openapi_extra=json_body({"$ref": "#/components/schemas/LeadDelivery"}),
        )
        reads: list[tuple[str, Any]] = [
            ("/leads/{event_key}", self.lead),
            ("/leads", self.leads),
            ("/mutations/{mutation_key}", self.mutation),
            ("/mutations", self.mutations),
        ]
        for path, endpoint in reads:
            router.add_api_route(
                path,
                endpoint,
                methods=["GET"],
                dependencies=[Depends(self._tokens.require("read"))],
                response_model=None,
            )
        return router

    async def submit(self, request: Request, source: Text = None) -> JSONResponse:
        """Take in one lead; the answer comes when it is durable.

        `source` names the source system where several of the policy's have this event kind.
        """
        check_json(request)
        body = await raw_body(request)
        try:
            draft = standard.parse(body, source="")
            name = self._source(draft.event.event_kind, source)
            reading = standard.parse_event(draft.body, source=name)
        except MalformedDelivery as error:
            raise problems.malformed(str(error)) from None
        (taken,) = await self._intake.take([reading], source=name, digest=digest(body), keep={CONFLICT})
        self._metrics.events(name, {taken.result.value: 1})
        if taken.event_key is None:
            raise problems.malformed(taken.why or "the event cannot be used")
        if taken.result is Result.CONFLICT:
            raise problems.key_conflict(taken.event_key)
        return JSONResponse(
            {"event_key": taken.event_key, "workflow_id": taken.workflow_id, "result": taken.result.value}, 202
        )

    async def lead(self, event_key: str) -> JSONResponse:
        """One lead event with its mutations, its plan and the decisions about it."""
        check_key(event_key)
        lead = await off_loop(lambda: self._ledger.lead(event_key))
        if lead is None:
            raise problems.not_found("no lead event stands under this key")
        mutations = await off_loop(lambda: self._ledger.mutations_of(event_key))
        plan = await off_loop(lambda: self._ledger.plan_of(event_key, lead.policy_version))
        decisions = await off_loop(lambda: self._ledger.decisions_of(event_key))
        return JSONResponse(lead_answer(lead, mutations, plan, decisions))

    async def leads(
        self,
        outcome: Outcome | None = None,
        source_record_id: Text = None,
        limit: Limit = 50,
        cursor: Text = None,
    ) -> JSONResponse:
        """Lead events, newest first."""
        items, following = await off_loop(
            lambda: self._ledger.leads(outcome=outcome, source_record_id=source_record_id, limit=limit, cursor=cursor)
        )
        return JSONResponse(page(items, following))

    async def mutation(self, mutation_key: str) -> JSONResponse:
        """One mutation with its three receipts."""
        check_key(mutation_key)
        receipts = await off_loop(lambda: self._ledger.receipts(mutation_key))
        if receipts is None:
            raise problems.not_found("no mutation stands under this key")
        return JSONResponse(mutation_answer(receipts))

    async def mutations(
        self,
        status: Status | None = None,
        source_record_id: Text = None,
        limit: Limit = 50,
        cursor: Text = None,
    ) -> JSONResponse:
        """Mutations, newest first."""
        items, following = await off_loop(
            lambda: self._ledger.mutations(status=status, source_record_id=source_record_id, limit=limit, cursor=cursor)
        )
        return JSONResponse(page(items, following))

    def _source(self, event_kind: str, asked: str | None) -> str:
        """The source system of a lead that came with a token: the policy's generic source with this event kind.

        A second one makes the name necessary; the event key of what was sent before never moves.
        """
        having = [
            event.source
            for event in self._policy.events
            if event.kind == event_kind and event.source not in RESERVED and asked in (None, event.source)
        ]
        if len(having) == 1:
            return having[0]
        if having:
            raise MalformedDelivery("several sources have this event kind: say which with ?source=")
        raise MalformedDelivery("event_kind: none that the policy names for a source of ours")


def check_key(key: str) -> None:
    """Keys are SHA-256 in lower-case hex; nothing stands under anything else.

    Raises:
        Problem: 404.
    """
    if KEY.fullmatch(key) is None:
        raise problems.not_found("nothing stands under this key")
