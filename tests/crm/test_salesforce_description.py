"""What an org says of itself: from the sandbox, and from a server that tells it badly."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.crm.salesforce_fields import SalesforceFields
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.policy import TargetField
from leadproof.domain.records import MARKER, OwnerDescription
from tests.crm.conftest import MakeSalesforce
from tests.crm.hostile import Hostile, Line, Script, says
from tests.crm.salesforce_org import (
    ANN,
    EXTERNAL_FIELD,
    MARKER_FIELD,
    ORG,
    Org,
    column,
    described,
    error,
    query_of,
    rows,
)
from tests.sandbox.control import Control


@pytest.mark.parametrize("target_object", ["lead", "contact"])
def test_org_owners_and_our_fields_of_each_object(
    target_object: str, address: str, sandbox: Control, make_salesforce: MakeSalesforce
) -> None:
    description = make_salesforce(address).describe(target_object)
    assert (description.system, description.account, description.target_object) == ("salesforce", ORG, target_object)
    assert {owner.owner_id: (owner.active, owner.queue) for owner in description.owners} == {
        "005xx000001Sv6AAAS": (True, False),
        "005xx000001Sv6BAAS": (True, False),
        "005xx000001Sv6CAAS": (True, False),
        "005xx000001Sv6DAAS": (False, False),
        "00Gxx000000Qu1AEAS": (True, True),
        "00Gxx000000Qu1BEAS": (True, True),
    }
    ours, marker = description.fields["external_id"], description.fields[MARKER]
    assert (ours.name, ours.unique, ours.writable, ours.keeps_history) == (EXTERNAL_FIELD, True, True, False)
    assert (marker.name, marker.unique, marker.writable, marker.keeps_history) == (MARKER_FIELD, False, True, True)
    asked = [row["operation"] for row in sandbox.get("/requests", provider="salesforce")]
    assert asked == ["token.create", "users.read", "users.read", "describe.read", "describe.read"]


def test_fields_stand_under_our_names_and_choices_under_the_values_that_are_written(
    address: str, sandbox: Control, make_salesforce: MakeSalesforce
) -> None:
    crm = make_salesforce(address)
    lead, contact = crm.describe("lead").fields, crm.describe("contact").fields
    assert lead["lead_status"].name == "Status"
    assert lead["lead_status"].options[0] == "Open - Not Contacted"
    reason = lead["disqualification_reason"]
    assert reason.options == ("no_budget", "no_authority", "no_need", "bad_timing", "competitor", "spam")
    assert reason.labels["No budget"] == "no_budget"
    assert "Duplicate" not in reason.labels  # a choice that is no longer active
    assert (lead["country"].name, contact["country"].name) == ("CountryCode", "MailingCountryCode")
    assert (lead["Id"].writable, lead["IsConverted"].writable, lead["owner"].writable) == (False, False, True)
    assert "utm_source" not in lead
    assert crm.describe("lead").names["utm_source"] == "Utm_Source__c"
    assert {"Status", "lead_status"}.isdisjoint(contact)


def test_what_a_record_is_not_made_without_is_required(address: str, make_salesforce: MakeSalesforce) -> None:
    crm = make_salesforce(address)
    assert {name for name, field in crm.describe("lead").fields.items() if field.required} == {"last_name", "company"}
    assert {name for name, field in crm.describe("contact").fields.items() if field.required} == {"last_name"}


def test_without_picklists_of_countries_the_policy_is_told_the_field_that_there_is(
    address: str, make_salesforce: MakeSalesforce
) -> None:
    crm = make_salesforce(address)
    assert 'country = { property = "Country", spec = { type = "country" } }' in crm.describe("lead").instead["country"]
    assert 'property = "MailingCountry", spec' in crm.describe("contact").instead["country"]
    mapped = make_salesforce(address, fields=SalesforceFields({"country": TargetField(property="Country")}))
    assert mapped.describe("lead").instead == {}


def test_a_field_that_is_called_like_a_field_of_ours_does_not_take_its_place(
    org: Org, make_salesforce: MakeSalesforce
) -> None:
    theirs = (column("title"), column("OwnerId"), column("owner"), column(EXTERNAL_FIELD), column("external_id"))
    org.description = described(*theirs)
    org.shows()
    mapped = SalesforceFields({"title": TargetField(property="Job__c")})
    fields = make_salesforce(org.server.url, fields=mapped).describe("lead").fields
    assert {name: field.name for name, field in fields.items()} == {"owner": "OwnerId", "external_id": EXTERNAL_FIELD}
    # our title would be written to Job__c, which is not there


@pytest.mark.parametrize(
    ("defined", "unique"),
    [
        ({"unique": True, "externalId": True}, True),
        ({"unique": True, "externalId": False}, False),
        ({"unique": False, "externalId": True}, False),
    ],
)
def test_an_external_id_is_of_use_if_it_is_unique_and_records_can_be_addressed_by_it(
    defined: dict[str, Any], unique: bool, org: Org, make_salesforce: MakeSalesforce
) -> None:
    org.description = described(column(EXTERNAL_FIELD, **defined))
    org.shows()
    assert make_salesforce(org.server.url).describe("lead").fields["external_id"].unique is unique


def test_a_field_that_can_only_be_set_at_first_is_not_writable(org: Org, make_salesforce: MakeSalesforce) -> None:
    org.description = described(column("Title", updateable=False), column("Phone", createable=False))
    org.shows()
    fields = make_salesforce(org.server.url).describe("lead").fields
    assert (fields["title"].writable, fields["phone"].writable) == (False, False)


def test_what_the_org_does_not_tell_of_history_is_none(org: Org, make_salesforce: MakeSalesforce) -> None:
    org.description = described(column("Title"))

    def answer(line: Line) -> None:
        if "FieldDefinition" in query_of(line.request):
            line.respond(400, error("INVALID_TYPE"))
        else:
            line.respond(200, {"totalSize": 0, "done": True, "records": []})

    org.answers(answer)
    assert not make_salesforce(org.server.url).describe("lead").fields["title"].keeps_history


def test_owners_are_read_page_by_page_also_where_a_page_is_cut_short(
    server: Hostile, org: Org, make_salesforce: MakeSalesforce
) -> None:
    queues = ["00Gxx000001Sv6AEAS", "00Gxx000001Sv6BEAS", "00Gxx000001Sv6CEAS"]

    def answer(line: Line) -> None:
        soql = query_of(line.request)
        after = next((place for place, one in enumerate(queues, 1) if f"Id > '{one}'" in soql), 0)
        page = queues[after : after + 1] if "FROM Group" in soql else []
        line.respond(200, {"totalSize": 3, "done": after == 2, "records": [{"Id": one} for one in page]})

    org.answers(answer)
    owners = make_salesforce(server.url).describe("lead").owners
    assert [owner.owner_id for owner in owners if owner.queue] == queues
    assert OwnerDescription(owner_id=ANN, active=True) in owners


def test_owners_that_never_end_do(org: Org, make_salesforce: MakeSalesforce) -> None:
    org.answers(says(200, {"totalSize": 9, "done": False, "records": [{"Id": "00Gxx000001Sv6AEAS"}]}))
    with pytest.raises(ConfigurationRefused, match="more owners"):
        make_salesforce(org.server.url).describe("lead")


def test_an_org_without_calls_to_spare_is_described_all_the_same(org: Org, make_salesforce: MakeSalesforce) -> None:
    org.answers(says(200, rows(), **{"Sforce-Limit-Info": "api-usage=4999/5000"}))
    crm = make_salesforce(org.server.url)
    assert [crm.describe("lead").account for _ in range(2)] == [ORG, ORG]
    assert crm.budget().held == 0


def test_an_object_that_our_user_does_not_see_is_named(
    address: str, sandbox: Control, make_salesforce: MakeSalesforce
) -> None:
    missing = {"status": 404, "body": error("NOT_FOUND", "The requested resource does not exist")}
    sandbox.post("/faults", {"provider": "salesforce", "operation": "describe.read", "kind": "status", "args": missing})
    with pytest.raises(ConfigurationRefused, match="the definition of Salesforce's Contact cannot be read"):
        make_salesforce(address).describe("contact")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (says(401, error("INVALID_SESSION_ID")), "refuses us: 401"),
        (says(403, error("REQUEST_LIMIT_EXCEEDED")), "refuses us: 403 REQUEST_LIMIT_EXCEEDED"),
        (says(404, b"<html>"), "refuses us: 404 without a reason"),
        (says(500), "could not be asked: 500"),
        (says(200, b"<html>"), "no description"),
        (says(200, []), "no description"),
        (Line.break_off, "cannot be reached"),
    ],
)
def test_what_is_no_description_is_one_sentence(
    script: Script, why: str, org: Org, make_salesforce: MakeSalesforce
) -> None:
    org.answers(script)
    with pytest.raises(ConfigurationRefused, match=why):
        make_salesforce(org.server.url).describe("lead")


def test_other_objects_are_not_described(make_salesforce: MakeSalesforce) -> None:
    with pytest.raises(ConfigurationRefused, match="company"):
        make_salesforce("http://127.0.0.1:1").describe("company")
