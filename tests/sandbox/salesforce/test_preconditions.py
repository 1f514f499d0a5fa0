"""Writes that hold only if nobody wrote since."""

from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from tests.sandbox.salesforce.client import ANN, DATA, EXTERNAL_ID, KOFI, Org


@pytest.fixture
def ann(org: Org) -> str:
    made: str = org.person(**ANN, **{EXTERNAL_ID: "x1"})["id"]
    return made


def changed_at(salesforce: Any, record: str) -> datetime:
    return datetime.strptime(salesforce.Lead.get(record)["LastModifiedDate"], "%Y-%m-%dT%H:%M:%S.%f%z")


def since(at: datetime) -> dict[str, str]:
    return {"if-unmodified-since": format_datetime(at.replace(tzinfo=None)).replace("-0000", "GMT")}


def test_nothing_is_written_over(rest: httpx.Client, salesforce: Any, org: Org, ann: str) -> None:
    seen = changed_at(salesforce, ann)
    org.control.advance(2)
    org.person(KOFI, ann, Title="CFO")
    for path in (ann, f"{EXTERNAL_ID}/x1"):
        answer = rest.patch(f"{DATA}/sobjects/Lead/{path}", json={"Title": "CTO"}, headers=since(seen))
        assert (answer.status_code, answer.content) == (412, b"")
    assert [entry["applied"] for entry in org.requests("leads.write")] == [False, False]
    assert salesforce.Lead.get(ann)["Title"] == "CFO"
    fresh = since(changed_at(salesforce, ann))
    assert rest.patch(f"{DATA}/sobjects/Lead/{ann}", json={"Title": "CTO"}, headers=fresh).status_code == 204


def test_an_edit_of_the_same_second_slips_through(rest: httpx.Client, salesforce: Any, org: Org, ann: str) -> None:
    org.control.put("/clock", {"now": "2030-01-01T00:00:00.100Z"})
    org.person(KOFI, ann, Title="CEO")
    seen = since(changed_at(salesforce, ann))
    org.control.put("/clock", {"now": "2030-01-01T00:00:00.200Z"})
    org.person(KOFI, ann, Title="CFO")
    assert rest.patch(f"{DATA}/sobjects/Lead/{ann}", json={"Title": "CTO"}, headers=seen).status_code == 204


def test_reads_too(rest: httpx.Client, salesforce: Any, ann: str) -> None:
    before = changed_at(salesforce, ann) - timedelta(seconds=1)
    assert rest.get(f"{DATA}/sobjects/Lead/{ann}", headers=since(before)).status_code == 412


def test_what_is_no_time(rest: httpx.Client, ann: str) -> None:
    headers = {"if-unmodified-since": "yesterday"}
    assert rest.patch(f"{DATA}/sobjects/Lead/{ann}", json={"Title": "CTO"}, headers=headers).status_code == 400


def test_deletes_have_no_precondition(rest: httpx.Client, salesforce: Any, ann: str) -> None:
    seen = since(changed_at(salesforce, ann))
    assert rest.delete(f"{DATA}/sobjects/Lead/{ann}", headers=seen).status_code == 400
    assert salesforce.Lead.get(ann)["IsDeleted"] is False


def test_an_upsert_that_creates_has_nothing_to_hold_against(rest: httpx.Client, salesforce: Any, ann: str) -> None:
    seen = since(changed_at(salesforce, ann) - timedelta(days=1))
    new = {**ANN, "Email": "bo@example.com"}
    assert rest.patch(f"{DATA}/sobjects/Lead/{EXTERNAL_ID}/x2", json=new, headers=seen).status_code == 201
