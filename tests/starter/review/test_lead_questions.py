"""A question about a lead as a whole: what a decision does with a plan that stands, and until when it waits."""

from __future__ import annotations

import pytest

from leadproof.domain.mutation import Reason
from leadproof.domain.review import Decision
from tests.ledger import steps
from tests.starter.door import Door
from tests.starter.review.people import Person
from tests.starter.review.questions import asked, planned

pytestmark = pytest.mark.usefixtures("impatient")


async def test_a_lead_is_given_up_when_none_of_its_requests_can_arrive_any_more(door: Door, dana: Person) -> None:
    row = steps.won(door.ledger, planned(door))
    item = door.ledger.open_event_review(row.event_key, asked(door, Reason.RUN_FAILED))
    page = await dana.opens(item.review_id)
    assert "Read the lead again and go on with the plan that is recorded." in page.text
    told = await dana.decided(item.review_id, "abandon")
    assert "Kept, and not applied yet: an earlier request can still change the record until 2026-03-02" in told.text
    door.clock.forward(3600)
    later = await dana.looks_again(told)
    assert later is not None
    assert "Kept: abandon waits, since no worker has answered yet." in later.text


async def test_why_there_is_no_plan_is_told_and_the_page_goes_on_to_the_question_after_it(
    door: Door, dana: Person
) -> None:
    row = planned(door)
    question = asked(door, Reason.PLANNER).model_copy(update={"why": "the model declined to plan this lead"})
    item = door.ledger.open_event_review(row.event_key, question)
    page = await dana.opens(item.review_id)
    assert "The model declined to plan this lead." in page.text
    assert "the model declined to plan this lead" in (await dana.reads("/review")).text
    steps.decide(door.ledger, item, Decision.PLAN_AGAIN)
    told = await dana.looks_again(page)
    assert told is not None
    assert "qualify hubspot contact 9101 is now: not written yet" in told.text
    again = door.ledger.open_event_review(row.event_key, question)
    told = await dana.looks_again(told)
    assert told is not None
    assert f"/review/{again.review_id}" in told.links
