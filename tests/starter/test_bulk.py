"""Many decisions by one request, where nobody works: what is chosen, refused and kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from leadproof.domain.mutation import AnswerClass, Mutation, Reason, Status
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.review import DecisionVerdict, ReviewItem
from leadproof.domain.steps import Question
from leadproof.rulebook import Rulebook
from starter.bulk import Answers, Bulk
from starter.cases import Cases
from starter.decisions import Decisions
from starter.many import MOST, ManyDecisions
from starter.metrics import Metrics
from starter.problems import Problem
from tests.ledger.steps import claim, divergent, now, settled
from tests.starter.door import POLICY, Door, authorized, creation
from tests.starter.test_reviews import a_question
from tests.support.ledgers import START, a_mutation, a_plan, an_answer

WAYS = "/v1/reviews/decisions"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody works here, so that every answer of a run is waited for in vain."""
    monkeypatch.setattr("starter.decisions.ANSWER_SECONDS", 0.4)


async def refused(door: Door, record: int, queue: str = "default") -> ReviewItem:
    """A lead whose one mutation the target refused; its run is open and nobody works it."""
    mutation = await planned(door, record)
    claimed = claim(door.ledger, mutation).mutation
    refusal = an_answer(AnswerClass.REFUSES_US, http_status=401)
    door.ledger.store_answer(mutation.mutation_key, 1, refusal, request_digest="d" * 64)
    question = Question(reason=Reason.TARGET_REFUSES_US, queue=queue, due_at=START + timedelta(hours=4, minutes=record))
    asked = settled(door.ledger, claimed, Status.REJECTED, Reason.TARGET_REFUSES_US, question=question).review
    assert asked is not None
    return asked


async def planned(door: Door, record: int, **changes: Any) -> Mutation:
    await door.deliver(creation(record))
    lead = door.ledger.lead(door.key(record))
    assert lead is not None
    mutation = a_mutation(lead, **changes)
    door.ledger.record_plan(a_plan(lead, [mutation]), [mutation])
    return mutation


async def held(door: Door) -> tuple[ReviewItem, Mutation, Mutation]:
    """A divergent mutation of a record and another lead's that waits behind it."""
    holder = await planned(door, 101, target_record="same")
    item = divergent(door.ledger, door.clock, holder)
    waits = await planned(door, 102, target_record="same")
    assert claim(door.ledger, waits).mutation.reason is Reason.WAITS
    return item, holder, now(door.ledger, waits)


def all_of(reason: str = "target_refuses_us", **more: Any) -> dict[str, Any]:
    return {"decision": "retry", "reason": "the key is new", "all_of": {"reason": reason, **more}}


def behind(item: ReviewItem, decision: str = "accept", **more: Any) -> dict[str, Any]:
    return {"decision": decision, "behind": {"review_id": item.review_id, "version": item.version, **more}}


async def test_all_of_a_reason_are_kept_while_nobody_works_and_the_same_request_keeps_no_more(door: Door) -> None:
    items = [await refused(door, record) for record in (101, 102)]
    other = await refused(door, 103, "enterprise")
    await a_question(door, 104)
    body = {"decision_id": "d1", **all_of(queue="default", target_system="hubspot")}
    told = (await door.post(WAYS, body, by="decide")).json()
    assert [one["review_id"] for one in told["answers"]] == [item.review_id for item in items]
    assert (told["applied"], told["kept"], told["refused"], told["more"]) == (0, 2, 0, False)
    for one, item in zip(told["answers"], items, strict=True):
        assert (one["mutation_key"], one["event_key"]) == (item.mutation_key, item.event_key)
        assert (one["verdict"], one["until"]) == ("pending", None)
        row = door.ledger.decision(one["decision_id"])
        assert row is not None
        assert (row.decision, row.reviewer, row.via, row.reason) == ("retry", "api:decide", "api", "the key is new")
        history = await door.client.get_workflow_handle(f"lead:{item.event_key}").fetch_history()
        assert any(event.HasField("workflow_execution_signaled_event_attributes") for event in history.events)
    assert door.ledger.pending_decisions(other.event_key) == ()

    late = await refused(door, 105)
    again = (await door.post(WAYS, body, by="decide")).json()
    assert {one["decision_id"] for one in again["answers"]} == {one["decision_id"] for one in told["answers"]}
    assert door.ledger.pending_decisions(late.event_key) == ()
    others = (await door.post(WAYS, body, by="all")).json()
    assert {one["review_id"] for one in others["answers"]} == {item.review_id for item in (*items, late)}


