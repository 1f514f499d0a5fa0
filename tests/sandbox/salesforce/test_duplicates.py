"""The org's duplicate rule, over leads and contacts."""

from typing import Any

import pytest

from tests.sandbox.salesforce.client import ANN, DATA, UNASSIGNED, Org, refused

ALLOW = {"Sforce-Duplicate-Rule-Header": "allowSave=true; includeRecordDetails=false"}
AGAIN = {**ANN, "Email": "ANN@example.com"}


@pytest.fixture
def ann(org: Org) -> str:
    made: str = org.person(**ANN)["id"]
    return made


def test_what_a_duplicate_is_told(leads: Any, org: Org, ann: str) -> None:
    entry = refused(leads.create, AGAIN, status=400, code="DUPLICATES_DETECTED")
    result = entry["duplicateResut"]
    assert (result["allowSave"], result["duplicateRule"]) == (True, "Standard_Lead_Duplicate_Rule")
    [matches] = result["matchResults"]
    assert (matches["entityType"], matches["size"], matches["matchEngine"]) == ("Lead", 1, "FuzzyMatchEngine")
    record = matches["matchRecords"][0]["record"]
    assert (record["Id"], record["attributes"]["url"]) == (ann, f"{DATA}/sobjects/Lead/{ann}")
    assert len(org.records()) == 1


def test_a_lead_can_clash_with_a_contact(leads: Any, org: Org) -> None:
    contact = org.person(kind="contacts", LastName="Lee", Email=ANN["Email"])["id"]
    entry = refused(leads.create, ANN, status=400, code="DUPLICATES_DETECTED")
    [matches] = entry["duplicateResut"]["matchResults"]
    assert matches["matchRecords"][0]["record"]["Id"] == contact


def test_a_writer_who_means_it_saves(leads: Any, org: Org, ann: str) -> None:
    assert leads.create(AGAIN, headers=ALLOW)["success"] is True
    assert len(org.records()) == 2


def test_a_rule_that_blocks(leads: Any, org: Org, ann: str) -> None:
    org.set(duplicate_rule="block")
    entry = refused(leads.create, AGAIN, status=400, code="DUPLICATES_DETECTED", headers=ALLOW)
    assert entry["duplicateResut"]["allowSave"] is False


def test_no_rule(leads: Any, org: Org, ann: str) -> None:
    org.set(duplicate_rule="off")
    leads.create(AGAIN)


def test_update_meets_the_rule_by_a_new_address_only(leads: Any, org: Org, ann: str) -> None:
    other = org.person(**AGAIN)["id"]
    leads.update(other, {"Title": "CTO"}, headers=UNASSIGNED)
    alone = org.person(**{**ANN, "Email": "alone@example.com"})["id"]
    leads.update(alone, {"Email": "Alone@example.com"}, headers=UNASSIGNED)
    third = org.person(**{**ANN, "Email": "bo@example.com"})["id"]
    refused(leads.update, third, {"Email": ANN["Email"]}, status=400, code="DUPLICATES_DETECTED")


@pytest.mark.parametrize("way", ["delete", "convert"])
def test_gone_records_are_no_duplicates(leads: Any, org: Org, ann: str, way: str) -> None:
    if way == "delete":
        leads.delete(ann)
        leads.create(AGAIN)
    else:
        org.control.post("/convert", {"provider": "salesforce", "object": "leads", "id": ann})
        entry = refused(leads.create, AGAIN, status=400, code="DUPLICATES_DETECTED")
        assert [each["entityType"] for each in entry["duplicateResut"]["matchResults"]] == ["Contact"]
