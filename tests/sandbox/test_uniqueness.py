"""Who may have which value, and what is said to whoever may not."""

import re
import threading
from typing import Any

from tests.sandbox.control import Control, eventually
from tests.sandbox.errors import refused


def ids(message: str) -> list[str]:
    """The two ids of a refused coordinate: who wanted the value, and who has it."""
    found = re.fullmatch(
        r"Cannot set PropertyValueCoordinates\{.*\} on (\d+)\. (\d+) already has that value\.", message
    )
    assert found, message
    return list(found.groups())


def test_second_contact_of_an_address_names_the_first(contacts: Any, control: Control) -> None:
    owner = control.person(email="ann@example.com")["id"]
    body = refused(contacts.create, {"properties": {"email": "ANN@example.com"}}, status=409)
    assert body["message"] == f"Contact already exists. Existing ID: {owner}"
    assert body["category"] == "CONFLICT"
    assert len(control.records()) == 1


def test_secondary_address_clashes_with_two_ids(contacts: Any, control: Control) -> None:
    owner = control.person(email="ann@example.com", hs_additional_emails="ann@home.example")["id"]
    body = refused(contacts.create, {"properties": {"email": "ann@home.example"}}, status=400)
    wanted, held = ids(body["message"])
    assert held == owner
    assert wanted != owner
    assert refused(contacts.get_by_id, wanted, status=404)
    assert contacts.get_by_id("ann@home.example", id_property="email").id == owner


def test_unique_property_clashes_with_two_ids(contacts: Any, control: Control) -> None:
    owner = control.person(email="ann@example.com", leadproof_external_id="x1")["id"]
    other = control.person(email="bo@example.com")["id"]
    body = refused(contacts.update, other, {"properties": {"leadproof_external_id": "x1"}}, status=400)
    assert ids(body["message"]) == [other, owner]
    assert "propertyName=leadproof_external_id, value=x1" in body["message"]


def test_address_cannot_move_to_a_second_contact(contacts: Any, control: Control) -> None:
    owner = control.person(email="ann@example.com")["id"]
    other = control.person(email="bo@example.com")["id"]
    body = refused(contacts.update, other, {"properties": {"email": "ann@example.com"}}, status=400)
    assert ids(body["message"]) == [other, owner]


def test_value_that_was_given_up_is_free(contacts: Any, control: Control) -> None:
    first = control.person(email="ann@example.com", leadproof_external_id="x1")["id"]
    contacts.update(first, {"properties": {"leadproof_external_id": ""}})
    assert contacts.create({"properties": {"email": "bo@example.com", "leadproof_external_id": "x1"}})


def test_create_at_the_same_time_as_another(contacts: Any, control: Control) -> None:
    control.fault("delay", args={"seconds": 0.4})
    first = threading.Thread(target=contacts.create, args=({"properties": {"email": "ann@example.com"}},))
    first.start()
    eventually(control.records)
    body = refused(contacts.create, {"properties": {"email": "ann@example.com"}}, status=400)
    assert ids(body["message"])[1] == control.records()[0]["id"]
    first.join()
