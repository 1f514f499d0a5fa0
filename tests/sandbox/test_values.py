"""What HubSpot takes as a value, and what it refuses with which code."""

from typing import Any

import pytest

from tests.sandbox.control import Control
from tests.sandbox.errors import code, refused


@pytest.fixture
def record(control: Control) -> str:
    made: str = control.person(email="ann@example.com")["id"]
    return made


def write(contacts: Any, record: str, **properties: str) -> dict[str, Any]:
    contacts.update(record, {"properties": properties})
    values: dict[str, Any] = contacts.get_by_id(record, properties=list(properties)).properties
    return values


@pytest.fixture
def dated(hubspot: Any) -> None:
    for name, kind in {"founded": "date", "seats": "number", "partner": "bool"}.items():
        body = {"name": name, "label": name, "type": kind, "fieldType": "text", "groupName": "contactinformation"}
        hubspot.crm.properties.core_api.create("contacts", body)


@pytest.mark.usefixtures("dated")
@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("nonsense", "x", "PROPERTY_DOESNT_EXIST"),
        ("hs_lead_status", "New", "INVALID_OPTION"),
        ("disqualification_reason", "bored", "INVALID_OPTION"),
        ("email", "ann at example.com", "INVALID_EMAIL"),
        ("founded", "1635535865", "INVALID_DATE"),
        ("founded", "soon", "INVALID_DATE"),
        ("closedate", "soon", "INVALID_DATE"),
        ("seats", "many", "INVALID_INTEGER"),
        ("partner", "perhaps", "INVALID_OPTION"),
        ("createdate", "2026-01-01T00:00:00Z", "READ_ONLY_VALUE"),
        ("hs_email_domain", "example.com", "READ_ONLY_VALUE"),
        ("hs_email_optout", "false", "READ_ONLY_VALUE"),
        ("hubspot_owner_id", "999", "INVALID_OWNER"),
        ("hubspot_owner_id", "9001", "INVALID_OWNER"),
        ("hubspot_owner_id", "504", "INVALID_OWNER"),
    ],
)
def test_refused_value(contacts: Any, record: str, name: str, value: str, expected: str) -> None:
    body = refused(contacts.update, record, {"properties": {name: value, "city": "Cork"}}, status=400)
    assert body["category"] == "VALIDATION_ERROR"
    assert code(body) == expected
    assert contacts.get_by_id(record, properties=["city"]).properties["city"] is None


@pytest.mark.usefixtures("dated")
@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("founded", "2026-11-30", "2026-11-30"),
        ("founded", "1796083200000", "2026-12-01"),
        ("closedate", "2026-11-30T12:00:00+02:00", "2026-11-30T10:00:00.000Z"),
        ("seats", "1e3", "1e3"),
        ("partner", "TRUE", "true"),
        ("hubspot_owner_id", "505", "505"),
        ("hs_buying_role", "LEGAL_AND_COMPLIANCE;CHAMPION", "LEGAL_AND_COMPLIANCE;CHAMPION"),
    ],
)
def test_kept_value(contacts: Any, record: str, name: str, value: str, kept: str) -> None:
    assert write(contacts, record, **{name: value})[name] == kept


def test_leading_semicolon_adds_to_a_multiple_selection(contacts: Any, record: str) -> None:
    write(contacts, record, hs_buying_role="CHAMPION")
    assert write(contacts, record, hs_buying_role=";OTHER")["hs_buying_role"] == "CHAMPION;OTHER"
    assert write(contacts, record, hs_buying_role="OTHER")["hs_buying_role"] == "OTHER"


def test_stage_does_not_go_back_and_nobody_says_so(contacts: Any, record: str) -> None:
    write(contacts, record, lifecyclestage="opportunity")
    after = write(contacts, record, lifecyclestage="lead", city="Cork")
    assert after["lifecyclestage"] == "opportunity"
    assert after["city"] == "Cork"
    read = contacts.get_by_id(record, properties_with_history=["lifecyclestage"])
    assert [version.value for version in read.properties_with_history["lifecyclestage"]] == ["opportunity"]


def test_stage_goes_back_when_cleared_first(contacts: Any, record: str) -> None:
    write(contacts, record, lifecyclestage="opportunity")
    write(contacts, record, lifecyclestage="")
    assert write(contacts, record, lifecyclestage="lead")["lifecyclestage"] == "lead"


def test_person_may_set_a_stage_back(contacts: Any, control: Control, record: str) -> None:
    write(contacts, record, lifecyclestage="opportunity")
    assert control.person(record=record, lifecyclestage="lead")["properties"]["lifecyclestage"] == "lead"
