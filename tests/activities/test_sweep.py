"""One sweep over several leads, with runs that Temporal would describe so."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from activities.sweep import RunState, SweepActivities, Swept
from leadproof.domain.errors import LedgerUnavailable
from leadproof.domain.events import Lead
from leadproof.domain.mutation import Reason
from leadproof.domain.review import ReviewDecision, parse_decision
from leadproof.domain.steps import Question
from tests.activities.room import Room

AGE = timedelta(seconds=60)


class Described:
    """Runs that are closed unless they are said to be otherwise."""

    def __init__(self, **states: RunState | Exception) -> None:
        self.states = states
        self.broken: dict[str, Exception] = {}
        self.resumed: list[str] = []
        self.told: list[tuple[str, str]] = []

    async def state(self, lead: Lead) -> RunState:
        state = self.states.get(f"of_{lead.source_record_id}", RunState.CLOSED)
        if isinstance(state, Exception):
            raise state
        return state

    async def resume(self, lead: Lead) -> None:
        if lead.source_record_id in self.broken:
            raise self.broken[lead.source_record_id]
        self.resumed.append(lead.source_record_id)

    async def tell(self, lead: Lead, decision: ReviewDecision) -> None:
        self.told.append((lead.source_record_id, decision.decision_id))


async def swept(room: Room, runs: Described) -> Swept:
    activities = SweepActivities(room.ledger, room.rulebook, room.clock, runs, AGE)
    return await ActivityEnvironment().run(activities.sweep)


async def test_what_has_no_open_run_is_resumed(room: Room) -> None:
    for record in ("1", "2", "3"):
        room.admit(record)
    room.clock.forward(60)
    runs = Described(of_1=RunState.OPEN, of_2=RunState.NONE)
    assert await swept(room, runs) == Swept(seen=3, resumed=2)
    assert sorted(runs.resumed) == ["2", "3"]


async def test_a_lead_that_cannot_be_looked_at_or_resumed_keeps_no_other_from_it(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    keys = {record: room.admit(record) for record in ("1", "2", "3", "4")}
    room.clock.forward(60)
    runs = Described(of_2=RuntimeError("no answer for mira@example.com"))
    runs.broken = {"3": LedgerUnavailable("the ledger was busy for 2 s")}
    with caplog.at_level(logging.WARNING):
        assert await swept(room, runs) == Swept(seen=4, resumed=2, failed=2)
    assert sorted(runs.resumed) == ["1", "4"]
    assert sorted(record.getMessage().split()[1] for record in caplog.records) == sorted(
        f"lead:{keys[record]}" for record in ("2", "3")
    )
    assert "mira" not in caplog.text


async def test_a_run_that_ends_twice_is_a_question_once(room: Room) -> None:
    key = room.admit("1")
    room.ledger.elect_run(key, run=0)
    room.clock.forward(60)
    assert await swept(room, Described()) == Swept(seen=1, asked=1)
    item = room.ledger.review_of(key)
    assert item is not None
    assert item.reason == Reason.RUN_FAILED
    room.clock.forward(60)
    assert await swept(room, Described()) == Swept(seen=1)


def kept(room: Room, record: str) -> str:
    """A question about a lead's event, and a decision that is kept and not applied: its id."""
    key = room.admit(record)
    item = room.ledger.open_event_review(
        key, Question(reason="source_down", queue="default", due_at=room.clock.now() + AGE)
    )
    sent = {"decision_id": f"of {record}", "review_id": item.review_id, "version": 1, "decision": "abandon"}
    room.ledger.record_decision(parse_decision([sent]), reviewer="person:dana", via="page")
    return key


async def test_a_decision_that_is_kept_is_taken_to_its_run_or_begins_one(room: Room) -> None:
    kept(room, "1")
    twice = kept(room, "2")
    room.ledger.elect_run(twice, run=0)  # not resumed any more, but for a decision
    runs = Described(of_1=RunState.OPEN)
    assert await swept(room, runs) == Swept()  # it may be on its way
    room.clock.forward(60)
    assert await swept(room, runs) == Swept(seen=2, told=1)
    assert (runs.told, runs.resumed) == ([("1", "of 1")], ["2"])
