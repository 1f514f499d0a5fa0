"""The seven test items of the article on a CRM's webhook that comes twice. Its message is the write to the CRM here."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Reason, Status
from tests.articles.by_hand import check_keys, digest
from tests.articles.conftest import Wreck
from tests.articles.forgetting import forget, is_forgotten
from tests.articles.witness import applied, check_row, effects_in_log
from tests.crash.evidence import holds
from tests.sandbox.receiver import receiving
from tests.starter.wire import Wire
from tests.support.house import APP, SECRET, House, eventually
from tests.workflows.test_events import _key
from tests.workflows.test_reviews import BIG, _asked, _decided

pytestmark = pytest.mark.articles

WEEK = 7 * 24 * 3600 * 1000
"""In milliseconds, as HubSpot counts."""


@pytest.fixture(autouse=True)
def _store_is_looked_at(request: pytest.FixtureRequest) -> Iterator[None]:
    """As the article's item 4 wants it: after each test, whatever it was about."""
    wrecked = "wreck" in request.fixturenames
    house: House = request.getfixturevalue("wreck").house if wrecked else request.getfixturevalue("house")
    yield
    check_keys(house)


async def _recorded(house: House) -> tuple[str, bytes]:
    """A contact that a person makes, and the delivery that the CRM sends of it, byte for byte."""
    with receiving() as receiver:
        told = {"target": receiver.target, "secret": SECRET, "subscriptions": ["contact.creation"]}
        house.control.post("/webhooks", told)
        record_id = house.contact()
        delivery = await eventually(lambda: receiver.deliveries)
        house.control.post("/webhooks", {"on": False})
    return record_id, delivery[0].body


async def test_1_a_recorded_delivery_that_is_replayed_makes_one_effect(house: House) -> None:
    """Item 1 of the CRM-webhook article: one recorded payload twice.

    Once while the first is being worked on, and once when that is done: the starter answers *duplicate*, one row is
    `observed`, and the witness had one write.
    """
    record_id, body = await _recorded(house)
    counts = [await house.deliver_bytes(body), await house.deliver_bytes(body)]
    key = house.key_of(record_id)
    await house.outcome(key, Outcome.DONE)
    counts.append(await house.deliver_bytes(body))
    assert [(count["started"], count["duplicate"]) for count in counts] == [(1, 0), (0, 1), (0, 1)]
    lead = await house.outcome(key, Outcome.DONE)
    assert lead.deliveries == 3
    assert house.mutation(key).status is Status.OBSERVED
    holds(house, key)
    assert len(house.writes(record_id)) == 1


@pytest.mark.crash
@pytest.mark.timeout(180)
@pytest.mark.parametrize("where", ["unsent", "unheard"])
def test_2_a_worker_killed_between_reservation_and_answer_leaves_an_effect_or_a_question(
    wreck: Wreck, where: str
) -> None:
    """Item 2 of the CRM-webhook article: SIGKILL after the reservation and before the send has ended, then a replay.

    The system completes the original write, and then nobody is asked: never a question about an effect that stands as
    done. Killed before anything was sent, the write is made; killed after it had landed, it is found.
    """
    house, killed = wreck.house, getattr(wreck, where)
    assert (killed.counts["started"], killed.counts["duplicate"]) == (0, 1)
    holds(house, killed.key)
    receipts = house.ledger.receipts(house.mutation(killed.key).mutation_key)
    assert receipts is not None
    assert receipts.review is None
    assert [row["applied"] for row in house.writes(killed.record_id)] == [True]


async def test_3_two_events_of_one_lead_both_go_through(house: House) -> None:
    """Item 3 of the CRM-webhook article: a creation, and an update a minute later.

    They are two events with a key each, so neither is taken for the other: the witness's history has both effects, in
    their order, and the second is no conflict with what the first has just written.
    """
    record_id = house.contact(email=f"two.{time.time_ns()}@gmail.com", company="")
    now = int(time.time() * 1000)
    await house.deliver(house.creation(record_id, occurredAt=now - 60_000))
    await eventually(lambda: house.properties(record_id).get("leadproof_effect"))
    house.control.person("9003", record_id, company="Acme")
    change = house.change(record_id, "company", "Acme", occurredAt=now)
    assert (await house.deliver(change))["started"] == 1
    first, second = house.key_of(record_id), _key(house, {"id": record_id}, change)
    for key in (first, second):
        await house.outcome(key, Outcome.DONE)
        holds(house, key)
    marks = house.control.record(record_id)["history"]["leadproof_effect"]
    ours = [house.mutation(key).mutation_key for key in (second, first)]
    assert [mark["value"] for mark in marks] == ours
    stands = house.properties(record_id)
    assert (stands["hubspot_owner_id"], stands["hs_lead_status"]) == ("505", "NEW")


