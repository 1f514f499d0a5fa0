"""Where sources deliver: signed, within bounds, and acknowledged only when durable."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from leadproof.domain.errors import ConfigurationRefused, MalformedDelivery
from leadproof.inbound import hubspot, standard
from leadproof.inbound.signatures import HubSpotSignature, InvalidSignature, StandardSignature
from leadproof.ports import Clock
from leadproof.settings import Settings
from starter import problems
from starter.admission import CONFLICT, FUTURE
from starter.bodies import check_json, raw_body
from starter.intake import Intake, Result, Taken, tally
from starter.metrics import Metrics

HUBSPOT_PATH: Final = "/webhooks/hubspot"
STANDARD_PATH: Final = "/webhooks/standard/{source}"

RESERVED: Final = frozenset({"hubspot", "salesforce", "gohighlevel", "linq", "pidgeon"})
"""Names of systems with adapters of their own; no generic source has one of them."""

_log = logging.getLogger(__name__)


class Webhooks:
    """The routes of sources.

    Raises:
        ConfigurationRefused: a generic source has a reserved name, or a secret that is none.
    """

    def __init__(self, *, settings: Settings, intake: Intake, clock: Clock, metrics: Metrics) -> None:
        self._intake = intake
        self._clock = clock
        self._metrics = metrics
        self._hubspot = HubSpotSignature(
            [secret.get_secret_value() for secret in settings.hubspot_webhook_secrets],
            settings.public_url.rstrip("/") + HUBSPOT_PATH,
        )
        taken = sorted(RESERVED & settings.standard_secrets.keys())
        if taken:
            raise ConfigurationRefused(f"a generic source cannot be called {', '.join(taken)}")
        self._standard = {
            source: StandardSignature([secret.get_secret_value() for secret in secrets])
            for source, secrets in settings.standard_secrets.items()
        }

    def router(self) -> APIRouter:
        """The routes, for the application."""
        router = APIRouter(tags=["webhooks"])
        router.add_api_route(
            HUBSPOT_PATH,
            self.hubspot,
            methods=["POST"],
            response_model=None,
            summary="A HubSpot delivery",
            openapi_extra=json_body({"type": "array", "items": {"type": "object"}, "minItems": 1, "maxItems": 100}),
        )
        router.add_api_route(
            STANDARD_PATH,
            self.standard,
            methods=["POST"],
            response_model=None,
            summary="A delivery of a generic source, by Standard Webhooks",
            openapi_extra=json_body({"$ref": "#/components/schemas/LeadDelivery"}),
        )
        return router

    async def hubspot(self, request: Request) -> JSONResponse:
        """Take in an array of 1 to 100 events, each for itself."""

        async def take(body: bytes) -> list[Taken]:
            self._hubspot.verify(
                request.headers,
                method=request.method,
                query=request.url.query,
                body=body,
                now=self._clock.now(),
            )
            return await self._intake.take(hubspot.parse(body), source=hubspot.SOURCE, digest=digest(body))

        return await self._acknowledged(request, hubspot.SOURCE, take)

    async def standard(self, request: Request, source: str) -> JSONResponse:
        """Take in one lead event in our own schema."""
        signature = self._standard.get(source)
        if signature is None:
            raise problems.not_found("no source of this name is configured")

        async def take(body: bytes) -> list[Taken]:
            signature.verify(request.headers, body=body, now=self._clock.now())
            reading = standard.parse(body, source=source)
            keep = {FUTURE, CONFLICT}  # a later delivery of the same would be as malformed as this one
            taken = await self._intake.take([reading], source=source, digest=digest(body), keep=keep)
            if taken[0].result is Result.QUARANTINED and taken[0].reason not in keep:
                raise MalformedDelivery(taken[0].why or "it cannot be used")
            return taken

        return await self._acknowledged(request, source, take)

    async def _acknowledged(
        self, request: Request, source: str, take: Callable[[bytes], Awaitable[list[Taken]]]
    ) -> JSONResponse:
        try:
            check_json(request)
            body = await raw_body(request)
            began = self._clock.monotonic()
            counts = tally(await take(body))
        except InvalidSignature as error:
            _log.warning("a delivery for %s was refused: %s", source, error)
            problem = problems.bad_signature()
        except MalformedDelivery as error:
            problem = problems.malformed(str(error))
        except problems.Problem as error:
            problem = error
        except problems.OUT_OF_REACH as error:
            _log.warning("a delivery of %s was put off: %s", source, error)
            problem = problems.unavailable(str(error))
        else:
            self._metrics.delivery(source, 200)
            self._metrics.events(source, {result.value: counts[result.value] for result in Result})
            self._metrics.acknowledged(source, self._clock.monotonic() - began)
            return JSONResponse(counts)
        self._metrics.delivery(source, problem.status)
        return problem.response()


def digest(body: bytes) -> str:
    """Names a delivery in the quarantine."""
    return hashlib.sha256(body).hexdigest()


def json_body(schema: dict[str, Any]) -> dict[str, Any]:
    """Describes a body that a route reads raw."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
