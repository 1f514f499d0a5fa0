"""A small org in memory, for the tests of queries."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from sandbox.salesforce import soql
from sandbox.salesforce.soql import Children, Parent, Record, Row

ANN, BO, CY, DEE = "00Qxx0000000001EAA", "00Qxx0000000002EAA", "00Qxx000000000aEAA", "00Qxx000000000AEAQ"
LAST_NAMES = "SELECT LastName FROM Lead "
PERSON, QUEUE = "005xx000001Sv6BAAS", "00Gxx000000Qu1AEAS"

LEADS: list[dict[str, Any]] = [
    {
        "Id": ANN,
        "Email": "Ann@Example.com",
        "LastName": "O'Hara",
        "Key__c": "Ab",
        "Score__c": 10.0,
        "IsConverted": False,
        "Interests__c": "a;b",
        "Born__c": "2001-02-03",
        "CreatedDate": datetime(2026, 11, 30, 1, 37, 4, tzinfo=UTC),
        "OwnerId": PERSON,
    },
    {
        "Id": BO,
        "Email": "bo@example.com",
        "LastName": "100%_sure",
        "Key__c": "aB",
        "Score__c": 2.5,
        "IsConverted": True,
        "Interests__c": "b;c",
        "CreatedDate": datetime(2026, 11, 30, 2, 0, tzinfo=UTC),
        "OwnerId": QUEUE,
    },
    {"Id": CY, "LastName": "cy", "IsConverted": False, "CreatedDate": datetime(2026, 12, 1, tzinfo=UTC)},
    {"Id": DEE, "LastName": "Dee", "Email": "dee@example.com", "IsConverted": False, "Score__c": 2.5},
]
HISTORY: list[dict[str, Any]] = [
    {"Id": "017xx0000000001AAA", "LeadId": ANN, "Field": "Status", "NewValue": "Open"},
    {"Id": "017xx0000000002AAA", "LeadId": ANN, "Field": "LastName", "NewValue": "O'Hara"},
    {"Id": "017xx0000000003AAA", "LeadId": BO, "Field": "Status", "NewValue": None},
]
ROWS: dict[str, list[dict[str, Any]]] = {
    "Lead": LEADS,
    "LeadHistory": HISTORY,
    "User": [{"Id": PERSON, "Name": "Dana"}],
    "Group": [{"Id": QUEUE, "Name": "Inbound"}],
}
KINDS: dict[str, dict[str, str]] = {
    "Lead": {
        "Id": "id",
        "Email": "email",
        "LastName": "string",
        "Key__c": "case_sensitive_string",
        "Score__c": "double",
        "IsConverted": "boolean",
        "Interests__c": "multipicklist",
        "Born__c": "date",
        "CreatedDate": "datetime",
        "OwnerId": "reference",
    },
    "LeadHistory": {"Id": "id", "LeadId": "reference", "Field": "picklist", "NewValue": "anyType"},
    "User": {"Id": "id", "Name": "string"},
    "Group": {"Id": "id", "Name": "string"},
}


class Org:
    def named(self, object_name: str) -> str | None:
        return next((name for name in KINDS if name.lower() == object_name.lower()), None)

    def fields(self, object_name: str) -> Mapping[str, str]:
        return KINDS[object_name]

    def rows(self, object_name: str) -> Iterable[Row]:
        return ROWS[object_name]

    def children(self, object_name: str, relationship: str) -> Children | None:
        if (object_name, relationship.lower()) == ("Lead", "histories"):
            return Children("Histories", "LeadHistory", "LeadId")
        return None

    def parent(self, object_name: str, path: str) -> Parent | None:
        known = {"owner.name": "Name", "owner.id": "Id"}.get(path.lower())
        return Parent("Owner", known, "string", _owner) if object_name == "Lead" and known else None


def _owner(row: Row) -> tuple[str, Row] | None:
    for kind in ("User", "Group"):
        for owner in ROWS[kind]:
            if owner["Id"] == row.get("OwnerId"):
                return kind, owner
    return None


def asked(text: str) -> list[Record]:
    return soql.run(soql.parse(text), Org())


def found(where: str) -> list[str]:
    """The last names of the leads that a condition lets pass."""
    return [record["LastName"] for record in asked(LAST_NAMES + "WHERE " + where)]
