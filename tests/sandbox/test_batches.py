"""Batches through the real client."""

from typing import Any

import httpx

from tests.sandbox.control import AUTHORIZED, CONTACTS, Control
from tests.sandbox.errors import refused

UNIQUE = "leadproof_external_id"


def item(key: str, name: str | None = UNIQUE, trace: str | None = None, **properties: str) -> dict[str, Any]:
    row: dict[str, Any] = {"id": key, "properties": properties}
    if name:
        row["idProperty"] = name
    if trace:
        row["objectWriteTraceId"] = trace
    return row


def test_upsert_creates_then_updates(batches: Any, control: Control) -> None:
    made = batches.upsert({"inputs": [item("x1", city="Cork")]}).results[0]
    again = batches.upsert({"inputs": [item("x1", city="Galway")]}).results[0]
    assert (made.new, again.new) == (True, False)
    assert again.id == made.id
    assert again.properties[UNIQUE] == "x1"
    assert control.record(made.id)["properties"]["city"] == "Galway"


def test_upsert_by_address(batches: Any, control: Control) -> None:
    owner = control.person(email="ann@example.com")["id"]
    row = batches.upsert({"inputs": [item("ANN@example.com", "email", phone="1")]}).results[0]
    assert row.id == owner
    assert control.record(owner)["properties"]["email"] == "ann@example.com"


def test_upsert_by_what_is_not_unique(batches: Any) -> None:
    body = refused(batches.upsert, {"inputs": [item("Ann", "firstname", city="Cork")]}, status=400)
    assert "non-unique 0-1 property" in body["message"]


def test_results_are_not_in_the_order_of_the_inputs(batches: Any) -> None:
    rows = batches.upsert({"inputs": [item("x1"), item("x2"), item("x3")]}).results
    assert [row.properties[UNIQUE] for row in rows] == ["x3", "x2", "x1"]


def test_trace_ids_come_back(batches: Any) -> None:
    rows = batches.upsert({"inputs": [item("x1", trace="t1"), item("x2", trace="t2")]}).results
    assert {row.properties[UNIQUE]: row.object_write_trace_id for row in rows} == {"x1": "t1", "x2": "t2"}


def test_some_inputs_fail_when_traced(batches: Any, control: Control) -> None:
    answer = batches.upsert({"inputs": [item("x1", trace="t1", nonsense="x"), item("x2", trace="t2", city="Cork")]})
    assert answer.num_errors == 1
    assert answer.errors[0].context["objectWriteTraceId"] == ["t1"]
    assert answer.errors[0].errors[0].code == "PROPERTY_DOESNT_EXIST"
    assert [row.object_write_trace_id for row in answer.results] == ["t2"]
    assert control.requests("contacts.write")[0]["applied"] is True


def test_everything_fails_when_not_traced(batches: Any, control: Control) -> None:
    refused(batches.upsert, {"inputs": [item("x1", city="Cork"), item("x2", nonsense="x")]}, status=400)
    assert control.records() == []
    control.person(email="ann@example.com")
    taken = [{"properties": {"email": mail}} for mail in ("bo@example.com", "ann@example.com")]
    refused(batches.create, {"inputs": taken}, status=409)
    assert len(control.records()) == 1
    assert control.get("/side_effects") != []
    assert batches.create({"inputs": taken[:1]}).results[0].id


def test_batch_update_does_not_know_addresses(batches: Any, control: Control) -> None:
    control.person(email="ann@example.com")
    refused(batches.update, {"inputs": [item("ann@example.com", "email", city="Cork")]}, status=400)


def test_batch_update_by_unique_property(batches: Any, control: Control) -> None:
    owner = control.person(email="ann@example.com", leadproof_external_id="x1")["id"]
    assert batches.update({"inputs": [item("x1", city="Cork")]}).results[0].id == owner


def test_read_says_what_is_missing(batches: Any, control: Control) -> None:
    control.person(email="ann@example.com", leadproof_external_id="x1")
    wanted = {"inputs": [{"id": "x1"}, {"id": "x2"}], "idProperty": UNIQUE}
    answer = batches.read({**wanted, "properties": [UNIQUE], "propertiesWithHistory": ["email"]})
    assert [row.properties[UNIQUE] for row in answer.results] == ["x1"]
    assert answer.results[0].properties_with_history["email"][0].value == "ann@example.com"
    assert answer.num_errors == 1
    assert answer.errors[0].category == "OBJECT_NOT_FOUND"
    assert answer.errors[0].context["ids"] == ["x2"]


def test_archived_are_read_only_when_asked_for(batches: Any, control: Control) -> None:
    record = control.person(email="ann@example.com")["id"]
    batches.archive({"inputs": [{"id": record}, {"id": "9"}]})
    wanted = {"inputs": [{"id": record}], "properties": [], "propertiesWithHistory": []}
    assert batches.read(wanted).num_errors == 1
    assert batches.read(wanted, archived=True).results[0].archived is True


def test_too_many_none_and_repeated(batches: Any, http: httpx.Client) -> None:
    refused(batches.upsert, {"inputs": [item(str(number)) for number in range(101)]}, status=400)
    assert http.post(f"{CONTACTS}/batch/upsert", json={"inputs": []}, headers=AUTHORIZED).status_code == 400
    assert http.post(f"{CONTACTS}/batch/upsert", json=["x"], headers=AUTHORIZED).status_code == 400
    assert "Duplicate IDs" in refused(batches.upsert, {"inputs": [item("x1"), item("x1")]}, status=400)["message"]
