"""Upserts by a value that names records."""

from typing import Any
from urllib.parse import quote

import httpx
import pytest
from simple_salesforce.format import format_external_id

from tests.sandbox.salesforce.client import ANN, DATA, EFFECT, EXTERNAL_ID, Org, refused

KEY = format_external_id(EXTERNAL_ID, "x1")
WEIRD = "a/b?c#d e+f%g'h"


def upsert(leads: Any, fields: dict[str, Any], key: str = KEY, **options: Any) -> tuple[int, Any]:
    answer = leads.upsert(key, fields, raw_response=True, **options)
    return answer.status_code, answer.json() if answer.text else None


def test_one_that_creates_and_one_that_updates(leads: Any) -> None:
    status, made = upsert(leads, ANN)
    assert (status, made) == (201, {"id": made["id"], "success": True, "errors": [], "created": True})
    status, again = upsert(leads, {EFFECT: "e1"})
    assert (status, again) == (200, {"id": made["id"], "success": True, "errors": [], "created": False})
    read = leads.get(KEY)
    assert (read["Id"], read[EXTERNAL_ID], read[EFFECT], read["Email"]) == (made["id"], "x1", "e1", ANN["Email"])


@pytest.mark.parametrize(("version", "status"), [("45.0", 204), ("46.0", 200)])
def test_old_versions_update_without_a_body(rest: httpx.Client, version: str, status: int) -> None:
    path = f"/services/data/v{version}/sobjects/Lead/{EXTERNAL_ID}/x1"
    assert rest.patch(path, json=ANN).status_code == 201
    answer = rest.patch(path, json={"Title": "CTO"})
    assert (answer.status_code, answer.content == b"") == (status, status == 204)


def test_a_value_with_every_special_character(leads: Any) -> None:
    key = format_external_id(EXTERNAL_ID, WEIRD)
    _, made = upsert(leads, ANN, key)
    assert leads.get(key)[EXTERNAL_ID] == WEIRD
    assert upsert(leads, {"Title": "CTO"}, key)[1]["id"] == made["id"]


def test_case_of_the_external_id_counts(leads: Any) -> None:
    upsert(leads, ANN)
    other = format_external_id(EXTERNAL_ID, "X1")
    refused(leads.get, other, status=404, code="NOT_FOUND")
    assert upsert(leads, {**ANN, "Email": "bo@example.com"}, other)[0] == 201


def test_key_in_the_body(leads: Any, org: Org) -> None:
    for name in (EXTERNAL_ID, EXTERNAL_ID.lower(), "Id"):
        refused(leads.upsert, KEY, {**ANN, name: "x1"}, status=400, code="INVALID_FIELD")
    assert org.records() == []


def test_update_only(rest: httpx.Client, org: Org) -> None:
    path = f"{DATA}/sobjects/Lead/{EXTERNAL_ID}/x1"
    assert rest.patch(f"{path}?updateOnly=true", json=ANN).status_code == 404
    assert org.records() == []
    rest.patch(path, json=ANN)
    assert rest.patch(f"{path}?updateOnly=true", json={"Title": "CTO"}).status_code == 200


def test_several_records_of_one_value(leads: Any, org: Org) -> None:
    from simple_salesforce.exceptions import SalesforceMoreThanOneRecord

    made = [org.person(**{**ANN, "Company": company})["id"] for company in ("Acme", "Brand")]
    key = format_external_id("Email", ANN["Email"].upper())
    wanted: Any = [f"{DATA}/sobjects/Lead/{record}" for record in made]
    with pytest.raises(SalesforceMoreThanOneRecord) as raised:
        leads.upsert(key, {"Title": "CTO"})
    assert raised.value.content == wanted
    with pytest.raises(SalesforceMoreThanOneRecord) as raised:
        leads.get(key)
    assert raised.value.content == wanted
    assert all("Title" not in row["properties"] for row in org.records())


def test_field_that_names_no_records(leads: Any) -> None:
    for name in ("Company", "Nonsense__c"):
        refused(leads.upsert, format_external_id(name, "Acme"), ANN, status=404, code="NOT_FOUND")


def test_deleted_record_is_not_met(leads: Any) -> None:
    made = upsert(leads, ANN)[1]["id"]
    leads.delete(made)
    refused(leads.get, KEY, status=404, code="NOT_FOUND")
    status, again = upsert(leads, ANN)
    assert status == 201
    assert again["id"] != made


def test_external_id_that_another_record_has(leads: Any) -> None:
    made = upsert(leads, ANN)[1]["id"]
    other = leads.create({**ANN, "Email": "bo@example.com"})["id"]
    entry = refused(leads.update, other, {EXTERNAL_ID: "x1"}, status=400, code="DUPLICATE_VALUE")
    assert entry == {
        "message": f"duplicate value found: {EXTERNAL_ID} duplicates value on record with id: {made[:15]}",
        "errorCode": "DUPLICATE_VALUE",
        "fields": [],
    }
    refused(leads.create, {**ANN, "Email": "c@d.co", EXTERNAL_ID: "x1"}, status=400, code="DUPLICATE_VALUE")


def test_path_as_received(leads: Any, org: Org) -> None:
    upsert(leads, ANN, format_external_id(EXTERNAL_ID, WEIRD))
    [logged] = org.requests("leads.write")
    assert logged["path"] == f"{DATA}/sobjects/Lead/{EXTERNAL_ID}/{quote(WEIRD, safe='')}"
    assert (logged["method"], logged["status"], logged["applied"]) == ("PATCH", 201, True)
