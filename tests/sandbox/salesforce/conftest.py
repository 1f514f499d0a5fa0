from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.sandbox.control import Control
from tests.sandbox.salesforce.client import Org, session_over, sign_in


@pytest.fixture(scope="session")
def salesforce(address: str) -> Any:
    """The real client library, signed in as the integration user."""
    from simple_salesforce.api import Salesforce

    session = session_over(address)
    token = sign_in(session, address)
    return Salesforce(
        session_id=token["access_token"], instance_url=token["instance_url"], session=session, version="62.0"
    )


@pytest.fixture
def leads(salesforce: Any) -> Any:
    return salesforce.Lead


@pytest.fixture
def org(control: Control) -> Org:
    return Org(control)


@pytest.fixture(scope="session")
def rest(address: str, salesforce: Any) -> Iterator[httpx.Client]:
    """Salesforce without a client library, in the client library's session."""
    headers = {"authorization": f"Bearer {salesforce.session_id}"}
    with httpx.Client(base_url=address, headers=headers, trust_env=False) as client:
        yield client
