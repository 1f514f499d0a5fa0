"""The sandbox as one ASGI application: the control plane and each provider under its prefix."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount

from sandbox.anthropic.api import MessagesApi
from sandbox.anthropic.control import script_routes
from sandbox.anthropic.scripts import Scripts
from sandbox.clock import Clock
from sandbox.control import ControlPlane
from sandbox.exchange import Exchange
from sandbox.faults import Faults
from sandbox.hubspot.portal import Portal
from sandbox.hubspot.store import FIRST_ID
from sandbox.hubspot.webhooks import Webhooks
from sandbox.outbox import Outbox
from sandbox.provider import Provider
from sandbox.request_log import RequestLog
from sandbox.salesforce.control import org_routes
from sandbox.salesforce.ids import Ids
from sandbox.salesforce.org import Org
from sandbox.salesforce.outbound import NOTIFICATION, Sender

SEARCH_LAG = 2.0
PREFIXES = {"salesforce": "/services"}
"""Where a provider is served, if not under its name: Salesforce's clients drop a prefix."""


def create_app(*, portal_id: int | None = None, search_lag: float = SEARCH_LAG, first_id: int = FIRST_ID) -> Starlette:
    """A sandbox with nothing but its seed in it.

    Args:
        portal_id: the HubSpot account that is served; the seed's by default.
        search_lag: for how many seconds a write stays unseen by HubSpot's search.
        first_id: HubSpot's id of the first contact, and the number in Salesforce's first id; so again after a reset.
    """
    clock, log, faults = Clock(), RequestLog(), Faults()
    webhooks = Webhooks(clock)
    portal = Portal(clock, portal_id=portal_id, search_lag=search_lag, first_id=first_id, listener=webhooks.emit)
    webhooks.account(portal.portal_id, portal.app_id)
    scripts = Scripts()
    claude = MessagesApi(scripts)

    def saved(kind: str, record: str) -> None:
        messages.saved(kind, record)

    org = Org(clock, first_id=first_id, saved=saved)
    notifications = Ids(first_id)
    messages = Sender(
        clock,
        organization=str(org.organization["Id"]),
        new_id=lambda: notifications.new(NOTIFICATION),
        current=org.current,
        fields=lambda kind: org.schema[kind].fields,
    )
    providers: dict[str, Provider] = {portal.name: portal, claude.name: claude, org.name: org}
    outboxes: dict[str, Outbox[Any]] = {portal.name: webhooks, org.name: messages}
    control = ControlPlane(providers, clock, log, faults, outboxes)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        for outbox in outboxes.values():
            await outbox.close()

    return Starlette(
        routes=[
            Mount("/_sandbox", routes=[*control.routes(), *script_routes(scripts), *org_routes(org)]),
            *(
                Mount(prefix, app=Exchange(provider, clock, log, faults, prefix))
                for provider in providers.values()
                for prefix in [PREFIXES.get(provider.name, f"/{provider.name}")]
            ),
        ],
        lifespan=lifespan,
    )
