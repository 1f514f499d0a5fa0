"""Which request meets which fault."""

from typing import Any

import httpx
import pytest

from tests.sandbox.control import AUTHORIZED, CONTACTS, Control
from tests.sandbox.errors import refused

UNIQUE = "leadproof_external_id"


@pytest.fixture
def record(control: Control) -> str:
    made: str = control.person(email="ann@example.com", leadproof_external_id="x1")["id"]
    return made


def statuses(http: httpx.Client, record: str, number: int) -> list[int]:
    body = {"properties": {"city": "Cork"}}
    return [http.patch(f"{CONTACTS}/{record}", json=body, headers=AUTHORIZED).status_code for _ in range(number)]


def test_times_and_after(http: httpx.Client, control: Control, record: str) -> None:
    control.fault("status", times=2, after=1, args={"status": 500})
    assert statuses(http, record, 5) == [200, 500, 500, 200, 200]


def test_faults_queue(http: httpx.Client, control: Control, record: str) -> None:
    control.fault("status", args={"status": 500})
    control.fault("status", args={"status": 502})
    assert statuses(http, record, 3) == [500, 502, 200]


def test_faults_are_taken_back(http: httpx.Client, control: Control, record: str) -> None:
    control.fault("lock", times=5)
    assert control.get("/faults")[0]["times"] == 5
    control.delete("/faults")
    assert statuses(http, record, 1) == [200]
    assert control.get("/faults") == []


def test_fault_of_one_operation_spares_the_others(contacts: Any, control: Control, record: str) -> None:
    control.fault("lock")
    assert contacts.get_by_id(record).id == record
    contacts.archive(record)


def test_fault_of_one_record(http: httpx.Client, control: Control, record: str) -> None:
    other = control.person(email="bo@example.com")["id"]
    control.fault("lock", match=record)
    assert statuses(http, other, 1) == [200]
    assert statuses(http, record, 1) == [423]


@pytest.mark.parametrize("match", ["x9", "new@example.com", "101"])
def test_fault_of_a_record_that_a_write_mentions(contacts: Any, batches: Any, control: Control, match: str) -> None:
    if match == "101":
        control.person(leadproof_external_id="x9")
    control.fault("lock", match=match)
    contacts.create({"properties": {"email": "other@example.com"}})
    row = {"id": "x9", "idProperty": UNIQUE, "properties": {"email": "New@Example.com"}}
    refused(batches.upsert, {"inputs": [row]}, status=423)


def test_fault_of_a_search(hubspot: Any, control: Control) -> None:
    control.fault("lock", operation="contacts.search", match="ann@example.com")
    search = hubspot.crm.contacts.search_api.do_search
    filters = [{"propertyName": "email", "operator": "EQ", "value": "ann@example.com"}]
    assert search({}).total == 0
    refused(search, {"filterGroups": [{"filters": filters}]}, status=423)


def test_writes_are_hit_alike(contacts: Any, batches: Any, control: Control, record: str) -> None:
    control.fault("lock", times=6)
    fields = {"properties": {"city": "Cork"}}
    refused(contacts.create, fields, status=423)
    refused(contacts.update, record, fields, status=423)
    refused(batches.create, {"inputs": [fields]}, status=423)
    refused(batches.update, {"inputs": [{"id": record, **fields}]}, status=423)
    refused(batches.upsert, {"inputs": [{"id": "x1", "idProperty": UNIQUE, **fields}]}, status=423)


def test_reads_are_hit_alike(contacts: Any, batches: Any, control: Control, record: str) -> None:
    control.fault("status", operation="contacts.read", times=2, args={"status": 503})
    refused(contacts.get_by_id, record, status=503)
    wanted = {"inputs": [{"id": record}], "properties": [], "propertiesWithHistory": []}
    refused(batches.read, wanted, status=503)


@pytest.mark.parametrize(
    "fault",
    [
        {"provider": "hubspot", "operation": "contacts.write", "kind": "sulk"},
        {"provider": "hubspot", "operation": "contacts.sing", "kind": "lock"},
        {"provider": "other", "operation": "contacts.write", "kind": "lock"},
        {"provider": "hubspot", "operation": "contacts.write", "kind": "lock", "often": 2},
        {"provider": "hubspot", "operation": "contacts.write", "kind": "status"},
        {"provider": "hubspot", "operation": "contacts.write", "kind": "lock", "times": 0},
        {"provider": "hubspot", "operation": "contacts.write", "kind": "lock", "times": "2"},
        {"provider": "hubspot", "operation": "contacts.write", "kind": "stale_read"},
        {"provider": "hubspot", "operation": "contacts.read", "kind": "rewrite", "args": {"fields": {}}},
        {"provider": "hubspot", "operation": "contacts.read", "kind": "human_edit", "args": {"fields": {}}},
        {"provider": "hubspot", "operation": "contacts.write", "kind": "human_edit"},
        {"provider": "hubspot", "operation": "contacts.write", "kind": "delay", "args": {"seconds": "long"}},
        {"provider": "hubspot", "operation": "contacts.write", "kind": "delay", "args": {"seconds": -1}},
        {"provider": "hubspot", "operation": "contacts.write", "kind": "delay", "args": {"seconds": True}},
        {"provider": "hubspot", "operation": "contacts.write", "kind": "lock", "args": ["seconds"]},
        *(
            {"provider": provider, "operation": operation, "kind": kind, "args": {"status": status}}
            for provider, operation in (("hubspot", "contacts.write"), ("anthropic", "messages.create"))
            for kind in ("status", "status_after_apply", "apply_later")
            for status in (100, 103, 204, 304, 99, 600, 0, -1, True, "500", 500.0)
        ),
        *(
            {"provider": "hubspot", "operation": "contacts.write", "kind": "status", "args": {"status": 500, **args}}
            for args in (
                {"headers": {"x": "a\r\nb"}},
                {"headers": {"x y": "a"}},
                {"headers": {"x": "☂"}},
                {"headers": ["x"]},
                {"headers": {"content-length": "3"}},
                {"headers": {"Transfer-Encoding": "chunked"}},
                {"retry_after": "1\n"},
                {"content_type": "text/☂"},
            )
        ),
    ],
)
def test_fault_that_makes_no_sense(http: httpx.Client, fault: dict[str, Any]) -> None:
    answer = http.post("/_sandbox/faults", json=fault)
    assert answer.status_code == 422
    assert answer.json()["error"]
    assert http.get("/_sandbox/faults").json() == []


@pytest.mark.parametrize("status", [200, 205, 302, 599])
def test_a_status_that_can_carry_an_answer(http: httpx.Client, control: Control, record: str, status: int) -> None:
    control.fault("status", args={"status": status, "headers": {"x-note": "a"}, "retry_after": 1.5})
    assert statuses(http, record, 1) == [status]
