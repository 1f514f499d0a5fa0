"""Questions and decisions as they are kept."""

from __future__ import annotations

import pytest

from leadproof.domain.errors import NotFound
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Reason
from leadproof.domain.review import Decision, DecisionVerdict
from leadproof.domain.steps import Arrival
from tests.ledger.steps import QUESTION, QUIESCENCE, decision, done, won
from tests.support.ledgers import HandClock, OwnedLedger, a_lead_event, a_mutation, planned


def test_a_decision_is_kept_once_as_it_was_sent(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("1")
    (mutation,) = planned(ledger, event, a_mutation(event, reason=Reason.NEEDS_APPROVAL))
    item = ledger.open_review(mutation.mutation_key, QUESTION)
    sent = decision(item, Decision.APPROVE, reason="looks right", shown_digest="s" * 64)
    row = ledger.record_decision(sent, reviewer="ann", via="api")
    assert (row.review_id, row.review_version, row.decision) == (item.review_id, 1, "approve")
    assert (row.reviewer, row.via, row.reason, row.shown_digest) == ("ann", "api", "looks right", "s" * 64)
    assert (row.verdict, row.decided_at) == (DecisionVerdict.PENDING, clock.now())
    clock.forward(1)
    again = ledger.record_decision(decision(item, Decision.ABANDON), reviewer="bob", via="signal")
    assert again == row == ledger.decision("d1")
    receipts = ledger.receipts(mutation.mutation_key)
    assert receipts is not None
    assert (receipts.decisions, receipts.review) == ((row,), item)


def test_pending_decisions_of_an_event_are_those_on_its_open_items_oldest_first(
    ledger: OwnedLedger, clock: HandClock
) -> None:
    items = []
    for record in ("1", "2"):
        event = a_lead_event(record)
        (mutation,) = planned(ledger, event, a_mutation(event, reason=Reason.NEEDS_APPROVAL))
        items.append(ledger.open_review(mutation.mutation_key, QUESTION))
    for name, item in (("z", items[0]), ("a", items[0]), ("m", items[1])):
        clock.forward(1)
        ledger.record_decision(decision(item, Decision.APPROVE, name), reviewer="ann", via="api")
    refused = decision(items[0], Decision.APPROVE, "b")
    ledger.record_decision(refused, reviewer="ann", via="signal", verdict=DecisionVerdict.IMPOSSIBLE)
    assert [row.decision_id for row in ledger.pending_decisions(items[0].event_key)] == ["z", "a"]


def test_what_is_no_decision_is_kept_with_what_was_wrong(ledger: OwnedLedger) -> None:
    row = ledger.record_malformed("m1", reviewer="temporal:cli", via="signal", why="a decision is one object")
    assert (row.verdict, row.reason, row.review_id) == (DecisionVerdict.MALFORMED, "a decision is one object", None)
    assert ledger.record_malformed("m1", reviewer="x", via="y", why="z") == row == ledger.decision("m1")
    applied = ledger.apply_decision("m1", quiescence=QUIESCENCE)
    assert (applied.verdict, applied.review) == (DecisionVerdict.MALFORMED, None)


def test_a_decision_that_is_recorded_as_refused_stays_so(ledger: OwnedLedger) -> None:
    event = a_lead_event("1")
    ledger.admit([Arrival(event=event)])
    item = ledger.open_event_review(event.event_key, QUESTION)
    refused = decision(item, Decision.ABANDON)
    for verdict in (DecisionVerdict.IMPOSSIBLE, DecisionVerdict.PENDING):
        row = ledger.record_decision(refused, reviewer="ann", via="signal", verdict=verdict)
        assert row.verdict is DecisionVerdict.IMPOSSIBLE
    assert ledger.apply_decision("d1", quiescence=QUIESCENCE).verdict is DecisionVerdict.IMPOSSIBLE
    with pytest.raises(ValueError, match="applied"):
        ledger.record_decision(refused, reviewer="ann", via="signal", verdict=DecisionVerdict.APPLIED)


def test_a_question_that_leaves_no_choice_is_resolved_from_the_start(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("1")
    (mutation,) = planned(ledger, event, a_mutation(event))
    won(ledger, mutation)
    item = ledger.open_review(mutation.mutation_key, QUESTION)
    assert (item.state, item.closed_at, item.round) == ("resolved", clock.now(), 1)
    assert ledger.review_of(mutation.mutation_key) is None
    lead = ledger.lead(event.event_key)
    assert lead is not None
    assert lead.outcome is Outcome.WORKING


def test_a_question_about_a_final_event_is_resolved_from_the_start(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("1")
    (mutation,) = planned(ledger, event, a_mutation(event))
    done(ledger, clock, mutation)
    assert ledger.open_event_review(event.event_key, QUESTION).state == "resolved"
    lead = ledger.lead(event.event_key)
    assert lead is not None
    assert lead.outcome is Outcome.DONE


def test_unknown_subjects_are_named(ledger: OwnedLedger) -> None:
    with pytest.raises(NotFound):
        ledger.open_review("unknown", QUESTION)
    with pytest.raises(NotFound):
        ledger.open_event_review("unknown", QUESTION)
    assert ledger.review("unknown") is None
    assert ledger.review_of("unknown") is None
    assert ledger.decision("unknown") is None


def test_what_no_database_stores_in_a_text_is_kept_in_words(ledger: OwnedLedger) -> None:
    row = ledger.record_malformed("a\x00b\ud800c", reviewer="\x00", via="signal", why="\udfff é")
    assert row.decision_id == "a\ufffdb\ufffdc"
    assert (row.reviewer, row.reason) == ("\ufffd", "\ufffd é")
    assert ledger.decision("a\x00b\ud800c") == row