async def test_4_the_key_is_made_of_the_decision_and_not_of_the_raw_event_id(house: House) -> None:
    """Item 4 of the CRM-webhook article: what the key in the store is made of; looked at after every other test, too.

    Ruling: no concatenation but an array in canonical JSON; the event's identity is what HubSpot keeps over a retry,
    and its `eventId`, which it does not, is in no key; the intent is the kind of action, and the line that a message
    would be sent from is the target system and object of a write. The witness's record carries the very same key.
    """
    record_id, other = house.contact(), house.contact()
    change = house.change(record_id, "company", "Acme", eventId=77)
    same_id = house.change(other, "company", "Acme", eventId=77)
    again = {**change, "eventId": 78, "subscriptionId": 9, "attemptNumber": 3}
    assert (await house.deliver(change, same_id))["started"] == 2
    assert (await house.deliver(again))["duplicate"] == 1
    where = (house.settings.tenant, house.settings.environment, "hubspot")
    for event in (change, same_id):
        occurrence = f'["contact.propertyChange","company","{event["occurredAt"]}"]'
        event_key = digest("lead-event/1", *where, str(event["objectId"]), "contact.propertyChange", occurrence)
        lead = await house.outcome(event_key, Outcome.DONE)
        key = digest("mutation/1", event_key, lead.policy_version, "qualify", "hubspot", "contact", None)
        assert house.mutation(event_key).mutation_key == key
        assert house.properties(str(event["objectId"]))["leadproof_effect"] == key
    assert len(house.writes(record_id)) == len(house.writes(other)) == 1


async def test_5_a_network_that_is_gone_leaves_no_row_without_a_way_on(house: House, network: Wire) -> None:
    """Item 5 of the CRM-webhook article: the network to the CRM is turned off in mid-test.

    Ruling: the article wants *failed*; that is said only of what provably did not happen. A write that was under way
    is `uncertain`, one that could not begin was *not sent*; both are put to a person in time, and when the network is
    back the first is found and the second made: one effect each.
    """
    under_way, later = house.contact(), house.contact(**BIG)
    await house.deliver(house.creation(later))
    house.control.fault("delay", match=under_way, args={"seconds": 1.2})
    _, asked = await _asked(house, house.key_of(later))
    await house.deliver(house.creation(under_way))
    await eventually(lambda: house.properties(under_way).get("leadproof_effect"))
    network.cut()
    await house.decide(asked.review_id, "approve", version=asked.version)

    mutation, _ = await _asked(house, house.key_of(under_way))
    (attempt,) = house.ledger.attempts_of(mutation.mutation_key)
    assert (mutation.status, attempt.outcome) == (Status.UNCERTAIN, AnswerClass.UNCERTAIN)
    refused = await eventually(lambda: _rejected(house, house.key_of(later)))
    attempts = house.ledger.attempts_of(refused)
    assert {one.outcome for one in attempts} == {AnswerClass.NOT_SENT}
    assert house.writes(later) == []

    network.mend()
    await house.outcome(house.key_of(under_way), Outcome.DONE)
    _, item = await _asked(house, house.key_of(later))
    await _decided(house, item, "retry")
    await house.outcome(house.key_of(later), Outcome.DONE)
    for record_id in (under_way, later):
        assert applied(house, house.mutation(house.key_of(record_id))) == 1
        assert [row["applied"] for row in house.writes(record_id)] == [True]


def _rejected(house: House, key: str) -> str | None:
    mutation = house.mutation(key)
    return mutation.mutation_key if mutation.status is Status.REJECTED else None


