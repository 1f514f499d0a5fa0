"""Reading the Salesforce record of a save: which object it is, and whether the save was ours."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from activities.messages import Reading, ReadingKind
from activities.source import SourceActivities
from leadproof.adapters import Adapters
from leadproof.domain.events import LeadEvent, Outcome
from leadproof.domain.mutation import Mutation
from leadproof.domain.plan import ActionKind, TargetObject
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.records import Change, FoundRecord, LookUp
from leadproof.domain.steps import Arrival
from leadproof.rulebook import Rulebook
from tests.activities.room import Shown, one
from tests.starter.salesforce import LEAD, ORGANIZATION, POLICY
from tests.support.ledgers import START, HandClock, OwnedLedger, a_lead_event, a_mutation, a_plan, sqlite_ledger

READ = parse_policy(POLICY)
CONTACT = "003xx000004TmiQAAS"
MIRA, DANA = "005xx000001Sv6BAAS", "005xx000001Sv6CAAS"
STOOD: dict[str, Any] = {"owner": None, "country": "DE", "company": "Sample", "employees": 120}
"""The lead as the plan saw it."""


class Salesforce(Shown):
    """Shows what it is told to, and keeps which object it was asked for."""

    system = "salesforce"

    def read(self, target_object: str, record_id: str, fields: Any, *, history: bool) -> LookUp:
        self.asked.append((target_object, record_id))
        return self.found


class Room:
    """One ledger, and the reading of a worker."""

    def __init__(self, ledger: OwnedLedger, clock: HandClock) -> None:
        self.ledger = ledger
        self.crm = Salesforce(one(record(STOOD)))
        self.clock = clock
        ledger.load_policy(READ)

    def admit(self, event: LeadEvent) -> str:
        self.ledger.admit([Arrival(event=event)])
        return event.event_key

    def written(self, event: LeadEvent, seen: dict[str, Any] | None = STOOD, **more: Any) -> Mutation:
        """A write of ours that gives the lead to Mira, on a plan that saw the record like this."""
        action = {"action": ActionKind.QUALIFY, "fields": {"owner": MIRA}, "provider_record_id": LEAD} | more
        mutation = a_mutation(event, **action)
        self.admit(event)
        snapshot = {"snapshot": None if seen is None else {"fields": seen}}
        return self.ledger.record_plan(a_plan(event, [mutation], **snapshot), [mutation]).mutations[0]

    def read(self, event_key: str) -> Reading:
        rulebook = Rulebook(self.ledger, parse_policy)
        source = SourceActivities(
            self.ledger, Adapters({"salesforce": self.crm}), rulebook, self.clock, lambda _system, _name, _policy: None
        )
        return ActivityEnvironment().run(source.read_source, event_key)

    def echo_of(self, event_key: str) -> str | None:
        """What the event's row says that it echoes, after reading; an event that echoes nothing is planned."""
        kind = self.read(event_key).kind
        lead = self.ledger.lead(event_key)
        assert lead is not None
        assert (kind, lead.outcome) in {(ReadingKind.CLOSED, Outcome.ECHO), (ReadingKind.READY, Outcome.WORKING)}
        return lead.echo_of


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    clock = HandClock()
    with sqlite_ledger(tmp_path / "ledger.db", clock) as ledger:
        yield Room(ledger, clock)


def saved(record_id: str = LEAD, *, notified: str = "1", at: datetime = START, **more: Any) -> LeadEvent:
    given: dict[str, Any] = {
        "source_system": "salesforce",
        "event_kind": "contact.saved" if record_id == CONTACT else "lead.saved",
        "occurrence": f'["{ORGANIZATION}","{notified}"]',
        "policy_version": READ.version,
        "lead": {"lead": {}, "extra": {}},
    }
    return a_lead_event(record_id, occurred_at=at, **(given | more))


def record(fields: dict[str, Any], record_id: str = LEAD, **changes: Any) -> FoundRecord:
    return FoundRecord(record_id=record_id, fields=fields, **changes)


# -- which object ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("record_id", "name"), [(LEAD, TargetObject.LEAD), (CONTACT, TargetObject.CONTACT)])
def test_the_kind_of_the_event_says_which_object_is_read(room: Room, record_id: str, name: TargetObject) -> None:
    room.crm.found = one(record(STOOD, record_id))
    reading = room.read(room.admit(saved(record_id)))
    assert room.crm.asked == [(name, record_id)]
    assert reading.snapshot is not None
    assert (reading.snapshot.source_object, reading.snapshot.source_record_id) == (name, record_id)
    assert reading.snapshot.fields == STOOD


# -- our own echo ------------------------------------------------------------------------------------------------------
AFTER = START + timedelta(seconds=30)
"""When our write landed."""


def ours(marker: str | None, fields: dict[str, Any] | None = None, **changes: Any) -> LookUp:
    """The record as our write left it."""
    left = {**STOOD, "owner": MIRA, **(fields or {})}
    given = {"marker": marker, "changed_by": "us", "changed_at": AFTER}
    return one(record(left, **(given | changes)))


def echo(room: Room, *, at: datetime = AFTER) -> str:
    return room.admit(saved(notified="2", at=at))


def test_the_save_that_our_write_made_is_an_echo(room: Room) -> None:
    mutation = room.written(saved())
    room.crm.found = ours(mutation.mutation_key)
    assert room.echo_of(echo(room)) == mutation.mutation_key


