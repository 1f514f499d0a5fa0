"""The control plane itself."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.control import AUTHORIZED, CONTACTS, Control

PERSON = {"provider": "hubspot", "object": "contacts", "user": "9002"}


def test_health(control: Control) -> None:
    assert control.get("/health") == {"status": "ok"}


def test_reset_forgets_everything(contacts: Any, hubspot: Any, control: Control) -> None:
    body = {"name": "code", "label": "Code", "type": "string", "fieldType": "text", "groupName": "x"}
    hubspot.crm.properties.core_api.create("contacts", body)
    contacts.create({"properties": {"email": "ann@example.com"}})
    control.fault("lock")
    control.advance(3600)
    control.post("/reset")
    assert control.records() == control.get("/requests") == control.get("/faults") == control.get("/side_effects") == []
    assert contacts.create({"properties": {"email": "ann@example.com"}}).id == "101"
    names = [row.name for row in hubspot.crm.properties.core_api.get_all("contacts").results]
    assert "code" not in names


def test_every_request_is_logged_without_its_token(http: httpx.Client, control: Control) -> None:
    http.post(CONTACTS, json={"properties": {"email": "ann@example.com"}}, headers=AUTHORIZED)
    http.get(f"{CONTACTS}/ann%40example.com?idProperty=email", headers=AUTHORIZED)
    http.post(CONTACTS, content=b"{", headers=AUTHORIZED)
    created, read, broken = control.get("/requests", provider="hubspot")
    assert created.keys() == {"at", "provider", "operation", "method", "path", "body", "status", "applied"}
    assert created["body"] == {"properties": {"email": "ann@example.com"}}
    assert (created["method"], created["path"], created["status"], created["applied"]) == ("POST", CONTACTS, 201, True)
    assert read["path"] == f"{CONTACTS}/ann%40example.com?idProperty=email"
    assert (read["operation"], read["status"], read["applied"]) == ("contacts.read", 200, False)
    assert (broken["body"], broken["status"], broken["applied"]) == ("{", 400, False)
    assert AUTHORIZED["authorization"] not in str(control.get("/requests"))
    assert control.get("/requests", provider="hubspot", operation="contacts.read") == [read]
    assert control.get("/requests", provider="salesforce") == []


def test_record_shows_everything(contacts: Any, control: Control) -> None:
    made = contacts.create({"properties": {"email": "ann@example.com"}})
    record = control.record(made.id)
    assert record["properties"]["hs_object_id"] == made.id
    assert record["history"]["email"][0]["sourceType"] == "INTEGRATION"
    assert (record["archived"], record["mergedInto"]) == (False, None)


def test_person_creates_and_edits(control: Control) -> None:
    made = control.put("/records", {**PERSON, "properties": {"email": "ann@example.com"}})
    edited = control.put("/records", {**PERSON, "id": made["id"], "properties": {"hs_email_optout": "true"}})
    assert edited["id"] == made["id"]
    assert edited["history"]["hs_email_optout"][0]["sourceId"] == "userId:9002"


def test_person_merges_and_archives(control: Control) -> None:
    winner, loser = (control.person(email=f"{name}@example.com")["id"] for name in ("ann", "bo"))
    merged = control.post("/merge", {**PERSON, "winner": winner, "loser": loser})
    assert merged["properties"]["hs_merged_object_ids"] == loser
    assert control.record(loser)["mergedInto"] == winner
    control.delete("/records", {**PERSON, "id": winner})
    assert control.record(winner)["archived"] is True


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "/records", {**PERSON, "id": "9", "properties": {}}, 404),
        ("PUT", "/records", {**PERSON, "properties": {"nonsense": "x"}}, 422),
        ("PUT", "/records", {**PERSON, "object": "spaceships", "properties": {}}, 404),
        ("PUT", "/records", {**PERSON, "provider": "other", "properties": {}}, 422),
        ("PUT", "/records", {**PERSON, "id": "9", "archived": False}, 404),
        ("DELETE", "/records", {**PERSON, "id": "9"}, 404),
        ("POST", "/merge", {**PERSON, "winner": "8", "loser": "9"}, 404),
        ("POST", "/convert", {**PERSON, "id": "9"}, 422),
        ("POST", "/webhooks", {"on": True}, 422),
        ("POST", "/webhooks", {"target": "http://x", "secret": "s", "copies": 0}, 422),
        ("POST", "/webhooks", {"target": "http://x", "secret": "s", "subscriptions": ["deal.creation"]}, 422),
        ("PUT", "/clock", {"now": "yesterday"}, 422),
        ("PUT", "/clock", {}, 422),
        ("PUT", "/clock", [], 422),
    ],
)
def test_what_cannot_be_done(http: httpx.Client, method: str, path: str, body: Any, status: int) -> None:
    answer = http.request(method, f"/_sandbox{path}", json=body)
    assert answer.status_code == status
    assert answer.json()["error"]


def test_clock_moves_history(control: Control) -> None:
    control.advance(3600)
    ahead = datetime.fromisoformat(control.person(email="ann@example.com")["createdAt"]) - datetime.now(UTC)
    assert timedelta(minutes=59) < ahead < timedelta(minutes=61)
    control.put("/clock", {"now": "2030-01-01T00:00:00Z"})
    assert control.person(email="bo@example.com")["createdAt"].startswith("2030-01-01T00:00:0")


def test_automation_fires_once_for_each_creation(contacts: Any, batches: Any, control: Control) -> None:
    made = contacts.create({"properties": {"email": "ann@example.com"}})
    contacts.update(made.id, {"properties": {"city": "Cork"}})
    batches.upsert({"inputs": [{"id": "ann@example.com", "idProperty": "email", "properties": {"city": "Bray"}}]})
    [fired] = control.get("/side_effects")
    assert fired.pop("at")
    assert fired == {
        "kind": "welcome_email",
        "provider": "hubspot",
        "object": "contacts",
        "id": made.id,
        "detail": {"to": "ann@example.com"},
    }


def test_refused_batch_fires_nothing(batches: Any, control: Control, http: httpx.Client) -> None:
    rows = [{"properties": {"email": "ann@example.com"}}, {"properties": {"nonsense": "x"}}]
    assert http.post(f"{CONTACTS}/batch/create", json={"inputs": rows}, headers=AUTHORIZED).status_code == 400
    assert control.get("/side_effects") == []
