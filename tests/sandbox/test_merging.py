"""Merged contacts: the old id leads to the winner, but not in batches."""

from typing import Any

import httpx
import pytest

from tests.sandbox.control import Control
from tests.sandbox.errors import refused


@pytest.fixture
def pair(control: Control) -> tuple[str, str]:
    winner = control.person(email="ann@example.com", city="Cork")["id"]
    loser = control.person(email="ann@home.example", city="Galway", phone="1", leadproof_external_id="x1")["id"]
    return winner, loser


@pytest.fixture
def merged(contacts: Any, pair: tuple[str, str]) -> tuple[str, str]:
    winner, loser = pair
    answer = contacts.merge({"primaryObjectId": winner, "objectIdToMerge": loser})
    assert answer.id == winner
    return pair


def test_old_id_answers_with_the_winner(contacts: Any, merged: tuple[str, str]) -> None:
    winner, loser = merged
    read = contacts.get_by_id(loser, properties=["hs_merged_object_ids", "hs_additional_emails", "city", "phone"])
    assert read.id == winner
    assert read.properties["hs_merged_object_ids"] == loser
    assert read.properties["hs_additional_emails"] == "ann@home.example"
    assert (read.properties["city"], read.properties["phone"]) == ("Cork", "1")


def test_old_addresses_and_unique_values_lead_to_the_winner(contacts: Any, merged: tuple[str, str]) -> None:
    assert contacts.get_by_id("ann@home.example", id_property="email").id == merged[0]
    assert contacts.get_by_id("x1", id_property="leadproof_external_id").id == merged[0]


def test_update_by_old_id_reaches_the_winner(contacts: Any, control: Control, merged: tuple[str, str]) -> None:
    winner, loser = merged
    assert contacts.update(loser, {"properties": {"state": "Munster"}}).id == winner
    assert control.record(winner)["properties"]["state"] == "Munster"


def test_batches_do_not_know_the_old_id(batches: Any, merged: tuple[str, str]) -> None:
    _, loser = merged
    read = batches.read({"inputs": [{"id": loser}], "properties": [], "propertiesWithHistory": []})
    assert (read.results, read.num_errors) == ([], 1)
    refused(batches.update, {"inputs": [{"id": loser, "properties": {"city": "Cork"}}]}, status=404)


def test_old_ids_are_kept_through_a_second_merge(contacts: Any, control: Control, merged: tuple[str, str]) -> None:
    winner, loser = merged
    third = control.person(email="bo@example.com")["id"]
    control.post("/merge", {"provider": "hubspot", "object": "contacts", "winner": third, "loser": winner})
    assert contacts.get_by_id(loser).id == third
    ids = contacts.get_by_id(third, properties=["hs_merged_object_ids"]).properties["hs_merged_object_ids"]
    assert set(ids.split(";")) == {winner, loser}


def test_merge_that_cannot_be(contacts: Any, pair: tuple[str, str]) -> None:
    winner, _ = pair
    refused(contacts.merge, {"primaryObjectId": winner, "objectIdToMerge": "9"}, status=404)
    refused(contacts.merge, {"primaryObjectId": winner, "objectIdToMerge": winner}, status=400)


def test_merged_contact_is_in_no_list(contacts: Any, merged: tuple[str, str]) -> None:
    assert [row.id for row in contacts.get_page().results] == [merged[0]]
    assert contacts.get_page(archived=True).results == []


def test_person_restores_an_archived_contact(contacts: Any, control: Control, http: httpx.Client) -> None:
    record = control.person(email="ann@example.com")["id"]
    control.delete("/records", {"provider": "hubspot", "object": "contacts", "id": record, "user": "9002"})
    refused(contacts.get_by_id, record, status=404)
    control.put("/records", {"provider": "hubspot", "object": "contacts", "id": record, "archived": False})
    assert contacts.get_by_id(record).id == record
