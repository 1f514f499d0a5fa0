"""What produced each value that stands on a record: told from the ledger and the target's own history."""

from __future__ import annotations

from typing import Any

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Status
from leadproof.domain.policy_text import parse_policy
from starter.why import Why
from tests.support.house import House, eventually
from tests.workflows.test_reviews import BIG, _asked, _decided

CONTACTS = {"provider": "hubspot", "object": "contacts", "user": "9002"}


async def _why(house: House, record_id: str, status: int = 200, **asked: str) -> dict[str, Any]:
    answer = await house.http.get("/v1/why", params={"record": record_id, **asked}, headers=house.authorized)
    assert answer.status_code == status, answer.text
    told: dict[str, Any] = answer.json()
    return told


def _field(told: dict[str, Any], name: str) -> dict[str, Any]:
    (one,) = (field for field in told["fields"] if field["field"] == name)
    return dict(one)


async def test_each_value_is_told_with_who_made_it(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    mutation, item = await _asked(house, key)
    await _decided(house, item, "approve", reason="Kofi knows them")
    await house.outcome(key, Outcome.DONE)
    house.control.person(record=record_id, hs_lead_status="CONNECTED")
    told = await _why(house, record_id)
    owner, status, email = (_field(told, name) for name in ("owner", "lead_status", "email"))
    assert (owner["by"], owner["mutation_key"], owner["basis"]) == ("us", mutation.mutation_key, "history")
    assert "approved by api:all" in owner["said"]
    assert "planned by rules" in owner["said"]
    assert "for contact.creation under policy" in owner["said"]
    assert owner["value_name"] is not None
    assert (status["value"], status["by"], status["mutation_key"]) == ("CONNECTED", "person:9002", None)
    before = status["earlier"][0]
    assert (before["value"], before["by"], before["mutation_key"]) == (
        mutation.intent.fields["lead_status"],
        "us",
        mutation.mutation_key,
    )
    assert email["by"] == "person:9002"
    effect = told["effects"][mutation.mutation_key]
    assert (effect["event_key"], effect["status"]) == (key, "observed")
    assert [(one["decision"], one["reason"]) for one in effect["decisions"]] == [("approve", "Kofi knows them")]
    assert effect["evidence"]


async def test_a_value_that_a_decision_wrote_over_names_both_effects(house: House) -> None:
    record_id = house.contact()
    house.control.fault(
        "human_edit",
        match=record_id,
        args={"moment": "after_write", "fields": {"hs_lead_status": "CONNECTED"}, "user": "9002"},
    )
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    mutation, item = await _asked(house, key)
    assert mutation.status is Status.DIVERGENT
    await _decided(house, item, "overwrite", reason="ours is right")
    await house.outcome(key, Outcome.DONE)
    told = _field(await _why(house, record_id), "lead_status")
    (derived,) = (one for one in house.mutations(key) if one.parent_key == mutation.mutation_key)
    assert told["mutation_key"] == derived.mutation_key
    assert "written over by api:all" in told["said"]
    assert [one["by"] for one in told["earlier"][:2]] == ["person:9002", "us"]


async def test_one_field_alone_and_what_is_not_there(house: House) -> None:
    record_id, key = await house.lead()
    await house.outcome(key, Outcome.DONE)
    told = await _why(house, record_id, field="owner")
    assert [one["field"] for one in told["fields"]] == ["owner"]
    problem = await _why(house, record_id, 404, field="shoe_size")
    assert "shows no field 'shoe_size' of ours" in problem["detail"]
    problem = await _why(house, "999999999", 404)
    assert "no lead and no effect in this ledger is about such a record" in problem["detail"]
    problem = await _why(house, "999999999", 404, target_system="hubspot")
    assert "hubspot has no such record" in problem["detail"]
    problem = await _why(house, "", 422)
    assert "say which" in problem["detail"]


async def test_a_record_that_went_elsewhere_is_told_with_what_we_did_to_it(house: House) -> None:
    record_id, key = await house.lead()
    await house.outcome(key, Outcome.DONE)
    mutation = house.mutation(key)
    winner = house.contact()
    house.control.post(
        "/merge", {"provider": "hubspot", "object": "contacts", "winner": winner, "loser": record_id, "user": "9002"}
    )
    told = await _why(house, record_id)
    assert told["record"]["note"] == f"{record_id} was merged into {winner}"
    assert told["record"]["provider_record_id"] == winner
    removed_id, removed_key = await house.lead()
    await house.outcome(removed_key, Outcome.DONE)
    house.control.delete("/records", {**CONTACTS, "id": removed_id})
    told = await _why(house, removed_id)
    assert "archived or deleted" in told["record"]["note"]
    status = _field(told, "lead_status")
    assert (status["by"], status["mutation_key"]) == ("us", house.mutation(removed_key).mutation_key)
    assert mutation.mutation_key != status["mutation_key"]


async def test_where_the_target_cannot_be_asked_the_ledger_alone_is_told(house: House) -> None:
    record_id, key = await house.lead()
    await house.outcome(key, Outcome.DONE)
    policy = await eventually(lambda: house.ledger.policy_text(house.mutation(key).policy_version))
    told = Why(ledger=house.ledger, policy=parse_policy(policy), look=lambda _: None).explained(record_id)
    assert "the ledger alone is told" in told["record"]["note"]
    assert _field(told, "lead_status")["mutation_key"] == house.mutation(key).mutation_key


async def test_what_was_put_back_is_told_of_the_value_that_stands_again_and_of_no_other(house: House) -> None:
    record_id = house.contact()
    house.control.fault(
        "human_edit",
        match=record_id,
        args={"moment": "before_write", "fields": {"hubspot_owner_id": "503"}, "user": "9002"},
    )
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    mutation, item = await _asked(house, key)
    await _decided(house, item, "restore", reason="hers")
    await house.outcome(key, Outcome.DONE)
    told = await _why(house, record_id)
    owner, status = _field(told, "owner"), _field(told, "lead_status")
    assert (owner["value"], status["mutation_key"]) == ("503", mutation.mutation_key)
    assert "put back by api:all" in owner["said"]
    assert "put back" not in status["said"]
    assert told["effects"][owner["mutation_key"]]["made_by"]["reason"] == "hers"
    assert told["effects"][mutation.mutation_key]["made_by"] is None
