"""Every way that a lead can end, and what the witness saw of it."""

from __future__ import annotations

import pytest

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Reason, Status
from tests.support.house import House

FINAL = tuple(outcome for outcome in Outcome if outcome.final)


async def test_a_lead_goes_all_the_way(house: House) -> None:
    record_id = house.contact()
    event = house.creation(record_id)
    counts = [await house.deliver(event, event), await house.deliver(event)]
    assert [c["started"] for c in counts] == [1, 0]
    assert [c["duplicate"] for c in counts] == [1, 1]
    lead = await house.outcome(house.key_of(record_id), Outcome.DONE)
    mutation = house.mutation(lead.event_key)
    assert (mutation.status, mutation.reason) == (Status.OBSERVED, None)
    assert len(house.writes(record_id)) == 1
    stands = house.properties(record_id)
    assert stands["hubspot_owner_id"] == "505"
    assert stands["lifecyclestage"] == "marketingqualifiedlead"
    assert stands["leadproof_effect"] == mutation.mutation_key
    assert stands["leadproof_external_id"] == mutation.target_record
    assert lead.deliveries == 3


async def test_the_run_takes_four_activities_and_three_calls_of_the_provider(house: House) -> None:
    record_id, key = await house.lead()
    assert await house.handle(key).result() == Outcome.DONE
    history = await house.handle(key).fetch_history()
    names = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in history.events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    assert names == ["read_source", "plan", "write", "reconcile"]
    calls = [row for row in house.control.get("/requests", provider="hubspot") if f"/{record_id}" in row["path"]]
    assert [row["operation"] for row in calls] == ["contacts.read", "contacts.write", "contacts.read"]


async def test_a_contact_that_somebody_owns_needs_nothing(house: House) -> None:
    record_id, key = await house.lead(hubspot_owner_id="501")
    await house.outcome(key, Outcome.NOTHING_TO_DO)
    assert house.writes(record_id) == []


async def test_a_record_that_is_so_already_is_not_written(house: House) -> None:
    record_id, key = await house.lead(
        email="already.so@gmail.com", company="", lifecyclestage="lead", hs_lead_status="BAD_TIMING"
    )
    await house.outcome(key, Outcome.DONE)
    mutation = house.mutation(key)
    assert (mutation.status, mutation.reason) == (Status.OBSERVED, Reason.ALREADY_SO)
    assert house.writes(record_id) == []


async def test_a_record_that_was_archived_is_gone(house: House) -> None:
    record_id = house.contact()
    house.control.delete("/records", {"provider": "hubspot", "object": "contacts", "id": record_id, "user": "9001"})
    await house.deliver(house.creation(record_id))
    await house.outcome(house.key_of(record_id), Outcome.GONE)


async def test_a_record_that_was_merged_away_is_gone(house: House) -> None:
    winner, loser = house.contact(), house.contact()
    house.control.post(
        "/merge", {"provider": "hubspot", "object": "contacts", "winner": winner, "loser": loser, "user": "9001"}
    )
    await house.deliver(house.creation(loser))
    await house.outcome(house.key_of(loser), Outcome.GONE)


async def test_a_record_that_never_can_be_read_is_gone_when_the_window_has_passed(house: House) -> None:
    await house.deliver(house.creation("999000999"))
    await house.outcome(house.key_of("999000999"), Outcome.GONE)


async def test_an_answer_that_is_lost_after_the_write_is_found_by_the_read_back(house: House) -> None:
    record_id = house.contact()
    house.control.fault("drop_after_apply", match=record_id)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await house.outcome(key, Outcome.DONE)
    (attempt,) = house.ledger.attempts_of(house.mutation(key).mutation_key)
    assert attempt.outcome is AnswerClass.UNCERTAIN
    assert len(house.writes(record_id)) == 1


async def test_a_write_that_never_arrived_is_made_again_once_it_cannot_arrive_any_more(house: House) -> None:
    record_id = house.contact()
    house.control.fault("drop_before_apply", match=record_id)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await house.outcome(key, Outcome.DONE)
    first, second = house.ledger.attempts_of(house.mutation(key).mutation_key)
    assert second.started_at > first.send_before
    assert [row["applied"] for row in house.writes(record_id)] == [False, True]


async def test_a_write_that_is_applied_late_is_waited_for(house: House) -> None:
    record_id = house.contact()
    house.control.fault("apply_later", match=record_id, args={"seconds": 0.4})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await house.outcome(key, Outcome.DONE)
    assert len(house.ledger.attempts_of(house.mutation(key).mutation_key)) == 1


@pytest.mark.parametrize("kind", ["rate_limit", "lock"])
async def test_what_was_provably_not_applied_is_tried_again(house: House, kind: str) -> None:
    record_id = house.contact()
    house.control.fault(kind, match=record_id, args={"retry_after": 0} if kind == "rate_limit" else {})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await house.outcome(key, Outcome.DONE, within=20)
    outcomes = [attempt.outcome for attempt in house.ledger.attempts_of(house.mutation(key).mutation_key)]
    assert outcomes == [AnswerClass.NOT_APPLIED, AnswerClass.ACCEPTED]


async def test_a_read_that_lags_is_read_again(house: House) -> None:
    record_id = house.contact()
    house.control.fault("stale_read", operation="contacts.read", after=1, match=record_id)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await house.outcome(key, Outcome.DONE)
    receipts = house.ledger.receipts(house.mutation(key).mutation_key)
    assert receipts is not None
    assert [observation.verdict for observation in receipts.observations] == ["unknown", "one"]
    assert len(house.writes(record_id)) == 1


async def test_the_status_query_says_nothing_personal(house: House) -> None:
    record_id, key = await house.lead(firstname="Vanda", email="vanda.secret@lead.example")
    await house.outcome(key, Outcome.DONE)
    status = await house.handle(key).query("status")
    assert status["outcome"] == "done"
    assert status["mutations"][0]["status"] == "observed"
    assert "vanda" not in str(status).lower()
    assert record_id
