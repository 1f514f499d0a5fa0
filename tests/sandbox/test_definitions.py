"""Property definitions, owners and the account."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import pytest

from tests.sandbox.control import AUTHORIZED, Control
from tests.sandbox.errors import refused


@pytest.fixture
def properties(hubspot: Any) -> Any:
    return hubspot.crm.properties.core_api


def wanted(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "label": name, "type": "string", "fieldType": "text", "groupName": "x", **more}


def test_default_stages_stand_in_order(properties: Any) -> None:
    stages = [option.value for option in properties.get_by_name("contacts", "lifecyclestage").options]
    assert stages == [
        "subscriber",
        "lead",
        "marketingqualifiedlead",
        "salesqualifiedlead",
        "opportunity",
        "customer",
        "evangelist",
        "other",
    ]


def test_owner_property_lists_no_options(properties: Any) -> None:
    owner = properties.get_by_name("contacts", "hubspot_owner_id")
    assert (owner.external_options, owner.options) == (True, [])


def test_the_portal_has_its_own_properties(properties: Any) -> None:
    assert properties.get_by_name("contacts", "leadproof_external_id").has_unique_value is True
    assert properties.get_by_name("contacts", "leadproof_effect").has_unique_value is False
    assert properties.get_by_name("contacts", "createdate").modification_metadata.read_only_value is True


def test_property_comes_changes_and_goes(properties: Any, contacts: Any) -> None:
    properties.create("contacts", wanted("code", hasUniqueValue=True))
    made = contacts.create({"properties": {"email": "ann@example.com", "code": "c1"}})
    assert contacts.get_by_id("c1", id_property="code").id == made.id
    changed = properties.update("contacts", "code", {"label": "Code", "hasUniqueValue": False})
    assert (changed.label, changed.has_unique_value) == ("Code", True)
    properties.archive("contacts", "code")
    refused(properties.get_by_name, "contacts", "code", status=404)
    assert properties.get_by_name("contacts", "code", archived=True).archived is True


@pytest.mark.parametrize(
    "options", [[], [{"label": "A"}], [{"label": "A", "value": "a"}, {"label": "A", "value": "b"}]]
)
def test_an_enumeration_needs_options_that_can_be_told_apart(properties: Any, options: list[Any]) -> None:
    choice = wanted("choice", type="enumeration", fieldType="select")
    refused(properties.create, "contacts", choice | {"options": options}, status=400)
    made = properties.create("contacts", choice | {"options": [{"label": "A", "value": "a"}]})
    assert [option.value for option in made.options] == ["a"]


def test_property_that_cannot_be(properties: Any) -> None:
    assert refused(properties.create, "contacts", wanted("email"), status=409)["category"] == "OBJECT_ALREADY_EXISTS"
    refused(properties.create, "contacts", wanted("code", type="poem"), status=400)
    refused(properties.archive, "contacts", "email", status=400)
    refused(properties.update, "contacts", "nonsense", {"label": "x"}, status=404)


def test_unique_properties_are_few(properties: Any) -> None:
    for number in range(9):
        properties.create("contacts", wanted(f"code{number}", hasUniqueValue=True))
    refused(properties.create, "contacts", wanted("code9", hasUniqueValue=True), status=400)


def test_owners_and_their_users(hubspot: Any) -> None:
    owners = hubspot.crm.owners.owners_api
    assert [owner.id for owner in owners.get_page().results] == ["501", "502", "503", "505"]
    assert owners.get_by_id(9001, id_property="userId").id == "501"
    assert owners.get_page(email="kofi.mensah@example.com").results[0].id == "502"
    assert owners.get_by_id(505).type == "QUEUE"
    page = owners.get_page(limit=3)
    assert owners.get_page(limit=3, after=page.paging.next.after).results[0].id == "505"


def test_archived_owner_has_no_user_and_no_name(hubspot: Any) -> None:
    owners = hubspot.crm.owners.owners_api
    refused(owners.get_by_id, 504, status=404)
    [left] = owners.get_page(archived=True).results
    assert (left.id, left.user_id, left.user_id_including_inactive) == ("504", None, 9004)
    assert (left.first_name, left.last_name) == ("", "")


@pytest.mark.parametrize("version", ["v3", "2026-03"])
def test_account(http: httpx.Client, control: Control, version: str) -> None:
    answer = http.get(f"/hubspot/account-info/{version}/details", headers=AUTHORIZED).json()
    assert answer.keys() == {
        "portalId",
        "accountType",
        "timeZone",
        "companyCurrency",
        "additionalCurrencies",
        "utcOffset",
        "utcOffsetMilliseconds",
        "uiDomain",
        "dataHostingLocation",
    }
    assert answer["portalId"] == 62515
    assert control.requests("account.read")[0]["status"] == 200


def test_what_a_token_may_do(http: httpx.Client, control: Control) -> None:
    path = "/hubspot/oauth/v2/private-apps/get/access-token-info"
    answer = http.post(path, headers=AUTHORIZED, json={"tokenKey": "a-token"})
    assert answer.json().keys() == {"userId", "hubId", "appId", "scopes"}
    assert (answer.json()["hubId"], answer.json()["appId"]) == (62515, 54321)
    assert "crm.objects.contacts.write" in answer.json()["scopes"]
    assert http.post(path, headers=AUTHORIZED, json={}).status_code == 400
    assert http.post(path, json={"tokenKey": "a-token"}).status_code == 401
    assert control.requests("token.read")[0]["body"] == {"tokenKey": "(hidden)"}


def test_answers_carry_the_time_of_the_sandboxs_clock(http: httpx.Client, control: Control) -> None:
    control.advance(3600)
    dates = http.get("/hubspot/account-info/v3/details", headers=AUTHORIZED).headers.get_list("date")
    [ahead] = [parsedate_to_datetime(date) - datetime.now(UTC) for date in dates]
    assert timedelta(minutes=59) < ahead <= timedelta(hours=1)
