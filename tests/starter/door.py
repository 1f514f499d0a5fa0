"""The starter as its callers see it, over a real ledger and a real Temporal."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from temporalio.client import Client, WorkflowExecutionDescription
from temporalio.service import RPCError, RPCStatusCode

from leadproof.domain import keys
from leadproof.domain.policy_text import parse_policy
from leadproof.settings import Settings, load
from starter.app import create_app
from tests.starter.signing import hubspot_headers, standard_headers
from tests.support.ledgers import START, HandClock, OwnedLedger, sqlite_ledger

PUBLIC = "https://leads.example.com"
SECRET = "an-example-client-secret"
OLD_SECRET = "the-secret-before"
STANDARD_SECRET = "whsec_c2VjcmV0IG9mIHRoZSB3ZWJzaXRl"
PORTAL = 62515
POLICY = Path(__file__).parents[2] / "leadproof" / "embedded_policy.toml"
FIXTURES = Path(__file__).parents[1] / "fixtures" / "hubspot"

TOKENS = {
    "all": "token-with-every-right",
    "events": "token-for-events",
    "read": "token-for-reading",
    "decide": "token-for-deciding",
}


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def creation(record: int = 101, **changes: Any) -> dict[str, Any]:
    return {
        "eventId": 1,
        "subscriptionId": 12345,
        "portalId": PORTAL,
        "appId": 54321,
        "occurredAt": milliseconds(START) - 1000,
        "subscriptionType": "contact.creation",
        "attemptNumber": 0,
        "objectId": record,
        "changeFlag": "CREATED",
        "changeSource": "CRM_UI",
        "sourceId": "userId:9001",
        **changes,
    }


def change(record: int = 101, name: str = "email", value: str = "mira@example.com", **more: Any) -> dict[str, Any]:
    return creation(record, subscriptionType="contact.propertyChange", propertyName=name, propertyValue=value, **more)


def a_lead(**changes: Any) -> dict[str, Any]:
    return {
        "source_record_id": "form-17",
        "event_kind": "form.submitted",
        "occurrence": "submission-1",
        "occurred_at": "2026-03-02T09:00:00Z",
        "lead": {"email": "mira@example.com", "company": "Sample"},
        **changes,
    }


class Door:
    """What a test sends, and how it looks at what came of it."""

    def __init__(
        self, http: httpx.AsyncClient, ledger: OwnedLedger, client: Client, settings: Settings, clock: HandClock
    ) -> None:
        self.http = http
        self.ledger = ledger
        self.client = client
        self.settings = settings
        self.clock = clock

    # -- sources -----------------------------------------------------------------------------------------------------
    def signed(
        self, body: bytes, *, secret: str = SECRET, age: float = 0, query: str = "", url: str = PUBLIC
    ) -> dict[str, str]:
        """Headers of a HubSpot delivery."""
        stamp = milliseconds(self.clock.now()) - int(age * 1000)
        return hubspot_headers(body, secret=secret, url=f"{url}/webhooks/hubspot{query}", milliseconds=stamp)

    async def send(self, body: bytes, headers: dict[str, str] | None = None) -> httpx.Response:
        return await self.http.post("/webhooks/hubspot", content=body, headers=headers or self.signed(body))

    async def deliver(self, *events: object) -> dict[str, int]:
        """One signed delivery that is accepted; its counts, without those that are zero."""
        answer = await self.send(json.dumps(events).encode())
        assert answer.status_code == 200, answer.text
        counts: dict[str, int] = answer.json()
        assert counts["received"] == len(events) == sum(counts.values()) - counts["received"]
        return {name: count for name, count in counts.items() if count and name != "received"}

    async def send_standard(
        self, body: bytes, *, source: str = "website", secret: str = STANDARD_SECRET, age: int = 0
    ) -> httpx.Response:
        headers = standard_headers(body, secret=secret, seconds=int(self.clock.now().timestamp()) - age)
        return await self.http.post(f"/webhooks/standard/{source}", content=body, headers=headers)

    # -- the API -----------------------------------------------------------------------------------------------------
    async def get(self, path: str, *, by: str = "all", **query: Any) -> httpx.Response:
        return await self.http.get(path, params=query, headers=authorized(by))

    async def post(self, path: str, body: object = None, *, by: str = "all") -> httpx.Response:
        return await self.http.post(path, json=body, headers=authorized(by))

    # -- what came of it ---------------------------------------------------------------------------------------------
    def key(self, record: int = 101, occurrence: str | None = None, kind: str = "contact.creation") -> str:
        return keys.event_key(
            tenant=self.settings.tenant,
            environment=self.settings.environment,
            source_system="hubspot",
            source_record_id=str(record),
            event_kind=kind,
            occurrence=occurrence,
        )

    async def run(self, workflow_id: str) -> WorkflowExecutionDescription | None:
        """The run under this ID, as Temporal knows it."""
        try:
            return await self.client.get_workflow_handle(workflow_id).describe()
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise

    async def metric(self, line: str) -> float:
        """The value of a line of `/metrics`, 0 where it is not there."""
        text = (await self.http.get("/metrics")).text
        return next((float(row.rsplit(" ", 1)[1]) for row in text.splitlines() if row.startswith(line + " ")), 0)


def authorized(by: str) -> dict[str, str]:
    return {"authorization": f"Bearer {TOKENS[by]}"}


def settings_of(**changes: Any) -> Settings:
    """Settings of a tenant of its own, so that no two tests share a workflow ID."""
    given = {
        "LEADPROOF_TENANT": f"t{uuid.uuid4().hex[:12]}",
        "LEADPROOF_ENVIRONMENT": "test",
        "LEADPROOF_PUBLIC_URL": PUBLIC,
        "LEADPROOF_API_TOKENS": ",".join(
            [f"all:events+read+decide:{TOKENS['all']}"]
            + [f"{right}:{right}:{TOKENS[right]}" for right in ("events", "read", "decide")]
        ),
        "LEADPROOF_DECISION_KEY": "a-decision-key",
        "LEADPROOF_HUBSPOT_PORTAL_ID": str(PORTAL),
        "LEADPROOF_HUBSPOT_WEBHOOK_SECRETS": f"{OLD_SECRET},{SECRET}",
        "LEADPROOF_STANDARD_SECRETS": f"website={STANDARD_SECRET}",
    }
    return load({**given, **changes}, dotenv=None)


@asynccontextmanager
async def a_door(
    client: Client,
    folder: Path,
    *,
    policy: str | None = None,
    settings: Settings | None = None,
    busy_seconds: float = 30.0,
    clock: HandClock | None = None,
) -> AsyncIterator[Door]:
    """Open the starter's application over a ledger in `folder`, which may be there already."""
    clock = clock or HandClock()
    chosen = settings or settings_of()
    with sqlite_ledger(folder / "ledger.db", clock, busy_seconds=busy_seconds) as ledger:
        read = parse_policy(policy or POLICY.read_text(encoding="utf-8"))
        app = create_app(chosen, ledger=ledger, client=client, policy=read, clock=clock)
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://inside") as http:
            yield Door(http, ledger, client, chosen, clock)
