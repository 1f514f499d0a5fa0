"""What a write is refused for, each from what the org itself knows."""

from typing import Any

import pytest

from tests.sandbox.salesforce.client import ANN, EFFECT, INACTIVE, UNASSIGNED, Org, entries, refused

MISSING_USER = "005xx0000000001AAA"
BAD_COUNTRY = "There's a problem with this country"
BAD_STATE = "There's a problem with this state"
NO_COUNTRY = "A country/territory must be specified"


@pytest.mark.parametrize(
    ("fields", "code", "message", "named"),
    [
        ({"Nonsense__c": "x"}, "INVALID_FIELD", "No such column 'Nonsense__c' on sobject of type Lead", None),
        ({"CreatedDate": "2026-11-30"}, "INVALID_FIELD_FOR_INSERT_UPDATE", "Unable to create/update", ["CreatedDate"]),
        ({"LastName": ""}, "REQUIRED_FIELD_MISSING", "Required fields are missing: [LastName]", ["LastName"]),
        (
            {"LastName": None, "Company": None},
            "REQUIRED_FIELD_MISSING",
            "Required fields are missing: [LastName, Company]",
            ["LastName", "Company"],
        ),
        ({EFFECT: "x" * 81}, "STRING_TOO_LONG", f"Leadproof Effect: data value too large: {'x' * 81} (max", [EFFECT]),
        ({"Email": "nonsense"}, "INVALID_EMAIL_ADDRESS", "Email: invalid email address: nonsense", ["Email"]),
        (
            {"Disqualification_Reason__c": "No budget"},
            "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
            "Disqualification Reason: bad value for restricted picklist field: No budget",
            ["Disqualification_Reason__c"],
        ),
        ({"Disqualification_Reason__c": "duplicate"}, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", "", None),
        ({"Product_Interest__c": "Core;Nonsense"}, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", "", None),
        ({"OwnerId": INACTIVE}, "INACTIVE_OWNER_OR_USER", "operation performed with inactive user", []),
        ({"OwnerId": MISSING_USER}, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", []),
        ({"OwnerId": None}, "INVALID_CROSS_REFERENCE_KEY", "Owner ID: owner cannot be blank", ["OwnerId"]),
        ({"OwnerId": "nobody"}, "MALFORMED_ID", "malformed id nobody", []),
        ({"OwnerId": "00Qxx0000000001"}, "MALFORMED_ID", "Owner ID: id value of incorrect type", ["OwnerId"]),
        ({"Country": "Atlantis"}, "FIELD_INTEGRITY_EXCEPTION", BAD_COUNTRY, ["Country"]),
        ({"CountryCode": "XX"}, "FIELD_INTEGRITY_EXCEPTION", BAD_COUNTRY, ["CountryCode"]),
        ({"State": "Texas"}, "FIELD_INTEGRITY_EXCEPTION", NO_COUNTRY, ["State"]),
        ({"StateCode": "TX"}, "FIELD_INTEGRITY_EXCEPTION", NO_COUNTRY, ["StateCode"]),
        ({"Country": "Ireland", "State": "Texas"}, "FIELD_INTEGRITY_EXCEPTION", BAD_STATE, ["State"]),
        ({"NumberOfEmployees": "many"}, "JSON_PARSER_ERROR", "Cannot deserialize instance of int", None),
        ({"NumberOfEmployees": 1.5}, "JSON_PARSER_ERROR", "", None),
        ({"AnnualRevenue": True}, "JSON_PARSER_ERROR", "", None),
        ({"DoNotCall": "maybe"}, "JSON_PARSER_ERROR", "", None),
        (
            {"Title": 7},
            "JSON_PARSER_ERROR",
            "Cannot deserialize instance of string from VALUE_NUMBER_INT value 7",
            None,
        ),
        ({"Title": {"x": 1}}, "JSON_PARSER_ERROR", "", None),
    ],
)
@pytest.mark.parametrize("verb", ["create", "update"])
def test_refused_write(
    leads: Any, org: Org, verb: str, fields: dict[str, Any], code: str, message: str, named: list[str] | None
) -> None:
    if verb == "create":
        entry = refused(leads.create, {**ANN, **fields}, status=400, code=code)
        assert org.records() == []
    else:
        made = org.person(**ANN)
        entry = refused(leads.update, made["id"], fields, status=400, code=code)
        assert org.record(made["id"]) == made
    assert entry["message"].startswith(message)
    if named is not None:
        assert entry["fields"] == named


def test_every_bad_value_is_named(leads: Any) -> None:
    from simple_salesforce.exceptions import SalesforceMalformedRequest

    with pytest.raises(SalesforceMalformedRequest) as raised:
        leads.create({**ANN, "Email": "nonsense", EFFECT: "x" * 81})
    assert {entry["errorCode"] for entry in entries(raised.value)} == {"INVALID_EMAIL_ADDRESS", "STRING_TOO_LONG"}


def test_a_value_at_its_longest(leads: Any) -> None:
    leads.create({**ANN, EFFECT: f"  {'x' * 80} "})


def test_country_and_state_by_label_or_code(leads: Any) -> None:
    made = leads.create({**ANN, "Country": "united states", "StateCode": "tx"}, headers=UNASSIGNED)["id"]
    names = ("Country", "CountryCode", "State", "StateCode")
    assert [leads.get(made)[name] for name in names] == ["United States", "US", "Texas", "TX"]
    leads.update(made, {"CountryCode": "IE", "State": None})
    assert [leads.get(made)[name] for name in names] == ["Ireland", "IE", None, None]
    leads.update(made, {"StateCode": "D"})
    assert leads.get(made)["State"] == "Dublin"
    refused(leads.update, made, {"Country": None}, status=400, code="FIELD_INTEGRITY_EXCEPTION")


def test_contact_belongs_to_a_user(salesforce: Any) -> None:
    ann = {"LastName": "Lee", "OwnerId": "00Gxx000000Qu1AEAS"}
    refused(salesforce.Contact.create, ann, status=400, code="MALFORMED_ID")
    refused(salesforce.Contact.create, {"FirstName": "Ann"}, status=400, code="REQUIRED_FIELD_MISSING")
    made = salesforce.Contact.create({"LastName": "Lee", "MailingCountryCode": "IE"})["id"]
    assert made.startswith("003")
    assert salesforce.Contact.get(made)["MailingCountry"] == "Ireland"


def test_converted_lead(leads: Any, org: Org) -> None:
    made = org.person(**ANN)["id"]
    org.control.post("/convert", {"provider": "salesforce", "object": "leads", "id": made, "user": ""})
    entry = refused(leads.update, made, {"Title": "CTO"}, status=400, code="CANNOT_UPDATE_CONVERTED_LEAD")
    assert entry["message"] == "cannot reference converted lead"
    org.set(edit_converted_leads=True)
    assert leads.update(made, {"Title": "CTO"}) == 204
    assert leads.get(made)["Title"] == "CTO"