def _reshaped(event: dict[str, Any]) -> list[dict[str, Any]]:
    """The event as its source might word it after a change that leaves its meaning."""
    kind = {name: value for name, value in event.items() if name != "subscriptionType"}
    return [
        {**event, "eventId": 5, "subscriptionId": 6, "appId": APP + 1, "attemptNumber": 4},
        {**event, "correlationId": "c-1", "actor": {"id": 9001, "kind": "user"}, "labels": ["a", "b"]},
        {**event, **{name: str(event[name]) for name in ("objectId", "portalId", "occurredAt")}},
        {**event, "subscriptionType": "object.creation", "objectTypeId": "0-1"},
        {**kind, "eventType": "contact.creation"},
        dict(reversed(event.items())),
    ]


def _renamed(event: dict[str, Any], name: str) -> dict[str, Any]:
    return {f"{one}V2" if one == name else one: value for one, value in event.items()}


async def test_6_a_week_later_and_in_another_shape_it_is_the_same_event_or_says_that_it_is_none(house: House) -> None:
    """Item 6 of the CRM-webhook article: the sequence again after a week, and after a change of the payload's shape.

    The run has been deleted in Temporal, as its retention does. What has more fields, other types or another order
    has its old key; where a field that the key is made of is called something else now, the event is quarantined with
    the name of what is missing. Either way the witness has one write.
    """
    record_id, body = await _recorded(house)
    ((event),) = json.loads(body)
    event["occurredAt"] -= WEEK
    assert (await house.deliver(event))["started"] == 1
    key = house.key_of(record_id)
    await house.outcome(key, Outcome.DONE)
    await forget(house, key)

    for shape in _reshaped(event):
        assert (await house.deliver(shape))["duplicate"] == 1
    names = ("objectId", "portalId", "occurredAt", "subscriptionType")
    counts = await house.deliver(*(_renamed(event, name) for name in names))
    assert (counts["quarantined"], counts["started"]) == (len(names), 0)
    kept, _ = house.ledger.quarantined(limit=len(names))
    assert {row.reason.split()[1] for row in kept} == set(names)
    assert all(row.reason.startswith("malformed: ") for row in kept)
    assert await is_forgotten(house, key)
    assert len(house.writes(record_id)) == 1


async def test_7_the_store_and_the_providers_own_log_say_the_same_row_by_row(house: House) -> None:
    """Item 7 of the CRM-webhook article: the store against the provider's log, and not against what we believe.

    A clean write, a lost answer, a lost request, an edit by a person, a refusal, and a lead that needs nothing: each
    attempt that left is one request in the log with the same answer, each effect that stands as done landed once, and
    the log has no write that the ledger does not know.
    """
    edit = {"fields": {"hubspot_owner_id": "503"}, "user": "9003", "moment": "after_write"}
    refusal = {"status": 400, "body": {"category": "VALIDATION_ERROR", "errors": [{"code": "INVALID_OPTION"}]}}
    faults: dict[str, tuple[str, dict[str, Any]] | None] = {
        "clean": None,
        "answer lost": ("drop_after_apply", {}),
        "request lost": ("drop_before_apply", {}),
        "edited": ("human_edit", edit),
        "refused": ("status", refusal),
    }
    records = {name: house.contact() for name in faults}
    for name, fault in faults.items():
        if fault is not None:
            house.control.fault(fault[0], match=records[name], args=fault[1])
    needless = house.contact(hubspot_owner_id="501")
    events = [house.creation(record_id) for record_id in (*records.values(), needless)]
    await asyncio.gather(house.deliver(*events), house.deliver(*events))
    ends = dict.fromkeys(faults, Outcome.DONE) | dict.fromkeys(("edited", "refused"), Outcome.REVIEW)
    await asyncio.gather(*(house.outcome(house.key_of(records[name]), end) for name, end in ends.items()))
    await house.outcome(house.key_of(needless), Outcome.NOTHING_TO_DO)

    rows = {name: house.mutation(house.key_of(record_id)) for name, record_id in records.items()}
    assert {name: (row.status, row.reason, applied(house, row)) for name, row in rows.items()} == {
        "clean": (Status.OBSERVED, None, 1),
        "answer lost": (Status.OBSERVED, None, 1),
        "request lost": (Status.OBSERVED, None, 1),
        "edited": (Status.DIVERGENT, None, 1),
        "refused": (Status.REJECTED, Reason.REFUSES_THIS, 0),
    }
    for row in rows.values():
        check_row(house, row)
    assert house.writes(needless) == []
    for mutation_key, times in effects_in_log(house).items():
        known = house.ledger.mutation(mutation_key)
        assert known is not None
        assert times == 1
