"""Every answer is what the real client's own models say it is, under the status that they say."""

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import pytest

from tests.sandbox.client_models import complaints, response_types
from tests.sandbox.control import Control

UNIQUE = "leadproof_external_id"


class Case(NamedTuple):
    api: str
    method: str
    status: int
    call: Callable[[Any, Control, dict[str, Any]], Any]


def seeded(control: Control) -> str:
    record: str = control.person(email="ann@example.com", firstname="Ann")["id"]
    return record


def inputs(*items: dict[str, Any], **body: Any) -> dict[str, Any]:
    return {"inputs": list(items), **body}


def unseen(**properties: str) -> dict[str, Any]:
    return {"properties": properties}


CONTACTS = "contacts.basic_api"
BATCHES = "contacts.batch_api"
PROPERTIES = "properties.core_api"
OWNERS = "owners.owners_api"
REFUSED = {"objectWriteTraceId": "t1", "properties": {"nonsense": "x"}}
NEW_PROPERTY = {
    "name": "score",
    "label": "Score",
    "type": "enumeration",
    "fieldType": "select",
    "groupName": "contactinformation",
    "options": [{"label": "High", "value": "high", "hidden": False, "displayOrder": 0}],
}
EVERYTHING = {"properties": ["email", "phone"], "properties_with_history": ["email"]}
READ = {"properties": ["email", "phone"], "propertiesWithHistory": ["email"]}


def merge(api: Any, control: Control, how: dict[str, Any]) -> Any:
    winner, loser = seeded(control), control.person(email="bo@example.com")["id"]
    return api.merge({"primaryObjectId": winner, "objectIdToMerge": loser}, **how)


def search(api: Any, control: Control, how: dict[str, Any]) -> Any:
    seeded(control)
    control.advance(60)
    return api.do_search({"limit": 1}, **how)


CASES = [
    Case(CONTACTS, "create", 201, lambda api, _, how: api.create(unseen(email="a@example.com"), **how)),
    Case(CONTACTS, "get_by_id", 200, lambda api, control, how: api.get_by_id(seeded(control), **EVERYTHING, **how)),
    Case(CONTACTS, "get_page", 200, lambda api, control, how: (seeded(control), api.get_page(**EVERYTHING, **how))[1]),
    Case(CONTACTS, "update", 200, lambda api, control, how: api.update(seeded(control), unseen(phone="1"), **how)),
    Case(CONTACTS, "merge", 200, merge),
    Case(BATCHES, "create", 201, lambda api, _, how: api.create(inputs(unseen(email="a@example.com")), **how)),
    Case(BATCHES, "create", 207, lambda api, _, how: api.create(inputs(REFUSED), **how)),
    Case(BATCHES, "read", 200, lambda api, control, how: api.read(inputs({"id": seeded(control)}, **READ), **how)),
    Case(BATCHES, "read", 207, lambda api, control, how: api.read(inputs({"id": "9"}, **READ), **how)),
    Case(
        BATCHES,
        "update",
        200,
        lambda api, control, how: api.update(inputs({"id": seeded(control), **unseen(phone="1")}), **how),
    ),
    Case(BATCHES, "update", 207, lambda api, control, how: api.update(inputs({"id": "9", **REFUSED}), **how)),
    Case(
        BATCHES,
        "upsert",
        200,
        lambda api, _, how: api.upsert(inputs({"id": "x", "idProperty": UNIQUE, **unseen(phone="1")}), **how),
    ),
    Case(
        BATCHES,
        "upsert",
        207,
        lambda api, _, how: api.upsert(inputs({"id": "x", "idProperty": UNIQUE, **REFUSED}), **how),
    ),
    Case(
        "contacts.search_api",
        "do_search",
        200,
        search,
    ),
    Case(PROPERTIES, "get_all", 200, lambda api, _, how: api.get_all("contacts", **how)),
    Case(PROPERTIES, "get_by_name", 200, lambda api, _, how: api.get_by_name("contacts", "lifecyclestage", **how)),
    Case(PROPERTIES, "create", 201, lambda api, _, how: api.create("contacts", NEW_PROPERTY, **how)),
    Case(PROPERTIES, "update", 200, lambda api, _, how: api.update("contacts", UNIQUE, {"label": "Other"}, **how)),
    Case(OWNERS, "get_page", 200, lambda api, _, how: api.get_page(limit=2, **how)),
    Case(OWNERS, "get_page", 200, lambda api, _, how: api.get_page(archived=True, **how)),
    Case(OWNERS, "get_by_id", 200, lambda api, _, how: api.get_by_id("505", **how)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.api}.{case.method}-{case.status}")
def test_answer_is_what_the_clients_model_says(hubspot: Any, control: Control, case: Case) -> None:
    package, _, name = case.api.partition(".")
    api = getattr(getattr(hubspot.crm, package), name)
    models = import_module(f"hubspot.crm.{package}.models")

    raw = case.call(api, control, {"_preload_content": False})
    model = response_types(api, case.method)[case.status]

    assert raw.status == case.status
    assert complaints(json.loads(raw.data), model, models) == []

    control.post("/reset")
    assert type(case.call(api, control, {})).__name__ == model


@pytest.mark.parametrize("method", ["archive"])
def test_no_content_for_what_the_client_expects_nothing_of(
    contacts: Any, batches: Any, control: Control, method: str
) -> None:
    record = seeded(control)
    assert contacts.archive(record, _preload_content=False).status == 204
    assert batches.archive({"inputs": [{"id": record}]}, _preload_content=False).status == 204
    assert response_types(contacts, method) == response_types(batches, method) == {}


def test_error_body_is_the_clients_error_model(contacts: Any) -> None:
    from hubspot.crm.contacts import ApiException, models

    with pytest.raises(ApiException) as refused:
        contacts.create({"properties": {"nonsense": "x"}})
    body = json.loads(refused.value.body)
    assert body.pop("status") == "error"
    assert complaints(body, "Error", models) == []
    assert refused.value.headers["x-hubspot-correlation-id"] == body["correlationId"]
