from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest

from leadproof.crm.hubspot import HubSpotCrm
from leadproof.crm.hubspot_fields import HubSpotFields
from sandbox.server import running
from tests.crm.hostile import Hostile, hostile
from tests.sandbox.control import Control

MakeCrm = Callable[..., HubSpotCrm]


@pytest.fixture
def make_crm() -> Iterator[MakeCrm]:
    """Adapters that are closed with the test."""
    made: list[HubSpotCrm] = []

    def make(base_url: str, **other: object) -> HubSpotCrm:
        settings: dict[str, object] = {
            "token": lambda: "any",
            "app_id": "54321",
            "fields": HubSpotFields(),
            "external_id_property": "leadproof_external_id",
            "marker_property": "leadproof_effect",
            "connect_timeout": 10.0,
            "call_timeout": 30.0,
        }
        crm = HubSpotCrm(base_url=base_url, **(settings | other))  # type: ignore[arg-type]
        made.append(crm)
        return crm

    yield make
    for crm in made:
        crm.close()


@pytest.fixture
def server() -> Iterator[Hostile]:
    with hostile() as running_server:
        yield running_server


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with running() as url:
        yield url


@pytest.fixture(scope="session")
def _browser(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, trust_env=False) as client:
        yield client


@pytest.fixture
def sandbox(_browser: httpx.Client) -> Control:
    """The control plane of a sandbox that holds only its seed."""
    fresh = Control(_browser)
    fresh.post("/reset")
    return fresh


@pytest.fixture
def crm(address: str, sandbox: Control, make_crm: MakeCrm) -> HubSpotCrm:
    return make_crm(f"{address}/hubspot")
