from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from leadproof.domain.events import Outcome, workflow_id
from leadproof.domain.keys import instant
from leadproof.domain.mutation import Mutation, Reason
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.proofs import verify_decision
from leadproof.domain.review import DecisionVerdict, ReviewItem
from leadproof.domain.steps import Question
from tests.ledger.steps import divergent
from tests.starter.door import POLICY, TOKENS, Door, a_door, authorized, creation
from tests.support.ledgers import START, a_lead_event, a_mutation, a_plan, planned


async def a_question(door: Door, record: int = 101) -> tuple[ReviewItem, Mutation]:
    """A lead whose one mutation waits for an approval; its run is open and nobody works it."""
    await door.deliver(creation(record))
    lead = door.ledger.lead(door.key(record))
    assert lead is not None
    mutation = a_mutation(lead, provider_record_id=str(record), reason=Reason.NEEDS_APPROVAL)
    door.ledger.record_plan(a_plan(lead, [mutation]), [mutation])
    question = Question(
        reason=Reason.NEEDS_APPROVAL, queue="enterprise", due_at=START + timedelta(hours=4, minutes=record)
    )
    return door.ledger.open_review(mutation.mutation_key, question), mutation


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody works here, so that every answer of a run is waited for in vain."""
    monkeypatch.setattr("starter.decisions.ANSWER_SECONDS", 0.4)


async def decide(door: Door, review_id: str, *, by: str = "decide", **more: Any) -> Any:
    body = {"version": 1, "decision": "approve", "reason": "looks right", **more}
    return await door.post(f"/v1/reviews/{review_id}/decisions", body, by=by)


async def test_a_question_is_listed_and_shown_with_its_receipts(door: Door) -> None:
    item, mutation = await a_question(door)
    later, _ = await a_question(door, 102)
    listed = (await door.get("/v1/reviews", queue="enterprise", state="open", limit=1)).json()
    (one,) = listed["items"]
    assert one["review_id"] == item.review_id
    assert (one["source_system"], one["source_record_id"]) == ("hubspot", "101")
    assert one["why"] == "the policy wants a person to approve it"
    following = (await door.get("/v1/reviews", cursor=listed["next"])).json()
    assert [one["review_id"] for one in following["items"]] == [later.review_id]
    assert following["next"] is None
    assert (await door.get("/v1/reviews", queue="default")).json() == {"items": [], "next": None}

    shown = (await door.get(f"/v1/reviews/{item.review_id}", by="read")).json()
    assert shown["subject"] == shown["mutation"]["mutation_key"] == mutation.mutation_key
    assert shown["allowed"] == ["abandon", "approve"]
    assert shown["lead"]["event_key"] == mutation.event_key
    assert shown["mutation"]["intended_state"]["fields"] == {"lead_status": "qualified"}
    assert shown["mutation"]["attempts"] == shown["mutation"]["observations"] == []
    assert len(shown["shown_digest"]) == 64
    assert (shown["why"], shown["source_record_id"]) == (one["why"], "101")
    assert shown["plan"]["summary"] == "as the rules say"
    assert shown["owners"]["502"] == "kofi"


@pytest.mark.parametrize("permitted", [True, False])
async def test_a_decision_that_the_policy_keeps_from_being_made_is_not_offered(
    unworked: Client, tmp_path: Path, permitted: bool
) -> None:
    text = POLICY.read_text(encoding="utf-8")
    unpermitted = text.replace('kind = "clear_stage"', 'kind = "link"').replace("clear_stage = 400", "link = 400")
    policy = parse_policy(text if permitted else unpermitted)
    async with a_door(unworked, tmp_path, policy=policy.text) as door:
        door.ledger.load_policy(policy)
        event = a_lead_event("101", policy_version=policy.version)
        (row,) = planned(door.ledger, event, a_mutation(event, fields={"lifecycle_stage": "lead"}))
        item = divergent(door.ledger, door.clock, row, None, (), fields={"lifecycle_stage": "customer"})
        shown = (await door.get(f"/v1/reviews/{item.review_id}", by="read")).json()
        assert shown["allowed"] == ["abandon", "accept", *(["overwrite"] if permitted else [])]


async def test_a_decision_that_no_worker_answers_is_kept(door: Door) -> None:
    item, _ = await a_question(door)
    answer = await decide(door, item.review_id, decision_id="d1", reviewer="Mira")
    assert answer.status_code == 202
    assert (answer.json()["decision_id"], answer.json()["verdict"]) == ("d1", "pending")
    assert answer.json()["review"]["state"] == "open"
    row = door.ledger.decision("d1")
    assert row is not None
    assert (row.reviewer, row.via, row.verdict) == ("api:decide", "api, claims to be Mira", DecisionVerdict.PENDING)
    again = await decide(door, item.review_id, decision_id="d1", reviewer="Mira")
    assert (again.status_code, again.json()["verdict"]) == (202, "pending")

    door.ledger.apply_decision("d1", quiescence=timedelta(0))
    applied = await decide(door, item.review_id, decision_id="d1", reviewer="Mira")
    assert (applied.status_code, applied.json()["verdict"]) == (200, "applied")
    assert applied.json()["review"]["state"] == "decided"
    await a_question(door, 102)
    (kept,) = (await door.get(f"/v1/reviews/{item.review_id}")).json()["decisions"]
    assert (kept["decision"], kept["reviewer"], kept["reason"]) == ("approve", "api:decide", "looks right")


async def test_a_decision_that_no_worker_answers_waits_with_its_run(door: Door) -> None:
    """As a signal, which outlives Temporal itself; an update that nobody has accepted does not."""
    item, mutation = await a_question(door)
    await decide(door, item.review_id, decision_id="d1")
    history = await door.client.get_workflow_handle(f"lead:{mutation.event_key}").fetch_history()
    signals = [event.workflow_execution_signaled_event_attributes for event in history.events]
    (signal,) = [one for one in signals if one.signal_name == "decide"]
    (sent,) = await door.client.data_converter.decode(signal.input.payloads)
    assert (sent["decision_id"], sent["reviewer"]) == ("d1", "api:decide")
    assert verify_decision(sent, "a-decision-key")


async def test_without_an_id_the_same_decision_is_the_same(door: Door) -> None:
    item, _ = await a_question(door)
    first = await decide(door, item.review_id)
    second = await decide(door, item.review_id)
    assert first.json()["decision_id"] == second.json()["decision_id"]
    other = await decide(door, item.review_id, reason="another one")
    assert other.json()["decision_id"] != first.json()["decision_id"]


async def test_a_decision_id_stands_for_one_decision(door: Door) -> None:
    item, _ = await a_question(door)
    other, _ = await a_question(door, 102)
    await decide(door, item.review_id, decision_id="d1")
    for answer in (
        await decide(door, item.review_id, decision_id="d1", decision="abandon"),
        await decide(door, other.review_id, decision_id="d1"),
        await decide(door, item.review_id, decision_id="d1", version=2),
    ):
        assert answer.status_code == 409
        assert answer.json()["type"] == "urn:leadproof:problem:decision-id-taken"


async def test_the_same_decision_by_somebody_else_is_theirs(door: Door) -> None:
    item, _ = await a_question(door)
    for by in ("decide", "all", "all"):  # typed, without an id
        answer = await decide(door, item.review_id, by=by)
        assert answer.status_code == 202
    rows = door.ledger.decisions_of(item.event_key)
    assert sorted(row.reviewer for row in rows) == ["api:all", "api:decide"]
    assert answer.json()["decision_id"] == next(row.decision_id for row in rows if row.reviewer == "api:all")

    assert (await decide(door, item.review_id, decision_id="c-1")).status_code == 202
    other = await decide(door, item.review_id, decision_id="c-1", by="all")
    assert (other.status_code, other.json()["type"]) == (409, "urn:leadproof:problem:decision-id-taken")
    body = {"decisions": [{"review_id": item.review_id, "version": 1, "decision": "approve", "decision_id": "c-1"}]}
    (many,) = (await door.post("/v1/reviews/decisions", body)).json()["answers"]
    assert (many["verdict"], many["why"]) == ("impossible", "its decision_id stands for another decision")


async def test_a_decision_that_comes_too_late_is_kept_and_told_why(door: Door) -> None:
    item, _ = await a_question(door)
    await decide(door, item.review_id, decision_id="first")
    door.ledger.apply_decision("first", quiescence=timedelta(0))
    answer = await decide(door, item.review_id, decision_id="second", decision="abandon")
    assert answer.status_code == 409
    problem = answer.json()
    assert problem["type"] == "urn:leadproof:problem:decision-repeated"
    first = door.ledger.decision("first")
    assert first is not None
    at = instant(first.decided_at.replace(microsecond=0))
    assert problem["detail"] == f"the question was already decided: api:decide decided approve at {at}"
    assert (problem["verdict"], problem["review"]["state"]) == ("repeated", "decided")
    assert problem["review"]["mutation"]["reason"] == "approved"
    row = door.ledger.decision("second")
    assert row is not None
    assert row.verdict is DecisionVerdict.REPEATED
    again = await decide(door, item.review_id, decision_id="second", decision="abandon")
    assert (again.status_code, again.json()["detail"]) == (409, problem["detail"])
    assert (await decide(door, item.review_id, decision_id="third", version=7)).status_code == 409


async def test_an_impossible_decision_is_told_what_is_possible_however_often_it_is_sent(door: Door) -> None:
    item, _ = await a_question(door)
    await decide(door, item.review_id, decision_id="d1", decision="retry")
    door.ledger.apply_decision("d1", quiescence=timedelta(0))
    for _ in range(2):
        answer = await decide(door, item.review_id, decision_id="d1", decision="retry")
        assert answer.status_code == 409
        assert answer.json()["detail"] == "the question does not allow this decision; possible: approve, abandon"


async def test_a_decision_for_a_closed_run_resumes_the_lead(door: Door) -> None:
    item, mutation = await a_question(door)
    await door.client.get_workflow_handle(f"lead:{mutation.event_key}").terminate()
    answer = await decide(door, item.review_id, decision_id="d1")
    assert answer.status_code == 202
    lead = door.ledger.lead(mutation.event_key)
    assert lead is not None
    assert (lead.run, lead.workflow_id, lead.outcome) == (1, workflow_id(mutation.event_key, 1), Outcome.REVIEW)
    assert await door.run(lead.workflow_id) is not None
    again = await decide(door, item.review_id, decision_id="d1")
    assert again.status_code == 202
    resumed = door.ledger.lead(mutation.event_key)
    assert resumed is not None
    assert resumed.run == 1


@pytest.mark.parametrize(
    "body",
    [
        [],
        None,
        "approve",
        {},
        {"version": 1},
        {"version": "1", "decision": "approve", "shown_digest": 5},
        {"version": 0, "decision": "approve"},
        {"version": 1, "decision": "perhaps"},
        {"version": 1, "decision": "approve", "review_id": "another"},
        {"version": 1, "decision": "approve", "colour": "teal"},
        {"version": 1, "decision": "approve", "reason": "\x00"},
        {"version": 1, "decision": "approve", "reason": "\ud800"},
        {"version": 2**53, "decision": "approve"},
        {"version": 2**40, "decision": "approve", "decision_id": "x" * 201},
    ],
)
async def test_what_is_no_decision_is_refused_and_not_kept(door: Door, body: Any) -> None:
    item, _ = await a_question(door)
    answer = await door.http.post(
        f"/v1/reviews/{item.review_id}/decisions",
        content=json.dumps(body).encode(),
        headers={**authorized("decide"), "content-type": "application/json"},
    )
    assert answer.status_code == 422
    read = "\\u" not in json.dumps(body) and body != {"version": 2**53, "decision": "approve"}
    assert answer.json()["detail"].endswith("; possible: approve, abandon") is read
    assert door.ledger.pending_decisions(item.event_key) == ()


async def test_a_decision_about_nothing(door: Door) -> None:
    assert (await decide(door, "0" * 64)).status_code == 404
    assert (await decide(door, "x")).status_code == 404
    assert door.ledger.decision("d1") is None


async def test_what_goes_to_the_run_is_signed_and_names_the_token(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    item, mutation = await a_question(door)
    sent: list[Any] = []
    handle = type(door.client.get_workflow_handle("x"))
    real = handle.execute_update

    async def listening(self: Any, update: Any, arg: Any, **more: Any) -> Any:
        sent.append((self.id, update, arg, more["id"]))
        return await real(self, update, arg, **more)

    monkeypatch.setattr(handle, "execute_update", listening)
    await decide(door, item.review_id, by="all", decision_id="d1", reviewer="Mira")
    ((workflow, update, decision, update_id),) = sent
    assert (workflow, update, update_id) == (f"lead:{mutation.event_key}", "submit_decision", "d1")
    assert decision["reviewer"] == "api:all"
    assert verify_decision(decision, "a-decision-key")
    assert not verify_decision({**decision, "reviewer": "api:other"}, "a-decision-key")
    assert TOKENS["all"] not in str(decision)


async def test_a_question_is_told_by_the_policy_that_its_lead_is_pinned_to(door: Door) -> None:
    """Another one holds now, with other names of owners: what is shown is what will be decided by."""
    await door.deliver(creation(150))
    lead = door.ledger.lead(door.key(150))
    assert lead is not None
    text = POLICY.read_text(encoding="utf-8").replace(f'version = "{lead.policy_version}"', 'version = "older"', 1)
    older = parse_policy(text.replace("kofi =", "kwame =").replace('"kofi"', '"kwame"'))
    door.ledger.load_policy(older)
    mutation = a_mutation(lead, provider_record_id="150", reason=Reason.NEEDS_APPROVAL, policy_version="older")
    door.ledger.record_plan(a_plan(lead, [mutation]), [mutation])
    item = door.ledger.open_review(
        mutation.mutation_key, Question(reason=Reason.NEEDS_APPROVAL, queue="enterprise", due_at=START)
    )
    owners = (await door.get(f"/v1/reviews/{item.review_id}")).json()["owners"]
    assert "kwame" in owners.values()
    assert "kofi" not in owners.values()
