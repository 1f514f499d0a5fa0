from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import httpx
import pytest

from leadproof.crm.hubspot import HubSpotCrm
from leadproof.crm.hubspot_fields import HubSpotFields
from leadproof.crm.salesforce_fields import SalesforceFields
from leadproof.crm.salesforce_sign_in import ClientCredentials
from sandbox.server import running
from tests.crm.hostile import Hostile, hostile
from tests.crm.salesforce_org import Org
from tests.sandbox.control import Control

if TYPE_CHECKING:  # its library takes 1.5 s to import, which the tests of other CRMs do not wait for
    from leadproof.crm.salesforce import SalesforceCrm

MakeCrm = Callable[..., HubSpotCrm]
MakeSalesforce = Callable[..., "SalesforceCrm"]


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
def make_salesforce() -> Iterator[MakeSalesforce]:
    """Salesforce adapters that are closed with the test."""
    from leadproof.crm.salesforce import SalesforceCrm

    made: list[SalesforceCrm] = []

    def make(url: str, **other: object) -> SalesforceCrm:
        settings: dict[str, object] = {
            "sign_in": ClientCredentials("leadproof", "secret"),
            "api_version": "62.0",
            "fields": SalesforceFields(),
            "external_id_field": "Leadproof_External_Id__c",
            "marker_field": "Leadproof_Effect__c",
            "connect_timeout": 10.0,
            "call_timeout": 30.0,
        }
        crm = SalesforceCrm(url=url, **(settings | other))  # type: ignore[arg-type]
        made.append(crm)
        return crm

    yield make
    for crm in made:
        crm.close()


@pytest.fixture
def org(server: Hostile) -> Org:
    """A Salesforce org that answers as a test wants."""
    return Org(server)


@pytest.fixture
def salesforce(org: Org, make_salesforce: MakeSalesforce) -> SalesforceCrm:
    return make_salesforce(org.server.url)


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
