"""What Salesforce sends, and a policy that acts on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from temporalio.client import Client

from leadproof.domain import keys
from tests.inbound.test_salesforce import LEAD, NOTIFICATION, ORGANIZATION, message, notification
from tests.starter.door import Door, a_door, settings_of

SECRET, OLD_SECRET = "the-last-part-of-an-address", "the-last-part-before-that"
SHARED = "bearer_a-named-credential-of-a-flow"

POLICY = """
version = "salesforce-1"

[sources]
salesforce = 24
flow = 24

[[event]]
source = "salesforce"
kind = "lead.saved"
scopes = [{ from = 2026-01-01T00:00:00Z, scope = "event" }]

[[event]]
source = "salesforce"
kind = "contact.saved"
scopes = [{ from = 2026-01-01T00:00:00Z, scope = "record" }]

[[event]]
source = "flow"
kind = "lead.routed"
scopes = [{ from = 2026-01-01T00:00:00Z, scope = "record" }]

[target.salesforce]
apply_lag_seconds = 20
apply_lag_source = "a test"

[owners.salesforce]
mira = "005xx000001Sv6BAAS"

[[action]]
kind = "qualify"
target = "salesforce"
object = "lead"
fields = ["owner"]

[queue.default]

[retention]
human_rerun_days = 30
keys_days = { qualify = 400 }

[[rule]]
name = "everyone"
action = "none"
reason = "a test"
"""

SALESFORCE: dict[str, Any] = {
    "LEADPROOF_SALESFORCE_ORG_ID": ORGANIZATION,
    "LEADPROOF_SALESFORCE_PATH_SECRETS": f"{OLD_SECRET},{SECRET}",
    "LEADPROOF_STANDARD_SECRETS": f"flow={SHARED}",
}
NEVER_TOLD = ("StandIn", SECRET, OLD_SECRET)


class Org:
    """An org that sends outbound messages to a starter, and how a test looks at what came of them."""

    def __init__(self, door: Door) -> None:
        self.door = door

    async def send(
        self,
        body: str | bytes,
        *,
        secret: str = SECRET,
        content_type: str = "text/xml; charset=utf-8",
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        content = body.encode() if isinstance(body, str) else body
        sent = {"content-type": content_type, "soapaction": '""', "user-agent": "Jakarta Commons-HttpClient/3.1"}
        path = f"/webhooks/salesforce/outbound-message/{secret}"
        return await self.door.http.post(path, content=content, headers=sent | (headers or {}))

    async def notify(self, *notifications: str, **changes: Any) -> httpx.Response:
        return await self.send(message(*notifications, **changes))

    async def acknowledged(self, *notifications: str, **changes: Any) -> dict[str, float]:
        """The counts of one message that is acknowledged, from the metrics; Salesforce is told no counts."""
        before = await self.counts()
        answer = await self.notify(*notifications, **changes)
        assert answer.status_code == 200, answer.text
        after = await self.counts()
        return {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)}

    async def counts(self) -> dict[str, float]:
        results = ("started", "duplicate", "conflict", "ignored", "echo", "quarantined")
        line = 'leadproof_events_total{{result="{}",source="salesforce"}}'
        return {name: await self.door.metric(line.format(name)) for name in results}

    def key(self, record: str = LEAD, kind: str = "lead.saved", occurrence: str | None = None) -> str:
        settings = self.door.settings
        return keys.event_key(
            tenant=settings.tenant,
            environment=settings.environment,
            source_system="salesforce",
            source_record_id=record,
            event_kind=kind,
            occurrence=occurrence,
        )

    def saved(self, record: str = LEAD, notified: str = NOTIFICATION) -> str:
        """The key of a lead's notification."""
        return self.key(record, occurrence=keys.occurrence([ORGANIZATION, notified]))

    async def entries(self, **query: Any) -> list[dict[str, Any]]:
        """What is kept aside, with the bodies."""
        items = (await self.door.get("/v1/quarantine", **query)).json()["items"]
        paths = [f"/v1/quarantine/{item['delivery_digest']}/{item['position']}" for item in items]
        return [(await self.door.get(path)).json() | {"path": path} for path in paths]


@asynccontextmanager
async def an_org(client: Client, folder: Path, *, policy: str = POLICY, **options: Any) -> AsyncIterator[Org]:
    """A starter that an org delivers to."""
    settings = options.pop("settings", None) or settings_of(**SALESFORCE)
    async with a_door(client, folder, policy=policy, settings=settings, **options) as door:
        yield Org(door)


__all__ = [
    "LEAD",
    "NEVER_TOLD",
    "NOTIFICATION",
    "ORGANIZATION",
    "POLICY",
    "SALESFORCE",
    "SECRET",
    "SHARED",
    "Org",
    "an_org",
    "message",
    "notification",
]
