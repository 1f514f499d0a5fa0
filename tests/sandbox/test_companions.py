"""Faults that happen beside a request: stale reads, people, automation, and rows that fail."""

from pathlib import Path
from typing import Any

import pytest
import urllib3

from sandbox.faults import COMPANION_KINDS
from tests.sandbox.control import Control
from tests.sandbox.errors import refused

UNIQUE = "leadproof_external_id"
READ = "contacts.read"


@pytest.fixture
def record(control: Control) -> str:
    made: str = control.person(email="ann@example.com", city="Cork", leadproof_external_id="x1")["id"]
    return made


def cities(contacts: Any, record: str) -> list[tuple[str, str]]:
    versions = contacts.get_by_id(record, properties_with_history=["city"]).properties_with_history["city"]
    return [(version.value, version.source_type) for version in versions]


def test_stale_read_shows_values_and_history_from_before(contacts: Any, control: Control, record: str) -> None:
    contacts.update(record, {"properties": {"city": "Galway"}})
    control.fault("stale_read", operation=READ, times=2)
    stale = contacts.get_by_id(record, properties=["city"])
    assert stale.properties["city"] == "Cork"
    assert cities(contacts, record) == [("Cork", "CRM_UI")]
    assert cities(contacts, record) == [("Galway", "INTEGRATION"), ("Cork", "CRM_UI")]
    assert contacts.get_by_id(record).updated_at > stale.updated_at


def test_stale_read_does_not_know_a_new_record(contacts: Any, batches: Any, control: Control) -> None:
    made = contacts.create({"properties": {"email": "bo@example.com", UNIQUE: "x2"}})
    control.fault("stale_read", operation=READ, times=4)
    refused(contacts.get_by_id, made.id, status=404)
    refused(contacts.get_by_id, "x2", id_property=UNIQUE, status=404)
    wanted = {"inputs": [{"id": "x2"}], "idProperty": UNIQUE, "properties": [], "propertiesWithHistory": []}
    assert batches.read(wanted).results == []
    assert contacts.get_page().results == []
    assert contacts.get_by_id("x2", id_property=UNIQUE).id == made.id


def test_stale_read_by_a_value_from_before(contacts: Any, control: Control, record: str) -> None:
    contacts.update(record, {"properties": {UNIQUE: "x9"}})
    control.fault("stale_read", operation=READ, times=2)
    assert contacts.get_by_id("x1", id_property=UNIQUE).id == record
    refused(contacts.get_by_id, "x9", id_property=UNIQUE, status=404)


def test_stale_read_from_before_the_archive(contacts: Any, control: Control, record: str) -> None:
    contacts.archive(record)
    control.fault("stale_read", operation=READ)
    assert contacts.get_by_id(record).archived is False


def test_stale_search(hubspot: Any, contacts: Any, control: Control, record: str) -> None:
    contacts.update(record, {"properties": {"city": "Galway"}})
    control.advance(60)
    control.fault("stale_read", operation="contacts.search")
    search = hubspot.crm.contacts.search_api.do_search
    assert search({"properties": ["city"]}).results[0].properties["city"] == "Cork"
    assert search({"properties": ["city"]}).results[0].properties["city"] == "Galway"


@pytest.mark.parametrize("moment", ["before_write", "after_write"])
def test_person_edits_around_a_write(contacts: Any, control: Control, record: str, moment: str) -> None:
    control.fault("human_edit", args={"fields": {"city": "Athlone"}, "user": "9003", "moment": moment})
    contacts.update(record, {"properties": {"city": "Galway"}})
    ours, theirs = ("Galway", "INTEGRATION"), ("Athlone", "CRM_UI")
    newest = [theirs, ours] if moment == "after_write" else [ours, theirs]
    assert cities(contacts, record) == [*newest, ("Cork", "CRM_UI")]
    history = control.record(record)["history"]["city"]
    assert next(version for version in history if version["value"] == "Athlone")["updatedByUserId"] == 9003


def test_person_is_first_to_create(batches: Any, contacts: Any, control: Control) -> None:
    control.fault("human_edit", match="bo@example.com", args={"fields": {"email": "bo@example.com"}, "user": "9003"})
    body = refused(contacts.create, {"properties": {"email": "bo@example.com"}}, status=409)
    assert body["message"].endswith(control.records()[0]["id"])


def test_person_edits_what_was_just_created(batches: Any, control: Control) -> None:
    control.fault("human_edit", args={"fields": {"city": "Athlone"}, "moment": "after_write"})
    row = {"id": "x2", "idProperty": UNIQUE, "properties": {"city": "Cork"}}
    made = batches.upsert({"inputs": [row]}).results[0]
    assert made.properties["city"] == "Cork"
    assert control.record(made.id)["properties"]["city"] == "Athlone"


def test_person_edits_and_the_answer_is_lost(contacts: Any, control: Control, record: str) -> None:
    control.fault("human_edit", args={"fields": {"phone": "1"}, "moment": "after_write"})
    control.fault("drop_after_apply")
    with pytest.raises(urllib3.exceptions.ProtocolError):
        contacts.update(record, {"properties": {"city": "Galway"}})
    values = control.record(record)["properties"]
    assert (values["city"], values["phone"]) == ("Galway", "1")


def test_automation_rewrites_in_the_same_transaction(contacts: Any, control: Control, record: str) -> None:
    control.fault("rewrite", args={"fields": {"city": "Limerick", "hs_lead_status": "OPEN"}})
    contacts.update(record, {"properties": {"city": "Galway"}})
    history = control.record(record)["history"]
    newest, ours, _ = history["city"]
    assert (newest["value"], newest["sourceType"]) == ("Limerick", "AUTOMATION_PLATFORM")
    assert newest["timestamp"] == ours["timestamp"] == history["hs_lead_status"][0]["timestamp"]
    control.fault("stale_read", operation=READ)
    assert cities(contacts, record) == [("Cork", "CRM_UI")]


def test_one_row_of_a_batch_fails(batches: Any, control: Control, record: str) -> None:
    control.fault("partial_batch", match=record)
    rows = [{"id": key, "idProperty": UNIQUE, "properties": {"city": "Galway"}} for key in ("x2", "x1")]
    answer = batches.upsert({"inputs": rows})
    assert [row.properties[UNIQUE] for row in answer.results] == ["x2"]
    assert (answer.num_errors, answer.errors[0].status) == (1, "error")
    assert control.record(record)["properties"]["city"] == "Cork"


def test_batch_of_one_fails(batches: Any, control: Control) -> None:
    control.fault("partial_batch", args={"category": "RATE_LIMITS", "message": "slow down"})
    answer = batches.upsert({"inputs": [{"id": "x2", "idProperty": UNIQUE, "properties": {}}]})
    assert (answer.results, answer.errors[0].category) == ([], "RATE_LIMITS")
    assert control.records() == []
    assert control.requests("contacts.write")[0]["applied"] is False


def test_single_write_does_not_use_up_a_partial_batch(contacts: Any, control: Control) -> None:
    control.fault("partial_batch")
    assert contacts.create({"properties": {"email": "bo@example.com"}}).id
    assert len(control.get("/faults")) == 1


def test_every_companion_kind_has_a_test() -> None:
    text = Path(__file__).read_text("utf-8")
    assert [kind for kind in COMPANION_KINDS if f'"{kind}"' not in text] == []
