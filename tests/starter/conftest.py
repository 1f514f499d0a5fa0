"""A namespace of the starter's own: no worker polls it, so what is started stays as it was started."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.errors import LeadproofError
from starter.start import start_lead
from tests.starter.door import Door, a_door
from workers.plugin import leads_plugin
from workers.preparation import register_search_attributes

NAMESPACE = "starter"


@pytest.fixture(scope="session")
async def unworked(temporal: WorkflowEnvironment) -> Client:
    """A client of a namespace that nobody works."""
    address = temporal.client.service_client.config.target_host
    await temporal.client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=NAMESPACE, workflow_execution_retention_period=Duration(seconds=86_400))
    )
    client = await Client.connect(address, namespace=NAMESPACE, plugins=[leads_plugin()])
    async with asyncio.timeout(20):
        while not await _ready(client):  # noqa: ASYNC110 - the server's caches learn of a namespace after a moment
            await asyncio.sleep(0.05)
    return client


async def _ready(client: Client) -> bool:
    try:
        await register_search_attributes(client)
        await start_lead(
            client, event_key="-", workflow_id="ready", source="-", event_kind="-", tenant="-", environment="-"
        )
    except (RPCError, LeadproofError):
        return False
    return True


@pytest.fixture
async def door(unworked: Client, tmp_path: Path) -> AsyncIterator[Door]:
    async with a_door(unworked, tmp_path) as opened:
        yield opened
