"""An answer that was paid for is used, and what a person was asked is not settled by asking the model again."""

from __future__ import annotations

import uuid

from leadproof.domain.events import Outcome
from leadproof.domain.review import ReviewState
from tests.support.house import House, eventually_answered
from tests.workflows.test_claude import (  # noqa: F401 - fixtures
    GOOD,
    HAIKU,
    SONNET,
    _asked,
    _calls,
    _lead,
    _models,
    _plan,
    _planned_by_claude,
    _says,
    house,
)
from tests.workflows.test_creates import _form
from tests.workflows.test_recovery import _reset


async def test_a_run_that_begins_anew_waits_for_the_person_who_was_asked(house: House) -> None:  # noqa: F811
    _says(house, "refusal")
    record_id, key, company = await _lead(house)
    item = await _asked(house, key)
    handle = house.client.get_workflow_handle(house.handle(key).id)
    history = await handle.fetch_history()
    first = next(e.event_id for e in history.events if e.HasField("workflow_task_completed_event_attributes"))
    before = (await handle.describe()).run_id
    await _reset(house, handle.id, first)

    async def waits() -> bool:
        described = await handle.describe()
        status = await handle.query("status")
        return described.run_id != before and status["outcome"] == Outcome.REVIEW

    await eventually_answered(waits)
    assert len(_calls(house, company)) == 1
    assert house.writes(record_id) == []
    standing = house.ledger.review(item.review_id)
    assert standing is not None
    assert standing.state is ReviewState.OPEN
    _says(house, "plan", sets=GOOD)
    assert (await house.decide(item.review_id, "plan_again")).status_code == 200
    await house.outcome(key, Outcome.DONE)
    assert len(_calls(house, company)) == 2


async def test_what_fails_after_the_answer_does_not_ask_the_model_again(house: House) -> None:  # noqa: F811
    """The target cannot be looked up: the try fails after the model was paid, and the next one has its answer."""
    company = f"Company {uuid.uuid4().hex}"
    form = _form(company=company)
    house.control.fault("status", "contacts.search", times=2, args={"status": 500})
    house.control.fault("status", "contacts.read", times=2, args={"status": 500})
    answer = await house.http.post("/v1/leads", json=form, headers=house.authorized)
    assert answer.status_code == 202, answer.text
    await house.outcome(answer.json()["event_key"], Outcome.DONE, within=30)
    assert len(_calls(house, company)) == 1


async def test_a_stronger_model_that_is_overloaded_does_not_bill_the_first_again(house: House) -> None:  # noqa: F811
    _says(house, "plan", sets=GOOD, confidence=0.2)
    _says(house, "overload", times=2, seconds=0.2)
    _says(house, "plan", sets=GOOD, confidence=0.9)
    _, key, company = await _lead(house)
    await house.outcome(key, Outcome.DONE, within=30)
    assert _models(house, company) == [HAIKU, SONNET, SONNET, SONNET]
    usage = _plan(house, key).planner.usage
    assert usage is not None
    assert usage["first"]["output_tokens"] > 0
