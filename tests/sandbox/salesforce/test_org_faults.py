"""Every kind of fault, as Salesforce's client meets it."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from simple_salesforce.format import format_external_id, format_soql

from tests.sandbox.control import eventually
from tests.sandbox.salesforce.client import ANN, EFFECT, EXTERNAL_ID, INTEGRATION, KOFI, UNASSIGNED, Org, refused

VALIDATION = "FIELD_CUSTOM_VALIDATION_EXCEPTION"


@pytest.fixture
def ann(org: Org) -> str:
    made: str = org.person(**ANN, **{EXTERNAL_ID: "x1"})["id"]
    return made


def retitle(leads: Any, record: str) -> Any:
    return leads.update(record, {"Title": "CTO"}, headers=UNASSIGNED)


@pytest.mark.parametrize(("kind", "kept"), [("drop_before_apply", None), ("drop_after_apply", "CTO")])
def test_no_answer(leads: Any, org: Org, ann: str, kind: str, kept: str | None) -> None:
    org.fault(kind)
    with pytest.raises(requests.ConnectionError):
        retitle(leads, ann)
    assert org.record(ann)["properties"].get("Title") == kept
    [logged] = org.requests("leads.write")
    assert (logged["status"], logged["applied"]) == (None, kept is not None)


def test_late_answer(leads: Any, org: Org, ann: str) -> None:
    org.fault("delay", args={"seconds": 0.1})
    began = time.monotonic()
    assert retitle(leads, ann) == 204
    assert time.monotonic() - began >= 0.1


def test_two_at_once_make_one_lead(leads: Any, org: Org) -> None:
    key = format_external_id(EXTERNAL_ID, "x1")
    org.fault("delay", args={"seconds": 0.5})
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(leads.upsert, key, ANN)
        eventually(org.records)
        for write in (lambda: leads.upsert(key, ANN), lambda: leads.create({**ANN, "Email": "", EXTERNAL_ID: "x1"})):
            entry = refused(write, status=400, code="DUPLICATE_VALUE")
            assert entry["message"].endswith("<unknown> duplicates value on record with id: <unknown>")
        assert first.result(timeout=5) == 201
    assert leads.upsert(key, {"Title": "CTO"}) == 200
    assert len(org.records()) == 1


def test_late_write(leads: Any, org: Org, ann: str) -> None:
    org.fault("apply_later", args={"seconds": 60, "status": 503})
    refused(retitle, leads, ann, status=503, code="SERVER_UNAVAILABLE")
    assert "Title" not in org.record(ann)["properties"]
    org.control.advance(61)
    assert eventually(lambda: org.record(ann)["properties"].get("Title")) == "CTO"


def test_a_byte_at_a_time(leads: Any, org: Org, ann: str) -> None:
    org.fault("trickle", "leads.read", args={"seconds": 0})
    assert leads.get(ann)["Id"] == ann


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"status": 500}, "UNKNOWN_EXCEPTION"),
        ({"status": 503}, "SERVER_UNAVAILABLE"),
        ({"status": 403}, "INSUFFICIENT_ACCESS_OR_READONLY"),
        ({"status": 400, "code": VALIDATION, "message": "No"}, VALIDATION),
        ({"status": 400, "body": [{"message": "", "errorCode": "TXN_SECURITY"}]}, "TXN_SECURITY"),
    ],
)
@pytest.mark.parametrize(("kind", "kept"), [("status", None), ("status_after_apply", "CTO")])
def test_status(leads: Any, org: Org, ann: str, kind: str, kept: str | None, args: dict[str, Any], code: str) -> None:
    org.fault(kind, args=args)
    refused(retitle, leads, ann, status=args["status"], code=code)
    assert org.record(ann)["properties"].get("Title") == kept


def test_a_page_instead_of_an_answer(leads: Any, org: Org, ann: str) -> None:
    org.fault("garbage_after_apply")
    answer = leads.update(ann, {"Title": "CTO"}, raw_response=True)
    assert (answer.status_code, answer.text[:9]) == (200, "<!DOCTYPE")
    assert org.record(ann)["properties"]["Title"] == "CTO"


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("rate_limit", 403, "REQUEST_LIMIT_EXCEEDED"),
        ("lock", 400, "UNABLE_TO_LOCK_ROW"),
        ("reject_auth", 401, "INVALID_SESSION_ID"),
    ],
)
def test_refusals(leads: Any, org: Org, ann: str, kind: str, status: int, code: str) -> None:
    org.fault(kind)
    refused(retitle, leads, ann, status=status, code=code)
    assert "Title" not in org.record(ann)["properties"]
    assert retitle(leads, ann) == 204


def test_refused_right(leads: Any, org: Org, ann: str) -> None:
    org.fault("reject_auth", args={"status": 403})
    refused(retitle, leads, ann, status=403, code="INSUFFICIENT_ACCESS_OR_READONLY")


@pytest.mark.parametrize(
    "match",
    [lambda ann: ann, lambda ann: ann[:15], lambda _: "x1", lambda _: "ANN@example.com"],
    ids=["id", "short id", "external id", "address"],
)
def test_fault_of_one_record(leads: Any, org: Org, ann: str, match: Callable[[str], str]) -> None:
    other = org.person(**{**ANN, "Email": "bo@example.com"})["id"]
    org.fault("lock", match=match(ann))
    assert retitle(leads, other) == 204
    fields = {"Title": "CTO", "Email": ANN["Email"]}
    key = format_external_id(EXTERNAL_ID, "x1")
    refused(leads.upsert, key, fields, status=400, code="UNABLE_TO_LOCK_ROW")


def test_fault_of_a_query(salesforce: Any, org: Org, ann: str) -> None:
    query = "SELECT Id FROM Lead WHERE Leadproof_External_Id__c = {}"
    org.fault("status", "leads.read", match="it's", args={"status": 500})
    assert salesforce.query(format_soql(query, "x1"))["totalSize"] == 1
    refused(salesforce.query, format_soql(query, "it's"), status=500, code="UNKNOWN_EXCEPTION")


def test_stale_reads(salesforce: Any, org: Org, ann: str) -> None:
    org.person(KOFI, ann, **{EFFECT: "e1", EXTERNAL_ID: "x2"})
    key = format_external_id(EXTERNAL_ID, "x1")
    query = "SELECT Leadproof_Effect__c, (SELECT Field FROM Histories) FROM Lead WHERE Leadproof_External_Id__c = 'x1'"
    org.fault("stale_read", "leads.read", times=3)
    assert salesforce.Lead.get(ann)[EFFECT] is None
    assert salesforce.Lead.get(key)[EFFECT] is None
    [row] = salesforce.query(query)["records"]
    assert (row[EFFECT], [each["Field"] for each in row["Histories"]["records"]]) == (None, ["created"])
    assert salesforce.Lead.get(ann)[EFFECT] == "e1"


def test_stale_reads_of_what_was_just_made(salesforce: Any, org: Org, ann: str) -> None:
    org.fault("stale_read", "leads.read", times=2)
    refused(salesforce.Lead.get, ann, status=404, code="NOT_FOUND")
    assert salesforce.query("SELECT Id FROM Lead")["totalSize"] == 0
    assert salesforce.query("SELECT Id FROM Lead")["totalSize"] == 1


@pytest.mark.parametrize(
    ("moment", "order"), [("before_write", ["CTO", "CFO"]), ("after_write", ["CFO", "CTO"])], ids=["before", "after"]
)
def test_human_edit(leads: Any, org: Org, ann: str, moment: str, order: list[str]) -> None:
    org.fault("human_edit", args={"fields": {"Title": "CFO"}, "user": KOFI, "moment": moment})
    leads.upsert(format_external_id(EXTERNAL_ID, "x1"), {"Title": "CTO"}, headers=UNASSIGNED)
    versions = org.record(ann)["history"]["Title"]
    assert [version["value"] for version in versions] == order
    assert {version["value"]: version["sourceId"] for version in versions} == {"CTO": INTEGRATION, "CFO": KOFI}


def test_human_makes_the_same_lead_first(leads: Any, org: Org) -> None:
    theirs = {**ANN, EXTERNAL_ID: "x1"}
    org.fault("human_edit", args={"fields": theirs, "user": KOFI})
    answer = leads.upsert(format_external_id(EXTERNAL_ID, "x1"), ANN, raw_response=True)
    assert (answer.status_code, answer.json()["created"]) == (200, False)


def test_a_flow_rewrites_in_the_same_transaction(salesforce: Any, org: Org, ann: str) -> None:
    org.fault("rewrite", args={"fields": {"LeadSource": "Other", "Rating": "Hot"}})
    salesforce.Lead.update(ann, {"LeadSource": "Web", EFFECT: "e1"}, headers=UNASSIGNED)
    read = salesforce.Lead.get(ann)
    assert (read["LeadSource"], read["Rating"], read["LastModifiedById"]) == ("Other", "Hot", INTEGRATION)
    assert read["LastModifiedDate"] == read["SystemModstamp"]
    query = "SELECT Field, OldValue, NewValue, CreatedById FROM LeadHistory WHERE Field != 'created' ORDER BY Id"
    rows = salesforce.query(query)["records"]
    assert [(row["Field"], row["OldValue"], row["NewValue"], row["CreatedById"]) for row in rows] == [
        ("LeadSource", None, "Other", INTEGRATION),
        (EFFECT, None, "e1", INTEGRATION),
    ]
    sources = [version["sourceType"] for version in org.record(ann)["history"]["LeadSource"]]
    assert sources == ["FLOW", "API"]


def test_a_flow_rewrites_a_new_lead(leads: Any, org: Org) -> None:
    org.fault("rewrite", args={"fields": {"LeadSource": "Other"}})
    made = leads.create({**ANN, "LeadSource": "Web"})["id"]
    assert leads.get(made)["LeadSource"] == "Other"
