"""The event's end, its runs, and what the sweep finds."""

from __future__ import annotations

from datetime import timedelta

import pytest

from leadproof.domain.errors import NotFound
from leadproof.domain.events import LeadEvent, Outcome, workflow_id
from leadproof.domain.steps import Arrival
from tests.ledger.steps import QUESTION, answered, done, won
from tests.support.ledgers import HandClock, OwnedLedger, a_lead_event, a_mutation, a_plan, planned

AGE = timedelta(seconds=60)


def admitted(ledger: OwnedLedger, record: str = "1") -> LeadEvent:
    event = a_lead_event(record)
    ledger.admit([Arrival(event=event)])
    return event


def unfinished(ledger: OwnedLedger, limit: int = 100) -> set[str]:
    return {lead.event_key for lead in ledger.unfinished(older_than=AGE, limit=limit)}


def test_an_event_without_mutations_is_closed_once(ledger: OwnedLedger) -> None:
    event = admitted(ledger)
    closed = ledger.close_event(event.event_key, Outcome.ECHO, echo_of="a-mutation")
    assert (closed.outcome, closed.echo_of) == (Outcome.ECHO, "a-mutation")
    assert ledger.lead(event.event_key) == closed
    assert ledger.close_event(event.event_key, Outcome.GONE) == closed


def test_closing_answers_the_events_question(ledger: OwnedLedger) -> None:
    event = admitted(ledger)
    item = ledger.open_event_review(event.event_key, QUESTION)
    assert ledger.close_event(event.event_key, Outcome.GONE).outcome is Outcome.GONE
    closed = ledger.review(item.review_id)
    assert closed is not None
    assert closed.state == "resolved"
    assert ledger.refresh_outcome(event.event_key).outcome is Outcome.GONE


def test_an_event_with_mutations_is_not_closed(ledger: OwnedLedger) -> None:
    event = a_lead_event("1")
    planned(ledger, event, a_mutation(event))
    assert ledger.close_event(event.event_key, Outcome.GONE).outcome is Outcome.WORKING


def test_what_is_no_end_and_no_event_is_refused(ledger: OwnedLedger) -> None:
    event = admitted(ledger)
    with pytest.raises(ValueError, match="working"):
        ledger.close_event(event.event_key, Outcome.WORKING)
    with pytest.raises(NotFound):
        ledger.close_event("unknown", Outcome.GONE)
    with pytest.raises(NotFound):
        ledger.refresh_outcome("unknown")
    assert ledger.lead("unknown") is None


def test_one_run_is_elected_per_number(ledger: OwnedLedger) -> None:
    event = admitted(ledger)
    assert ledger.elect_run(event.event_key, run=0)
    assert not ledger.elect_run(event.event_key, run=0)
    assert ledger.elect_run(event.event_key, run=1)
    lead = ledger.lead(event.event_key)
    assert lead is not None
    assert (lead.run, lead.workflow_id) == (2, workflow_id(event.event_key, 2))
    assert not ledger.elect_run("unknown", run=0)


def test_a_final_event_gets_no_further_run(ledger: OwnedLedger) -> None:
    event = admitted(ledger)
    ledger.close_event(event.event_key, Outcome.GONE)
    assert not ledger.elect_run(event.event_key, run=0)


class TestSweep:
    def test_what_nothing_has_touched_for_a_while(self, ledger: OwnedLedger, clock: HandClock) -> None:
        event = admitted(ledger)
        assert unfinished(ledger) == set()
        clock.forward(59)
        assert unfinished(ledger) == set()
        clock.forward(1)
        assert unfinished(ledger) == {event.event_key}

    def test_a_source_that_delivers_again_and_again_keeps_no_dead_run_from_being_found(
        self, ledger: OwnedLedger, clock: HandClock
    ) -> None:
        event = admitted(ledger)
        for _ in range(3):
            clock.forward(30)
            ledger.admit([Arrival(event=event)])
        assert unfinished(ledger) == {event.event_key}

    def test_each_step_touches(self, ledger: OwnedLedger, clock: HandClock) -> None:
        event = admitted(ledger)
        mutation = a_mutation(event)
        clock.forward(60)
        ledger.record_plan(a_plan(event, [mutation], planned_at=clock.now()), [mutation])
        assert unfinished(ledger) == set()
        clock.forward(60)
        claimed = won(ledger, mutation)
        assert unfinished(ledger) == set()
        clock.forward(60)
        assert unfinished(ledger) == {event.event_key}
        answered(ledger, claimed)
        assert unfinished(ledger) == set()
        clock.forward(60)
        ledger.open_event_review(event.event_key, QUESTION)
        assert unfinished(ledger) == set()
        clock.forward(60)
        assert unfinished(ledger) == {event.event_key}

    def test_what_is_final_needs_nobody(self, ledger: OwnedLedger, clock: HandClock) -> None:
        ledger.close_event(admitted(ledger, "1").event_key, Outcome.GONE)
        event = a_lead_event("2")
        (mutation,) = planned(ledger, event, a_mutation(event))
        done(ledger, clock, mutation)
        clock.forward(3600)
        assert unfinished(ledger) == set()

    def test_where_there_are_more_than_the_limit_each_gets_its_turn(
        self, ledger: OwnedLedger, clock: HandClock
    ) -> None:
        everyone = {admitted(ledger, str(n)).event_key for n in range(12)}
        clock.forward(60)
        seen: set[str] = set()
        for _ in range(40):
            clock.forward(120)
            found = unfinished(ledger, limit=3)
            assert len(found) == 3
            seen |= found
        assert seen == everyone
