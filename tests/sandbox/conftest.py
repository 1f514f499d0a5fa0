from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from sandbox.server import running
from tests.sandbox.control import Control


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with running() as url:
        yield url


@pytest.fixture(scope="session")
def _browser(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, trust_env=False) as client:
        yield client


@pytest.fixture(autouse=True)
def control(_browser: httpx.Client) -> Control:
    """The control plane of a sandbox that holds only its seed."""
    fresh = Control(_browser)
    fresh.post("/reset")
    return fresh


@pytest.fixture
def http(_browser: httpx.Client) -> httpx.Client:
    """HubSpot without a client library; requests need the header `AUTHORIZED`."""
    return _browser


@pytest.fixture(scope="session")
def hubspot(address: str) -> Any:
    """The real client library, its own retries off."""
    from hubspot import HubSpot

    return HubSpot(access_token="any", host=f"{address}/hubspot", retry=False)


@pytest.fixture(scope="session")
def contacts(hubspot: Any) -> Any:
    return hubspot.crm.contacts.basic_api


@pytest.fixture(scope="session")
def batches(hubspot: Any) -> Any:
    return hubspot.crm.contacts.batch_api
