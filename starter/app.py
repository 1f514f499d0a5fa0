"""The starter's application: what comes in from outside, and the API."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, Response
from pydantic.json_schema import models_json_schema
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import reread_policy
from leadproof.domain.review import ReviewDecision
from leadproof.inbound.standard import LeadDelivery
from leadproof.ports import Clock, Ledger
from leadproof.rulebook import Rulebook
from leadproof.settings import Settings
from starter import problems
from starter.admission import source_fields
from starter.api import Api
from starter.auth import Tokens
from starter.bulk import Bulk
from starter.cases import Cases
from starter.decisions import Decisions
from starter.intake import Intake
from starter.many import ManyDecisions
from starter.metrics import CONTENT_TYPE, Metrics
from starter.off_loop import off_loop
from starter.quarantine import Quarantine
from starter.review.rendering import Pages
from starter.review.routes import ReviewPages
from starter.review.security import secure
from starter.review.sign_in import ReviewSignIn
from starter.review.why_page import WhyPages
from starter.reviews import Reviews
from starter.webhooks import Webhooks
from starter.why import Look, Why

_LOOK: Final = timedelta(seconds=2)


def create_app(
    settings: Settings,
    *,
    ledger: Ledger,
    client: Client,
    policy: Policy,
    clock: Clock,
    look: Look = lambda _: None,
) -> FastAPI:
    """The application over open connections; whoever opened them closes them.

    Args:
        look: opens the CRMs that a record can be read from; without it the ledger alone is told of.

    Raises:
        ConfigurationRefused: a secret or a token is none, a generic source has a reserved name, or a reviewer a queue
            that the policy does not have.
    """
    app = FastAPI(title="Leadproof", version="1", docs_url=None, redoc_url=None)
    metrics = Metrics()
    tokens = Tokens(settings.api_tokens)
    intake = Intake(
        settings=settings,
        ledger=ledger,
        client=client,
        policy=policy,
        clock=clock,
        fields=source_fields(policy),
    )
    cases = Cases(ledger=ledger, rulebook=Rulebook(ledger, reread_policy, now=policy), clock=clock)
    decisions = Decisions(settings=settings, ledger=ledger, client=client)
    pages = Pages(settings.public_url)
    sign_in = ReviewSignIn(settings=settings, ledger=ledger, policy=policy, clock=clock, tokens=tokens, pages=pages)
    for part in (
        sign_in,
        sign_in.links,
        Webhooks(settings=settings, intake=intake, clock=clock, metrics=metrics),
        Api(ledger=ledger, intake=intake, policy=policy, tokens=tokens, metrics=metrics),
        Reviews(ledger=ledger, cases=cases, decisions=decisions, tokens=tokens, metrics=metrics),
        Quarantine(ledger=ledger, intake=intake, tokens=tokens, metrics=metrics),
    ):
        app.include_router(part.router())
    bulk = Bulk(ledger=ledger, decisions=decisions, cases=cases, policy=policy, metrics=metrics)
    app.include_router(bulk.router(tokens))
    reviewing = ReviewPages(
        settings=settings,
        ledger=ledger,
        cases=cases,
        decisions=decisions,
        bulk=bulk,
        sign_in=sign_in,
        clock=clock,
        metrics=metrics,
        pages=pages,
    )
    why = Why(ledger=ledger, policy=policy, look=look)
    app.include_router(why.router(tokens))
    app.include_router(WhyPages(why=why, ledger=ledger, sign_in=sign_in, pages=pages).router())
    app.include_router(reviewing.router())
    _add_probes(app, ledger, client, metrics)
    problems.install(app, pages.answer)
    _describe(app)
    secure(app)
    return app


def _add_probes(app: FastAPI, ledger: Ledger, client: Client, metrics: Metrics) -> None:
    @app.get("/healthz", tags=["operation"], response_model=None)
    async def healthz() -> JSONResponse:
        """Alive."""
        return JSONResponse({"status": "ok"})

    @app.get("/readyz", tags=["operation"], response_model=None)
    async def readyz() -> JSONResponse:
        """Able to start workflows: the ledger and Temporal answer."""
        try:
            await off_loop(ledger.ping)
            await client.workflow_service.describe_namespace(
                DescribeNamespaceRequest(namespace=client.namespace), timeout=_LOOK
            )
        except problems.OUT_OF_REACH as error:
            raise problems.unavailable(str(error)) from None
        except RPCError as error:
            raise problems.unavailable(f"Temporal does not answer: {error.status.name}") from None
        return JSONResponse({"status": "ok"})

    @app.get("/metrics", tags=["operation"], response_model=None)
    async def metrics_text() -> Response:
        """Counters, and what the ledger holds where it answers; for Prometheus."""
        with contextlib.suppress(*problems.OUT_OF_REACH):
            metrics.standing(await off_loop(ledger.counts))
        return Response(metrics.text(), media_type=CONTENT_TYPE)


def _describe(app: FastAPI) -> None:
    """Add the bodies that routes read raw to the application's description."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = get_openapi(title=app.title, version=app.version, routes=app.routes)
            models = [(LeadDelivery, "validation"), (ReviewDecision, "validation"), (ManyDecisions, "validation")]
            _, definitions = models_json_schema(models, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
            described.setdefault("components", {}).setdefault("schemas", {}).update(definitions["$defs"])
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