async def test_without_an_id_the_same_words_about_the_same_question_are_one_decision(door: Door) -> None:
    item = await refused(door, 101)
    first, second = [(await door.post(WAYS, all_of(), by="decide")).json() for _ in range(2)]
    assert first["answers"][0]["decision_id"] == second["answers"][0]["decision_id"]
    assert len(door.ledger.decisions_of(item.event_key)) == 1


@pytest.mark.parametrize("given", [{"decision_id": "d1"}, {}])
async def test_what_waits_behind_is_given_up_before_the_question_itself(door: Door, given: dict[str, str]) -> None:
    item, holder, waits = await held(door)
    told = (await door.post(WAYS, {**given, **behind(item)}, by="decide")).json()
    assert [one["mutation_key"] for one in told["answers"]] == [waits.mutation_key, holder.mutation_key]
    assert told["kept"] == 2
    asked = door.ledger.review_of(waits.mutation_key)
    assert asked is not None
    assert (asked.reason, asked.queue, asked.due_at) == (Reason.WAITS, item.queue, item.due_at)
    (row,) = door.ledger.pending_decisions(waits.event_key)
    assert row.decision == "abandon"
    (row,) = door.ledger.pending_decisions(holder.event_key)
    assert row.decision == "accept"


async def test_behind_a_question_that_has_moved_on_nothing_is_given_up(door: Door) -> None:
    item, _, waits = await held(door)
    for seen in ({"version": 7}, {"shown_digest": "0" * 64}):
        told = (await door.post(WAYS, behind(item, **seen), by="decide")).json()
        assert [one["review_id"] for one in told["answers"]] == [item.review_id]
    assert door.ledger.review_of(waits.mutation_key) is None


async def test_a_mutation_that_meanwhile_has_its_record_is_left_alone(door: Door) -> None:
    """It was asked about, and claimed before the decision was applied: nothing is forced."""
    item, holder, waits = await held(door)
    told = (await door.post(WAYS, behind(item, "abandon"), by="decide")).json()
    of_item = door.ledger.apply_decision(told["answers"][1]["decision_id"], quiescence=timedelta(0))
    assert of_item.verdict is DecisionVerdict.APPLIED
    assert claim(door.ledger, now(door.ledger, waits)).attempt is not None
    again = (await door.post(WAYS, {"decisions": [_same(door, told["answers"][0])]}, by="decide")).json()
    assert [(one["verdict"], one["review_id"]) for one in again["answers"]] == [
        ("stale", told["answers"][0]["review_id"])
    ]
    assert now(door.ledger, waits).status is Status.SUBMITTED
    assert now(door.ledger, holder).status is Status.ABANDONED


def _same(door: Door, answer: dict[str, Any]) -> dict[str, Any]:
    row = door.ledger.decision(answer["decision_id"])
    assert row is not None
    return {
        "decision_id": row.decision_id,
        "review_id": row.review_id,
        "version": row.review_version,
        "decision": row.decision,
    }


