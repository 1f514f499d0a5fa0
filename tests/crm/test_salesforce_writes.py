"""What a write to Salesforce looks like on the wire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from leadproof.domain.mutation import AnswerClass
from tests.crm.asking import EXTERNAL_ID, MARKER
from tests.crm.hostile import says
from tests.crm.salesforce_org import (
    CONTACT,
    CREATED,
    EXTERNAL_FIELD,
    LEAD,
    MARKER_FIELD,
    QUEUE,
    Org,
    creation,
    lead_ref,
    update,
)

if TYPE_CHECKING:
    from leadproof.crm.salesforce import SalesforceCrm


def test_a_create_is_an_upsert_by_our_external_id_which_is_not_in_the_body(org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(201, CREATED))
    answer = salesforce.write(creation(email="bo@example.com", employees="1000", do_not_call=True, title=None))
    assert (answer.outcome, answer.provider_record_id) == (AnswerClass.ACCEPTED, LEAD)
    (request,) = org.calls
    assert (request.method, request.path) == (
        "PATCH",
        f"/services/data/v62.0/sobjects/Lead/{EXTERNAL_FIELD}/{EXTERNAL_ID}",
    )
    assert request.json() == {
        "LastName": "Bo",
        "Company": "Example",
        "Email": "bo@example.com",
        "NumberOfEmployees": 1000,
        "DoNotCall": True,
        "Title": None,
        MARKER_FIELD: MARKER,
    }


@pytest.mark.parametrize("links", [True, False])
def test_an_update_goes_to_the_id_in_its_18_characters(links: bool, org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(204))
    answer = salesforce.write(update(LEAD[:15], links=links, owner=QUEUE[:15], lead_status="Working"))
    assert (answer.outcome, answer.provider_record_id, answer.http_status) == (AnswerClass.ACCEPTED, LEAD, 204)
    (request,) = org.calls
    assert (request.method, request.path) == ("PATCH", f"/services/data/v62.0/sobjects/Lead/{LEAD}")
    link = {EXTERNAL_FIELD: EXTERNAL_ID} if links else {}
    assert request.json() == {"OwnerId": QUEUE, "Status": "Working", MARKER_FIELD: MARKER} | link


@pytest.mark.parametrize("request_", [creation(), update(title="CTO")], ids=["create", "update"])
def test_every_write_says_that_no_rule_may_change_it(request_: Any, org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(201, CREATED))
    salesforce.write(request_)
    (request,) = org.calls
    assert request.headers["sforce-auto-assign"] == "FALSE"
    assert request.headers["sforce-duplicate-rule-header"] == (
        "allowSave=false; includeRecordDetails=false; runAsCurrentUser=false"
    )
    assert request.headers["sforce-call-options"] == "client=leadproof"
    assert request.headers["content-type"] == "application/json"
    assert "if-unmodified-since" not in request.headers


@pytest.mark.parametrize(
    ("since", "header"),
    [
        (datetime(2026, 11, 30, 1, 37, 4, tzinfo=UTC), "Mon, 30 Nov 2026 01:37:04 GMT"),
        (datetime(2026, 11, 30, 1, 37, 4, 1, tzinfo=UTC), "Mon, 30 Nov 2026 01:37:05 GMT"),
        (datetime(2026, 11, 30, 2, 37, 4, tzinfo=timezone(timedelta(hours=1))), "Mon, 30 Nov 2026 01:37:04 GMT"),
    ],
)
def test_a_record_that_changed_since_it_was_read_is_not_written(
    since: datetime, header: str, org: Org, salesforce: SalesforceCrm
) -> None:
    org.answers(says(412))
    answer = salesforce.write(update(title="CTO").model_copy(update={"unmodified_since": since}))
    assert (answer.outcome, answer.http_status) == (AnswerClass.NOT_APPLIED, 412)
    assert org.calls[0].headers["if-unmodified-since"] == header


@pytest.mark.parametrize("record_id", [None, "", ".", "..", CONTACT, "../Account/001", "//evil.example/x", "0"])
def test_a_write_that_may_not_create_needs_an_id_of_its_object(
    record_id: str | None, org: Org, salesforce: SalesforceCrm
) -> None:
    answer = salesforce.write(update(record_id, title="CTO"))
    assert (answer.outcome, answer.code) == (AnswerClass.REFUSES_THIS, "NO_RECORD_ID")
    assert org.server.requests == []


@pytest.mark.parametrize("external_id", ["", ".", ".."])
def test_an_upsert_needs_an_external_id(external_id: str, org: Org, salesforce: SalesforceCrm) -> None:
    record = lead_ref(external_id=external_id)
    answer = salesforce.write(creation().model_copy(update={"record": record}))
    assert (answer.outcome, answer.code) == (AnswerClass.REFUSES_THIS, "NO_EXTERNAL_ID")
    assert org.server.requests == []


def test_an_external_id_stays_in_one_part_of_the_path(org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(201, CREATED))
    for text in ("../../Account/001", "//evil.example/x", "a b+c?d#e", "ä"):
        salesforce.write(creation().model_copy(update={"record": lead_ref(external_id=text)}))
    parts = [one.path.removeprefix(f"/services/data/v62.0/sobjects/Lead/{EXTERNAL_FIELD}/") for one in org.calls]
    assert parts == ["..%2F..%2FAccount%2F001", "%2F%2Fevil.example%2Fx", "a%20b%2Bc%3Fd%23e", "%C3%A4"]


def test_what_salesforce_has_no_field_for_is_not_sent(org: Org, salesforce: SalesforceCrm) -> None:
    answer = salesforce.write(update(lifecycle_stage="lead", title="CTO"))
    assert (answer.outcome, answer.code) == (AnswerClass.REFUSES_THIS, "UNKNOWN_FIELD")
    assert answer.detail == "Salesforce has no field of a lead for: lifecycle_stage"
    answer = salesforce.write(update(owner="Ann"))
    assert (answer.outcome, answer.code) == (AnswerClass.REFUSES_THIS, "MALFORMED_VALUE")
    assert "Ann" not in str(answer.detail)
    company = lead_ref(LEAD).model_copy(update={"target_object": "company"})
    answer = salesforce.write(update().model_copy(update={"record": company}))
    assert (answer.outcome, answer.code) == (AnswerClass.REFUSES_THIS, "UNKNOWN_OBJECT")
    assert org.server.requests == []


def test_a_lead_costs_a_read_a_write_and_a_read_back(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows()
    salesforce.find(lead_ref(email="bo@example.com"), ["email"], history=True)
    org.answers(says(201, CREATED))
    salesforce.write(creation(email="bo@example.com"))
    org.shows()
    salesforce.read("lead", LEAD, ["email"], history=True)
    assert [one.method for one in org.calls] == ["GET", "PATCH", "GET"]
    once = len(org.server.requests)
    assert once == len(org.calls) + 2, "a token and a description, once in a process"
