"""The application's own description, and requests made from it: none of them is a fault of ours."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from temporalio.client import Client

from leadproof.domain.policy_text import parse_policy
from starter.app import create_app
from tests.starter.door import POLICY, Door, authorized, settings_of
from tests.support.ledgers import HandClock, sqlite_ledger


async def test_every_route_is_described(door: Door) -> None:
    described = (await door.http.get("/openapi.json")).json()
    assert set(described["paths"]) == {
        "/webhooks/hubspot",
        "/webhooks/standard/{source}",
        "/v1/leads",
        "/v1/leads/{event_key}",
        "/v1/mutations",
        "/v1/mutations/{mutation_key}",
        "/v1/reviews",
        "/v1/reviews/{review_id}",
        "/v1/reviews/{review_id}/decisions",
        "/v1/quarantine",
        "/v1/quarantine/{delivery_digest}/{position}",
        "/v1/quarantine/{delivery_digest}/{position}/retry",
        "/v1/quarantine/{delivery_digest}/{position}/drop",
        "/healthz",
        "/readyz",
        "/metrics",
    }
    assert described["components"]["schemas"]["LeadDelivery"]["additionalProperties"] is False
