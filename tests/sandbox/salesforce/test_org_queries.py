"""Queries over what the org holds."""

from typing import Any

import httpx
import pytest
from simple_salesforce.exceptions import SalesforceMalformedRequest
from simple_salesforce.format import format_soql

from tests.sandbox.salesforce.client import (
    ANN,
    DANA,
    DATA,
    EFFECT,
    ENTERPRISE,
    EXTERNAL_ID,
    INACTIVE,
    INBOUND,
    INTEGRATION,
    KOFI,
    Org,
    entries,
)


@pytest.fixture
def ann(org: Org) -> str:
    made: str = org.person(**ANN, Leadproof_External_Id__c="x1")["id"]
    return made


def rows(salesforce: Any, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """What was selected, without the attributes."""
    found = salesforce.query(format_soql(query, *values))["records"]
    return [tuple(value for name, value in row.items() if name != "attributes") for row in found]


@pytest.mark.parametrize(
    "condition",
    [
        "Id = '{id}'",
        "Id = '{short}'",
        "Leadproof_External_Id__c = 'x1'",
        "Email = 'ANN@example.com'",
        "(Email = 'none@example.com' OR Leadproof_External_Id__c = 'x1') AND IsDeleted = false",
        "Leadproof_External_Id__c IN ('x1', 'x2')",
        "Company LIKE 'Ac%' AND OwnerId = '005xx000001Sv6B'",
    ],
)
def test_one_lead_in_many_ways(salesforce: Any, org: Org, ann: str, condition: str) -> None:
    org.person(**{**ANN, "Email": "bo@example.com", "Company": "Brand"})
    asked = condition.replace("{id}", ann).replace("{short}", ann[:15])
    assert [row["Id"] for row in salesforce.query(" ".join(("SELECT Id FROM Lead WHERE", asked)))["records"]] == [ann]


def test_case_of_an_external_id_counts(salesforce: Any, ann: str) -> None:
    assert rows(salesforce, "SELECT Id FROM Lead WHERE Leadproof_External_Id__c = 'X1'") == []


def test_a_lead_under_an_old_value_is_not_found(salesforce: Any, org: Org, ann: str) -> None:
    org.person(DANA, ann, Email="lee@example.com")
    assert rows(salesforce, "SELECT Id FROM Lead WHERE Email = 'ann@example.com'") == []


def test_values_as_answers_show_them(salesforce: Any, ann: str) -> None:
    answer = salesforce.query("SELECT Id, CreatedDate, IsConverted, Phone, Owner.Name FROM Lead")
    [row] = answer["records"]
    assert row["attributes"] == {"type": "Lead", "url": f"{DATA}/sobjects/Lead/{ann}"}
    assert row["CreatedDate"].endswith(".000+0000")
    assert (row["IsConverted"], row["Phone"], row["Owner"]["Name"]) == (False, None, "Dana Reyes")
    assert (answer["totalSize"], answer["done"]) == (1, True)


def test_deleted_ones_only_where_they_are_asked_for(salesforce: Any, org: Org, ann: str) -> None:
    salesforce.Lead.delete(ann)
    query = "SELECT Id FROM Lead WHERE Leadproof_External_Id__c = 'x1'"
    assert salesforce.query(query)["totalSize"] == 0
    assert salesforce.query(query, include_deleted=True)["totalSize"] == 1


def test_pages(salesforce: Any, rest: httpx.Client, org: Org) -> None:
    records = [
        {"attributes": {"type": "Lead"}, **ANN, "Email": f"{number}@example.com", EXTERNAL_ID: str(number)}
        for number in range(450)
    ]
    for start in range(0, 450, 200):
        path = f"{DATA}/composite/sobjects/Lead/{EXTERNAL_ID}"
        rest.patch(path, json={"records": records[start : start + 200]})
    answer = salesforce.query("SELECT Email FROM Lead ORDER BY Id", headers={"Sforce-Query-Options": "batchSize=200"})
    assert (answer["totalSize"], answer["done"], len(answer["records"])) == (450, False, 200)
    seen = [row["Email"] for row in answer["records"]]
    while not answer["done"]:
        headers = {"Sforce-Query-Options": "batchSize=200"}
        answer = salesforce.query_more(answer["nextRecordsUrl"], identifier_is_url=True, headers=headers)
        seen += [row["Email"] for row in answer["records"]]
    assert seen == [record["Email"] for record in records]
    assert {entry["operation"] for entry in org.requests("leads.read")} == {"leads.read"}
    assert len(org.requests("leads.read")) == 3


def test_people(salesforce: Any) -> None:
    users = dict(rows(salesforce, "SELECT Id, IsActive FROM User WHERE UserType = 'Standard'"))
    assert users == {INTEGRATION: True, DANA: True, KOFI: True, INACTIVE: False}
    queues = rows(salesforce, "SELECT Id, Name FROM Group WHERE Type = 'Queue'")
    assert queues == [(INBOUND, "Inbound"), (ENTERPRISE, "Enterprise")]
    assert set(rows(salesforce, "SELECT QueueId, SobjectType FROM QueueSobject")) == {
        (INBOUND, "Lead"),
        (ENTERPRISE, "Lead"),
    }
    assert salesforce.User.get(INACTIVE)["IsActive"] is False


def test_definitions(salesforce: Any, org: Org) -> None:
    query = (
        "SELECT IsFieldHistoryTracked FROM FieldDefinition "
        "WHERE EntityDefinition.QualifiedApiName = 'Lead' AND QualifiedApiName = {}"
    )
    assert rows(salesforce, query, EFFECT) == [(True,)]
    assert rows(salesforce, query, "Leadproof_External_Id__c") == [(False,)]
    org.set(fields={"Lead": {EFFECT: {"tracked": False}}})
    assert rows(salesforce, query, EFFECT) == [(False,)]
    assert ("Lead",) in rows(salesforce, "SELECT QualifiedApiName FROM EntityDefinition")


def test_the_organization(salesforce: Any) -> None:
    assert rows(salesforce, "SELECT Id, IsSandbox FROM Organization") == [("00Dxx0000001gPLEAY", True)]


def test_numbers_of_rows(salesforce: Any, ann: str) -> None:
    answer = salesforce.query("SELECT COUNT() FROM Lead")
    assert (answer["totalSize"], answer["records"]) == (1, [])


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT Id FROM", "MALFORMED_QUERY"),
        ("", "MALFORMED_QUERY"),
        ("SELECT Nonsense FROM Lead", "INVALID_FIELD"),
        ("SELECT Id FROM Spaceship", "INVALID_TYPE"),
    ],
)
def test_refused_queries(salesforce: Any, query: str, code: str) -> None:
    with pytest.raises(SalesforceMalformedRequest) as raised:
        salesforce.query(query)
    assert (raised.value.status, entries(raised.value)[0]["errorCode"]) == (400, code)


def test_a_page_that_is_not_there(rest: httpx.Client) -> None:
    answer = rest.get(f"{DATA}/query/01gxx0000000001AAA-2000")
    assert (answer.status_code, answer.json()[0]["errorCode"]) == (400, "INVALID_QUERY_LOCATOR")


@pytest.mark.parametrize(
    ("query", "operation"),
    [
        ("SELECT Id FROM Lead WHERE Company = ' FROM Contact'", "leads.read"),
        ("SELECT Id, (SELECT Field FROM Histories) FROM Contact", "contacts.read"),
        ("SELECT Id FROM LeadHistory", "leads.read"),
        ("SELECT Id FROM User", "users.read"),
        ("SELECT Id FROM Organization", "account.read"),
        ("SELECT Label FROM FieldDefinition", "describe.read"),
    ],
)
def test_operation_of_a_query(salesforce: Any, org: Org, query: str, operation: str) -> None:
    salesforce.query(query)
    [logged] = org.control.get("/requests", provider="salesforce")
    assert logged["operation"] == operation
