"""Signing in, and sessions that hold or hold no more."""

import base64
import json
import time
from typing import Any

import httpx
import pytest
import requests

from sandbox.server import running
from tests.sandbox.control import Control
from tests.sandbox.salesforce.client import DATA, INTEGRATION, KOFI, Org, refused, session_over, sign_in

JWT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@pytest.fixture(scope="module")
def session(address: str) -> requests.Session:
    return session_over(address)


def assertion(header: Any = None, **claims: Any) -> str:
    said = {"iss": "app", "sub": "kofi.mensah@acme.example", "aud": "https://login.salesforce.com"}
    parts = (header or {"alg": "RS256"}, {**said, "exp": int(time.time()) + 120, **claims})
    return ".".join(
        [*(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts), "c2ln"]
    )


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_sign_in_by_secret(session: requests.Session, address: str) -> None:
    token = sign_in(session, address)
    assert token["status"] == 200
    assert token["instance_url"] == address.replace("http", "https")
    assert token["id"] == f"https://login.salesforce.com/id/00Dxx0000001gPLEAY/{INTEGRATION}"
    assert token["token_type"] == "Bearer"
    assert token["issued_at"].isdigit()
    assert token.keys() >= {"access_token", "signature", "scope"}


def test_secret_in_the_header(http: httpx.Client) -> None:
    form = {"grant_type": "client_credentials"}
    assert http.post("/services/oauth2/token", data=form, auth=("app", "hush")).status_code == 200


def test_sign_in_by_assertion_is_its_subject(http: httpx.Client, session: requests.Session, address: str) -> None:
    token = sign_in(session, address, grant_type=JWT, assertion=assertion())
    info = http.get("/services/oauth2/userinfo", headers=bearer(token["access_token"])).json()
    assert (info["user_id"], info["organization_id"]) == (KOFI, "00Dxx0000001gPLEAY")
    assert info["preferred_username"] == "kofi.mensah@acme.example"
    made = http.post(
        f"{DATA}/sobjects/Lead", json={"LastName": "Lee", "Company": "Acme"}, headers=bearer(token["access_token"])
    ).json()
    read = http.get(f"{DATA}/sobjects/Lead/{made['id']}", headers=bearer(token["access_token"])).json()
    assert read["CreatedById"] == KOFI


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"client_id": ""}, "invalid_client_id"),
        ({"client_id": "other"}, "invalid_client_id"),
        ({"client_secret": "wrong"}, "invalid_client"),
        ({"client_secret": ""}, "invalid_client"),
        ({"grant_type": JWT, "assertion": "nonsense"}, "invalid_grant"),
        ({"grant_type": JWT, "assertion": "é.é.é"}, "invalid_grant"),
        ({"grant_type": JWT, "assertion": assertion({"alg": "none"})}, "invalid_grant"),
        ({"grant_type": JWT, "assertion": assertion(iss="other")}, "invalid_client_id"),
        ({"grant_type": JWT, "assertion": assertion(aud="https://example.com")}, "invalid_grant"),
        ({"grant_type": JWT, "assertion": assertion(exp=int(time.time()) + 3600)}, "invalid_grant"),
        ({"grant_type": JWT, "assertion": assertion(exp=int(time.time()) - 60)}, "invalid_grant"),
        ({"grant_type": JWT, "assertion": assertion(sub="tom.left@acme.example")}, "invalid_grant"),
    ],
)
def test_refused_sign_in(session: requests.Session, address: str, org: Org, form: dict[str, str], error: str) -> None:
    org.set(client_id="app", client_secret="hush")
    answer = sign_in(session, address, **form)
    assert (answer["status"], answer["error"]) == (400, error)
    assert answer["error_description"]


def test_any_application_may_sign_in_by_default(session: requests.Session, address: str) -> None:
    assert sign_in(session, address, client_id="x", client_secret="y")["status"] == 200


@pytest.mark.parametrize("headers", [{}, bearer("00Dxx0000001gPL!made-up"), {"authorization": "Basic YTpi"}])
def test_no_session(http: httpx.Client, headers: dict[str, str]) -> None:
    answer = http.get(f"{DATA}/sobjects/Lead/00Qxx0000000001", headers=headers)
    assert answer.status_code == 401
    assert answer.json() == [{"message": "Session expired or invalid", "errorCode": "INVALID_SESSION_ID"}]


def test_sessions_expire_and_new_ones_hold() -> None:
    with running() as address, httpx.Client(base_url=address, trust_env=False) as http:  # the others keep theirs
        session = session_over(address)
        old = sign_in(session, address)["access_token"]
        Org(Control(http)).set(expire_sessions=True)
        new = sign_in(session, address)["access_token"]
        path = f"{DATA}/sobjects/Lead/describe"
        assert [http.get(path, headers=bearer(token)).status_code for token in (old, new)] == [401, 200]


def test_every_session_may_be_refused_for_good(
    http: httpx.Client, session: requests.Session, address: str, org: Org
) -> None:
    org.set(refuse_sessions=True)
    tokens = [sign_in(session, address)["access_token"] for _ in range(2)]
    assert [http.get(f"{DATA}/limits", headers=bearer(token)).status_code for token in tokens] == [401, 401]
    org.set(refuse_sessions=False)
    assert http.get(f"{DATA}/limits", headers=bearer(tokens[0])).status_code == 200


def test_reset_keeps_sessions(salesforce: Any, org: Org) -> None:
    org.control.post("/reset")
    assert salesforce.Lead.metadata()["objectDescribe"]["name"] == "Lead"


def test_expired_session_as_the_client_tells_it(org: Org, session: requests.Session, address: str) -> None:
    from simple_salesforce.api import Salesforce

    token = sign_in(session, address)
    client: Any = Salesforce(session_id=token["access_token"], instance_url=token["instance_url"], session=session)
    org.fault("reject_auth")
    refused(client.Lead.create, {"LastName": "Lee"}, status=401, code="INVALID_SESSION_ID")
    assert org.records() == []


def test_sign_in_leaves_no_secret_in_the_log(session: requests.Session, address: str, org: Org) -> None:
    signed = assertion()
    token = sign_in(session, address)["access_token"]
    sign_in(session, address, grant_type=JWT, assertion=signed)
    session.post(f"{address}/services/oauth2/token?client_secret=hush", timeout=5)
    logged = org.requests("token.create")
    assert [entry["body"] for entry in logged] == [
        {"grant_type": "client_credentials"},
        {"grant_type": JWT},
        {"grant_type": None},
    ]
    assert not any(secret in json.dumps(logged) for secret in ("hush", signed, token))
    assert "client_secret" not in json.dumps(org.set())


def test_faults_of_a_sign_in(session: requests.Session, address: str, org: Org) -> None:
    org.fault("reject_auth", "token.create")
    assert sign_in(session, address)["error"] == "invalid_client"
    org.fault("status", "token.create", args={"status": 400})
    assert sign_in(session, address)["error"] == "invalid_grant"
    org.fault("drop_before_apply", "token.create")
    with pytest.raises(requests.ConnectionError):
        sign_in(session, address)
    assert sign_in(session, address)["status"] == 200
