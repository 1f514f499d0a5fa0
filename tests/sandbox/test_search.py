"""Search: late, paged, and blind to what is archived."""

from typing import Any

import pytest

from tests.sandbox.control import Control
from tests.sandbox.errors import refused


@pytest.fixture
def search(hubspot: Any) -> Any:
    api = hubspot.crm.contacts.search_api

    def find(*filters: dict[str, Any], **body: Any) -> list[str]:
        groups = [{"filters": list(filters)}] if filters else []
        return [row.properties["email"] for row in api.do_search({"filterGroups": groups, **body}).results]

    return find


@pytest.fixture
def people(control: Control) -> None:
    control.person(email="ann@example.com", firstname="Ann", annualrevenue="900", city="Cork")
    control.person(email="bo@example.com", firstname="Bo", annualrevenue="1000")
    control.person(email="cy@example.com", firstname="Cy", city="Galway")
    control.advance(60)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("name", "condition", "found"),
    [
        ("firstname", {"operator": "EQ", "value": "ann"}, "a"),
        ("firstname", {"operator": "NEQ", "value": "ann"}, "bc"),
        ("email", {"operator": "IN", "values": ["ann@example.com", "cy@example.com"]}, "ac"),
        ("firstname", {"operator": "IN", "values": ["Ann"]}, ""),
        ("firstname", {"operator": "NOT_IN", "values": ["ann"]}, "bc"),
        ("annualrevenue", {"operator": "GT", "value": "900"}, "b"),
        ("annualrevenue", {"operator": "GTE", "value": "900"}, "ab"),
        ("annualrevenue", {"operator": "LT", "value": "1000"}, "a"),
        ("annualrevenue", {"operator": "LTE", "value": "1000"}, "ab"),
        ("annualrevenue", {"operator": "BETWEEN", "value": "950", "highValue": "1050"}, "b"),
        ("lastmodifieddate", {"operator": "GTE", "value": "2020-01-01T00:00:00Z"}, "abc"),
        ("lastmodifieddate", {"operator": "LT", "value": "1577836800000"}, ""),
        ("city", {"operator": "HAS_PROPERTY"}, "ac"),
        ("city", {"operator": "NOT_HAS_PROPERTY"}, "b"),
        ("email", {"operator": "CONTAINS_TOKEN", "value": "bo*"}, "b"),
        ("email", {"operator": "NOT_CONTAINS_TOKEN", "value": "bo*"}, "ac"),
    ],
)
def test_operator(search: Any, name: str, condition: dict[str, Any], found: str) -> None:
    assert [mail[0] for mail in search({"propertyName": name, **condition})] == list(found)


def test_what_was_written_is_found_late(search: Any, contacts: Any, control: Control) -> None:
    made = contacts.create({"properties": {"email": "ann@example.com", "city": "Cork"}})
    cork = {"propertyName": "city", "operator": "EQ", "value": "Cork"}
    assert search(cork) == []
    control.advance(5)
    assert search(cork) == ["ann@example.com"]
    contacts.update(made.id, {"properties": {"city": "Galway"}})
    assert search(cork) == ["ann@example.com"]
    control.advance(5)
    assert search(cork) == []


@pytest.mark.usefixtures("people")
def test_archived_are_not_found(search: Any, contacts: Any) -> None:
    contacts.archive(contacts.get_by_id("ann@example.com", id_property="email").id)
    assert search() == ["bo@example.com", "cy@example.com"]


@pytest.mark.usefixtures("people")
def test_pages_sorts_and_text(search: Any, hubspot: Any) -> None:
    newest_first = {"sorts": [{"propertyName": "createdate", "direction": "DESCENDING"}]}
    assert search(**newest_first) == ["cy@example.com", "bo@example.com", "ann@example.com"]
    assert search(sorts=["-firstname"], limit=1) == ["cy@example.com"]
    assert search(query="BO") == ["bo@example.com"]
    page = hubspot.crm.contacts.search_api.do_search({"limit": 2})
    assert (page.total, page.paging.next.after) == (3, "2")
    assert search(limit=2, after=page.paging.next.after) == ["cy@example.com"]


@pytest.mark.parametrize(
    "body",
    [
        {"filterGroups": [{}] * 6},
        {"filterGroups": ["x"]},
        {"limit": 201},
        {"limit": 200, "after": "9900"},
        {"limit": "many"},
    ],
)
def test_limits(hubspot: Any, body: dict[str, Any]) -> None:
    refused(hubspot.crm.contacts.search_api.do_search, body, status=400)


@pytest.mark.usefixtures("people")
def test_unknown_operator(hubspot: Any) -> None:
    filters = [{"propertyName": "city", "operator": "LIKE", "value": "x"}]
    refused(hubspot.crm.contacts.search_api.do_search, {"filterGroups": [{"filters": filters}]}, status=400)
