"""Echoes of our own writes, and questions about an event that has no mutation yet."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any

import pytest
from temporalio import activity

from leadproof.domain import keys
from leadproof.domain.errors import LedgerUnavailable, MalformedPlan
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Reason, Status
from leadproof.domain.review import ReviewItem
from leadproof.domain.steps import Arrival
from leadproof.ledger.store import SqlLedger
from leadproof.planners.rules import RulesPlanner
from tests.support.house import EMBEDDED_VERSION, House, eventually
from tests.workflows.test_creates import _form, _found, _sent
from workflows import options


async def _made(house: House) -> tuple[dict[str, Any], str]:
    """A contact that a create of ours made, and the key of that mutation."""
    form = _form()
    key = await _sent(house, form)
    await house.outcome(key, Outcome.DONE)
    (record,) = _found(house, form["lead"]["email"])
    return record, house.mutation(key).mutation_key


def _change(house: House, record: dict[str, Any], **more: Any) -> dict[str, Any]:
    entry = record["history"]["company"][0]
    moment = int(datetime.fromisoformat(entry["timestamp"]).timestamp() * 1000)
    return house.change(record["id"], "company", entry["value"], occurredAt=moment, **more)


def _key(house: House, record: dict[str, Any], event: dict[str, Any]) -> str:
    return keys.event_key(
        tenant=house.settings.tenant,
        environment=house.settings.environment,
        source_system="hubspot",
        source_record_id=record["id"],
        event_kind="contact.propertyChange",
        occurrence=keys.occurrence(["contact.propertyChange", "company", str(event["occurredAt"])]),
    )


async def test_our_change_is_an_echo_at_the_door_when_its_source_is_no_person(house: House) -> None:
    record, mutation = await _made(house)
    event = _change(house, record, changeSource="INTEGRATION", sourceId="54321")
    counts = await house.deliver(event)
    assert (counts["echo"], counts["started"]) == (1, 0)
    lead = house.ledger.lead(_key(house, record, event))
    assert lead is not None
    assert (lead.outcome, lead.echo_of) == (Outcome.ECHO, mutation)


async def test_our_change_is_an_echo_by_the_record_whatever_its_source_says(house: House) -> None:
    record, mutation = await _made(house)
    event = _change(house, record, changeSource="CRM_UI", sourceId="userId:9001")
    assert (await house.deliver(event))["started"] == 1
    lead = await house.outcome(_key(house, record, event), Outcome.ECHO)
    assert lead.echo_of == mutation


async def test_a_person_who_sets_a_field_is_no_echo(house: House) -> None:
    record, _ = await _made(house)
    edited = house.control.person("9002", record["id"], company="Another")
    fresh = house.control.record(edited["id"])
    event = _change(house, fresh, changeSource="CRM_UI", sourceId="userId:9002")
    await house.deliver(event)
    lead = await house.until(_key(house, record, event), lambda lead: lead.outcome.final)
    assert lead.outcome is Outcome.NOTHING_TO_DO  # the contact has an owner, which the policy leaves alone


async def test_a_contact_that_a_person_made_and_let_us_have_is_no_creation_of_ours(house: House) -> None:
    """It carries the external id of our create, which found it; its creation is told late."""
    form = _form()
    record_id = house.contact(email=form["lead"]["email"])
    key = await _sent(house, form)
    await house.outcome(key, Outcome.REVIEW)
    item = await eventually(lambda: house.ledger.review_of(house.mutation(key).mutation_key))
    assert (await house.decide(item.review_id, "approve")).status_code == 200
    await house.outcome(key, Outcome.DONE)
    assert house.properties(record_id)["leadproof_external_id"] == house.mutation(key).target_record
    await house.deliver(house.creation(record_id))
    lead = await house.until(house.key_of(record_id), lambda lead: lead.outcome.final)
    assert (lead.outcome, lead.echo_of) == (Outcome.NOTHING_TO_DO, None)  # it has an owner by now
    assert len(house.writes(record_id)) == 1


async def _asked(house: House, key: str, reason: Reason) -> ReviewItem:
    item = await eventually(lambda: house.ledger.review_of(key))
    assert item.reason == reason
    assert item.mutation_key is None
    return item


async def test_a_source_that_stays_down_is_a_question_and_the_event_is_planned_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(options.READ_SOURCE, "schedule_to_close_timeout", timedelta(seconds=1.5))
    record_id = house.contact()
    house.control.fault("status", operation="contacts.read", match=record_id, times=100, args={"status": 503})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    item = await _asked(house, key, Reason.SOURCE_DOWN)
    assert (await house.outcome(key, Outcome.REVIEW)).outcome is Outcome.REVIEW
    house.control.delete("/faults")
    assert (await house.decide(item.review_id, "plan_again")).status_code == 200
    await house.outcome(key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1


async def test_a_planner_that_says_nothing_usable_is_a_question(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise MalformedPlan("it is no plan")

    with monkeypatch.context() as patched:
        patched.setattr(RulesPlanner, "plan", refuse)
        record_id, key = await house.lead()
        item = await _asked(house, key, Reason.PLANNER)
    assert (await house.decide(item.review_id, "abandon")).status_code == 200
    await house.outcome(key, Outcome.ABANDONED)
    assert house.writes(record_id) == []


async def test_a_key_that_stands_for_another_payload_is_a_question(house: House) -> None:
    _, other = await house.lead()
    await house.outcome(other, Outcome.DONE)
    record_id = house.contact()
    key = house.key_of(record_id)
    house.ledger.admit([Arrival(event=house.admitted(record_id))])
    standing = keys.mutation_key(
        event_key=key,
        policy_version=EMBEDDED_VERSION,
        action_kind="qualify",
        target_system="hubspot",
        target_object="contact",
        discriminator=None,
    )
    alien = house.mutation(other).model_copy(
        update={
            "mutation_key": standing,
            "event_key": key,
            "parent_key": house.mutation(other).mutation_key,
            "status": Status.RESERVED,
            "version": 1,
            "fingerprint": "another",
            "reason": None,
            "acceptance_receipt": None,
            "observed_state": None,
        }
    )
    house.ledger.reserve(alien)
    await house.deliver(house.creation(record_id))
    item = await _asked(house, key, Reason.KEY_CONFLICT)
    assert house.writes(record_id) == []
    assert item.queue == "default"


@pytest.mark.parametrize("step", ["lead", "record_plan"])
async def test_a_ledger_that_is_gone_for_longer_than_a_source_is_waited_for_is_no_question(
    house: House, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Nothing is known of the source then, and there is nothing that a person could decide."""
    for of in (options.READ_SOURCE, options.PLAN):
        monkeypatch.setitem(of, "schedule_to_close_timeout", timedelta(seconds=1.5))
    works, back = getattr(SqlLedger, step), time.monotonic() + 4
    missed = []

    def gone(ledger: SqlLedger, *given: Any, **named: Any) -> Any:
        if activity.in_activity() and time.monotonic() < back:
            missed.append(step)
            raise LedgerUnavailable("the ledger is gone")
        return works(ledger, *given, **named)

    monkeypatch.setattr(SqlLedger, step, gone)
    record_id, key = await house.lead()
    await house.outcome(key, Outcome.DONE)
    assert len(missed) > 2
    assert house.ledger.review_of(key) is None
    assert house.ledger.decisions_of(key) == ()
    assert len(house.writes(record_id)) == 1
