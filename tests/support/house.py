"""The whole house in one process, of real parts: sandbox over HTTP, Temporal, ledger, worker, starter."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import itertools
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import httpx
from temporalio.client import Client, WorkflowHandle

from leadproof.clock import SystemClock
from leadproof.domain import keys
from leadproof.domain.events import Lead, LeadEvent, Outcome
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.mutation import Mutation
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.ledger.schema import upgrade
from leadproof.ledger.store import SqlLedger
from leadproof.ports import Clock, Crm
from leadproof.settings import Settings, load
from sandbox.server import running
from starter.app import create_app
from tests.sandbox.control import Control
from workers.compose import Composition, compose, crms_of, looking, open_ledger
from workers.lifecycle import leads_worker
from workers.preparation import register_search_attributes
from workflows.contract import queue_of

T = TypeVar("T")

SECRET = "a-webhook-secret-of-the-tests"
PORTAL, APP = 62515, 54321
ORGANIZATION = "00Dxx0000001gPLEAY"
PUBLIC = "http://starter.example"
TOKENS = "all:events+read+decide:token-of-the-tests"
POLICY = Path("leadproof/embedded_policy.toml")

REDELIVERIES = 10
"""As often as HubSpot delivers again what was not answered 2xx (https://developers.hubspot.com/docs, webhooks)."""

QUICK = {
    "apply_lag_seconds = 3": "apply_lag_seconds = 0.4",
    "connect_timeout_seconds = 1": "connect_timeout_seconds = 0.4",
    "call_timeout_seconds = 4": "call_timeout_seconds = 2.5",
    "send_within_seconds = 5": "send_within_seconds = 1",
    "clock_margin_seconds = 1": "clock_margin_seconds = 0.1",
    "observation_window_seconds = 20": "observation_window_seconds = 4",
    "read_spacing_seconds = 0.5": "read_spacing_seconds = 0.1",
    "patience_seconds = 60": "patience_seconds = 4",
    "probe_seconds = 2": "probe_seconds = 0.3",
    '[[rule]]\nname = "website-competitor"': """[[rule]]
name = "website-united-kingdom"
when = { source = "website", equals = { country = "GB" }, present = ["company", "last_name"] }
action = "create"
target = "salesforce"
object = "lead"
fields = { owner = "inbound" }
reason = "A company in the United Kingdom asked on the website"

[[rule]]
name = "website-competitor\"""",
}
"""The embedded policy's times, shorter still: what takes a window must not take a minute of a test."""

EMBEDDED_VERSION = parse_policy(POLICY.read_text(encoding="utf-8")).version


def quick_policy(**replace: str) -> str:
    text = POLICY.read_text(encoding="utf-8")
    for old, new in {**QUICK, **replace}.items():
        if old not in text:
            raise LookupError(f"the embedded policy no longer says {old!r}")
        text = text.replace(old, new)
    return text


class House:
    """What a test does with the house, and how it asks the witness."""

    def __init__(
        self, settings: Settings, ledger: SqlLedger, client: Client, http: httpx.AsyncClient, control: Control
    ):
        self.settings = settings
        self.ledger = ledger
        self.client = client
        self.http = http
        self.control = control
        self.environment: dict[str, str] = {}
        self.worked: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
        self._people = itertools.count(1)
        self._moments = itertools.count(int(time.time() * 1000))

    # -- the source --------------------------------------------------------------------------------------------------
    def contact(self, **properties: str) -> str:
        """A contact that a person made in HubSpot, with an e-mail of its own; its id."""
        given = {
            "email": f"person{next(self._people)}.{time.time_ns()}@lead.example",
            "country": "US",
            "company": "Acme",
        }
        return str(self.control.person(**{**given, **properties})["id"])

    def creation(self, record_id: str, **more: Any) -> dict[str, Any]:
        return {
            "eventId": 1,
            "subscriptionId": 12345,
            "portalId": PORTAL,
            "appId": APP,
            "occurredAt": next(self._moments),
            "subscriptionType": "contact.creation",
            "attemptNumber": 0,
            "objectId": int(record_id),
            "changeFlag": "CREATED",
            "changeSource": "CRM_UI",
            "sourceId": "userId:9001",
        } | more

    def change(self, record_id: str, name: str, value: str, **more: Any) -> dict[str, Any]:
        event = self.creation(
            record_id, subscriptionType="contact.propertyChange", propertyName=name, propertyValue=value
        )
        del event["changeFlag"]
        return event | more

    async def deliver(self, *events: dict[str, Any]) -> dict[str, int]:
        """One signed delivery, sent again as HubSpot does while the answer is 503; the starter's counts."""
        return await self.deliver_bytes(json.dumps(list(events)).encode())

    async def deliver_bytes(self, body: bytes) -> dict[str, int]:
        """The same of a body as it was recorded."""
        answer = await self._post(body)
        for _ in range(REDELIVERIES):
            if answer.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
                break
            answer = await self._post(body)
        answer.raise_for_status()
        counts: dict[str, int] = answer.json()
        return counts

    async def _post(self, body: bytes) -> httpx.Response:
        stamp = str(int(time.time() * 1000))
        uri = f"{self.settings.public_url}/webhooks/hubspot"
        text = b"POST" + uri.encode() + body + stamp.encode()
        signature = base64.b64encode(hmac.new(SECRET.encode(), text, hashlib.sha256).digest()).decode()
        headers = {
            "content-type": "application/json",
            "x-hubspot-signature-v3": signature,
            "x-hubspot-request-timestamp": stamp,
        }
        return await self.http.post("/webhooks/hubspot", content=body, headers=headers)

    async def lead(self, **properties: str) -> tuple[str, str]:
        """A contact and the delivery of its creation; record id and event key."""
        record_id = self.contact(**properties)
        await self.deliver(self.creation(record_id))
        return record_id, self.key_of(record_id)

    def admitted(self, record_id: str) -> LeadEvent:
        """The lead event that the delivery of a creation makes."""
        occurrence = keys.occurrence(["contact.creation", None, "1"])
        return LeadEvent(
            event_key=self.key_of(record_id),
            tenant=self.settings.tenant,
            environment=self.settings.environment,
            source_system="hubspot",
            source_record_id=record_id,
            event_kind="contact.creation",
            occurrence=occurrence,
            occurred_at=datetime.now(UTC),
            fingerprint=keys.event_fingerprint(event_kind="contact.creation", occurrence=None, lead={}, specs=CATALOG),
            lead={"lead": {}, "extra": {}},
            policy_version=EMBEDDED_VERSION,
        )

    def key_of(self, record_id: str) -> str:
        return keys.event_key(
            tenant=self.settings.tenant,
            environment=self.settings.environment,
            source_system="hubspot",
            source_record_id=record_id,
            event_kind="contact.creation",
            occurrence=None,
        )

    # -- what came of it ---------------------------------------------------------------------------------------------
    async def until(self, key: str, met: Callable[[Lead], bool], within: float = 15.0) -> Lead:
        """The lead's row, as soon as it meets a condition."""
        return await eventually(lambda: _if(self.ledger.lead(key), met), within)

    async def outcome(self, key: str, *expected: Outcome, within: float = 15.0) -> Lead:
        return await self.until(key, lambda lead: lead.outcome in expected, within)

    def mutations(self, key: str) -> tuple[Mutation, ...]:
        return self.ledger.mutations_of(key)

    def mutation(self, key: str) -> Mutation:
        (only,) = self.ledger.mutations_of(key)
        return only

    def handle(self, key: str) -> WorkflowHandle[Any, Any]:
        lead = self.ledger.lead(key)
        assert lead is not None
        return self.client.get_workflow_handle(lead.workflow_id)

    def writes(self, record_id: str) -> list[dict[str, Any]]:
        """Writes to this record by its id, as the witness received them."""
        written = self.control.requests("contacts.write")
        return [row for row in written if row["path"].partition("?")[0].endswith(f"/{record_id}")]

    def properties(self, record_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.control.record(record_id)["properties"]
        return found

    async def decide(self, review_id: str, decision: str, *, version: int = 1, **more: Any) -> httpx.Response:
        body = {"review_id": review_id, "version": version, "decision": decision, "reason": "by a test"} | more
        return await self.http.post(f"/v1/reviews/{review_id}/decisions", json=body, headers=self.authorized)

    @property
    def authorized(self) -> dict[str, str]:
        return {"authorization": "Bearer token-of-the-tests"}


def _if(lead: Lead | None, met: Callable[[Lead], bool]) -> Lead | None:
    return lead if lead is not None and met(lead) else None


async def eventually(ask: Callable[[], T | None], within: float = 15.0) -> T:
    """What `ask` gives as soon as it gives something; polled, with a deadline."""

    async def asked() -> T | None:
        return ask()

    return await eventually_answered(asked, within)


async def eventually_answered(ask: Callable[[], Awaitable[T | None]], within: float = 15.0) -> T:
    """As `eventually`, for a question whose answer is awaited."""
    deadline = time.monotonic() + within
    while True:
        found = await ask()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {within} s")
        await asyncio.sleep(0.02)  # polled, and bounded by the deadline


_worked: set[tuple[str, str, str]] = set()


@asynccontextmanager
async def _worked_by(client: Client, composition: Composition, settings: Settings) -> AsyncIterator[None]:
    with _alone(client, queue_of(settings.environment)), ThreadPoolExecutor(20) as pool:
        async with leads_worker(client, composition, settings, pool):
            yield


@contextmanager
def _alone(client: Client, queue: str) -> Iterator[None]:
    """Two workers of one queue with different ledgers would take each other's leads."""
    place = (client.service_client.config.target_host, client.namespace, queue)
    assert place not in _worked, "another house works this queue: give this one a server or a namespace of its own"
    _worked.add(place)
    try:
        yield
    finally:
        _worked.discard(place)


@asynccontextmanager
async def a_house(
    client: Client,
    folder: Path,
    *,
    worker: bool = True,
    policy: str | None = None,
    sandbox: str | None = None,
    more: Mapping[str, str] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[House]:
    """Build the house on a Temporal client, with everything else its own; `more` are further settings."""
    text = quick_policy() if policy is None else policy
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    with running() as own:
        address = sandbox or own
        environment = {
            # record ids begin anew with each sandbox; keys must not
            "LEADPROOF_TENANT": f"tests-{uuid.uuid4().hex[:12]}",
            "LEADPROOF_LEDGER_URL": f"sqlite:///{folder / 'ledger.db'}",
            "LEADPROOF_POLICY": str(folder / "policy.toml"),
            "LEADPROOF_TEMPORAL_ADDRESS": client.service_client.config.target_host,
            "LEADPROOF_TEMPORAL_NAMESPACE": client.namespace,
            "LEADPROOF_PUBLIC_URL": PUBLIC,
            "LEADPROOF_API_TOKENS": TOKENS,
            "LEADPROOF_DECISION_KEY": "a-decision-key-of-the-tests",
            "LEADPROOF_HUBSPOT_TOKEN": "token-of-the-tests",
            "LEADPROOF_HUBSPOT_BASE_URL": f"{address}/hubspot",
            "LEADPROOF_HUBSPOT_PORTAL_ID": str(PORTAL),
            "LEADPROOF_HUBSPOT_APP_ID": str(APP),
            "LEADPROOF_HUBSPOT_WEBHOOK_SECRETS": SECRET,
            "LEADPROOF_SALESFORCE_URL": address,
            "LEADPROOF_SALESFORCE_ORG_ID": ORGANIZATION,
            "LEADPROOF_SALESFORCE_CLIENT_ID": "client-of-the-tests",
            "LEADPROOF_SALESFORCE_CLIENT_SECRET": "secret-of-the-tests",
            "LEADPROOF_ANTHROPIC_API_KEY": "key-of-the-tests",
            "LEADPROOF_ANTHROPIC_BASE_URL": f"{address}/anthropic",
            "LEADPROOF_SWEEP_AGE_SECONDS": "1",
            **(more or {}),
        }
        settings = load(environment, dotenv=None)
        upgrade(settings.ledger_url)
        ledger = open_ledger(settings, clock=clock)
        read: Policy = parse_policy(text)
        crms: dict[str, Crm] = crms_of(settings, read)
        composition = compose(settings, client, ledger, read, crms, clock=clock)
        await register_search_attributes(client)
        look, time_of = looking(settings, read), clock or SystemClock()
        app = create_app(settings, ledger=ledger, client=client, policy=read, clock=time_of, look=look)
        with httpx.Client(base_url=address, trust_env=False) as browser:
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url=PUBLIC) as http:
                house = House(settings, ledger, client, http, Control(browser))
                house.environment = environment
                house.worked = lambda: _worked_by(client, composition, settings)
                if worker:
                    async with house.worked():
                        yield house
                else:
                    yield house
        ledger.close()
