"""How questions end: by a decision, by evidence, or with their window; and what their pages say then."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from leadproof.domain.mutation import Reason
from leadproof.domain.plan import ActionKind
from leadproof.domain.review import Decision
from leadproof.domain.steps import Arrival
from tests.ledger import steps
from tests.starter.door import Door
from tests.starter.review.people import Person
from tests.starter.review.questions import asked, edited, planned, unanswered
from tests.support.ledgers import START, a_lead_event, a_mutation, a_plan


async def test_a_question_that_evidence_answered(door: Door, dana: Person) -> None:
    item = unanswered(door)
    page = await dana.opens(item.review_id)
    row = door.ledger.mutation(item.subject)
    assert row is not None
    steps.observed(door.ledger, door.clock, row)
    told = await dana.looks_again(page)
    assert told is not None
    assert "Evidence answered this question; nobody had to decide it." in told.text
    assert "It is now: written and read back" in told.text
    whole = await dana.opens(item.review_id)
    assert whole.offered() == []
    assert "Decide" not in whole.text
    assert not [one for one in whole.elements if "hx-get" in one[1]]


async def test_what_came_of_a_decided_question_is_linked(door: Door, dana: Person) -> None:
    item = edited(door)
    steps.decide(door.ledger, item, Decision.OVERWRITE)
    (derived,) = [row for row in door.ledger.mutations_of(item.event_key) if row.parent_key]
    page = await dana.opens(item.review_id)
    assert "It is now: settled by a decision" in page.text
    assert "What overwrite writes (owner = kofi, lead status = OPEN) is now: not written yet (approved)" in page.text
    again = steps.divergent(door.ledger, door.clock, derived)
    page = await dana.opens(item.review_id)
    assert f"/review/{again.review_id}" in page.links
    assert "A new question came of it" in page.text
    assert f"/review/{item.review_id}" in (await dana.opens(again.review_id)).links


async def test_a_signal_of_which_temporal_knows_no_sender_is_nobodys_by_name(door: Door, dana: Person) -> None:
    item = edited(door)
    signalled = steps.decision(item, Decision.ACCEPT)
    recorded = door.ledger.record_decision(signalled, reviewer="temporal:unknown", via="signal")
    door.ledger.apply_decision(recorded.decision_id, quiescence=timedelta(0))
    page = await dana.opens(item.review_id)
    assert "somebody not named decided accept" in page.text
    assert "by somebody not named, in Temporal" in page.text
    assert "temporal:unknown" not in page.text


async def test_a_window_is_told_until_it_is_over(door: Door, dana: Person) -> None:
    row = planned(door, reason=Reason.NEEDS_APPROVAL)
    question = asked(door, Reason.NEEDS_APPROVAL).model_copy(update={"expires_at": START + timedelta(hours=48)})
    item = door.ledger.open_review(row.mutation_key, question)
    assert "given up in 2 days if nobody decides" in (await dana.opens(item.review_id)).text
    assert "due in 4 h given up in 2 days" in (await dana.reads("/review")).text
    door.clock.forward(48 * 3600)
    assert "is being given up if nobody decides" in (await dana.opens(item.review_id)).text
    (decision,) = door.ledger.expire(item.event_key)
    door.ledger.apply_decision(decision.decision_id, quiescence=timedelta(0))
    page = await dana.opens(item.review_id)
    assert "Nobody decided in time, and the policy gave it up." in page.text
    assert "given up in" not in page.text


async def test_what_was_given_up_with_its_lead_or_its_need_is_told_so(door: Door, dana: Person) -> None:
    item = edited(door)
    lead = door.ledger.open_event_review(item.event_key, asked(door, Reason.RUN_FAILED))
    steps.decide(door.ledger, lead, Decision.ABANDON)
    page = await dana.opens(item.review_id)
    assert "The whole lead was given up, and this effect with it; nobody had to decide it." in page.text
    assert "It is now: given up" in page.text

    event = a_lead_event("102", policy_version="embedded-2")
    first = a_mutation(event, provider_record_id="9102", reason=Reason.NEEDS_APPROVAL)
    needs: dict[str, Any] = {"reason": Reason.NEEDS_APPROVAL, "depends_on": (first.mutation_key,), "ordinal": 1}
    second = a_mutation(event, action=ActionKind.UPDATE, provider_record_id="9103", **needs)
    door.ledger.admit([Arrival(event=event)])
    door.ledger.record_plan(a_plan(event, [first, second]), [first, second])
    needed, needing = (
        door.ledger.open_review(one.mutation_key, asked(door, Reason.NEEDS_APPROVAL)) for one in (first, second)
    )
    steps.decide(door.ledger, needed, Decision.ABANDON, "d2")
    page = await dana.opens(needing.review_id)
    assert "What this effect depends on came to nothing, and so did this; nobody had to decide it." in page.text
