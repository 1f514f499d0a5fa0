"""The application's own description, and requests made from it over a socket: none of them is a fault of ours."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.core import NOT_SET
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from temporalio.client import Client

from leadproof.ledger.schema import upgrade
from starter.webhooks import HUBSPOT_PATH, SALESFORCE_PATH, STANDARD_PATH
from tests.starter.door import POLICY, SECRET, STANDARD_SECRET, Door, authorized, settings_of
from tests.starter.signing import hubspot_headers, standard_headers
from tests.support.serving import free_port, serving

EXAMPLES = 1
"""Per route, once as described and once not; the same ones in every run."""

PATH_SECRET = "the-last-part-of-an-address"

PROBES = frozenset({"/healthz", "/readyz", "/metrics"})
"""Nothing can be sent to them."""


def send_all(described: dict[str, Any], address: str) -> list[tuple[str, int]]:
    """Send requests to every route; route and status of every answer."""
    schema = schemathesis.openapi.from_dict(described)
    answered: list[tuple[str, int]] = []
    with httpx.Client(base_url=address) as http:
        for found in schema.get_all_operations():
            assert isinstance(found, Ok)
            operation = found.ok()
            if operation.path in PROBES:
                continue
            for mode in GenerationMode:
                answered += [(operation.label, send(http, case, address)) for case in examples(operation, mode)]
    return answered


def examples(operation: Any, mode: GenerationMode) -> list[Any]:
    cases: list[Any] = []

    @given(operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def collect(case: Any) -> None:
        cases.append(case)

    collect()
    return cases


def _bytes(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body, default=repr).encode()


def send(http: httpx.Client, case: Any, address: str) -> int:
    body = b"" if case.body is NOT_SET else _bytes(case.body)
    headers = authorized("all")
    if case.path == HUBSPOT_PATH:
        headers |= hubspot_headers(
            body, secret=SECRET, url=f"{address}{HUBSPOT_PATH}", milliseconds=int(time.time() * 1000)
        )
    elif case.path == SALESFORCE_PATH:
        case.path_parameters["path_secret"] = PATH_SECRET
        headers["content-type"] = "text/xml"
    elif case.path == STANDARD_PATH:
        case.path_parameters["source"] = "website"
        headers |= standard_headers(body, secret=STANDARD_SECRET, seconds=int(time.time()))
    elif body:
        headers["content-type"] = "application/json"
    query = {name: str(value) for name, value in (case.query or {}).items()} if case.path != HUBSPOT_PATH else None
    return http.request(case.method, case.formatted_path, params=query, content=body, headers=headers).status_code


async def test_every_route_is_described(door: Door) -> None:
    described = (await door.http.get("/openapi.json")).json()
    assert set(described["paths"]) == {
        "/webhooks/hubspot",
        "/webhooks/salesforce/outbound-message/{path_secret}",
        "/webhooks/standard/{source}",
        "/v1/leads",
        "/v1/leads/{event_key}",
        "/v1/mutations",
        "/v1/mutations/{mutation_key}",
        "/v1/reviews",
        "/v1/reviews/decisions",
        "/v1/reviews/links",
        "/v1/reviews/{review_id}",
        "/v1/reviews/{review_id}/decisions",
        "/v1/quarantine",
        "/v1/quarantine/{delivery_digest}/{position}",
        "/v1/quarantine/{delivery_digest}/{position}/retry",
        "/v1/quarantine/{delivery_digest}/{position}/drop",
        "/v1/why",
        "/healthz",
        "/readyz",
        "/metrics",
    }
    assert described["components"]["schemas"]["LeadDelivery"]["additionalProperties"] is False


async def test_no_request_that_the_description_allows_or_forbids_is_a_fault_of_ours(
    unworked: Client, tmp_path: Path
) -> None:
    port = free_port()
    chosen = settings_of(
        LEADPROOF_LEDGER_URL=f"sqlite:///{tmp_path / 'ledger.db'}",
        LEADPROOF_POLICY=str(POLICY),
        LEADPROOF_TEMPORAL_ADDRESS=unworked.service_client.config.target_host,
        LEADPROOF_TEMPORAL_NAMESPACE=unworked.namespace,
        LEADPROOF_STARTER_PORT=str(port),
        LEADPROOF_PUBLIC_URL=f"http://127.0.0.1:{port}",
        LEADPROOF_SALESFORCE_PATH_SECRETS=PATH_SECRET,
    )
    upgrade(chosen.ledger_url)
    async with serving(chosen) as address:
        async with httpx.AsyncClient() as http:
            described = (await http.get(f"{address}/openapi.json")).json()
        answered = await asyncio.to_thread(send_all, described, address)
    assert [(route, status) for route, status in answered if status >= 500] == []
    assert {200, 404, 422} <= {status for _, status in answered}
