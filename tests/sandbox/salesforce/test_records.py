"""Leads by id: made, read, written, deleted, and what their values become."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.salesforce.client import ANN, DATA, INTEGRATION, KOFI, UNASSIGNED, Org, refused


@pytest.fixture
def ann(leads: Any) -> str:
    made: str = leads.create(ANN, headers=UNASSIGNED)["id"]
    return made


def test_create_and_read(leads: Any, ann: str) -> None:
    assert ann == "00Qxx000000001dEAA"
    read = leads.get(ann)
    assert read["attributes"] == {"type": "Lead", "url": f"{DATA}/sobjects/Lead/{ann}"}
    assert {name: read[name] for name in ANN} == ANN
    assert (read["Id"], read["Name"], read["Status"]) == (ann, "Ann Lee", "Open - Not Contacted")
    assert (read["OwnerId"], read["CreatedById"], read["LastModifiedById"]) == (INTEGRATION,) * 3
    assert (read["IsDeleted"], read["IsConverted"], read["DoNotCall"], read["Phone"]) == (False, False, False, None)


def test_times_are_whole_seconds(leads: Any, ann: str) -> None:
    read = leads.get(ann)
    for name in ("CreatedDate", "LastModifiedDate", "SystemModstamp"):
        at = datetime.strptime(read[name], "%Y-%m-%dT%H:%M:%S.000%z")
        assert timedelta(0) <= datetime.now(UTC) - at < timedelta(seconds=30)


def test_update_answers_nothing(leads: Any, ann: str) -> None:
    answer = leads.update(ann, {"Title": "CTO"}, raw_response=True)
    assert (answer.status_code, answer.text) == (204, "")
    assert leads.get(ann)["Title"] == "CTO"


def test_id_in_fifteen_characters(leads: Any, ann: str) -> None:
    leads.update(ann[:15], {"Title": "CTO"})
    assert leads.get(ann[:15])["Id"] == ann


def test_case_of_an_id_counts(leads: Any, ann: str) -> None:
    other = ann[:14] + ann[14].upper()
    refused(leads.get, other, status=404, code="NOT_FOUND")
    refused(leads.get, ann[:15] + "AAA", status=400, code="MALFORMED_ID")


def test_chosen_fields(rest: httpx.Client, ann: str) -> None:
    read = rest.get(f"{DATA}/sobjects/Lead/{ann}?fields=email,Company").json()
    assert list(read) == ["attributes", "Email", "Company", "Id"]
    answer = rest.get(f"{DATA}/sobjects/Lead/{ann}?fields=Nonsense")
    assert (answer.status_code, answer.json()[0]["errorCode"]) == (400, "INVALID_FIELD")


@pytest.mark.parametrize(
    ("name", "sent", "kept"),
    [
        ("Title", "  CTO\n", "CTO"),
        ("Title", "\u3000CTO\u00a0", "\u3000CTO\u00a0"),
        ("Title", "", None),
        ("Title", "   ", None),
        ("Title", None, None),
        ("AnnualRevenue", 1000, 1000.0),
        ("AnnualRevenue", "1000.5", 1000.5),
        ("NumberOfEmployees", 120, 120),
        ("NumberOfEmployees", None, None),
        ("HasOptedOutOfEmail", True, True),
        ("HasOptedOutOfEmail", None, False),
        ("Email", "Ann@Example.COM", "Ann@Example.COM"),
        ("Product_Interest__c", "Support;Core;Core", "Core;Support"),
        ("LeadSource", "Something of our own", "Something of our own"),
        ("OwnerId", KOFI[:15], KOFI),
    ],
)
def test_values(leads: Any, ann: str, name: str, sent: Any, kept: Any) -> None:
    leads.update(ann, {name: sent}, headers=UNASSIGNED)
    value = leads.get(ann)[name]
    assert value == kept
    assert type(value) is type(kept)


def test_names_of_fields_in_any_case(leads: Any, ann: str) -> None:
    leads.update(ann, {"tItLe": "CTO"})
    assert leads.get(ann)["Title"] == "CTO"


def test_delete(leads: Any, org: Org, ann: str) -> None:
    assert leads.delete(ann) == 204
    for call in (leads.get, leads.delete, lambda record: leads.update(record, {"Title": "CTO"})):
        refused(call, ann, status=404, code="ENTITY_IS_DELETED")
    assert org.record(ann)["archived"] is True


def test_missing_record(leads: Any) -> None:
    missing = "00Qxx0000000001"
    assert (
        refused(leads.get, missing, status=404, code="NOT_FOUND")["message"] == "The requested resource does not exist"
    )
    refused(leads.update, missing, {"Title": "CTO"}, status=404, code="INVALID_CROSS_REFERENCE_KEY")
    refused(leads.delete, missing, status=404, code="INVALID_CROSS_REFERENCE_KEY")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/sobjects/Spaceship/00Qxx0000000001", 404, "NOT_FOUND"),
        ("GET", "/sobjects/Lead/nonsense", 404, "NOT_FOUND"),
        ("GET", "/sobjects/Lead/003xx0000000001", 400, "MALFORMED_ID"),
        ("GET", "/nonsense", 404, "NOT_FOUND"),
        ("PUT", "/sobjects/Lead/00Qxx0000000001", 405, "METHOD_NOT_ALLOWED"),
        ("POST", "/sobjects/User", 400, "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY"),
        ("POST", "/sobjects/Lead", 400, "JSON_PARSER_ERROR"),
    ],
)
def test_requests_that_lead_nowhere(rest: httpx.Client, method: str, path: str, status: int, code: str) -> None:
    answer = rest.request(method, f"{DATA}{path}", content=b"{" if method == "POST" and "Lead" in path else b"{}")
    assert (answer.status_code, answer.json()[0]["errorCode"]) == (status, code)


def test_unknown_version(rest: httpx.Client) -> None:
    assert rest.get("/services/data/v9.0/sobjects").status_code == 404
    assert "62.0" in [each["version"] for each in rest.get("/services/data/").json()]


def test_what_a_witness_sees(leads: Any, org: Org, ann: str) -> None:
    org.person(KOFI, ann, Title="CTO")
    seen = org.record(ann)
    assert (seen["object"], seen["archived"], seen["mergedInto"]) == ("leads", False, None)
    assert seen["properties"]["LastModifiedById"] == KOFI
    assert [seen["history"]["Title"][0][key] for key in ("value", "sourceType", "sourceId")] == ["CTO", "UI", KOFI]
    assert seen["history"]["Email"][0]["sourceType"] == "API"
