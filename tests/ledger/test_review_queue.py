"""The review queue as people look at it: narrowed, counted, and in a fixed number of statements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa

from leadproof.domain.mutation import Reason
from leadproof.domain.queue import PAGE_SIZE, QueueQuery
from leadproof.domain.review import Decision, ReviewItem
from leadproof.domain.steps import Arrival, Question
from leadproof.ledger.tables import LEAD_EVENT, MUTATION, REVIEW_ITEM
from tests.ledger.steps import decide, divergent
from tests.support.ledgers import START, HandClock, OwnedLedger, a_lead_event, a_mutation, planned


def approval(ledger: OwnedLedger, record: str, *, queue: str = "sales", due_hours: float = 4) -> ReviewItem:
    event = a_lead_event(record)
    (mutation,) = planned(
        ledger, event, a_mutation(event, reason=Reason.NEEDS_APPROVAL, provider_record_id=f"9{record}")
    )
    question = Question(reason=Reason.NEEDS_APPROVAL, queue=queue, due_at=START + timedelta(hours=due_hours))
    return ledger.open_review(mutation.mutation_key, question)


@pytest.fixture
def three(ledger: OwnedLedger, clock: HandClock) -> dict[str, ReviewItem]:
    """An approval for sales, then a difference for everybody, then a question about an event that has no plan."""
    items = {"approval": approval(ledger, "101")}
    clock.forward(3600)
    event = a_lead_event("102")
    (row,) = planned(ledger, event, a_mutation(event))
    items["difference"] = divergent(ledger, clock, row)
    clock.forward(3600)
    form = a_lead_event("form-1", source_system="website", event_kind="form.submitted", occurrence="1")
    ledger.admit([Arrival(event=form)])
    question = Question(reason="planner", queue="sales", due_at=START + timedelta(hours=1))
    items["no plan"] = ledger.open_event_review(form.event_key, question)
    return items


def shown(ledger: OwnedLedger, items: dict[str, ReviewItem], **asked: object) -> list[str]:
    names = {item.review_id: name for name, item in items.items()}
    return [names[row.item.review_id] for row in ledger.queue_page(QueueQuery.model_validate(asked)).rows]


def test_the_queue_is_shown_due_first_and_narrowed(ledger: OwnedLedger, three: dict[str, ReviewItem]) -> None:
    assert shown(ledger, three) == ["no plan", "approval", "difference"]
    assert shown(ledger, three, queue="sales") == ["no plan", "approval"]
    assert shown(ledger, three, source="website") == ["no plan"]
    assert shown(ledger, three, target="hubspot") == ["approval", "difference"]
    assert shown(ledger, three, reason="uncertain") == ["difference"]
    assert shown(ledger, three, opened_before=START + timedelta(hours=1)) == ["approval", "difference"]
    assert shown(ledger, three, queues=frozenset({"default"})) == ["difference"]
    assert shown(ledger, three, queues=frozenset()) == []
    assert shown(ledger, three, queues=frozenset({"default"}), queue="sales") == []
    assert shown(ledger, three, page=2) == []


def test_a_row_says_what_it_is_about(ledger: OwnedLedger, three: dict[str, ReviewItem]) -> None:
    plan, approval_row, difference = ledger.queue_page(QueueQuery()).rows
    assert (plan.source_system, plan.why, plan.target_system) == ("website", "there is no plan", None)
    assert plan.lead == {"email": "lead-form-1@example.com"}
    assert (approval_row.target_system, approval_row.target_object, approval_row.record) == (
        "hubspot",
        "contact",
        "9101",
    )
    assert (approval_row.action_kind, approval_row.lead) == ("qualify", {"email": "lead@example.com"})
    assert difference.differing == ("lead_status",)


def test_every_open_question_that_may_be_seen_is_counted(ledger: OwnedLedger, three: dict[str, ReviewItem]) -> None:
    asked = QueueQuery(queue="sales", opened_before=START + timedelta(hours=1), since=START)
    groups = {(one.queue, one.source, one.target): one for one in ledger.queue_page(asked).groups}
    assert {group: one.number for group, one in groups.items()} == {
        ("default", "hubspot", "hubspot"): 1,
        ("sales", "hubspot", "hubspot"): 1,
        ("sales", "website", None): 1,
    }
    assert [one.old for one in groups.values()] == [1, 1, 0]
    assert [one.new for one in groups.values()] == [1, 0, 0]
    assert [one.overdue for one in groups.values()] == [0, 0, 0]
    assert sum(one.overdue for one in ledger.queue_page(QueueQuery()).groups) == 1
    assert [asked.takes(one) for one in groups.values()] == [False, True, True]
    assert len(ledger.queue_page(QueueQuery(queues=frozenset({"sales"}))).groups) == 2


def test_the_mark_moves_when_a_page_shows_something_else(
    ledger: OwnedLedger, clock: HandClock, three: dict[str, ReviewItem]
) -> None:
    asked = QueueQuery(queue="sales")
    mark = ledger.queue_mark(asked)
    assert mark == ledger.queue_page(asked).mark == ledger.queue_mark(asked)
    approval(ledger, "103")
    opened = ledger.queue_mark(asked)
    assert opened not in {mark, ledger.queue_mark(QueueQuery(queue="default"))}
    decide(ledger, three["approval"], Decision.ABANDON)
    decided = ledger.queue_mark(asked)
    assert decided not in {mark, opened}
    clock.forward(3 * 3600)
    assert ledger.queue_mark(asked) != decided  # one is overdue now


def many(ledger: OwnedLedger, number: int) -> None:
    """So many open questions more, each with its event and mutation, in three statements."""
    event = a_lead_event("1")
    mutation = a_mutation(event)
    of_event = event.model_dump() | {
        "outcome": "review",
        "run": 0,
        "deliveries": 1,
        "conflicts": 0,
        "first_seen_at": START,
        "last_seen_at": START,
    }
    states = ("base_state", "intended_state", "observed_state", "acceptance_receipt", "differences", "depends_on")
    of_mutation = mutation.model_dump() | mutation.model_dump(mode="json", include=set(states))
    events, mutations, items = [], [], []
    for one in range(number):
        key, name = f"{one:064x}", f"{one:063x}m"
        events.append(of_event | {"event_key": key, "workflow_id": key, "source_record_id": str(one)})
        of_one = {"mutation_key": name, "event_key": key, "source_record_id": str(one), "target_record": key}
        mutations.append(of_mutation | of_one)
        items.append(
            {
                "review_id": key,
                "subject": name,
                "event_key": key,
                "mutation_key": name,
                "round": 1,
                "reason": "needs_approval",
                "queue": ("sales", "default", "enterprise")[one % 3],
                "state": "open",
                "opened_at": START,
                "due_at": START + timedelta(minutes=one),
                "version": 1,
            }
        )

    def insert(connection: sa.Connection) -> None:
        for table, rows in ((LEAD_EVENT, events), (MUTATION, mutations), (REVIEW_ITEM, items)):
            connection.execute(sa.insert(table), rows)

    ledger._engine.write(insert)  # the fastest way in; what is tested is the way out


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that are run meanwhile, by whatever engine."""
    statements: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        if statement.startswith("SELECT"):
            statements.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


def test_a_page_takes_two_statements_and_holds_so_many(ledger: OwnedLedger) -> None:
    many(ledger, PAGE_SIZE + 3)
    with counted() as statements:
        first = ledger.queue_page(QueueQuery())
        second = ledger.queue_page(QueueQuery(page=2))
        ledger.queue_mark(QueueQuery())
    assert len(statements) == 6
    due: list[datetime] = [row.item.due_at for row in (*first.rows, *second.rows)]
    assert (len(first.rows), len(second.rows)) == (PAGE_SIZE, 3)
    assert due == sorted(due)
    assert len(set(due)) == PAGE_SIZE + 3
