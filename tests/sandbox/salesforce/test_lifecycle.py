"""Leads that are converted, merged, deleted and brought back."""

from typing import Any

import httpx
import pytest
from simple_salesforce.format import format_soql

from tests.sandbox.control import Control
from tests.sandbox.salesforce.client import ANN, EXTERNAL_ID, INBOUND, KOFI, Org

HERE = {"provider": "salesforce", "object": "leads"}


@pytest.fixture
def ann(org: Org) -> str:
    made: str = org.person(**ANN, **{EXTERNAL_ID: "x1", "OwnerId": INBOUND})["id"]
    return made


def all_of(salesforce: Any, query: str) -> list[dict[str, Any]]:
    rows = salesforce.query(query, include_deleted=True)["records"]
    return [{name: value for name, value in row.items() if name != "attributes"} for row in rows]


def noted(salesforce: Any, lead: str) -> list[str]:
    """What a lead's history is about, in order."""
    query = format_soql("SELECT Field FROM LeadHistory WHERE LeadId = {} ORDER BY Id", lead)
    return [row["Field"] for row in salesforce.query(query)["records"]]


def test_conversion(salesforce: Any, control: Control, ann: str) -> None:
    answer = control.post("/convert", {**HERE, "id": ann, "user": KOFI})
    lead = salesforce.Lead.get(ann)
    assert (lead["IsConverted"], lead["Status"], lead["LastModifiedById"]) == (True, "Closed - Converted", KOFI)
    assert lead["ConvertedAccountId"].startswith("001")
    assert lead["ConvertedOpportunityId"].startswith("006")
    assert answer["properties"]["ConvertedContactId"] == lead["ConvertedContactId"]
    contact = salesforce.Contact.get(lead["ConvertedContactId"])
    assert (contact["Email"], contact["AccountId"]) == (ANN["Email"], lead["ConvertedAccountId"])
    assert (contact["OwnerId"], contact["CreatedById"], contact[EXTERNAL_ID]) == (KOFI, KOFI, None)
    assert noted(salesforce, ann) == ["created", "leadConverted", "Status"]
    assert len(control.get("/side_effects")) == 1


def test_what_is_not_converted(http: httpx.Client, org: Org, ann: str) -> None:
    def convert(**asked: str) -> int:
        return http.post("/_sandbox/convert", json={**HERE, **asked}).status_code

    contact = org.person(kind="contacts", LastName="Lee")["id"]
    assert convert(id="00Qxx0000000001") == 404
    assert convert(object="contacts", id=contact) == 422
    assert [convert(id=ann), convert(id=ann)] == [200, 422]


def test_merge(salesforce: Any, control: Control, org: Org, ann: str) -> None:
    other = org.person(**{**ANN, "Title": "CTO", "Company": "Other"})["id"]
    merged = control.post("/merge", {**HERE, "winner": ann, "loser": other, "user": KOFI})
    assert (merged["id"], merged["properties"]["Title"], merged["properties"]["Company"]) == (ann, "CTO", "Acme")
    assert org.record(other)["mergedInto"] == ann
    query = "SELECT Id, IsDeleted, MasterRecordId FROM Lead ORDER BY Id"
    assert all_of(salesforce, query) == [
        {"Id": ann, "IsDeleted": False, "MasterRecordId": None},
        {"Id": other, "IsDeleted": True, "MasterRecordId": ann},
    ]
    assert noted(salesforce, ann) == ["created", "leadMerged", "Title"]


def test_what_is_not_merged(http: httpx.Client, ann: str) -> None:
    def merge(winner: str, loser: str) -> int:
        return http.post("/_sandbox/merge", json={**HERE, "winner": winner, "loser": loser}).status_code

    assert merge(ann, ann) == 422
    assert merge(ann, "00Qxx0000000001") == 404


def test_deleted_and_brought_back(salesforce: Any, control: Control, org: Org, ann: str) -> None:
    control.delete("/records", {**HERE, "id": ann[:15], "user": KOFI})
    by_key = "SELECT Id FROM Lead WHERE Leadproof_External_Id__c = 'x1'"
    assert salesforce.query(by_key)["totalSize"] == 0
    assert all_of(salesforce, by_key) == [{"Id": ann}]
    control.put("/records", {**HERE, "id": ann, "user": KOFI, "archived": False})
    assert salesforce.query(by_key)["totalSize"] == 1
    assert org.record(ann)["archived"] is False


def test_brought_back_beside_another_of_its_key(http: httpx.Client, control: Control, org: Org, ann: str) -> None:
    control.delete("/records", {**HERE, "id": ann})
    org.person(**ANN, **{EXTERNAL_ID: "x1"})
    answer = http.put("/_sandbox/records", json={**HERE, "id": ann, "archived": False})
    assert answer.status_code == 422
    assert answer.json()["body"][0]["errorCode"] == "DUPLICATE_VALUE"


def test_what_a_person_is_refused(http: httpx.Client, org: Org) -> None:
    answer = http.put("/_sandbox/records", json={**HERE, "user": KOFI, "properties": {"LastName": "Lee"}})
    assert (answer.status_code, answer.json()["body"][0]["errorCode"]) == (422, "REQUIRED_FIELD_MISSING")
    assert http.put("/_sandbox/records", json={**HERE, "object": "users", "properties": {}}).status_code == 404


@pytest.mark.parametrize("name", ["leads", "lead", "Lead"])
def test_names_of_an_object(control: Control, ann: str, name: str) -> None:
    rows = control.get("/records", provider="salesforce", object=name)
    assert [row["id"] for row in rows] == [ann]
