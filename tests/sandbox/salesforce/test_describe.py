"""What the org says of its objects, and how its administrators change them."""

import base64
from typing import Any

import httpx
import pytest

from tests.sandbox.salesforce.client import ANN, DATA, EFFECT, EXTERNAL_ID, Org, refused

SETTINGS = "/_sandbox/salesforce"


def fields(kind: Any) -> dict[str, Any]:
    return {field["name"]: field for field in kind.describe()["fields"]}


def test_fields_of_ours(salesforce: Any) -> None:
    for kind in (salesforce.Lead, salesforce.Contact):
        known = fields(kind)
        key, effect = known[EXTERNAL_ID], known[EFFECT]
        assert (key["type"], key["length"], key["custom"]) == ("string", 80, True)
        assert (key["unique"], key["externalId"], key["caseSensitive"], key["idLookup"]) == (True,) * 4
        assert (effect["unique"], effect["updateable"], effect["createable"], effect["nillable"]) == (
            False,
            True,
            True,
            True,
        )


def test_fields_of_a_lead(leads: Any) -> None:
    known = fields(leads)
    assert [known[name]["nillable"] for name in ("LastName", "Company", "Email")] == [False, False, True]
    assert [known[name]["updateable"] for name in ("Id", "CreatedDate", "Email")] == [False, False, True]
    assert known["OwnerId"]["referenceTo"] == ["Group", "User"]
    reasons = known["Disqualification_Reason__c"]
    assert reasons["restrictedPicklist"] is True
    values = {value["value"]: (value["label"], value["active"]) for value in reasons["picklistValues"]}
    assert values["no_budget"] == ("No budget", True)
    assert values["duplicate"] == ("Duplicate", False)


def test_states_name_their_countries(leads: Any) -> None:
    known = fields(leads)
    countries = [value["value"] for value in known["CountryCode"]["picklistValues"]]
    assert (known["StateCode"]["controllerName"], known["StateCode"]["dependentPicklist"]) == ("CountryCode", True)
    texas = next(value for value in known["StateCode"]["picklistValues"] if value["value"] == "TX")
    bits = "".join(f"{byte:08b}" for byte in base64.b64decode(texas["validFor"]))
    assert [country for country, bit in zip(countries, bits, strict=False) if bit == "1"] == ["US"]


def test_objects(salesforce: Any) -> None:
    listed = {each["name"]: each for each in salesforce.describe()["sobjects"]}
    assert (listed["Lead"]["keyPrefix"], listed["Lead"]["createable"]) == ("00Q", True)
    assert listed["User"]["createable"] is False
    assert "FieldDefinition" not in listed


def test_a_field_is_taken_away_and_another_is_made(leads: Any, org: Org) -> None:
    org.set(fields={"Lead": {EXTERNAL_ID: None, "Tier__c": {"length": 3}}})
    assert EXTERNAL_ID not in fields(leads)
    refused(leads.create, {**ANN, EXTERNAL_ID: "x1"}, status=400, code="INVALID_FIELD")
    refused(leads.create, {**ANN, "Tier__c": "four"}, status=400, code="STRING_TOO_LONG")
    made = leads.create({**ANN, "Tier__c": "one"})["id"]
    assert leads.get(made)["Tier__c"] == "one"
    org.control.post("/reset")
    assert EXTERNAL_ID in fields(leads)


@pytest.mark.parametrize(
    "asked",
    [
        {"nonsense": 1},
        {"daily_limit": "many"},
        {"duplicate_rule": "maybe"},
        {"fields": {"Spaceship": {}}},
        {"fields": {"Lead": {"Nonsense__c": None}}},
        {"fields": {"Lead": {"Tier__c": {"nonsense": 1}}}},
    ],
)
def test_settings_that_make_no_sense(http: httpx.Client, asked: dict[str, Any]) -> None:
    before = http.get(SETTINGS).json()
    answer = http.post(SETTINGS, json=asked)
    assert answer.status_code == 422
    assert answer.json()["error"]
    assert http.get(SETTINGS).json() == before


def test_calls_are_counted(salesforce: Any, rest: httpx.Client, org: Org) -> None:
    answers = [rest.get(f"{DATA}/sobjects/Lead/describe") for _ in range(2)]
    assert [each.headers["sforce-limit-info"] for each in answers] == ["api-usage=1/1000000", "api-usage=2/1000000"]
    assert all(each.headers["date"].endswith("GMT") for each in answers)
    org.set(daily_limit=5, daily_used=4)
    assert salesforce.limits()["DailyApiRequests"] == {"Max": 5, "Remaining": 0}
    entry = refused(salesforce.Lead.describe, status=403, code="REQUEST_LIMIT_EXCEEDED")
    assert entry["message"] == "TotalRequests Limit exceeded."
    assert salesforce.oauth2("userinfo")["organization_id"] == "00Dxx0000001gPLEAY"
