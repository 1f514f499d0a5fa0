"""Leads that do not come from the CRM: a contact is made once, found, linked, or a person is asked."""

from __future__ import annotations

import time
import uuid
from typing import Any

import httpx

from leadproof.domain import keys
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Reason, Status
from tests.support.house import House, eventually


def _form(**lead: Any) -> dict[str, Any]:
    number = uuid.uuid4().hex
    return {
        "source_record_id": f"form-{number}",
        "event_kind": "form.submitted",
        "occurrence": number,
        "occurred_at": "2026-11-02T10:00:00Z",
        "lead": {"email": f"{number}@lead.example", "first_name": "Ada", "country": "US", "company": "Acme"} | lead,
    }


async def _send(house: House, form: dict[str, Any]) -> httpx.Response:
    return await house.http.post("/v1/leads", json=form, headers=house.authorized)


async def _sent(house: House, form: dict[str, Any]) -> str:
    answer = await _send(house, form)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["event_key"])


def _external_id(house: House, form: dict[str, Any], source: str) -> str:
    return keys.external_id(
        tenant=house.settings.tenant,
        environment=house.settings.environment,
        source_system=source,
        source_record_id=form["source_record_id"],
    )


def _found(house: House, email: str) -> list[dict[str, Any]]:
    return [row for row in house.control.records() if row["properties"].get("email") == email]


async def test_a_lead_of_a_form_becomes_one_contact(house: House) -> None:
    form = _form()
    answers = [await _send(house, form) for _ in range(3)]
    assert [a.json()["result"] for a in answers] == ["started", "duplicate", "duplicate"]
    key = answers[0].json()["event_key"]
    await house.outcome(key, Outcome.DONE)
    (record,) = _found(house, form["lead"]["email"])
    mutation = house.mutation(key)
    assert record["properties"]["firstname"] == "Ada"
    assert record["properties"]["leadproof_effect"] == mutation.mutation_key
    assert record["properties"]["leadproof_external_id"] == mutation.target_record
    assert mutation.provider_record_id == record["id"]


async def test_the_same_submission_with_another_payload_is_a_conflict(house: House) -> None:
    form = _form()
    await _sent(house, form)
    other = form | {"lead": form["lead"] | {"company": "Another"}}
    assert (await _send(house, other)).status_code == 409


async def test_a_create_whose_answer_was_lost_is_found_and_not_made_twice(house: House) -> None:
    form = _form()
    house.control.fault("drop_after_apply", match=form["lead"]["email"])
    key = await _sent(house, form)
    await house.outcome(key, Outcome.DONE)
    assert len(_found(house, form["lead"]["email"])) == 1
    (attempt,) = house.ledger.attempts_of(house.mutation(key).mutation_key)
    assert attempt.outcome == "uncertain"


async def test_a_create_that_never_arrived_is_made_once(house: House) -> None:
    form = _form()
    house.control.fault("drop_before_apply", match=form["lead"]["email"])
    key = await _sent(house, form)
    await house.outcome(key, Outcome.DONE)
    assert len(_found(house, form["lead"]["email"])) == 1


async def test_a_contact_with_the_same_address_is_a_question_and_never_a_second_contact(house: House) -> None:
    form = _form()
    record_id = house.contact(email=form["lead"]["email"])
    key = await _sent(house, form)
    await house.outcome(key, Outcome.REVIEW)
    mutation = house.mutation(key)
    assert mutation.reason is Reason.NEEDS_APPROVAL
    item = await eventually(lambda: house.ledger.review_of(mutation.mutation_key))
    assert (await house.decide(item.review_id, "approve")).status_code == 200
    await house.outcome(key, Outcome.DONE)
    (record,) = _found(house, form["lead"]["email"])
    assert record["id"] == record_id
    assert record["properties"]["leadproof_external_id"] == mutation.target_record


async def test_a_contact_that_a_person_made_meanwhile_is_not_overwritten(house: House) -> None:
    form = _form()
    made = {"fields": {"email": form["lead"]["email"], "firstname": "Grace"}, "user": "9003", "moment": "before_write"}
    house.control.fault("human_edit", match=form["lead"]["email"], args=made)
    key = await _sent(house, form)
    await house.outcome(key, Outcome.REVIEW)
    mutation = house.mutation(key)
    assert mutation.status in {Status.DIVERGENT, Status.REJECTED}
    (record,) = _found(house, form["lead"]["email"])
    assert record["properties"]["firstname"] == "Grace"


async def test_several_records_for_one_lead_are_a_question(house: House) -> None:
    form = _form()
    source = "website"
    house.contact(email=form["lead"]["email"])
    house.contact(leadproof_external_id=_external_id(house, form, source))
    key = await _sent(house, form)
    await house.until(key, lambda lead: any(m.status is Status.DIVERGENT for m in house.mutations(key)))
    assert house.mutation(key).reason is Reason.SEVERAL


async def test_the_creation_that_we_made_comes_back_as_an_echo(house: House) -> None:
    form = _form()
    key = await _sent(house, form)
    await house.outcome(key, Outcome.DONE)
    (record,) = _found(house, form["lead"]["email"])
    event = house.creation(
        record["id"], occurredAt=int(time.time() * 1000), changeSource="INTEGRATION", sourceId="54321"
    )
    await house.deliver(event)
    echo = await house.outcome(house.key_of(record["id"]), Outcome.ECHO)
    assert echo.echo_of == house.mutation(key).mutation_key


async def test_a_later_submission_of_the_same_lead_updates_its_contact(house: House) -> None:
    form = _form()
    await house.outcome(await _sent(house, form), Outcome.DONE)
    again = form | {"occurrence": uuid.uuid4().hex, "occurred_at": "2026-11-02T11:00:00Z"}
    again["lead"] = form["lead"] | {"company": "Acme Holding"}
    key = await _sent(house, again)
    await house.outcome(key, Outcome.DONE)
    (record,) = _found(house, form["lead"]["email"])
    assert record["properties"]["company"] == "Acme Holding"
