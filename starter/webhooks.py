"""Where sources deliver: signed, within bounds, and acknowledged only when durable."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from leadproof import strict_json
from leadproof.domain.errors import ConfigurationRefused, MalformedDelivery
from leadproof.inbound import hubspot, salesforce, standard
from leadproof.inbound.signatures import HubSpotSignature, InvalidSignature, SecretPath, StandardSource
from leadproof.ports import Clock
from leadproof.settings import Settings
from starter import problems
from starter.admission import CONFLICT, FUTURE
from starter.bodies import JSON, XML, check_json, check_xml, raw_body
from starter.intake import Intake, Result, Taken, tally
from starter.metrics import Metrics

HUBSPOT_PATH: Final = "/webhooks/hubspot"
SALESFORCE_PATH: Final = "/webhooks/salesforce/outbound-message/{path_secret}"
STANDARD_PATH: Final = "/webhooks/standard/{source}"

ACK: Final = (
    '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body>'
    '<notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse>'
    "</soapenv:Body></soapenv:Envelope>"
)
"""What Salesforce takes for an acknowledgement, of all notifications of a message at once; any other body is none."""

_ENVELOPE: Final = {
    "type": "object",
    "description": "a SOAP envelope whose body has an outbound message of 1 to 100 notifications",
    "xml": {"name": "Envelope", "namespace": "http://schemas.xmlsoap.org/soap/envelope/"},
    "required": ["Body"],
    "properties": {"Body": {"type": "object"}},
}

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
        self._salesforce = SecretPath([secret.get_secret_value() for secret in settings.salesforce_path_secrets])
        self._standard = {
            source: StandardSource([secret.get_secret_value() for secret in secrets])
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
            SALESFORCE_PATH,
            self.salesforce,
            methods=["POST"],
            response_model=None,
            summary="An outbound message of Salesforce",
            openapi_extra=_body(XML, _ENVELOPE),
        )
        router.add_api_route(
            STANDARD_PATH,
            self.standard,
            methods=["POST"],
            response_model=None,
            summary="A delivery of a generic source, by Standard Webhooks or with a shared secret",
            openapi_extra=json_body({"$ref": "#/components/schemas/LeadDelivery"}),
        )
        return router

    async def hubspot(self, request: Request) -> Response:
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

    async def salesforce(self, request: Request, path_secret: str) -> Response:
        """Take in 1 to 100 notifications, each for itself, and acknowledge them once all are durable."""
        try:
            self._salesforce.verify(path_secret)
        except InvalidSignature as error:
            _log.warning("a delivery for %s was refused: %s", salesforce.SOURCE, error)
            problem = problems.no_route()
            self._metrics.delivery(salesforce.SOURCE, problem.status)
            return problem.response()

        async def take(body: bytes) -> list[Taken]:
            readings = salesforce.parse(body)
            # of what is kept: a session id may be in the body, and is another one in every try
            kept = strict_json.text_of([reading.body for reading in readings])
            return await self._intake.take(readings, source=salesforce.SOURCE, digest=digest(kept.encode("utf-8")))

        return await self._acknowledged(
            request, salesforce.SOURCE, take, check=check_xml, answer=lambda _: Response(ACK, media_type=XML)
        )

    async def standard(self, request: Request, source: str) -> Response:
        """Take in one lead event in our own schema."""
        sender = self._standard.get(source)
        if sender is None:
            raise problems.not_found("no source of this name is configured")

        async def take(body: bytes) -> list[Taken]:
            signed = sender.verify(request.headers, body=body, now=self._clock.now())
            reading = standard.parse(body, source=source)
            if not signed and reading.event.occurrence is None:
                raise MalformedDelivery("occurrence: needed, since a shared secret does not tell a repetition")
            keep = {FUTURE, CONFLICT}  # a later delivery of the same would be as malformed as this one
            taken = await self._intake.take([reading], source=source, digest=digest(body), keep=keep)
            if taken[0].result is Result.QUARANTINED and taken[0].reason not in keep:
                raise MalformedDelivery(taken[0].why or "it cannot be used")
            return taken

        return await self._acknowledged(request, source, take)

    async def _acknowledged(
        self,
        request: Request,
        source: str,
        take: Callable[[bytes], Awaitable[list[Taken]]],
        *,
        check: Callable[[Request], None] = check_json,
        answer: Callable[[dict[str, int]], Response] = JSONResponse,
    ) -> Response:
        try:
            check(request)
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
            return answer(counts)
        self._metrics.delivery(source, problem.status)
        return problem.response()


def digest(body: bytes) -> str:
    """Names a delivery in the quarantine."""
    return hashlib.sha256(body).hexdigest()


def json_body(schema: dict[str, Any]) -> dict[str, Any]:
    """Describes a body that a route reads raw."""
    return _body(JSON, schema)


def _body(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}
