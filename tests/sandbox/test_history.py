"""Property history: newest first, and who wrote each value."""

from typing import Any

from tests.sandbox.control import Control


def history(contacts: Any, record: str, name: str) -> list[Any]:
    versions: list[Any] = contacts.get_by_id(record, properties_with_history=[name]).properties_with_history[name]
    return versions


def test_history_is_newest_first_with_who(contacts: Any, control: Control) -> None:
    made = contacts.create({"properties": {"email": "ann@example.com", "city": "Cork"}})
    control.person("9002", made.id, city="Galway")
    ours, theirs = history(contacts, made.id, "city")[::-1]
    assert (ours.value, ours.source_type, ours.source_id) == ("Cork", "INTEGRATION", "54321")
    assert ours.updated_by_user_id is None
    assert (theirs.value, theirs.source_type, theirs.source_id) == ("Galway", "CRM_UI", "userId:9002")
    assert theirs.updated_by_user_id == 9002
    assert theirs.timestamp > ours.timestamp


def test_what_is_written_together_has_one_time(contacts: Any) -> None:
    made = contacts.create({"properties": {"email": "ann@example.com", "city": "Cork"}})
    contacts.update(made.id, {"properties": {"city": "Galway", "leadproof_effect": "e1"}})
    assert (
        history(contacts, made.id, "city")[0].timestamp == history(contacts, made.id, "leadproof_effect")[0].timestamp
    )


def test_equal_value_leaves_no_trace(contacts: Any) -> None:
    made = contacts.create({"properties": {"email": "ann@example.com", "city": "Cork"}})
    again = contacts.update(made.id, {"properties": {"city": "Cork"}})
    assert len(history(contacts, made.id, "city")) == 1
    assert again.updated_at == made.updated_at


def test_cleared_value_is_a_version(contacts: Any) -> None:
    made = contacts.create({"properties": {"email": "ann@example.com", "city": "Cork"}})
    contacts.update(made.id, {"properties": {"city": ""}})
    assert [version.value for version in history(contacts, made.id, "city")] == ["", "Cork"]


def test_who_made_the_record(contacts: Any, control: Control) -> None:
    by_us = contacts.create({"properties": {"email": "ann@example.com"}}).id
    by_them = control.person(email="bo@example.com")["id"]
    assert control.record(by_us)["properties"]["hs_object_source_label"] == "INTEGRATION"
    assert control.record(by_them)["properties"]["hs_object_source_label"] == "CRM_UI"
    assert control.record(by_them)["properties"]["hs_object_source_id"] == "userId:9002"
