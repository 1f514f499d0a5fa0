"""A Flow's HTTP callout at the door of a generic source, with a shared secret."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.client import Client

from leadproof.domain.errors import ConfigurationRefused
from tests.inbound.test_salesforce_flow import FLOW
from tests.starter.door import Door, a_door, settings_of
from tests.starter.salesforce import POLICY, SALESFORCE, SHARED, an_org


@pytest.fixture
async def door(unworked: Client, tmp_path: Path) -> AsyncIterator[Door]:
    async with an_org(unworked, tmp_path) as org:
        yield org.door


def sent(**changes: Any) -> dict[str, Any]:
    return {**FLOW, "occurred_at": "2026-03-02T08:59:50.000+0000", **changes}


async def call_out(door: Door, body: dict[str, Any], secret: str = SHARED) -> httpx.Response:
    headers = {"content-type": "application/json", "authorization": f"Bearer {secret}"}
    return await door.http.post("/webhooks/standard/flow", content=json.dumps(body).encode(), headers=headers)


async def test_a_flow_that_runs_twice_starts_one_run(door: Door) -> None:
    first, second = await call_out(door, sent()), await call_out(door, sent())
    assert (first.json()["started"], second.json()["duplicate"]) == (1, 1)
    lead_rows = sum(door.ledger.counts().leads.values())
    assert lead_rows == 1


async def test_a_secret_that_tells_no_repetition_demands_an_occurrence(door: Door) -> None:
    """Although this kind counts once per record, and its key needs none."""
    for nothing in ({**sent(), "occurrence": None}, {k: v for k, v in sent().items() if k != "occurrence"}):
        answer = await call_out(door, nothing)
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith("occurrence: needed")
    assert sum(door.ledger.counts().leads.values()) == 0


async def test_another_secret_is_counted_and_nothing_else(door: Door) -> None:
    for secret in (SHARED + "x", "", SHARED.removeprefix("bearer_")):
        answer = await call_out(door, sent(), secret)
        assert answer.status_code == 401
        assert SHARED not in answer.text
    assert await door.metric('leadproof_deliveries_total{source="flow",status="401"}') == 3
    assert sum(door.ledger.counts().leads.values()) == 0


async def test_a_shared_secret_that_is_none_is_refused_at_the_start(unworked: Client, tmp_path: Path) -> None:
    settings = settings_of(**{**SALESFORCE, "LEADPROOF_STANDARD_SECRETS": "flow=bearer_short"})
    with pytest.raises(ConfigurationRefused, match="a shared secret is `bearer_` and 20 to 200"):
        async with a_door(unworked, tmp_path, policy=POLICY, settings=settings):
            pass