def test_a_value_that_only_looks_different_is_the_same(room: Room) -> None:
    mutation = room.written(saved(), {**STOOD, "employees": "120.0"})
    room.crm.found = ours(mutation.mutation_key)
    assert room.echo_of(echo(room)) == mutation.mutation_key


def test_what_automation_made_of_our_value_is_still_our_save(room: Room) -> None:
    """The read-back of the write itself tells the difference; a second plan would fight with the automation."""
    mutation = room.written(saved())
    room.crm.found = ours(mutation.mutation_key, {"owner": DANA})
    assert room.echo_of(echo(room)) == mutation.mutation_key


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"changed_by": "person:005xx000001Sv6CAAS"}, id="a-person-came-after-us"),
        pytest.param({"changed_by": None}, id="nobody-knows-who"),
        pytest.param({"marker": None}, id="no-marker"),
        pytest.param({"marker": "0" * 64}, id="a-marker-of-nobody"),
        pytest.param({"fields": {"country": "AT"}}, id="a-person-saved-between-plan-and-write"),
        pytest.param({"fields": {"email": "mira@example.com"}}, id="a-field-that-the-plan-did-not-see"),
    ],
)
def test_any_other_save_is_none(room: Room, changes: dict[str, Any]) -> None:
    mutation = room.written(saved())
    room.crm.found = ours(**({"marker": mutation.mutation_key} | changes))
    assert room.echo_of(echo(room)) is None


def test_what_a_plan_saw_and_is_forgotten_makes_no_echo(room: Room) -> None:
    mutation = room.written(saved(), None)
    room.crm.found = ours(mutation.mutation_key)
    assert room.echo_of(echo(room)) is None


@pytest.mark.parametrize(("late", "is_echo"), [(0, True), (1, True), (-1, False)])
def test_where_the_write_came_from_another_source_an_older_save_is_no_echo(
    room: Room, late: float, is_echo: bool
) -> None:
    mutation = room.written(a_lead_event("101", policy_version=READ.version), provider_record_id=LEAD)
    room.crm.found = ours(mutation.mutation_key)
    expected = mutation.mutation_key if is_echo else None
    assert room.echo_of(echo(room, at=AFTER + timedelta(seconds=late))) == expected


def edited(at: datetime, by: str = f"person:{DANA}") -> dict[str, tuple[Change, ...]]:
    """What history tells of an edit before our write."""
    return {"owner": (Change(value=MIRA, at=AFTER, by="us"), Change(value=DANA, at=at, by=by))}


def test_an_edit_that_is_told_after_a_write_from_another_source_is_no_echo(room: Room) -> None:
    """Its notification carries the time of our write, which is the record's last change by then."""
    mutation = room.written(a_lead_event("101", policy_version=READ.version), provider_record_id=LEAD)
    room.crm.found = ours(mutation.mutation_key, history=edited(AFTER - timedelta(seconds=2)))
    room.clock.forward(60)
    first, second = sorted((saved(notified=one, at=AFTER) for one in ("2", "3")), key=lambda one: one.event_key)
    for event in (first, second):
        room.admit(event)
    assert room.echo_of(first.event_key) is None, (
        "whichever of the two it is, the record is planned with the edit in it"
    )
    assert room.echo_of(second.event_key) == mutation.mutation_key


def test_of_two_saves_that_are_told_after_a_write_from_another_source_one_is_an_echo(room: Room) -> None:
    """The other is somebody's edit of a field without history: each save is told once, and ours is only one."""
    mutation = room.written(a_lead_event("101", policy_version=READ.version), provider_record_id=LEAD)
    room.crm.found = ours(mutation.mutation_key)
    assert room.echo_of(echo(room)) == mutation.mutation_key
    assert room.echo_of(room.admit(saved(notified="3", at=AFTER))) is None


@pytest.mark.parametrize(
    "history",
    [
        pytest.param(edited(START - timedelta(hours=24)), id="so-long-ago-that-nothing-tells-of-it"),
        pytest.param(edited(AFTER - timedelta(seconds=2), by="us"), id="ours"),
        pytest.param({"owner": (Change(value=None, at=AFTER),)}, id="what-it-was-made-with"),
    ],
)
def test_other_history_makes_no_edit_of_it(room: Room, history: dict[str, tuple[Change, ...]]) -> None:
    mutation = room.written(a_lead_event("101", policy_version=READ.version), provider_record_id=LEAD)
    room.crm.found = ours(mutation.mutation_key, history=history)
    room.clock.forward(60)
    assert room.echo_of(echo(room)) == mutation.mutation_key


def test_the_save_that_made_a_record_of_ours_is_an_echo(room: Room) -> None:
    mutation = room.written(
        a_lead_event("101", policy_version=READ.version), action=ActionKind.CREATE, provider_record_id=None
    )
    room.crm.found = ours(mutation.mutation_key, external_id=mutation.target_record)
    assert room.echo_of(echo(room)) == mutation.mutation_key


def test_where_the_record_does_not_tell_when_it_changed_a_write_from_another_source_makes_no_echo(room: Room) -> None:
    mutation = room.written(a_lead_event("101", policy_version=READ.version))
    room.crm.found = ours(mutation.mutation_key, changed_at=None)
    assert room.echo_of(echo(room)) is None
