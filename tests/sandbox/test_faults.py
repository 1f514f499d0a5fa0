"""Faults that decide how, and whether, a request is answered; all but one through the real client."""

import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
import urllib3

from sandbox.faults import ANSWER_KINDS
from tests.sandbox.control import AUTHORIZED, CONTACTS, Control, eventually
from tests.sandbox.errors import refused

CITY = {"properties": {"city": "Galway"}}


@pytest.fixture
def record(control: Control) -> str:
    made: str = control.person(email="ann@example.com", city="Cork", leadproof_external_id="x1")["id"]
    return made


def city(control: Control, record: str) -> str:
    return str(control.record(record)["properties"]["city"])


def logged(control: Control) -> tuple[int | None, bool]:
    last = control.requests("contacts.write")[-1]
    return last["status"], last["applied"]


@pytest.mark.parametrize(("kind", "applied"), [("drop_before_apply", False), ("drop_after_apply", True)])
def test_dropped(contacts: Any, control: Control, record: str, kind: str, applied: bool) -> None:
    control.fault(kind)
    with pytest.raises(urllib3.exceptions.ProtocolError, match="RemoteDisconnected"):
        contacts.update(record, CITY)
    assert (city(control, record) == "Galway") is applied
    assert logged(control) == (None, applied)
    contacts.update(record, CITY)
    assert logged(control) == (200, True)


def test_delayed(contacts: Any, control: Control, record: str) -> None:
    control.fault("delay", args={"seconds": 0.4})
    with pytest.raises(urllib3.exceptions.ReadTimeoutError):
        contacts.update(record, CITY, _request_timeout=(1, 0.1))
    assert city(control, record) == "Galway"
    assert logged(control) == (None, True)


def test_delayed_and_waited_for(contacts: Any, control: Control, record: str) -> None:
    control.fault("delay", args={"seconds": 0.2})
    started = time.monotonic()
    assert contacts.update(record, CITY).properties["city"] == "Galway"
    assert time.monotonic() - started >= 0.2
    assert logged(control) == (200, True)


def test_applied_later(contacts: Any, control: Control, record: str) -> None:
    control.fault("apply_later", args={"seconds": 0.2})
    with pytest.raises(urllib3.exceptions.ProtocolError):
        contacts.update(record, CITY)
    assert city(control, record) == "Cork"
    assert logged(control) == (None, False)
    eventually(lambda: city(control, record) == "Galway")
    assert logged(control) == (None, True)


def test_applied_later_than_its_error_and_with_the_clock(contacts: Any, control: Control, record: str) -> None:
    control.fault("apply_later", args={"seconds": 90, "status": 524})
    refused(contacts.update, record, CITY, status=524)
    control.advance(89)
    assert city(control, record) == "Cork"
    control.advance(2)
    assert city(control, record) == "Galway"
    assert logged(control) == (524, True)


def test_trickle_outlasts_every_read_timeout(contacts: Any, control: Control, record: str) -> None:
    control.fault("trickle", args={"seconds": 0.002})
    started = time.monotonic()
    contacts.update(record, CITY, _request_timeout=(1, 0.3))
    assert time.monotonic() - started > 0.3
    assert logged(control) == (200, True)


def test_trickle_is_a_byte_a_second(http: httpx.Client, control: Control, record: str) -> None:
    control.fault("trickle")
    started = time.monotonic()
    with http.stream("PATCH", f"{CONTACTS}/{record}", json=CITY, headers=AUTHORIZED) as answer:
        assert int(answer.headers["content-length"]) > 100
        assert next(answer.iter_raw()) == b"{"
    assert 0.9 < time.monotonic() - started < 2
    assert logged(control) == (None, True)


@pytest.mark.parametrize("status", [400, 408, 477, 500, 502, 503, 504, 524])
def test_status_before_anything_happened(contacts: Any, control: Control, record: str, status: int) -> None:
    control.fault("status", args={"status": status})
    refused(contacts.update, record, CITY, status=status)
    assert city(control, record) == "Cork"
    assert logged(control) == (status, False)


def test_status_with_a_body_and_headers_of_its_own(contacts: Any, control: Control, record: str) -> None:
    from hubspot.crm.contacts import ApiException

    body = {"status": "error", "message": "moving", "category": "MIGRATION", "correlationId": "c"}
    control.fault("status", args={"status": 477, "body": body, "headers": {"Retry-After": "3600"}})
    with pytest.raises(ApiException) as raised:
        contacts.update(record, CITY)
    assert json.loads(raised.value.body) == body
    assert raised.value.headers["Retry-After"] == "3600"


def test_status_after_it_was_applied(contacts: Any, control: Control, record: str) -> None:
    control.fault("status_after_apply", args={"status": 502})
    refused(contacts.update, record, CITY, status=502)
    assert city(control, record) == "Galway"
    assert logged(control) == (502, True)


def test_page_of_html_is_a_success_without_an_id(contacts: Any, control: Control, record: str) -> None:
    control.fault("garbage_after_apply")
    answer = contacts.update(record, CITY, _preload_content=False)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html;charset=utf-8")
    assert answer.data.startswith(b"<!DOCTYPE html>")
    assert city(control, record) == "Galway"


def test_garbage_may_be_an_undecodable_date(contacts: Any, control: Control, record: str) -> None:
    from hubspot.crm.contacts import ApiException

    control.fault("garbage_after_apply", args={"body": {"id": record, "createdAt": "yesterday", "properties": {}}})
    with pytest.raises(ApiException) as raised:
        contacts.update(record, CITY)
    assert raised.value.status == 0
    assert city(control, record) == "Galway"


@pytest.mark.parametrize(
    ("args", "policy"),
    [
        ({}, "TEN_SECONDLY_ROLLING"),
        ({"policy": "DAILY", "retry_after": 7}, "DAILY"),
        ({"policy": "SECONDLY"}, "SECONDLY"),
    ],
)
def test_rate_limited(contacts: Any, control: Control, record: str, args: dict[str, Any], policy: str) -> None:
    from hubspot.crm.contacts import ApiException

    control.fault("rate_limit", args=args)
    with pytest.raises(ApiException) as raised:
        contacts.update(record, CITY)
    body = json.loads(raised.value.body)
    assert (raised.value.status, body["policyName"], body["errorType"]) == (429, policy, "RATE_LIMIT")
    assert raised.value.headers.get("Retry-After") == ("7" if "retry_after" in args else None)
    assert city(control, record) == "Cork"


def test_locked(contacts: Any, control: Control, record: str) -> None:
    control.fault("lock")
    refused(contacts.update, record, CITY, status=423)
    assert city(control, record) == "Cork"


def test_token_is_rejected(contacts: Any, control: Control, record: str) -> None:
    control.fault("reject_auth", operation="contacts.read")
    assert refused(contacts.get_by_id, record, status=401)["category"] == "INVALID_AUTHENTICATION"
    control.fault("reject_auth", args={"status": 403})
    body = refused(contacts.update, record, CITY, status=403)
    assert body["category"] == "MISSING_SCOPES"
    assert body["errors"][0]["context"]["requiredGranularScopes"]


def test_only_one_token_is_rejected(contacts: Any, http: httpx.Client, control: Control, record: str) -> None:
    control.fault("reject_auth", operation="contacts.read", times=100, args={"token": "old"})
    assert contacts.get_by_id(record).id == record
    assert http.get(f"{CONTACTS}/{record}", headers={"authorization": "Bearer old"}).status_code == 401


def test_every_answer_kind_has_a_test() -> None:
    text = Path(__file__).read_text("utf-8")
    assert [kind for kind in ANSWER_KINDS if f'"{kind}"' not in text] == []
