"""One question as people see it, and what becomes of their answers where nobody works."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from leadproof.domain.mutation import Reason
from leadproof.domain.plan import ActionKind
from leadproof.domain.review import DecisionVerdict, ReviewItem
from leadproof.domain.steps import Arrival
from tests.ledger import steps
from tests.starter.door import POLICY, Door, a_door, settings_of
from tests.starter.review.people import PAGE, Person, Read, clicked
from tests.starter.review.questions import (
    asked,
    edited,
    edited_again,
    planned,
    refused,
    replaced,
    unanswered,
    unplanned,
)
from tests.starter.test_reviews import a_question
from tests.support.ledgers import a_lead_event, a_mutation, a_plan

pytestmark = pytest.mark.usefixtures("impatient")


def decisions(door: Door, item: ReviewItem) -> list[tuple[Any, ...]]:
    rows = door.ledger.decisions_of(item.event_key)
    return [(row.decision, row.reviewer, row.via, row.reason, row.verdict) for row in rows]


async def test_a_difference_is_shown_field_by_field_with_who_and_when(door: Door, dana: Person) -> None:
    page = await dana.opens(edited(door).review_id)
    head = "Field Before We want In HubSpot now Difference Changed by"
    first = "owner Before (empty) We want kofi In HubSpot now dana Difference ≠ differs Changed by Dana"
    assert f"{head} {first} 2026-03-02 09:00:05 UTC" in page.text
    assert "lead status Before (empty) We want OPEN In HubSpot now OPEN Difference = same Changed by us" in page.text
    assert "qualify hubspot contact 9101: the record differs" in page.text
    assert page.offered() == ["accept", "overwrite", "abandon"]
    assert "Keep Dana's change (owner); nothing is written; counted as settled." in page.text
    assert "Write owner = kofi over what stands (now: dana)." in page.text
    table = page.text.partition("Exactly what overwrite writes ")[2]
    assert table.startswith("Field Before After Difference owner Before dana After kofi Difference ≠ differs")
    assert "lead status Before OPEN After OPEN Difference = same" in table


async def test_the_lead_the_plan_and_what_happened_are_shown(door: Door, dana: Person) -> None:
    page = await dana.opens(edited(door).review_id)
    assert "What happened: contact created (contact.creation), told by hubspot 101" in page.text
    assert "first name Mira" in page.text
    assert "Planned by rules (policy embedded-2): a seller takes it Why this write: a company of this size" in page.text
    assert "1200 people work there (employees)" in page.text
    happened = page.text.partition("What happened ")[2]
    kinds = [kind for kind in ("Planned", "Write 1", "Look 1", "Question") if kind in happened]
    assert sorted(kinds, key=happened.index) == ["Planned", "Write 1", "Look 1", "Question"]
    assert "Planned owner = kofi, lead status = OPEN" in happened
    assert "Write 1 accepted (HTTP 200)" in happened
    assert "Look 1 the record was found, with our write in it" in happened
    lead = door.ledger.leads()[0][0]
    run = f"http://temporal.example/namespaces/default/workflows/lead%3A{lead.event_key}"
    assert run in page.links
    assert "https://app.hubspot.com/contacts/62515/record/0-1/9101" in page.links


async def test_a_lost_answer_is_told_and_giving_it_up_needs_a_reason(door: Door, dana: Person) -> None:
    item = unanswered(door)
    page = await dana.opens(item.review_id)
    assert "Write 1 sent, and its answer was lost: connection reset by peer" in page.text
    assert "Look 1 could not be read: read timed out" in page.text
    assert "owner Before (empty) We want kofi In HubSpot now – Difference · not read yet" in page.text
    assert page.offered() == ["abandon"]
    assert "Retry is not offered: no read-back has shown yet that the earlier request changed nothing." in page.text
    assert "needed for abandon" in page.text
    answer = await dana.decides(item.review_id, "abandon", reason=" ")
    assert answer.status_code == 422
    shown = Read(answer.text)
    assert "Nothing was decided Say why, for those who read it later: abandon needs a reason." in shown.text
    assert shown.text.count("abandon needs a reason.") == 2  # at its button as well
    assert decisions(door, item) == []


async def test_an_edit_that_we_wrote_over_is_shown_as_lost(door: Door, dana: Person) -> None:
    page = await dana.opens(replaced(door).review_id)
    assert "In HubSpot now kofi Replaced value dana Difference ↺ edit replaced Changed by Dana" in page.text
    assert page.offered() == ["accept", "restore", "abandon", "overwrite"]
    assert "Put back Dana's change: owner = dana over what stands (now: kofi)." in page.text


async def test_what_the_policy_keeps_from_being_carried_out_is_told(unworked: Client, tmp_path: Path) -> None:
    text = POLICY.read_text(encoding="utf-8")
    unpermitted = text.replace('kind = "clear_stage"', 'kind = "link"').replace("clear_stage = 400", "link = 400")
    async with a_door(unworked, tmp_path, policy=unpermitted, settings=settings_of(**PAGE)) as door:
        row = planned(door, fields={"lifecycle_stage": "lead"}, base_state={"lifecycle_stage": None})
        item = steps.divergent(door.ledger, door.clock, row, None, (), fields={"lifecycle_stage": "customer"})
        page = await Person(door, "dana").opens(item.review_id)
        assert page.offered() == ["accept", "abandon"]
        why = "the stage would move backward, and the policy does not permit clear_stage and set_stage"
        assert f"Overwrite is not offered: {why}." in page.text
        assert "is not offered" not in (await Person(door, "mira").opens(item.review_id)).text


async def test_a_refusal_says_what_was_refused(door: Door, dana: Person) -> None:
    page = await dana.opens(refused(door).review_id)
    assert "Hubspot refused this write, and the record is unchanged: INVALID_OPTION, hs_lead_status." in page.text
    assert page.offered() == ["retry", "abandon"]
    assert "needed for" not in page.text


async def test_a_lead_without_a_plan(door: Door, dana: Person) -> None:
    page = await dana.opens(unplanned(door).review_id)
    assert page.offered() == ["abandon", "plan_again"]
    assert "Read the lead again and plan it from the beginning." in page.text
    assert "What was meant" not in page.text


async def test_what_waits_behind_it_is_shown(door: Door, dana: Person) -> None:
    event = a_lead_event("101", policy_version="embedded-2")
    first = a_mutation(event, provider_record_id="9101", reason=Reason.NEEDS_APPROVAL)
    needs: dict[str, Any] = {"reason": Reason.DEPENDS, "depends_on": (first.mutation_key,), "ordinal": 1}
    second = a_mutation(event, action=ActionKind.UPDATE, provider_record_id="9102", **needs)
    door.ledger.admit([Arrival(event=event)])
    door.ledger.record_plan(a_plan(event, [first, second]), [first, second])
    item = door.ledger.open_review(first.mutation_key, asked(door, Reason.NEEDS_APPROVAL))
    page = await dana.opens(item.review_id)
    assert "What waits behind it Depends on it update hubspot contact 9102: not written yet (depends)" in page.text
    assert (
        "Decline it; nothing is written; counted as given up, and 1 write that depends on it is skipped." in page.text
    )

    holder = edited(door, "201")
    later = planned(door, "202", target_record="one-record", provider_record_id="9201")
    steps.claim(door.ledger, later)
    page = await dana.opens(holder.review_id)
    assert "Waits for the same record qualify hubspot contact 9201, lead 202: not written yet" in page.text


async def test_a_decision_that_no_worker_answers_is_kept_and_the_page_goes_on_looking(
    door: Door, dana: Person, ada: Person
) -> None:
    item, _ = await a_question(door)
    page = await dana.decided(item.review_id, "approve", reason="knows them")
    assert "Kept: approve waits, since no worker has answered yet. It is applied as soon as one runs." in page.text
    assert decisions(door, item) == [("approve", "person:dana", "page", "knows them", "pending")]
    (row,) = door.ledger.decisions_of(item.event_key)
    shared = await ada.reads(f"/review/{item.review_id}", decision=row.decision_id)
    assert "Decision of person:dana Kept: approve waits" in shared.text
    assert await dana.looks_again(page) is None
    door.ledger.apply_decision(row.decision_id, quiescence=timedelta(0))
    told = await dana.looks_again(page)
    assert told is not None
    assert "Your decision Applied: approve." in told.text
    assert "Closed person:dana decided approve at 2026-03-02 09:00:00 UTC. Reason: knows them" in told.text
    assert "It is now: not written yet (approved)" in told.text
    assert await dana.looks_again(told) is None


async def test_the_same_click_again_changes_nothing_and_shows_the_same(door: Door, dana: Person) -> None:
    item, _ = await a_question(door)
    form = clicked(await dana.opens(item.review_id), "approve")
    answers = [await dana.sends(item.review_id, form) for _ in range(3)]
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert len(decisions(door, item)) == 1
    row = door.ledger.decisions_of(item.event_key)[0]
    door.ledger.apply_decision(row.decision_id, quiescence=timedelta(0))
    again = await dana.follows(await dana.sends(item.review_id, form))
    assert "Your decision Applied: approve." in again.text
    assert len(decisions(door, item)) == 1


async def test_each_form_each_decision_and_each_person_decides_for_itself(
    door: Door, dana: Person, ada: Person
) -> None:
    item, _ = await a_question(door)
    form = clicked(await dana.opens(item.review_id), "approve")
    await dana.sends(item.review_id, form)
    await dana.sends(item.review_id, form | {"decision": "abandon"})
    copied = clicked(await ada.opens(item.review_id), "approve") | {"form": form["form"]}
    await ada.sends(item.review_id, copied)
    await dana.decided(item.review_id, "approve")
    assert [one[:2] for one in sorted(decisions(door, item), key=str)] == [
        ("abandon", "person:dana"),
        ("approve", "person:ada"),
        ("approve", "person:dana"),
        ("approve", "person:dana"),
    ]


async def test_who_loses_a_race_is_told_who_decided_what(door: Door, dana: Person, ada: Person) -> None:
    item, _ = await a_question(door)
    late = await ada.opens(item.review_id)
    await dana.decided(item.review_id, "abandon")
    pending = await ada.looks_again(late)
    assert pending is not None
    assert "person:dana decided decline at 2026-03-02 09:00:00 UTC, which waits to be applied." in pending.text
    lost = await ada.follows(await ada.sends(item.review_id, clicked(late, "approve")))
    row = next(row for row in door.ledger.decisions_of(item.event_key) if row.reviewer == "person:dana")
    door.ledger.apply_decision(row.decision_id, quiescence=timedelta(0))
    told = await ada.looks_again(lost)
    assert told is not None
    assert "Not applied: person:dana decided decline at 2026-03-02 09:00:00 UTC." in told.text
    assert sorted(one[-1] for one in decisions(door, item)) == [DecisionVerdict.APPLIED, DecisionVerdict.REPEATED]

    after = await ada.sends(item.review_id, clicked(late, "abandon", form="0" * 32))
    assert after.status_code == 409
    shown = Read(after.text)
    assert "Nothing was decided The question was closed before your decision came." in shown.text
    assert "Closed person:dana decided decline" in shown.text
    assert shown.offered() == []
    assert len(decisions(door, item)) == 2


async def test_a_stale_page_shows_what_stands_beside_what_was_seen(door: Door, dana: Person) -> None:
    await a_question(door)
    item = edited(door, "201")
    page = await dana.opens(item.review_id)
    assert await dana.looks_again(page) is None
    edited_again(door, item)
    moved = await dana.looks_again(page)
    assert moved is not None
    assert "This question has moved on since it was shown. Show it as it is now" in moved.text
    stale = await dana.follows(await dana.sends(item.review_id, clicked(page, "accept")))
    # the ledger refuses it when the run asks; here nobody does
    row = door.ledger.decisions_of(item.event_key)[0]
    door.ledger.apply_decision(row.decision_id, quiescence=timedelta(0))
    told = await dana.looks_again(stale)
    assert told is not None
    assert "Not applied: the question has moved on since it was shown to you." in told.text
    assert "What you saw, and what stands now Field You saw Stands now owner dana mira" in told.text
    assert (await dana.opens(item.review_id)).offered() == ["accept", "overwrite", "abandon"]


async def test_a_decision_waits_while_an_earlier_request_can_still_arrive(door: Door, dana: Person) -> None:
    await a_question(door)
    item = unanswered(door, "201")
    page = await dana.decided(item.review_id, "abandon", reason="not worth it")
    until = "an earlier request can still change the record until 2026-03-02 09:00:15 UTC"
    assert f"Kept, and not applied yet: {until}. The run applies abandon then." in page.text


async def test_what_the_question_does_not_allow_is_told_with_what_it_allows(door: Door, dana: Person) -> None:
    item, _ = await a_question(door)
    page = await dana.decided(item.review_id, "retry")
    row = door.ledger.decisions_of(item.event_key)[0]
    door.ledger.apply_decision(row.decision_id, quiescence=timedelta(0))
    told = await dana.looks_again(page)
    assert told is not None
    assert "the question does not allow retry as it stands; possible: approve, abandon." in told.text


async def test_a_form_that_lacks_something_is_kept_as_it_was_filled_in(door: Door, dana: Person) -> None:
    item = edited(door)
    form = clicked(await dana.opens(item.review_id), "overwrite", reason="we agreed <b>this</b>")
    del form["read_overwrite"]
    answer = await dana.sends(item.review_id, form)
    assert answer.status_code == 422
    page = Read(answer.text)
    assert "Please tick “I have read what overwrite writes”, then press Overwrite again." in page.text
    assert "we agreed <b>this</b>" in page.text
    assert page.fields()["form"] == form["form"]
    form["read_overwrite"] = "yes"
    without = await dana.sends(item.review_id, form | {"reason": ""})
    assert without.status_code == 422
    assert "checked" in Read(without.text).all("input", name="read_overwrite")[0]
    assert decisions(door, item) == []
