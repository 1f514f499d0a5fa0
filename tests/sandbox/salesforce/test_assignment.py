"""Assignment rules, which run unless a request says otherwise, and what history tells of them."""

from typing import Any

import httpx
import pytest
from simple_salesforce.format import format_soql

from tests.sandbox.salesforce.client import (
    ANN,
    DATA,
    EFFECT,
    EXTERNAL_ID,
    INBOUND,
    INTEGRATION,
    KOFI,
    UNASSIGNED,
    Org,
)

Rows = list[tuple[Any, ...]]


def history(salesforce: Any, record: str) -> Rows:
    query = "SELECT Field, OldValue, NewValue, CreatedById FROM LeadHistory WHERE LeadId = {} ORDER BY Id"
    rows = salesforce.query(format_soql(query, record))["records"]
    return [tuple(row[name] for name in ("Field", "OldValue", "NewValue", "CreatedById")) for row in rows]


@pytest.mark.parametrize("headers", [None, {"Sforce-Auto-Assign": "TRUE"}])
def test_our_owner_is_replaced(leads: Any, org: Org, headers: dict[str, str] | None) -> None:
    made = leads.create({**ANN, "OwnerId": KOFI}, headers=headers)["id"]
    assert leads.get(made)["OwnerId"] == INBOUND
    versions = org.record(made)["history"]["OwnerId"]
    assert [version["sourceType"] for version in versions[:2]] == ["ASSIGNMENT_RULE", "API"]


def test_an_update_that_names_no_owner_moves_the_lead_too(leads: Any) -> None:
    made = leads.create({**ANN, "OwnerId": KOFI}, headers=UNASSIGNED)["id"]
    assert leads.get(made)["OwnerId"] == KOFI
    leads.update(made, {"Title": "CTO"})
    assert leads.get(made)["OwnerId"] == INBOUND


def test_switched_off_by_the_request(leads: Any) -> None:
    made = leads.create({**ANN, "OwnerId": KOFI}, headers={"Sforce-Auto-Assign": "false"})["id"]
    leads.update(made, {"Title": "CTO"}, headers=UNASSIGNED)
    assert leads.get(made)["OwnerId"] == KOFI


def test_an_org_without_a_rule(leads: Any, org: Org) -> None:
    org.set(assignment_rule=False)
    made = leads.create({**ANN, "OwnerId": KOFI})["id"]
    assert leads.get(made)["OwnerId"] == KOFI


def test_contacts_are_not_assigned(salesforce: Any) -> None:
    made = salesforce.Contact.create({"LastName": "Lee", "OwnerId": KOFI})["id"]
    assert salesforce.Contact.get(made)["OwnerId"] == KOFI


def test_history_of_a_creation(salesforce: Any, leads: Any) -> None:
    made = leads.create({**ANN, EFFECT: "e1"}, headers=UNASSIGNED)["id"]
    assert history(salesforce, made) == [("created", None, None, INTEGRATION)]


def test_history_of_a_creation_that_was_assigned(salesforce: Any, leads: Any) -> None:
    made = leads.create({**ANN, EFFECT: "e1"})["id"]
    assert history(salesforce, made) == [
        ("created", None, None, INTEGRATION),
        ("ownerAssignment", "Leadproof Integration", "Inbound", INTEGRATION),
        ("ownerAssignment", INTEGRATION, INBOUND, INTEGRATION),
    ]


def test_history_of_tracked_fields_only(salesforce: Any, leads: Any, org: Org) -> None:
    made = leads.create(ANN, headers=UNASSIGNED)["id"]
    leads.update(made, {EFFECT: "e1", EXTERNAL_ID: "x1", "City": "Cork", "NumberOfEmployees": 5}, headers=UNASSIGNED)
    org.person(KOFI, made, **{EFFECT: "e2", "Company": ANN["Company"], "Description": "x" * 300})
    assert history(salesforce, made)[1:] == [
        (EFFECT, None, "e1", INTEGRATION),
        ("Description", None, None, KOFI),
        (EFFECT, "e1", "e2", KOFI),
    ]


def test_history_of_owners(salesforce: Any, leads: Any) -> None:
    made = leads.create(ANN, headers=UNASSIGNED)["id"]
    leads.update(made, {"OwnerId": KOFI}, headers=UNASSIGNED)
    leads.update(made, {"Title": "CTO"})
    assert history(salesforce, made)[1:] == [
        ("Owner", "Leadproof Integration", "Kofi Mensah", INTEGRATION),
        ("Owner", INTEGRATION, KOFI, INTEGRATION),
        ("Title", None, "CTO", INTEGRATION),
        ("ownerAssignment", "Kofi Mensah", "Inbound", INTEGRATION),
        ("ownerAssignment", KOFI, INBOUND, INTEGRATION),
    ]


def test_history_of_the_longest_values(salesforce: Any, leads: Any) -> None:
    made = leads.create(ANN, headers=UNASSIGNED)["id"]
    leads.update(made, {"Website": "https://example.com/" + "x" * 235, "Company": "Y" * 255}, headers=UNASSIGNED)
    assert {len(row[2]) for row in history(salesforce, made)[1:]} == {255}


def test_histories_inside_a_lead(salesforce: Any, leads: Any) -> None:
    made = leads.create(ANN, headers=UNASSIGNED)["id"]
    query = "SELECT Id, (SELECT Field, CreatedDate FROM Histories ORDER BY CreatedDate DESC) FROM Lead WHERE Id = {}"
    [row] = salesforce.query(format_soql(query, made))["records"]
    assert [each["Field"] for each in row["Histories"]["records"]] == ["created"]
    assert row["Histories"]["records"][0]["CreatedDate"].endswith(".000+0000")


def test_flow_fires_once_for_each_new_lead(leads: Any, rest: httpx.Client, org: Org) -> None:
    path = f"{DATA}/sobjects/Lead/{EXTERNAL_ID}/x1"
    made = rest.patch(path, json=ANN).json()["id"]
    rest.patch(path, json={"Title": "CTO"})
    leads.update(made, {"Title": "CEO"})
    [fired] = org.control.get("/side_effects")
    assert fired.pop("at")
    assert fired == {
        "kind": "welcome_email",
        "provider": "salesforce",
        "object": "leads",
        "id": made,
        "detail": {"to": ANN["Email"]},
    }
    org.set(welcome_email=False)
    leads.create({**ANN, "Email": "bo@example.com"})
    assert len(org.control.get("/side_effects")) == 1
