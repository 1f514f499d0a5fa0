"""Many questions answered at once, and what their records met: read from the witness."""

from __future__ import annotations

from typing import Any

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Reason, Status
from leadproof.domain.review import ReviewState
from tests.support.house import House
from tests.workflows.test_one_record import _held, _waiting
from tests.workflows.test_reviews import BIG, _asked

REFUSED = {
    "status": 400,
    "body": {"status": "error", "category": "VALIDATION_ERROR", "message": "Property values were not valid"},
}


async def many(house: House, **asked: Any) -> dict[str, Any]:
    answer = await house.http.post("/v1/reviews/decisions", json=asked, headers=house.authorized)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def test_all_of_a_reason_are_tried_again_and_each_is_written_once(house: House) -> None:
    records = [house.contact() for _ in range(3)]
    for record_id in records:
        house.control.fault("status", match=record_id, args=REFUSED)
    await house.deliver(*(house.creation(record_id) for record_id in records))
    items = [(await _asked(house, house.key_of(record_id)))[1] for record_id in records]
    assert {item.reason for item in items} == {Reason.REFUSES_THIS}
    asked = {"decision_id": "again", "decision": "retry", "reason": "mended", "all_of": {"reason": "refuses_this"}}
    told = await many(house, **asked)
    verdicts = {one["review_id"]: one["verdict"] for one in told["answers"]}  # of other tests' leads, too
    assert [verdicts[item.review_id] for item in items] == ["applied"] * 3
    assert told["more"] is False
    for record_id in records:
        key = house.key_of(record_id)
        await house.outcome(key, Outcome.DONE)
        assert [row["status"] for row in house.writes(record_id)] == [400, 200]
        (row,) = house.ledger.decisions_of(key)
        assert (row.decision, row.reviewer, row.reason) == ("retry", "api:all", "mended")
    assert await many(house, **asked) == told
    assert [len(house.writes(record_id)) for record_id in records] == [2, 2, 2]


async def test_what_stands_in_the_crm_stays_and_nothing_that_waited_is_written(house: House) -> None:
    record_id, key, item = await _held(house)
    behind = [await _waiting(house, record_id, name) for name in ("One", "Two")]
    front = {"review_id": item.review_id, "version": item.version}
    told = await many(house, decision="accept", reason="it is right", behind=front)
    assert (told["applied"], told["refused"]) == (3, 0)
    assert [one["event_key"] for one in told["answers"]] == [*behind, key]
    await house.outcome(key, Outcome.SUPERSEDED)
    for waited in behind:
        await house.outcome(waited, Outcome.ABANDONED)
        mutation = house.mutation(waited)
        assert (mutation.status, mutation.reason) == (Status.ABANDONED, Reason.DECLINED)
        receipts = house.ledger.receipts(mutation.mutation_key)
        assert receipts is not None
        assert receipts.review is not None
        assert (receipts.review.reason, receipts.review.state) == (Reason.WAITS, ReviewState.DECIDED)
        assert [(row.decision, row.verdict) for row in receipts.decisions] == [("abandon", "applied")]
    assert len(house.writes(record_id)) == 1
    assert house.properties(record_id)["hs_lead_status"] == "OPEN"


async def test_a_list_of_decisions_is_each_its_own(house: House) -> None:
    first, key = await house.lead(**BIG)
    second, other = await house.lead(**BIG)
    items = [(await _asked(house, one))[1] for one in (key, other)]
    decisions = [
        {"review_id": items[0].review_id, "version": 1, "decision": "approve"},
        {"review_id": items[1].review_id, "version": 7, "decision": "approve"},
        {"review_id": "0" * 64, "version": 1, "decision": "approve"},
    ]
    told = await many(house, decisions=decisions)
    assert [one["verdict"] for one in told["answers"]] == ["applied", "stale", "impossible"]
    assert (told["applied"], told["refused"]) == (1, 2)
    await house.outcome(key, Outcome.DONE)
    assert (len(house.writes(first)), len(house.writes(second))) == (1, 0)
