"""The five cases of the article on idempotent CRM writes, each held against its four independent checks."""

from __future__ import annotations

import asyncio
import copy
import uuid
from functools import partial
from typing import Any

import httpx
import pytest

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Mutation, Reason, Status
from leadproof.domain.steps import Receipts
from leadproof.settings import load
from tests.articles.by_hand import mutation_key
from tests.articles.witness import applied, check_row, contacts, log_of
from tests.starter.wire import Wire
from tests.support.house import House, eventually_answered
from tests.support.serving import free_port, serving
from tests.workflows.test_creates import _form, _sent
from tests.workflows.test_reviews import _asked, _decided

pytestmark = pytest.mark.articles

KOFI = "005xx000001Sv6CAAS"
DANA = "005xx000001Sv6BAAS"


def _checked(
    house: House, mutation: Mutation, *, effects: int, status: Status, reason: Reason | None = None
) -> Receipts:
    """The article's four checks: one mutation key, one intended effect, complete evidence, the right classification.

    Args:
        effects: how often the effect landed, by the witness.
    """
    receipts = house.ledger.receipts(mutation.mutation_key)
    assert receipts is not None
    row = receipts.mutation
    assert row.mutation_key == mutation_key(row) == row.intent.mutation_key
    assert applied(house, row) == effects
    assert row.intent.fields
    assert row.intent.reason
    assert row.intent.policy_version == row.policy_version
    plan = house.ledger.plan_of(row.event_key, row.policy_version)
    assert plan is not None
    assert plan.snapshot is not None
    assert plan.snapshot["fields"]
    for attempt in receipts.attempts:
        assert attempt.answer is not None
        assert attempt.ended_at is not None
    assert [one.number for one in receipts.observations] == list(range(1, len(receipts.observations) + 1))
    assert all(one.identity and one.read_at for one in receipts.observations)
    check_row(house, row)
    assert (row.status, row.reason) == (status, reason)
    return receipts


async def test_1_of_two_starters_that_have_one_source_record_one_reserves_the_effect(
    house: House, network: Wire
) -> None:
    """Case 1 of the CRM-write article: two workers have the same source record before either has submitted.

    Whoever takes a delivery in is a starter here: two of them get the event five times each, all at once, while the
    network is stalled, so that nothing can have been submitted. One run is started and one reservation made, every
    other delivery is told *duplicate*, and one request leaves.
    """
    record_id = house.contact()
    event, key = house.creation(record_id), house.key_of(record_id)
    network.stall()
    second = load({**house.environment, "LEADPROOF_STARTER_PORT": str(free_port())}, dotenv=None)
    async with serving(second) as address, httpx.AsyncClient(base_url=address, timeout=20, trust_env=False) as http:
        other = copy.copy(house)
        other.http = http
        counts = await asyncio.gather(*(one.deliver(event) for one in [house, other] * 5))
    # a start whose answer came too late is a duplicate to the delivery that was sent again
    assert sum(count["started"] for count in counts) <= 1
    assert all(count["started"] + count["duplicate"] == 1 for count in counts)
    assert log_of(house, record_id) == []
    network.mend()
    await house.outcome(key, Outcome.DONE)
    assert log_of(house, record_id).count("contacts.write") == 1
    receipts = _checked(house, house.mutation(key), effects=1, status=Status.OBSERVED)
    assert [attempt.outcome for attempt in receipts.attempts] == [AnswerClass.ACCEPTED]


async def test_2_a_create_whose_answer_is_lost_is_uncertain_found_and_not_made_again(house: House) -> None:
    """Case 2 of the CRM-write article: the CRM applies the create, and its answer never arrives.

    The first read-back still shows nothing, so the mutation stands as `uncertain` for a while; then it is found by
    its external id. The witness received one create.
    """
    form = _form()
    email = form["lead"]["email"]
    house.control.fault("drop_after_apply", match=email)
    house.control.fault("stale_read", operation="contacts.read", after=3, times=2, match=email)
    key = await _sent(house, form)
    await house.outcome(key, Outcome.DONE)
    (record,) = contacts(house, email)
    receipts = _checked(house, house.mutation(key), effects=1, status=Status.OBSERVED)
    assert [attempt.outcome for attempt in receipts.attempts] == [AnswerClass.UNCERTAIN]
    assert receipts.mutation.provider_record_id == record["id"]
    assert record["properties"]["leadproof_external_id"] == receipts.mutation.target_record


