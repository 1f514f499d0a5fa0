"""Lists a page at a time, and the numbers of metrics."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import AnswerClass, Reason, Status
from leadproof.domain.plan import Verdict
from leadproof.domain.review import Decision, ReviewState
from leadproof.domain.salesforce_ids import salesforce_id
from leadproof.domain.steps import Arrival, QuarantineEntry, Question
from tests.ledger.steps import QUESTION, answered, decide, divergent, done, settled, won
from tests.support.ledgers import START, HandClock, OwnedLedger, a_lead_event, a_mutation, a_plan, planned


def all_pages(page: Callable[..., tuple[tuple[Any, ...], str | None]], limit: int, **chosen: Any) -> list[list[Any]]:
    """Every page, followed by its cursor to the end."""
    pages: list[list[Any]] = []
    cursor = None
    while True:
        items, cursor = page(limit=limit, cursor=cursor, **chosen)
        pages.append(list(items))
        if cursor is None:
            return pages


@pytest.fixture
def filled(ledger: OwnedLedger, clock: HandClock) -> OwnedLedger:
    """Five events with a mutation each, the last two of one moment; the first is done, the third in review."""
    for number in range(5):
        event = a_lead_event(str(number))
        reason = Reason.NEEDS_APPROVAL if number == 2 else None
        (mutation,) = planned(ledger, event, a_mutation(event, reason=reason))
        if number == 0:
            done(ledger, clock, mutation)
        if number == 2:
            ledger.open_review(mutation.mutation_key, Question(reason="needs_approval", queue="sales", due_at=START))
        if number < 3:
            clock.forward(1)
    return ledger


def test_mutations_are_listed_newest_first(filled: OwnedLedger) -> None:
    pages = all_pages(filled.mutations, 2)
    assert [len(page) for page in pages] == [2, 2, 1]
    listed = [mutation for page in pages for mutation in page]
    assert listed == sorted(listed, key=lambda m: (m.created_at, m.mutation_key), reverse=True)
    assert len({mutation.mutation_key for mutation in listed}) == 5
    assert listed[-1].source_record_id == "0"


def test_a_list_is_narrowed(filled: OwnedLedger) -> None:
    (only,), following = filled.mutations(status=Status.OBSERVED)
    assert (only.source_record_id, following) == ("0", None)
    assert [m.source_record_id for m in filled.mutations(source_record_id="3")[0]] == ["3"]
    assert filled.mutations(status=Status.OBSERVED, source_record_id="3") == ((), None)
    assert [lead.source_record_id for lead in filled.leads(outcome=Outcome.REVIEW)[0]] == ["2"]
    assert [lead.source_record_id for lead in filled.leads(source_record_id="4")[0]] == ["4"]


def test_leads_are_listed_newest_first(filled: OwnedLedger) -> None:
    pages = all_pages(filled.leads, 3)
    listed = [lead for page in pages for lead in page]
    assert [len(page) for page in pages] == [3, 2]
    assert listed == sorted(listed, key=lambda lead: (lead.first_seen_at, lead.event_key), reverse=True)


def test_reviews_are_listed_by_due_time(ledger: OwnedLedger) -> None:
    for number, (queue, hours) in enumerate((("sales", 9), ("default", 3), ("sales", 1))):
        event = a_lead_event(str(number))
        (mutation,) = planned(ledger, event, a_mutation(event, reason=Reason.NEEDS_APPROVAL))
        question = Question(reason="needs_approval", queue=queue, due_at=START + timedelta(hours=hours))
        item = ledger.open_review(mutation.mutation_key, question)
    decide(ledger, item, Decision.ABANDON)
    listed = [item.due_at for page in all_pages(ledger.reviews, 1) for item in page]
    assert listed == [START + timedelta(hours=due) for due in (1, 3, 9)]
    assert [item.due_at for item in ledger.reviews(queue="sales", state=ReviewState.OPEN)[0]] == [listed[2]]
    assert [item.due_at for item in ledger.reviews(state=ReviewState.DECIDED)[0]] == [listed[0]]


def test_what_questions_are_about_is_told_with_why(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("103")
    mutation = a_mutation(event, reason=Reason.NEEDS_APPROVAL)
    plan = a_plan(event, [mutation])
    held = plan.guarded[0].model_copy(update={"verdict": Verdict.FOR_A_PERSON, "why": "a big account"})
    ledger.admit([Arrival(event=event)])
    ledger.record_plan(plan.model_copy(update={"guarded": (held,)}), [mutation])
    approval = Question(reason=Reason.NEEDS_APPROVAL, queue="sales", due_at=START)
    items = [ledger.open_review(mutation.mutation_key, approval)]
    unplanned = a_lead_event("104")
    ledger.admit([Arrival(event=unplanned)])
    items.append(ledger.open_event_review(unplanned.event_key, Question(reason="planner", queue="x", due_at=START)))
    other = a_lead_event("105")
    (row,) = planned(ledger, other, a_mutation(other))
    items.append(divergent(ledger, clock, row))
    about = ledger.about(items)
    assert [(about[item.review_id].source_record_id, about[item.review_id].why) for item in items] == [
        ("103", "a big account"),
        ("104", "there is no plan"),
        ("105", "whether the write arrived could not be shown in time"),
    ]
    assert ledger.about([]) == {}
    assert ledger.about([items[0].model_copy(update={"event_key": "unknown"})]) == {}


def test_a_question_about_a_refused_write_says_what_was_refused(ledger: OwnedLedger) -> None:
    event = a_lead_event("103")
    (row,) = planned(ledger, event, a_mutation(event))
    answered(ledger, won(ledger, row), AnswerClass.REFUSES_THIS, code="INVALID_OPTION", detail="hs_lead_status")
    settled(ledger, row, Status.REJECTED, Reason.REFUSES_THIS)
    asked = QUESTION.model_copy(update={"reason": Reason.REFUSES_THIS})
    item = ledger.open_review(row.mutation_key, asked)
    why = ledger.about([item])[item.review_id].why
    assert why == "hubspot refused this write, and the record is unchanged: INVALID_OPTION, hs_lead_status"


def test_a_record_of_salesforce_is_found_by_its_id_of_15_characters_too(ledger: OwnedLedger) -> None:
    whole = salesforce_id("00Qxx0000004C92")
    for record in (whole, "00Qxx0000004C9"):
        event = a_lead_event(record)
        planned(ledger, event, a_mutation(event))
    for given in (whole, whole[:15]):
        assert [lead.source_record_id for lead in ledger.leads(source_record_id=given)[0]] == [whole]
        assert [row.source_record_id for row in ledger.mutations(source_record_id=given)[0]] == [whole]
    assert ledger.leads(source_record_id=whole[:15].swapcase())[0] == ()


def test_quarantine_is_listed_newest_first(ledger: OwnedLedger) -> None:
    entries = [
        QuarantineEntry(
            delivery_digest=digest * 64,
            position=position,
            source_system="hubspot",
            reason="malformed",
            body="{}",
            received_at=START + timedelta(seconds=second),
        )
        for digest, position, second in (("a", 0, 1), ("a", 1, 1), ("b", 0, 1), ("c", 0, 2))
    ]
    ledger.quarantine(entries)
    ledger.close_quarantined("b" * 64, 0, state="dropped")
    listed = [entry for page in all_pages(ledger.quarantined, 1) for entry in page]
    assert [(entry.delivery_digest[0], entry.position) for entry in listed] == [("c", 0), ("b", 0), ("a", 1), ("a", 0)]
    held, _ = ledger.quarantined(state="held")
    assert [entry.delivery_digest[0] for entry in held] == ["c", "a", "a"]


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "ä",
        "nonsense",
        base64.urlsafe_b64encode(b"[]").decode(),
        base64.urlsafe_b64encode(b"7").decode(),
        base64.urlsafe_b64encode(b'["2026-03-02T09:00:00", "k"]').decode(),  # no zone
        base64.urlsafe_b64encode(b'["2026-03-02T09:00:00+00:00", "a\\u0000"]').decode(),
        base64.urlsafe_b64encode(b'["2026-03-02T09:00:00+00:00", "a", true]').decode(),
        base64.urlsafe_b64encode(json.dumps(["2026-03-02T09:00:00+00:00", {"$gt": ""}]).encode()).decode(),
        # a moment that lies, in UTC, where no datetime reaches
        base64.urlsafe_b64encode(b'["9999-12-31T23:59:59-23:59", "abc"]').decode(),
        base64.urlsafe_b64encode(b'["9999-12-31T23:59:59-23:59", "abc", 0]').decode(),
        base64.urlsafe_b64encode(b'["0001-01-01T00:00:00+23:59", "abc"]').decode(),
        # a text that no database encodes, a number that none holds, a text that nothing reads
        base64.urlsafe_b64encode(b'["2026-03-02T09:00:00+00:00", "\\ud800"]').decode(),
        base64.urlsafe_b64encode(b'["2026-03-02T09:00:00+00:00", "a", 99999999999999999999]').decode(),
        base64.urlsafe_b64encode(b'["2026-03-02T09:00:00+00:00", "a", 3000000000]').decode(),
        base64.urlsafe_b64encode(b"[" * 100_000).decode(),
        base64.urlsafe_b64encode(b"9" * 5000).decode(),
    ],
)
def test_a_cursor_that_is_none_of_ours_gives_an_empty_page(filled: OwnedLedger, cursor: str) -> None:
    for page in (filled.mutations, filled.leads, filled.reviews, filled.quarantined):
        assert page(cursor=cursor) == ((), None)


def test_a_page_has_bounds(filled: OwnedLedger) -> None:
    assert len(filled.mutations(limit=0)[0]) == 1
    assert len(filled.mutations(limit=10**9)[0]) == 5


def test_counts(filled: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("9")
    (mutation,) = planned(filled, event, a_mutation(event))
    won(filled, mutation)
    clock.forward(100)
    counts = filled.counts()
    assert {status: n for status, n in counts.mutations.items() if n} == {
        Status.OBSERVED: 1,
        Status.RESERVED: 4,
        Status.SUBMITTED: 1,
    }
    assert {outcome: n for outcome, n in counts.leads.items() if n} == {
        Outcome.DONE: 1,
        Outcome.REVIEW: 1,
        Outcome.WORKING: 4,
    }
    assert counts.oldest_unfinished_seconds == 102  # the second event, a second after the first
    assert counts.reviews_open == {"sales": 1}
    assert counts.quarantine_held == 0


def test_an_empty_ledger_counts_nothing(ledger: OwnedLedger) -> None:
    counts = ledger.counts()
    assert counts.oldest_unfinished_seconds is None
    assert set(counts.mutations) == set(Status)
    assert set(counts.mutations.values()) == {0}
    assert ledger.mutations() == ((), None)
    ledger.ping()
