"""What a soak calls wrong: a sound lead, and the same lead with one thing about it that must not be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from soak import report
from soak.evidence import Evidence
from soak.ledger import Ledger, stirring
from soak.reviewer import Decision
from soak.schedule import Schedule, ScheduledLead
from soak.soaking import Soaked
from soak.source import Told
from soak.verdict import wrongs
from soak.witness import Record, Version, Witness, Write

KEY, EVENT, RECORD = "a" * 64, "e" * 64, "101"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
WROTE = NOON + timedelta(seconds=2)
EMAIL = "person1@lead.example"


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def a_mutation(**changes: Any) -> dict[str, Any]:
    return {
        "mutation_key": KEY,
        "event_key": EVENT,
        "parent_key": None,
        "action_kind": "qualify",
        "target_system": "hubspot",
        "target_record": "x" * 64,
        "provider_record_id": RECORD,
        "source_record_id": RECORD,
        "depends_on": [],
        "base_state": {"lead_status": None},
        "intended_state": {"fields": {"lead_status": "NEW"}, "record": {"provider_record_id": RECORD}},
        "status": "observed",
        "reason": None,
        "acceptance_receipt": {"outcome": "accepted"},
        "observed_state": {"fields": {"lead_status": "NEW"}},
        **changes,
    }


def an_attempt(**changes: Any) -> dict[str, Any]:
    return {
        "mutation_key": KEY,
        "number": 1,
        "started_at": "2026-11-30 12:00:01.900000",
        "send_before": "2026-11-30 12:00:04.000000",
        "ended_at": "2026-11-30 12:00:02.100000",
        "outcome": "accepted",
        "answer": {"outcome": "accepted"},
        **changes,
    }


def an_item(reason: str, **changes: Any) -> dict[str, Any]:
    return {
        "review_id": "r1",
        "subject": KEY,
        "mutation_key": KEY,
        "event_key": EVENT,
        "reason": reason,
        "state": "decided",
        **changes,
    }


def a_record(*versions: tuple[float, str, str], marker: tuple[tuple[float, str], ...] = ((2, KEY),)) -> Record:
    """A contact with versions of its lead status, and of its marker."""
    statuses = [Version(at(seconds), value, by) for seconds, value, by in versions]
    fields = {"email": EMAIL, "lead_status": statuses[-1].value if statuses else ""}
    markers = [Version(at(seconds), value, "INTEGRATION") for seconds, value in marker]
    return Record("hubspot", RECORD, fields, {"lead_status": statuses, "marker": markers})


def a_write(**changes: Any) -> Write:
    return replace(Write("hubspot", WROTE, KEY, {"lead_status": "new"}, applied=True), **changes)


def evidence(
    *,
    mutation: dict[str, Any] | None = None,
    attempts: tuple[dict[str, Any], ...] = (an_attempt(),),
    items: tuple[dict[str, Any], ...] = (),
    record: Record | None = None,
    records: tuple[Record, ...] = (),
    writes: tuple[Write, ...] = (a_write(),),
    decisions: dict[str, Decision] | None = None,
    outcome: str = "done",
    acknowledged: int = 2,
) -> Evidence:
    lead = ScheduledLead(1, "hubspot", 0.0, {"email": EMAIL}, (0.0, 1.0))
    row = {
        "event_key": EVENT,
        "source_record_id": RECORD,
        "event_kind": "contact.creation",
        "outcome": outcome,
        "deliveries": 2,
    }
    told = Told(record_ids={1: RECORD})
    told.acknowledged[1] = acknowledged
    return Evidence(
        schedule=Schedule(7, (lead,), ()),
        told=told,
        ledger=Ledger(
            leads=[row],
            mutations=[mutation or a_mutation()],
            attempts={KEY: attempts},
            observations={KEY: [{"verdict": "one"}]},
            items=items,
        ),
        witness=Witness([record or a_record((2, "new", "INTEGRATION")), *records], writes),
        decisions=decisions or {},
        read_at=at(60),
        quiescence=timedelta(seconds=2),
    )


def said(seen: Evidence) -> str:
    return "; ".join(str(wrong) for wrong in wrongs(seen))


def test_a_sound_lead_is_not_wrong() -> None:
    assert wrongs(evidence()) == []


WRONG: dict[str, tuple[Callable[[], Evidence], str]] = {
    "a second effect": (lambda: evidence(writes=(a_write(), a_write()), attempts=(an_attempt(),) * 2), "2 times"),
    "a marker that came back": (
        lambda: evidence(
            record=a_record((2, "new", "INTEGRATION"), marker=((2, KEY), (5, "b" * 64), (9, KEY))),
        ),
        "its marker came to stand on the record 2 times",
    ),
    "an invented success": (
        lambda: evidence(writes=(), record=a_record(marker=())),
        "is observed, and the witness never carried it out",
    ),
    "an effect that never stood": (
        lambda: evidence(record=a_record((2, "open", "AUTOMATION_PLATFORM"))),
        "the record never stood as intended",
    ),
    "already so, and never so": (
        lambda: evidence(mutation=a_mutation(reason="already_so"), writes=(), record=a_record(marker=())),
        "was never so",
    ),
    "a lost update": (
        lambda: evidence(record=a_record((1, "connected", "CRM_UI"), (2, "new", "INTEGRATION"))),
        "replaced lead_status of CRM_UI",
    ),
    "an edit that the check should have seen": (
        lambda: evidence(
            record=a_record((1, "connected", "CRM_UI"), (2, "new", "INTEGRATION")),
            items=(an_item("overwrote_unseen_edit"),),
        ),
        "which stood there at the check before the write",
    ),
    "a write that no mutation stands for": (
        lambda: evidence(writes=(a_write(), a_write(marker="c" * 64))),
        "names no mutation of the ledger",
    ),
    "a request with another value": (
        lambda: evidence(writes=(a_write(values={"lead_status": "open"}),)),
        "sets lead_status otherwise than it intends",
    ),
    "a request without an attempt": (
        lambda: evidence(writes=(a_write(), a_write(applied=False))),
        "received 2 requests, the ledger has 1 attempts",
    ),
    "an attempt that was never ended": (
        lambda: evidence(attempts=(an_attempt(outcome=None, send_before="2026-11-30 12:00:59.000000"),)),
        "is open and not yet quiet",
    ),
    "an acceptance that was not kept": (
        lambda: evidence(mutation=a_mutation(acceptance_receipt=None)),
        "has no acceptance receipt",
    ),
    "a success that nobody read": (
        lambda: evidence(mutation=a_mutation(observed_state=None)),
        "has no state receipt",
    ),
    "a refusal of what was carried out": (
        lambda: evidence(mutation=a_mutation(status="rejected", reason="refuses_this")),
        "is rejected (refuses_this), and the witness carried it out",
    ),
    "given up unsent, and carried out": (
        lambda: evidence(
            mutation=a_mutation(status="abandoned", reason="declined"),
            items=(an_item("needs_approval"),),
            outcome="abandoned",
        ),
        "is abandoned (declined), and the witness carried it out",
    ),
    "divergent, and as intended": (
        lambda: evidence(mutation=a_mutation(status="divergent"), outcome="done"),
        "is divergent, and the record always stood as intended",
    ),
    "changed before a write that was made": (
        lambda: evidence(mutation=a_mutation(status="divergent", reason="changed_before_write")),
        "is said to have changed before the write",
    ),
    "an edit that is said to be lost and was not": (
        lambda: evidence(mutation=a_mutation(status="divergent", reason="overwrote_unseen_edit")),
        "the history shows none",
    ),
    "removed, and there": (
        lambda: evidence(
            mutation=a_mutation(status="divergent", reason="removed"), items=(an_item("removed"),), writes=()
        ),
        "was said to be removed",
    ),
    "left under way": (lambda: evidence(mutation=a_mutation(status="submitted")), "nothing goes on"),
    "two records of one lead": (
        lambda: evidence(records=(Record("hubspot", "102", {"email": EMAIL}),)),
        "2 records stand for it in hubspot",
    ),
    "an event that was lost": (lambda: replace(evidence(), ledger=Ledger()), "is not in the ledger"),
    "a delivery that was not counted": (lambda: evidence(acknowledged=3), "not all counted"),
    "gone, and there": (lambda: evidence(outcome="gone"), "is gone, and its record is where it was"),
    "a question about what is final": (
        lambda: evidence(items=(an_item("uncertain", state="open"),)),
        "is done, and a question is open",
    ),
    "a decision that left no row": (
        lambda: evidence(decisions={"d1": Decision("d1", "r1", "abandon", 200)}),
        "is not in the ledger",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_must_not_be_is_named_with_its_lead(name: str) -> None:
    broken, expected = WRONG[name]
    assert expected in said(broken())


def test_an_edit_that_a_person_was_told_of_is_not_lost() -> None:
    told = evidence(
        mutation=a_mutation(status="divergent", reason="overwrote_unseen_edit"),
        record=a_record((1.95, "connected", "CRM_UI"), (2, "new", "INTEGRATION")),
        items=(an_item("overwrote_unseen_edit", state="open"),),
        outcome="review",
    )
    assert wrongs(told) == []


def test_a_value_that_the_plan_stood_on_may_be_replaced() -> None:
    seen = evidence(
        mutation=a_mutation(base_state={"lead_status": "CONNECTED"}),
        record=a_record((1, "connected", "CRM_UI"), (2, "new", "INTEGRATION")),
    )
    assert wrongs(seen) == []


def test_what_was_given_up_uncertain_may_have_landed() -> None:
    given_up = a_mutation(status="abandoned", reason=None)
    assert wrongs(evidence(mutation=given_up, items=(an_item("uncertain"),), outcome="abandoned")) == []


def test_a_request_that_a_session_did_not_carry_is_the_same_attempt() -> None:
    assert wrongs(evidence(writes=(a_write(applied=False, refused_session=True), a_write()))) == []


def test_each_thing_that_is_wrong_is_a_line_with_the_seed_and_the_lead() -> None:
    broken = evidence(writes=(a_write(), a_write()), attempts=(an_attempt(),) * 2)
    *_, wrong, last = report.lines(Soaked(broken, wrongs(broken), 12.3))
    assert wrong.startswith("WRONG        seed 7, lead 1 (hubspot), qualify aaaaaaaaaaaa: the witness carried it out 2")
    assert last == "1 wrong; once more: python -m soak --seed 7 --leads 1"
    assert list(report.lines(Soaked(evidence(), [], 12.3)))[-1] == "nothing is wrong"


class TestRest:
    def ledger(self, *mutations: dict[str, Any], items: tuple[dict[str, Any], ...] = ()) -> Ledger:
        lead = {"event_key": EVENT, "outcome": "working"}
        return Ledger(leads=[lead], mutations=mutations, items=items)

    def test_a_lead_without_a_plan_stirs(self) -> None:
        assert stirring(self.ledger(), set())

    def test_a_final_lead_does_not(self) -> None:
        assert stirring(Ledger(leads=[{"event_key": EVENT, "outcome": "done"}]), set()) == []

    def test_a_question_stirs_until_it_is_left_open(self) -> None:
        asked = self.ledger(a_mutation(status="divergent"), items=(an_item("divergent", state="open"),))
        assert stirring(asked, set())
        assert stirring(asked, {"r1"}) == []

    def test_who_waits_behind_a_question_that_is_left_open_does_not_stir(self) -> None:
        waits = a_mutation(mutation_key="b" * 64, status="reserved", reason="waits")
        behind = self.ledger(a_mutation(status="divergent"), waits, items=(an_item("divergent", state="open"),))
        assert stirring(behind, {"r1"}) == []
        assert stirring(self.ledger(a_mutation(), waits), {"r1"})

    def test_a_pending_decision_stirs(self) -> None:
        pending = Ledger(decisions={"d1": {"decision_id": "d1", "verdict": "pending"}})
        assert stirring(pending, set())
