"""Reads and look-ups against the sandbox."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leadproof.crm.hubspot import HubSpotCrm
from leadproof.domain.records import MARKER as MARKER_FIELD
from leadproof.domain.records import LookUp, Presence
from tests.crm.asking import EXTERNAL_ID, MARKER, contact, creation, update
from tests.crm.conftest import MakeCrm
from tests.crm.hostile import Hostile, says
from tests.sandbox.control import Control

EMAIL = "bo@example.com"
NOT_FOUND = says(404, {"status": "error", "category": "OBJECT_NOT_FOUND", "message": "no", "correlationId": "c"})


def person(sandbox: Control, **properties: str) -> str:
    return str(sandbox.person(**properties)["id"])


def read(crm: HubSpotCrm, record_id: str, *fields: str, history: bool = False) -> LookUp:
    return crm.read("contact", record_id, fields or ("email",), history=history)


def test_a_record_comes_in_our_names_and_normal_forms(crm: HubSpotCrm, sandbox: Control) -> None:
    record_id = person(sandbox, email=EMAIL, firstname=" Bo ", numemployees="100-500", hubspot_owner_id="501")
    found = read(crm, record_id, "email", "first_name", "employees", "owner", "country", "utm_source", "do_not_call")
    assert found.presence is Presence.ONE
    assert found.record is not None
    assert found.record.record_id == record_id
    assert found.record.fields == {
        "email": EMAIL,
        "first_name": "Bo",
        "employees": "100",
        "owner": "501",
        "country": None,  # asked for and empty; utm_source does not exist there and was not returned
    }
    assert found.record.raw["first_name"] == " Bo "
    assert (found.record.external_id, found.record.marker, found.record.history) == (None, None, {})
    assert found.record.changed_at is not None


def test_external_id_marker_and_history_tell_whose_write_it_was(crm: HubSpotCrm, sandbox: Control) -> None:
    record_id = crm.write(creation(email=EMAIL, first_name="Bo")).provider_record_id or ""
    sandbox.person("9002", record_id, firstname="Robert")
    found = read(crm, record_id, "email", "first_name", "last_name", history=True).record
    assert found is not None
    assert (found.external_id, found.marker) == (EXTERNAL_ID, MARKER)
    assert [(change.value, change.by) for change in found.history["first_name"]] == [
        ("Robert", "person:9002"),
        ("Bo", "us"),
    ]
    assert [(change.value, change.by) for change in found.history[MARKER_FIELD]] == [(MARKER, "us")]
    assert found.history["first_name"][1].at == found.history[MARKER_FIELD][0].at
    assert found.history["last_name"] == ()
    assert found.changed_by == "person:9002"
    assert found.changed_at == found.history["first_name"][0].at
    assert datetime.now(UTC) - found.history["first_name"][0].at < timedelta(minutes=1)


def test_our_write_is_found_in_history_without_knowing_our_app(
    address: str, sandbox: Control, make_crm: MakeCrm
) -> None:
    crm = make_crm(f"{address}/hubspot", app_id=None)
    record_id = crm.write(creation(email=EMAIL)).provider_record_id or ""
    found = read(crm, record_id, "email", history=True).record
    assert found is not None
    assert found.history["email"][0].by == "us"


def test_automation_is_named_in_history(crm: HubSpotCrm, sandbox: Control) -> None:
    record_id = person(sandbox, email=EMAIL)
    sandbox.fault("rewrite", args={"fields": {"hs_lead_status": "OPEN"}})
    crm.write(update(record_id, lead_status="NEW"))
    found = read(crm, record_id, "lead_status", history=True).record
    assert found is not None
    assert found.fields == {"lead_status": "OPEN"}
    assert str(found.history["lead_status"][0].by).startswith("automation:")


def test_a_cleared_value_is_empty_and_stands_in_history(crm: HubSpotCrm, sandbox: Control) -> None:
    record_id = person(sandbox, email=EMAIL, firstname="Bo")
    crm.write(update(record_id, first_name=None))
    found = read(crm, record_id, "first_name", history=True).record
    assert found is not None
    assert found.fields == {"first_name": None}
    assert [change.value for change in found.history["first_name"]] == [None, "Bo"]


def test_an_archived_record_is_removed(crm: HubSpotCrm, sandbox: Control) -> None:
    record_id = person(sandbox, email=EMAIL)
    sandbox.delete("/records", {"provider": "hubspot", "object": "contacts", "id": record_id})
    found = read(crm, record_id)
    assert (found.presence, found.record_ids, found.record) == (Presence.REMOVED, (record_id,), None)
    found = crm.find(contact(email=EMAIL), ["email"], history=False)
    assert (found.presence, found.record_ids) == (Presence.REMOVED, (record_id,))


def test_a_merged_record_answers_with_the_winner_s_id(crm: HubSpotCrm, sandbox: Control) -> None:
    winner, loser = person(sandbox, email="winner@example.com"), person(sandbox, email="loser@example.com")
    sandbox.post(
        "/merge", {"provider": "hubspot", "object": "contacts", "winner": winner, "loser": loser, "user": "9001"}
    )
    found = read(crm, loser)
    assert found.presence is Presence.ONE
    assert found.record is not None
    assert found.record.record_id == winner
    found = crm.find(contact(email="loser@example.com"), ["email"], history=False)
    assert found.record is not None
    assert found.record.record_id == winner


def test_what_never_was_is_absent(crm: HubSpotCrm, sandbox: Control) -> None:
    assert read(crm, "999").presence is Presence.ABSENT
    assert crm.find(contact(email=EMAIL), ["email"], history=True).presence is Presence.ABSENT
    asked = [request["path"].partition("?")[2] for request in sandbox.requests("contacts.read")[2:]]
    assert [("idProperty=email" in query, "archived=True" in query) for query in asked] == [
        (False, False),
        (False, True),
        (True, False),
        (True, True),
    ]


def test_a_record_is_found_by_external_id_or_by_e_mail(crm: HubSpotCrm, sandbox: Control) -> None:
    record_id = person(sandbox, email=EMAIL)
    assert crm.find(contact(), ["email"], history=False).presence is Presence.ABSENT
    by_email = crm.find(contact(email=EMAIL.upper()), ["email"], history=False)
    assert by_email.record is not None
    assert (by_email.record.record_id, by_email.record.external_id) == (record_id, None)
    crm.write(update(record_id, links=True))
    by_both = crm.find(contact(email=EMAIL), ["email"], history=False)
    assert by_both.record is not None
    assert (by_both.record.record_id, by_both.record.external_id) == (record_id, EXTERNAL_ID)


def test_two_different_records_are_several(crm: HubSpotCrm, sandbox: Control) -> None:
    first = crm.write(creation(first_name="Bo")).provider_record_id
    second = person(sandbox, email=EMAIL)
    found = crm.find(contact(email=EMAIL), ["email"], history=False)
    assert (found.presence, set(found.record_ids), found.record) == (Presence.SEVERAL, {first, second}, None)


@pytest.mark.parametrize("failing", range(4))
@pytest.mark.parametrize("kind", ["drop_before_apply", "garbage_after_apply", "rate_limit", "reject_auth"])
def test_one_look_up_that_fails_makes_the_whole_unknown_and_never_absent(
    kind: str, failing: int, crm: HubSpotCrm, sandbox: Control
) -> None:
    sandbox.fault(kind, "contacts.read", after=failing)
    found = crm.find(contact(email=EMAIL), ["email"], history=False)
    assert found.presence is Presence.UNKNOWN
    assert found.refuses_us is (kind == "reject_auth")
    assert found.retry_after_seconds == (10 if kind == "rate_limit" else None)


def test_a_search_that_fails_makes_the_whole_unknown(crm: HubSpotCrm, sandbox: Control) -> None:
    sandbox.fault("status", "contacts.search", args={"status": 502})
    assert crm.find(contact(email=EMAIL), ["email"], history=False).presence is Presence.UNKNOWN


@pytest.mark.parametrize(("status", "refuses"), [(401, True), (403, True), (404, True), (423, False), (500, False)])
def test_a_read_that_is_refused_says_whether_we_are(
    status: int, refuses: bool, server: Hostile, make_crm: MakeCrm
) -> None:
    crm = make_crm(server.url)
    server.answers(says(status, b"<html>"))
    found = read(crm, "101")
    assert (found.presence, found.refuses_us) == (Presence.UNKNOWN, refuses)


def test_an_endpoint_that_is_gone_is_not_an_absent_record(server: Hostile, make_crm: MakeCrm) -> None:
    crm = make_crm(server.url)
    for body in (b"<html>", {"message": "no route"}, {"status": "error", "message": "resource not found"}):
        server.answers(says(404, body))
        assert read(crm, "101").presence is Presence.UNKNOWN
    server.answers(NOT_FOUND, says(404, b"<html>"))
    assert read(crm, "101").presence is Presence.UNKNOWN


def test_an_external_id_property_that_is_not_unique_refuses_us(
    address: str, sandbox: Control, make_crm: MakeCrm
) -> None:
    crm = make_crm(f"{address}/hubspot", external_id_property="industry")
    found = crm.find(contact(), ["email"], history=False)
    assert (found.presence, found.refuses_us) == (Presence.UNKNOWN, True)


def secondary(server: Hostile, *, holds: str = f"old@example.com;{EMAIL}", then: Any = None) -> None:
    """Answers of a HubSpot whose look-up by e-mail does not see secondary addresses."""
    record = {"id": "7", "properties": {"email": "main@example.com"}, "archived": False}
    hit = {"total": 1, "results": [{"id": "7", "properties": {"hs_additional_emails": holds}}]}
    server.answers(*[NOT_FOUND] * 4, says(200, hit), then or says(200, record))


def test_a_secondary_address_is_found_by_search_and_then_read(server: Hostile, make_crm: MakeCrm) -> None:
    secondary(server)
    found = make_crm(server.url).find(contact(email=EMAIL.title()), ["email"], history=False)
    assert found.record is not None
    assert (found.record.record_id, found.record.fields) == ("7", {"email": "main@example.com"})
    assert server.requests[-2].json()["filterGroups"][0]["filters"][0]["propertyName"] == "hs_additional_emails"
    assert server.requests[-1].path.startswith("/crm/v3/objects/contacts/7?")


def test_a_hit_of_the_search_that_holds_another_address_is_none(server: Hostile, make_crm: MakeCrm) -> None:
    secondary(server, holds=f"x{EMAIL}")
    assert make_crm(server.url).find(contact(email=EMAIL), ["email"], history=False).presence is Presence.ABSENT


def test_a_hit_of_the_search_that_cannot_be_read_is_unknown(server: Hostile, make_crm: MakeCrm) -> None:
    secondary(server, then=says(500))
    assert make_crm(server.url).find(contact(email=EMAIL), ["email"], history=False).presence is Presence.UNKNOWN


def test_a_record_that_comes_back_while_it_is_looked_for_is_unknown(server: Hostile, make_crm: MakeCrm) -> None:
    server.answers(NOT_FOUND, says(200, {"id": "7", "properties": {}, "archived": False}))
    assert read(make_crm(server.url), "7").presence is Presence.UNKNOWN


def test_a_unique_field_without_a_property_is_unknown(crm: HubSpotCrm) -> None:
    assert crm.find(contact(passport="X"), ["email"], history=False).presence is Presence.UNKNOWN


def test_other_objects_are_unknown(crm: HubSpotCrm) -> None:
    assert crm.read("company", "7", ["email"], history=False).presence is Presence.UNKNOWN
    company = contact().model_copy(update={"target_object": "company"})
    assert crm.find(company, ["email"], history=False).presence is Presence.UNKNOWN


def test_unknown_names_no_person(crm: HubSpotCrm, sandbox: Control) -> None:
    sandbox.fault("status", "contacts.read", args={"status": 400, "body": {"status": "error", "message": EMAIL}})
    found = crm.find(contact(email=EMAIL), ["email"], history=False)
    assert found.presence is Presence.UNKNOWN
    assert "example.com" not in found.model_dump_json()
