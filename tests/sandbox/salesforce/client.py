"""Salesforce as its client and its people use it in these tests."""

from collections.abc import Callable
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from tests.sandbox.control import Control

DATA = "/services/data/v62.0"
EXTERNAL_ID = "Leadproof_External_Id__c"
EFFECT = "Leadproof_Effect__c"
INTEGRATION = "005xx000001Sv6AAAS"
DANA, KOFI, INACTIVE = "005xx000001Sv6BAAS", "005xx000001Sv6CAAS", "005xx000001Sv6DAAS"
INBOUND, ENTERPRISE = "00Gxx000000Qu1AEAS", "00Gxx000000Qu1BEAS"
UNASSIGNED = {"Sforce-Auto-Assign": "FALSE"}
ANN = {"LastName": "Lee", "FirstName": "Ann", "Company": "Acme", "Email": "ann@example.com"}


class WithoutTls(HTTPAdapter):
    """The client knows https only; the sandbox speaks http."""

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:
        request.url = str(request.url).replace("https://", "http://", 1)
        return super().send(request, *arguments, **options)


def session_over(address: str) -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.mount(secure(address), WithoutTls())
    return session


def secure(address: str) -> str:
    return address.replace("http://", "https://", 1)


def sign_in(session: requests.Session, address: str, **form: str) -> dict[str, Any]:
    asked = {"grant_type": "client_credentials", "client_id": "app", "client_secret": "hush", **form}
    answer = session.post(f"{secure(address)}/services/oauth2/token", data=asked, timeout=5)
    return {"status": answer.status_code, **answer.json()}


class Org:
    """The control plane, as far as it is about Salesforce."""

    def __init__(self, control: Control) -> None:
        self.control = control

    def set(self, **settings: Any) -> dict[str, Any]:
        shown: dict[str, Any] = self.control.post("/salesforce", settings)
        return shown

    def fault(self, kind: str, operation: str = "leads.write", **fault: Any) -> None:
        self.control.post("/faults", {"provider": "salesforce", "operation": operation, "kind": kind, **fault})

    def person(self, user: str = DANA, record: str | None = None, kind: str = "leads", **properties: Any) -> Any:
        asked = {"provider": "salesforce", "object": kind, "id": record, "user": user, "properties": properties}
        return self.control.put("/records", asked)

    def records(self, kind: str = "leads") -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.control.get("/records", provider="salesforce", object=kind)
        return rows

    def record(self, record: str, kind: str = "leads") -> dict[str, Any]:
        return next(row for row in self.records(kind) if row["id"] == record)

    def requests(self, operation: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.control.get("/requests", provider="salesforce", operation=operation)
        return rows


def refused(call: Callable[..., Any], *arguments: Any, status: int, code: str, **options: Any) -> dict[str, Any]:
    """The only entry of the refusal that the call ends in."""
    from simple_salesforce.exceptions import SalesforceError

    with pytest.raises(SalesforceError) as raised:
        call(*arguments, **options)
    assert raised.value.status == status, raised.value.content
    [entry] = entries(raised.value)
    assert entry["errorCode"] == code, entry
    return entry


def entries(error: Any) -> list[dict[str, Any]]:
    """What a refusal says, as the client keeps it."""
    return [dict(entry) for entry in error.content]