async def test_of_too_many_the_rest_is_for_another_request(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("starter.choosing.MOST", 2)
    items = [await refused(door, record) for record in (101, 102, 103)]
    told = (await door.post(WAYS, all_of(), by="decide")).json()
    assert [one["review_id"] for one in told["answers"]] == [item.review_id for item in items[:2]]
    assert told["more"] is True


async def test_a_list_is_answered_each_in_its_place(door: Door) -> None:
    first, second = await refused(door, 101), await refused(door, 102)
    decisions = [
        {"review_id": first.review_id, "version": 1, "decision": "retry"},
        {"review_id": second.review_id, "version": 1, "decision": "retry", "decision_id": "own"},
        {"review_id": "0" * 64, "version": 1, "decision": "retry"},
    ]
    told = (await door.post(WAYS, {"decision_id": "d1", "decisions": decisions}, by="decide")).json()
    assert [one["verdict"] for one in told["answers"]] == ["pending", "pending", "impossible"]
    assert told["answers"][1]["decision_id"] == "own"
    assert told["answers"][2] == {
        "review_id": "0" * 64,
        "mutation_key": None,
        "event_key": None,
        "decision_id": None,
        "verdict": "impossible",
        "why": "no review item stands under this id",
        "until": None,
    }
    taken = [{"review_id": first.review_id, "version": 1, "decision": "abandon", "decision_id": "own"}]
    (answer,) = (await door.post(WAYS, {"decisions": taken}, by="decide")).json()["answers"]
    assert (answer["verdict"], answer["why"]) == ("impossible", "its decision_id stands for another decision")


ONE = {"review_id": "0" * 64, "version": 1, "decision": "retry"}


MEANINGLESS: list[tuple[Any, str]] = [
    ([], "missing or wrong"),
    ({}, "say exactly one of all_of, behind and decisions"),
    ({"decision": "retry"}, "say exactly one"),
    ({**all_of(), "decisions": [ONE]}, "say exactly one"),
    ({**all_of(), "decision": "abandon"}, "for all of a reason it is retry"),
    ({**all_of(), "decision": "perhaps"}, "missing or wrong: decision"),
    (all_of("because"), "no question is asked for such a reason"),
    (all_of(queue="nobody's"), "there is no such queue"),
    (all_of(colour="teal"), "missing or wrong: all_of.colour"),
    (all_of(queue=5), "missing or wrong: all_of.queue"),
    ({**all_of(), "decision_id": "x" * 201}, "missing or wrong: decision_id"),
    ({**all_of(), "reason": "\x00"}, "a text contains a NUL character"),
    ({"decision": "overwrite", "behind": {"review_id": "0" * 64, "version": 1}}, "it is accept or abandon"),
    ({"decision": "accept", "behind": {"review_id": "me", "version": 1}}, "missing or wrong: behind.review_id"),
    ({"decision": "accept", "behind": {"review_id": "0" * 64, "version": 0}}, "missing or wrong: behind.version"),
    ({"decisions": []}, "missing or wrong: decisions"),
    ({"decisions": [ONE] * (MOST + 1)}, "missing or wrong: decisions"),
    ({"decisions": [ONE, ONE]}, "a question is there twice"),
    ({"decisions": ["retry"]}, "missing or wrong: decisions.0"),
    ({"decisions": [{**ONE, "decision": "perhaps"}]}, "decisions.0: missing or wrong: decision"),
    ({"decision": "retry", "decisions": [ONE]}, "each of the decisions names its own"),
]


async def test_what_cannot_be_meant_is_refused(door: Door) -> None:
    item = await refused(door, 101)
    for body, says in MEANINGLESS:
        answer = await door.post(WAYS, body, by="decide")
        assert (answer.status_code, says in answer.json()["detail"]) == (422, True), (body, answer.text)
    assert door.ledger.decisions_of(item.event_key) == ()


async def test_a_reviewer_decides_in_their_own_queues_alone(door: Door) -> None:
    item, own = await refused(door, 101), await refused(door, 102, "enterprise")
    policy = parse_policy(POLICY.read_text(encoding="utf-8"))
    rulebook = Rulebook(door.ledger, parse_policy, now=policy)
    bulk = Bulk(
        ledger=door.ledger,
        decisions=Decisions(settings=door.settings, ledger=door.ledger, client=door.client),
        cases=Cases(ledger=door.ledger, rulebook=rulebook, clock=door.clock),
        policy=policy,
        metrics=Metrics(),
    )

    async def decide(asked: dict[str, Any]) -> Answers:
        words = ManyDecisions.model_validate(asked)
        return await bulk.decide(words, reviewer="person:mira", via="page", may=lambda queue: queue == "enterprise")

    for foreign in (all_of(queue="default"), behind(item, "abandon")):
        with pytest.raises(Problem) as refusal:
            await decide(foreign)
        assert refusal.value.status == 403
    listed = await decide({"decisions": [{"review_id": item.review_id, "version": 1, "decision": "retry"}]})
    assert [(one.verdict, one.decision_id) for one in listed.answers] == [(DecisionVerdict.IMPOSSIBLE, None)]
    answers = await decide(all_of())
    assert [one.review_id for one in answers.answers] == [own.review_id]
    assert door.ledger.decisions_of(item.event_key) == ()
    (row,) = door.ledger.decisions_of(own.event_key)
    assert (row.reviewer, row.via) == ("person:mira", "page")


async def test_who_may_not_decide_decides_nothing(door: Door) -> None:
    item = await refused(door, 101)
    assert (await door.post(WAYS, all_of(), by="read")).status_code == 403
    assert (await door.http.post(WAYS, json=all_of())).status_code == 401
    as_text = await door.http.post(WAYS, content=b"{}", headers={**authorized("decide"), "content-type": "text/plain"})
    assert as_text.status_code == 415
    assert (await door.post(WAYS, behind(_unknown(item)), by="decide")).status_code == 404
    assert door.ledger.decisions_of(item.event_key) == ()


def _unknown(item: ReviewItem) -> ReviewItem:
    return item.model_copy(update={"review_id": "0" * 64})
