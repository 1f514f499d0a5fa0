"""Questions for people: how each comes to be, and what each decision does."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import WorkflowUpdateFailedError

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.review import ReviewItem
from tests.support.house import House, eventually, eventually_answered
from tests.workflows.test_events import _key

BIG = {"numemployees": "1000+"}


async def _asked(house: House, key: str) -> tuple[Mutation, ReviewItem]:
    await house.outcome(key, Outcome.REVIEW)
    for mutation in house.mutations(key):
        item = house.ledger.review_of(mutation.mutation_key)
        if item is not None:
            return mutation, item
    raise AssertionError("no mutation has an open item")


async def _decided(house: House, item: ReviewItem, decision: str, **more: Any) -> dict[str, Any]:
    answer = await house.decide(item.review_id, decision, version=item.version, **more)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def test_an_owner_of_a_big_account_is_approved_by_a_person(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    mutation, item = await _asked(house, key)
    assert (mutation.status, mutation.reason) == (Status.RESERVED, Reason.NEEDS_APPROVAL)
    assert item.queue == "enterprise"
    assert house.writes(record_id) == []
    told = await eventually_answered(partial(_asks, house, key))
    assert "Why: a company of 1000 people or more is given to a seller by a person" in told
    assert f"would set lead_status, lifecycle_stage, owner of hubspot contact {record_id}; looked at: employees" in told
    assert f"from hubspot, hubspot contact {record_id}, policy" in told
    assert "Planned by rules: enterprise" in told
    assert "1000+" not in told
    status = await house.handle(key).query("status")
    assert not {"deliveries", "conflicts", "last_seen_at"} & set(status)
    await _decided(house, item, "approve")
    await house.outcome(key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1


async def _told(house: House, key: str) -> str:
    """The run's current details, as Temporal's UI asks for them."""
    metadata = await house.handle(key).query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    return str(metadata.current_details)


async def _asks(house: House, key: str) -> str | None:
    """The details once they ask: the ledger knows of a question a moment before the run does."""
    told = await _told(house, key)
    return told if "Question for queue" in told else None


async def test_who_sends_a_wrong_signal_is_told_in_the_details_until_one_is_taken(house: House) -> None:
    _, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    handle = house.handle(key)
    await handle.signal("decide", {"review_id": item.review_id, "version": item.version, "action": "approve"})
    wrong = (
        "missing or wrong: decision, a field that a decision does not have; a decision is one of approve, retry, "
        "accept, overwrite, restore, abandon, plan_again; possible: approve, abandon"
    )
    told = await eventually_answered(lambda: _decision_told(house, key, "malformed"))
    assert told == f"**Last decision not taken: malformed: {wrong}**"
    await handle.signal("decide", {"review_id": item.review_id, "version": item.version, "decision": "retry"})
    told = await eventually_answered(lambda: _decision_told(house, key, "impossible"))
    assert told.endswith("; possible: approve, abandon**")
    assert [one.verdict for one in house.ledger.decisions_of(key)] == ["malformed", "impossible"]
    await _decided(house, item, "approve")
    await house.handle(key).result()
    assert "not taken" not in await _told(house, key)


async def _decision_told(house: House, key: str, verdict: str) -> str | None:
    lines = (await _told(house, key)).splitlines()
    return next((line for line in lines if line.startswith(f"**Last decision not taken: {verdict}: ")), None)


async def test_an_approval_by_a_bare_signal_is_recorded_under_its_sender(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    decision = {"review_id": item.review_id, "version": 1, "decision": "approve", "reviewer": "the CEO"}
    await house.handle(key).signal("decide", decision)
    await house.outcome(key, Outcome.DONE)
    receipts = house.ledger.receipts(house.mutation(key).mutation_key)
    assert receipts is not None
    (row,) = receipts.decisions
    assert row.reviewer == f"temporal:{house.client.service_client.config.identity}"
    assert row.via == "signal"
    assert len(house.writes(record_id)) == 1


async def test_whatever_is_sent_as_a_signal_the_run_goes_on(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    handle = house.handle(key)
    await handle.signal("decide")
    await handle.signal("decide", args=[{}, {}])
    await handle.signal("decide", "approve")
    await handle.signal("decide", {"review_id": item.review_id, "version": "one", "decision": "approve"})
    await handle.signal("decide", [1, 2, 3])
    await handle.signal("decied", {"review_id": item.review_id})
    assert (await handle.query("status"))["outcome"] == "review"
    await handle.signal("decide", {"review_id": item.review_id, "version": 1, "decision": "approve"})
    await house.outcome(key, Outcome.DONE)
    assert len(house.writes(record_id)) == 1


async def test_a_decision_by_update_is_answered_and_a_malformed_one_is_refused(house: House) -> None:
    _, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    handle = house.handle(key)
    with pytest.raises(WorkflowUpdateFailedError):
        await handle.execute_update("submit_decision", {"decision": "approve"})
    decision = {"review_id": item.review_id, "version": 1, "decision": "approve"}
    assert (await handle.execute_update("submit_decision", decision))["verdict"] == "applied"
    await house.outcome(key, Outcome.DONE)
    answer = await house.decide(item.review_id, "approve", reason="once more")
    assert answer.status_code == 409


async def test_what_is_declined_is_abandoned(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    await _decided(house, item, "abandon")
    await house.outcome(key, Outcome.ABANDONED)
    mutation = house.mutation(key)
    assert (mutation.status, mutation.reason) == (Status.ABANDONED, Reason.DECLINED)
    assert house.writes(record_id) == []


async def test_an_edit_while_the_approval_was_awaited_is_not_overwritten(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    house.control.person("9003", record_id, hubspot_owner_id="503")
    await _decided(house, item, "approve")
    await house.until(key, lambda lead: house.mutation(key).status is Status.DIVERGENT)
    mutation, _ = await _asked(house, key)
    assert mutation.reason is Reason.CHANGED_BEFORE_WRITE
    assert house.writes(record_id) == []
    difference = next(d for d in mutation.differences if d.field == "owner")
    assert (difference.observed, difference.changed_by) == ("503", "person:9003")


async def test_a_person_who_sets_again_what_we_once_wrote_is_not_overwritten(house: House) -> None:
    """We wrote BAD_TIMING; one person moved it on and another went back to it while an approval was awaited."""
    record_id, first = await house.lead(email=f"a.{time.time_ns()}@gmail.com", company="")
    await house.outcome(first, Outcome.DONE)
    assert house.properties(record_id)["hs_lead_status"] == "BAD_TIMING"
    house.control.person("9002", record_id, hs_lead_status="OPEN", company="Huge", **BIG)
    change = house.change(record_id, "company", "Huge")
    await house.deliver(change)
    key = _key(house, {"id": record_id}, change)
    mutation, item = await _asked(house, key)
    assert (mutation.reason, (mutation.base_state or {})["lead_status"]) == (Reason.NEEDS_APPROVAL, "OPEN")
    house.control.person("9003", record_id, hs_lead_status="BAD_TIMING")
    await _decided(house, item, "approve")
    await house.until(key, lambda lead: house.mutation(key).status is Status.DIVERGENT)
    mutation, _ = await _asked(house, key)
    assert mutation.reason is Reason.CHANGED_BEFORE_WRITE
    (difference,) = [d for d in mutation.differences if d.field == "lead_status"]
    assert (difference.observed, difference.changed_by) == ("BAD_TIMING", "person:9003")
    assert len(house.writes(record_id)) == 1
    assert house.properties(record_id)["hs_lead_status"] == "BAD_TIMING"


async def _divergent_by_edit_after_write(house: House) -> tuple[str, str, ReviewItem]:
    record_id = house.contact()
    edit = {"fields": {"hubspot_owner_id": "503"}, "user": "9003", "moment": "after_write"}
    house.control.fault("human_edit", match=record_id, args=edit)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    mutation, item = await _asked(house, key)
    assert mutation.status is Status.DIVERGENT
    return record_id, key, item


async def test_an_edit_after_the_write_is_divergent_and_accepted(house: House) -> None:
    record_id, key, item = await _divergent_by_edit_after_write(house)
    (difference,) = house.mutation(key).differences
    assert (difference.field, difference.changed_by) == ("owner", "person:9003")
    await _decided(house, item, "accept")
    await house.outcome(key, Outcome.SUPERSEDED)
    assert house.properties(record_id)["hubspot_owner_id"] == "503"
    assert len(house.writes(record_id)) == 1


async def test_an_overwrite_is_a_mutation_of_its_own(house: House) -> None:
    record_id, key, item = await _divergent_by_edit_after_write(house)
    await _decided(house, item, "overwrite")
    await house.outcome(key, Outcome.DONE)
    parent, derived = house.mutations(key)
    assert parent.status is Status.SUPERSEDED
    assert (derived.parent_key, derived.status) == (parent.mutation_key, Status.OBSERVED)
    assert house.properties(record_id)["hubspot_owner_id"] == "505"
    assert len(house.writes(record_id)) == 2


async def test_an_overwrite_is_refused_when_the_record_has_moved_on(house: House) -> None:
    record_id, key, item = await _divergent_by_edit_after_write(house)
    house.control.person("9002", record_id, hubspot_owner_id="502")
    await _decided(house, item, "overwrite")
    await eventually(lambda: [m for m in house.mutations(key) if m.parent_key and m.status is Status.DIVERGENT])
    _, derived = house.mutations(key)
    assert derived.reason is Reason.CHANGED_BEFORE_WRITE
    assert house.properties(record_id)["hubspot_owner_id"] == "502"
    assert len(house.writes(record_id)) == 1


async def test_an_edit_that_our_write_replaced_unseen_is_kept_and_restored(house: House) -> None:
    record_id = house.contact()
    edit = {"fields": {"hubspot_owner_id": "503"}, "user": "9003", "moment": "before_write"}
    house.control.fault("human_edit", match=record_id, args=edit)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    mutation, item = await _asked(house, key)
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.OVERWROTE_UNSEEN_EDIT)
    (difference,) = mutation.differences
    assert (difference.field, difference.lost, difference.changed_by) == ("owner", "503", "person:9003")
    await _decided(house, item, "restore")
    await house.outcome(key, Outcome.DONE)
    assert house.properties(record_id)["hubspot_owner_id"] == "503"
    assert house.properties(record_id)["lifecyclestage"] == "marketingqualifiedlead"


async def test_a_restore_is_refused_when_the_record_has_moved_on(house: House) -> None:
    record_id = house.contact()
    edit = {"fields": {"hubspot_owner_id": "503"}, "user": "9003", "moment": "before_write"}
    house.control.fault("human_edit", match=record_id, args=edit)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    _, item = await _asked(house, key)
    house.control.person("9002", record_id, hubspot_owner_id="502")
    await _decided(house, item, "restore")
    await eventually(lambda: [m for m in house.mutations(key) if m.parent_key and m.status is Status.DIVERGENT])
    parent, derived = house.mutations(key)
    assert (parent.status, derived.reason) == (Status.SUPERSEDED, Reason.CHANGED_BEFORE_WRITE)
    assert [(d.field, d.intended, d.observed, d.changed_by) for d in derived.differences] == [
        ("owner", "503", "502", "person:9002")
    ]
    assert house.properties(record_id)["hubspot_owner_id"] == "502"
    assert len(house.writes(record_id)) == 1


def _stages(house: House, record_id: str) -> list[str]:
    """What our writes set the stage to, as the witness received them."""
    sent = [row["body"]["properties"] for row in house.writes(record_id)]
    return [properties["lifecyclestage"] for properties in sent if "lifecyclestage" in properties]


async def test_a_stage_that_our_write_replaced_unseen_is_restored_in_two_writes(house: House) -> None:
    """HubSpot moves no stage backward: it is emptied first, or the restore would be answered 200 and change nothing."""
    record_id = house.contact()
    edit = {"fields": {"lifecyclestage": "lead"}, "user": "9003", "moment": "before_write"}
    house.control.fault("human_edit", match=record_id, args=edit)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    _, item = await _asked(house, key)
    await _decided(house, item, "restore")
    await house.outcome(key, Outcome.DONE)
    assert house.properties(record_id)["lifecyclestage"] == "lead"
    assert _stages(house, record_id) == ["marketingqualifiedlead", "", "lead"]
    _, clear, move = house.mutations(key)
    assert [clear.action_kind, move.action_kind] == ["clear_stage", "set_stage"]
    assert move.depends_on == (clear.mutation_key,)


async def test_an_overwrite_of_a_higher_stage_is_two_writes(house: House) -> None:
    record_id = house.contact()
    edit = {"fields": {"lifecyclestage": "customer"}, "user": "9003", "moment": "after_write"}
    house.control.fault("human_edit", match=record_id, args=edit)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    _, item = await _asked(house, key)
    await _decided(house, item, "overwrite")
    await house.outcome(key, Outcome.DONE)
    assert house.properties(record_id)["lifecyclestage"] == "marketingqualifiedlead"
    assert _stages(house, record_id) == ["marketingqualifiedlead", "", "marketingqualifiedlead"]


async def test_automation_that_rewrites_is_told_apart_from_people(house: House) -> None:
    record_id = house.contact()
    house.control.fault("rewrite", match=record_id, args={"fields": {"hs_lead_status": "IN_PROGRESS"}})
    await house.deliver(house.creation(record_id))
    mutation, item = await _asked(house, house.key_of(record_id))
    (difference,) = mutation.differences
    assert difference.field == "lead_status"
    assert (difference.changed_by or "").startswith("automation:")
    await _decided(house, item, "abandon")
    await house.outcome(house.key_of(record_id), Outcome.ABANDONED)


async def test_a_record_merged_while_a_person_was_asked_is_not_written(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    winner = house.contact()
    house.control.post(
        "/merge", {"provider": "hubspot", "object": "contacts", "winner": winner, "loser": record_id, "user": "9001"}
    )
    await _decided(house, item, "approve")
    await house.until(key, lambda lead: house.mutation(key).status is Status.DIVERGENT)
    assert house.mutation(key).reason is Reason.MERGED
    assert house.writes(record_id) == []


async def test_a_record_removed_while_a_person_was_asked_is_not_made_again(house: House) -> None:
    record_id, key = await house.lead(**BIG)
    _, item = await _asked(house, key)
    house.control.delete("/records", {"provider": "hubspot", "object": "contacts", "id": record_id, "user": "9001"})
    await _decided(house, item, "approve")
    await house.until(key, lambda lead: house.mutation(key).status is Status.DIVERGENT)
    assert house.mutation(key).reason is Reason.REMOVED


async def test_what_the_target_refuses_is_rejected_and_can_be_retried(house: House) -> None:
    record_id = house.contact()
    body = {"status": "error", "category": "VALIDATION_ERROR", "errors": [{"code": "INVALID_OPTION", "message": "no"}]}
    house.control.fault("status", match=record_id, args={"status": 400, "body": body})
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    mutation, item = await _asked(house, key)
    assert (mutation.status, mutation.reason) == (Status.REJECTED, Reason.REFUSES_THIS)
    why = house.ledger.about([item])[item.review_id].why
    assert why == "hubspot refused this write, and the record is unchanged: INVALID_OPTION"
    assert f"Why: {why}" in await eventually_answered(partial(_asks, house, key))
    await _decided(house, item, "retry")
    await house.outcome(key, Outcome.DONE)
    assert [row["status"] for row in house.writes(record_id)] == [400, 200]


async def test_writes_park_while_the_target_refuses_us_and_a_person_is_asked_in_the_end(house: House) -> None:
    record_id = house.contact()
    house.control.fault("reject_auth", match=record_id, times=1000)
    house.control.fault("reject_auth", operation="contacts.read", after=1, match=record_id, times=1000)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    mutation, item = await _asked(house, key)
    assert (mutation.status, mutation.reason) == (Status.REJECTED, Reason.TARGET_REFUSES_US)
    assert len(house.writes(record_id)) == 1
    row = house.ledger.target("hubspot")
    assert row is not None
    assert row.state == "down"
    house.control.delete("/faults")
    await _decided(house, item, "retry")
    await house.outcome(key, Outcome.DONE)
    row = house.ledger.target("hubspot")
    assert row is not None
    assert row.state == "up"


async def test_a_write_that_never_arrives_is_a_question_after_the_last_attempt(house: House) -> None:
    record_id = house.contact()
    house.control.fault("drop_before_apply", match=record_id, times=3)
    await house.deliver(house.creation(record_id))
    key = house.key_of(record_id)
    await house.outcome(key, Outcome.REVIEW, within=30)
    mutation, item = await _asked(house, key)
    assert mutation.status is Status.UNCERTAIN
    await _decided(house, item, "retry")
    await house.outcome(key, Outcome.DONE)
    assert [row["applied"] for row in house.writes(record_id)] == [False, False, False, True]


async def test_a_backward_stage_is_a_question_and_two_writes(house: House) -> None:
    record_id, key = await house.lead(lifecyclestage="customer")
    await house.until(key, lambda lead: len([m for m in house.mutations(key) if m.status is Status.OBSERVED]) == 1)
    _, clear, move = house.mutations(key)
    assert (clear.action_kind, clear.reason) == ("clear_stage", Reason.NEEDS_APPROVAL)
    assert (move.action_kind, move.depends_on) == ("set_stage", (clear.mutation_key,))
    for mutation in (move, clear):
        item = await eventually(partial(house.ledger.review_of, mutation.mutation_key))
        await _decided(house, item, "approve")
    await house.outcome(key, Outcome.DONE)
    assert house.properties(record_id)["lifecyclestage"] == "marketingqualifiedlead"


async def test_what_depends_on_a_declined_effect_is_abandoned(house: House) -> None:
    record_id, key = await house.lead(lifecyclestage="customer")
    await house.until(key, lambda lead: len([m for m in house.mutations(key) if m.status is Status.OBSERVED]) == 1)
    _, clear, _ = house.mutations(key)
    item = await eventually(lambda: house.ledger.review_of(clear.mutation_key))
    await _decided(house, item, "abandon")
    await house.outcome(key, Outcome.PARTLY)
    _, _, move = house.mutations(key)
    assert (move.status, move.reason) == (Status.ABANDONED, Reason.DEPENDENCY)
    assert house.properties(record_id)["lifecyclestage"] == "customer"