async def test_3_a_stale_read_is_waited_for_and_then_put_to_a_person(house: House) -> None:
    """Case 3 of the CRM-write article: the read-back does not show yet what was written.

    One record lags for one read, and the write is observed by the next; another lags for longer than the observation
    window, and a person is asked while it stands as `uncertain`. Neither is written twice. When the record shows the
    write in the end, it is observed and the question closed.
    """
    brief, long = house.contact(), house.contact()
    house.control.fault("stale_read", operation="contacts.read", after=1, match=brief)
    house.control.fault("stale_read", operation="contacts.read", after=1, times=1000, match=long)
    await house.deliver(house.creation(brief), house.creation(long))
    await house.outcome(house.key_of(brief), Outcome.DONE)
    receipts = _checked(house, house.mutation(house.key_of(brief)), effects=1, status=Status.OBSERVED)
    assert [one.verdict for one in receipts.observations] == ["unknown", "one"]

    unresolved, item = await _asked(house, house.key_of(long))
    receipts = _checked(house, unresolved, effects=1, status=Status.UNCERTAIN)
    assert len(receipts.observations) > 1
    assert "one" not in {one.verdict for one in receipts.observations}
    assert item.queue == "default"
    house.control.delete("/faults")
    await house.outcome(house.key_of(long), Outcome.DONE)
    _checked(house, unresolved, effects=1, status=Status.OBSERVED)
    assert len(house.writes(brief)) == len(house.writes(long)) == 1


async def test_4_a_sellers_edit_is_not_overwritten_and_stops_what_depends_on_it(house: House) -> None:
    """Case 4 of the CRM-write article: a seller changes the owner between the write and its read-back.

    The mutation is `divergent` with both values and who changed it; the seller's owner stands at the witness. Once
    for a contact in HubSpot, and once for a lead in Salesforce that a second effect depends on, which is never made.
    """
    record_id = house.contact()
    moment = {"user": "9003", "moment": "after_write"}
    house.control.fault("human_edit", match=record_id, args={**moment, "fields": {"hubspot_owner_id": "503"}})
    email = f"{uuid.uuid4().hex}@lead.example"
    british = house.contact(email=email, country="GB", lastname="Bo", company="Acme")
    edit = {"user": DANA, "moment": "after_write", "fields": {"OwnerId": KOFI}}
    fault = {"provider": "salesforce", "operation": "leads.write", "kind": "human_edit", "match": email, "args": edit}
    house.control.post("/faults", fault)
    await house.deliver(house.creation(record_id), house.creation(british))

    mutation, _ = await _asked(house, house.key_of(record_id))
    receipts = _checked(house, mutation, effects=1, status=Status.DIVERGENT)
    (difference,) = receipts.mutation.differences
    assert (difference.field, difference.intended, difference.observed) == ("owner", "505", "503")
    assert difference.changed_by == "person:9003"
    assert house.properties(record_id)["hubspot_owner_id"] == "503"
    assert len(house.writes(record_id)) == 1

    await _asked(house, house.key_of(british))
    made, dependent = house.mutations(house.key_of(british))
    receipts = _checked(house, made, effects=1, status=Status.DIVERGENT)
    (difference,) = receipts.mutation.differences
    assert (difference.observed, difference.changed_by) == (KOFI, f"person:{DANA}")
    leads = house.control.get("/records", provider="salesforce", object="leads")
    assert [lead["properties"]["OwnerId"] for lead in leads if lead["properties"].get("Email") == email] == [KOFI]
    assert dependent.status is Status.RESERVED
    assert house.writes(british) == []


async def test_5_a_write_that_the_crm_does_not_permit_is_kept_as_refused_and_never_called_observed(
    house: House,
) -> None:
    """Case 5 of the CRM-write article: the CRM refuses our credentials.

    Each refusal is kept with its status and the CRM's code, the record at the witness is as it was, and when the
    policy's patience has passed a person is asked. When the permission is there, the same mutation is written.
    """
    record_id = house.contact()
    before = house.control.record(record_id)
    house.control.fault("reject_auth", match=record_id, times=1000, args={"status": 403})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    mutation, item = await _asked(house, key)
    receipts = _checked(house, mutation, effects=0, status=Status.REJECTED, reason=Reason.TARGET_REFUSES_US)
    answers = [attempt.answer for attempt in receipts.attempts if attempt.answer is not None]
    assert {(answer.outcome, answer.http_status) for answer in answers} == {(AnswerClass.REFUSES_US, 403)}
    assert all(answer.code for answer in answers)
    assert receipts.mutation.acceptance_receipt == answers[-1]
    assert house.control.record(record_id) == before
    told = await eventually_answered(partial(_says_review, house, key))
    assert [one["status"] for one in told["mutations"]] == ["rejected"]

    house.control.delete("/faults")
    await _decided(house, item, "retry")
    await house.outcome(key, Outcome.DONE)
    _checked(house, mutation, effects=1, status=Status.OBSERVED)


async def _says_review(house: House, key: str) -> dict[str, Any] | None:
    """What the run itself says, once it has heard of the question."""
    told: dict[str, Any] = await house.handle(key).query("status")
    return told if told["outcome"] == "review" else None
