"""Single contacts through the real client."""

from typing import Any

import httpx
import pytest

from tests.sandbox.control import AUTHORIZED, CONTACTS, Control
from tests.sandbox.errors import refused


def create(contacts: Any, **properties: Any) -> Any:
    return contacts.create({"properties": properties})


def test_created_contact_reads_back(contacts: Any) -> None:
    made = create(contacts, email="ann@example.com", firstname="Ann")
    read = contacts.get_by_id(made.id)
    assert made.properties["firstname"] == "Ann"
    assert read.properties["email"] == "ann@example.com"
    assert set(read.properties) == {
        "createdate",
        "email",
        "firstname",
        "hs_object_id",
        "lastmodifieddate",
        "lastname",
    }
    assert read.archived is False
    assert read.created_at == made.created_at


def test_unset_is_null_cleared_is_empty_and_undefined_is_absent(contacts: Any) -> None:
    made = create(contacts, email="ann@example.com", phone="1")
    contacts.update(made.id, {"properties": {"phone": ""}})
    read = contacts.get_by_id(made.id, properties=["phone", "company", "nonsense"])
    assert read.properties["phone"] == ""
    assert read.properties["company"] is None
    assert "nonsense" not in read.properties


def test_values_are_strings_whatever_was_sent(http: httpx.Client, control: Control) -> None:
    body = {"properties": {"email": "ann@example.com", "firstname": True, "company": 12, "city": None}}
    answer = http.post(CONTACTS, json=body, headers=AUTHORIZED).json()["properties"]
    assert answer["firstname"] == "true"
    assert answer["company"] == "12"
    assert answer["city"] is None


def test_properties_may_be_separated_by_commas(contacts: Any, http: httpx.Client) -> None:
    made = create(contacts, email="ann@example.com", city="Cork")
    answer = http.get(f"{CONTACTS}/{made.id}?properties=city,state", headers=AUTHORIZED).json()
    assert answer["properties"].keys() >= {"city", "state"}


def test_path_segments_are_decoded_after_splitting(contacts: Any) -> None:
    address = "a+b/c@example.com"
    made = create(contacts, email=address)
    assert contacts.get_by_id(address, id_property="email").id == made.id


def test_addresses_are_kept_in_lower_case(contacts: Any) -> None:
    made = create(contacts, email="Ann@Example.COM")
    assert made.properties["email"] == "ann@example.com"
    assert contacts.get_by_id("ANN@example.com", id_property="email").id == made.id


def test_update_by_unique_property(contacts: Any) -> None:
    made = create(contacts, email="ann@example.com", leadproof_external_id="x1")
    contacts.update("x1", {"properties": {"city": "Cork"}}, id_property="leadproof_external_id")
    assert contacts.get_by_id(made.id, properties=["city"]).properties["city"] == "Cork"


def test_property_that_is_not_unique_finds_nobody(contacts: Any) -> None:
    refused(contacts.get_by_id, "Ann", id_property="firstname", status=400)
    refused(contacts.update, "Ann", {"properties": {}}, id_property="firstname", status=400)


def test_unknown_contact(contacts: Any) -> None:
    assert refused(contacts.get_by_id, "9", status=404)["category"] == "OBJECT_NOT_FOUND"
    assert refused(contacts.update, "9", {"properties": {}}, status=404)["category"] == "OBJECT_NOT_FOUND"


def test_archived_contact_is_read_only_when_asked_for(contacts: Any) -> None:
    made = create(contacts, email="ann@example.com")
    contacts.archive(made.id)
    refused(contacts.get_by_id, made.id, status=404)
    refused(contacts.update, made.id, {"properties": {"city": "Cork"}}, status=404)
    archived = contacts.get_by_id(made.id, archived=True)
    assert archived.archived is True
    assert archived.archived_at > archived.created_at
    assert contacts.get_by_id("ann@example.com", id_property="email", archived=True).id == made.id


def test_address_of_an_archived_contact_is_free(contacts: Any) -> None:
    contacts.archive(create(contacts, email="ann@example.com").id)
    assert create(contacts, email="ann@example.com").id


def test_pages_follow_each_other(contacts: Any, control: Control) -> None:
    made = [control.person(email=f"{number}@example.com")["id"] for number in range(3)]
    first = contacts.get_page(limit=2)
    second = contacts.get_page(limit=2, after=first.paging.next.after)
    assert [row.id for row in first.results + second.results] == made
    assert second.paging is None
    assert contacts.get_page(archived=True).results == []
    refused(contacts.get_page, limit=101, status=400)


@pytest.mark.parametrize("name", ["contact", "0-1"])
def test_other_names_of_the_object(contacts: Any, http: httpx.Client, name: str) -> None:
    made = create(contacts, email="ann@example.com")
    assert http.get(f"/hubspot/crm/v3/objects/{name}/{made.id}", headers=AUTHORIZED).json()["id"] == made.id


def test_dated_path(contacts: Any, http: httpx.Client) -> None:
    made = create(contacts, email="ann@example.com")
    assert http.get(f"/hubspot/crm/objects/2026-09/contacts/{made.id}", headers=AUTHORIZED).json()["id"] == made.id


def test_token_is_needed(http: httpx.Client, control: Control) -> None:
    answer = http.get(f"{CONTACTS}/1")
    assert answer.status_code == 401
    assert answer.json()["category"] == "INVALID_AUTHENTICATION"
    assert control.requests("contacts.read")[0]["status"] == 401


def test_answers_carry_rate_limits_except_of_search(contacts: Any, http: httpx.Client) -> None:
    read = http.get(CONTACTS, headers=AUTHORIZED)
    search = http.post(f"{CONTACTS}/search", json={}, headers=AUTHORIZED)
    assert int(read.headers["X-HubSpot-RateLimit-Remaining"]) < int(read.headers["X-HubSpot-RateLimit-Max"])
    assert "X-HubSpot-RateLimit-Remaining" not in search.headers
    assert search.headers["X-HubSpot-Correlation-Id"]


def test_unknown_path(http: httpx.Client) -> None:
    answer = http.get("/hubspot/crm/v3/objects/spaceships", headers=AUTHORIZED)
    assert answer.status_code == 404
    assert answer.json()["status"] == "error"
