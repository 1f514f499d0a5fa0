"""Reading the source record: what is gone, what comes later, and what is our own echo."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

from activities.messages import ReadingKind
from activities.names import SOURCE_UNREADABLE
from leadproof.domain import keys
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Mutation
from leadproof.domain.plan import ActionKind
from leadproof.domain.records import MARKER, Change, LookUp, Presence
from tests.activities.room import ABSENT, RECORD, Room, one
from tests.boundary.world import TARGET
from tests.support.ledgers import START, a_mutation, planned
from workflows.options import HOPELESS

WINDOW = TARGET.observation_window_seconds


def outcome(room: Room, key: str) -> Outcome:
    lead = room.ledger.lead(key)
    assert lead is not None
    return lead.outcome


# -- ready, planned, closed --------------------------------------------------------------------------------------------
def test_a_record_that_can_be_read_is_the_snapshot_and_the_base(room: Room) -> None:
    key = room.admit()
    history = {"owner": (Change(value="501", at=START, by="us"),)}
    room.crm.found = one(history=history)
    reading = room.read_source(key)
    assert (reading.kind, reading.snapshot is not None) == (ReadingKind.READY, True)
    assert reading.snapshot is not None
    assert (reading.snapshot.fields, reading.snapshot.read_at) == (RECORD.fields, room.clock.now())
    assert reading.snapshot.record == RECORD.model_copy(update={"raw": {}})
    assert outcome(room, key) is Outcome.WORKING


def test_a_snapshot_is_as_old_as_its_question(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """What happened while the answer was on its way, it says nothing of; a base that seems younger would hide it."""
    key, asked_at = room.admit(), room.clock.now()

    def answered_late(*_: object, **__: object) -> LookUp:
        room.clock.forward(10)
        return one()

    monkeypatch.setattr(room.crm, "read", answered_late)
    snapshot = room.read_source(key).snapshot
    assert snapshot is not None
    assert snapshot.read_at == asked_at


def test_nothing_is_read_for_an_event_that_has_a_plan(room: Room) -> None:
    event = room.event()
    planned(room.ledger, event, a_mutation(event))
    assert room.read_source(event.event_key).kind is ReadingKind.PLANNED
    assert room.crm.asked == []


def test_nothing_is_read_for_an_event_that_has_its_outcome(room: Room) -> None:
    key = room.admit()
    room.ledger.close_event(key, Outcome.GONE)
    reading = room.read_source(key)
    assert reading.kind is ReadingKind.CLOSED
    assert reading.lead is not None
    assert (reading.lead.outcome, room.crm.asked) == (Outcome.GONE, [])


def test_a_key_under_which_nothing_stands_is_another_ledgers_and_tried_again(room: Room) -> None:
    with pytest.raises(ApplicationError, match="another deployment in this Temporal namespace") as failed:
        room.read_source("0" * 64)
    assert not failed.value.non_retryable  # the worker whose ledger knows it may be the next to be handed it
    assert failed.value.type not in HOPELESS


def test_a_lead_of_another_source_came_whole_with_its_event(room: Room) -> None:
    sent = {"email": " Dana@Example.com", "country": "Germany", "employees": "many", "shoe_size": 43}
    key = room.admit(
        "7", source_system="website", event_kind="form.submitted", occurrence="7", lead={"lead": sent, "extra": {}}
    )
    reading = room.read_source(key)
    assert reading.snapshot is not None
    assert reading.snapshot.fields == {"email": "dana@example.com", "country": "DE"}
    assert (reading.snapshot.record, room.crm.asked) == (None, [])


# -- gone, or not yet --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "found", [LookUp(presence=Presence.REMOVED, record_ids=("101",)), one(record_id="900")], ids=["archive", "merge"]
)
def test_a_record_is_gone_when_the_archive_or_a_merge_says_so(room: Room, found: LookUp) -> None:
    key = room.admit()
    room.crm.found = found
    assert room.read_source(key).kind is ReadingKind.CLOSED
    assert outcome(room, key) is Outcome.GONE


def looked_for(room: Room, key: str, missed: tuple[datetime, ...] = ()) -> list[float]:
    """The waits of a run that looks for the record until it is told what became of it."""
    waits = []
    while (reading := room.read_source(key, missed)).kind is ReadingKind.LATER:
        assert reading.at is not None
        waits.append((reading.at - room.clock.now()).total_seconds())
        room.clock.forward(waits[-1])
        missed = reading.missed
    return waits


@pytest.mark.parametrize("waited", [0, 20 * WINDOW])
def test_a_record_that_cannot_be_read_yet_is_looked_for_throughout_the_window_and_is_gone_then(
    room: Room, waited: float
) -> None:
    key = room.admit()
    room.crm.found = ABSENT
    room.clock.forward(waited)  # there was no worker
    waits = looked_for(room, key)
    assert room.clock.now() == START + timedelta(seconds=waited + WINDOW)
    assert (waits[:4], max(waits)) == ([2, 4, 8, 16], WINDOW / 5)
    assert outcome(room, key) is Outcome.GONE


def test_a_long_sleep_between_two_looks_is_no_looking(room: Room) -> None:
    key = room.admit()
    room.crm.found = ABSENT
    first = room.read_source(key)
    room.clock.forward(20 * WINDOW)
    assert room.read_source(key, first.missed).kind is ReadingKind.LATER
    assert sum(looked_for(room, key, first.missed)) > WINDOW / 2
    assert outcome(room, key) is Outcome.GONE


def test_a_record_that_shows_in_time_is_read(room: Room) -> None:
    key = room.admit()
    room.crm.found = ABSENT
    first = room.read_source(key)
    assert first.kind is ReadingKind.LATER
    room.clock.forward(WINDOW - 1)
    room.crm.found = one()
    assert room.read_source(key, first.missed).kind is ReadingKind.READY


@pytest.mark.parametrize(("told", "wait"), [(None, None), (33.0, timedelta(seconds=33))])
def test_a_source_that_says_nothing_is_tried_again_by_temporal(
    room: Room, told: float | None, wait: timedelta | None
) -> None:
    key = room.admit()
    room.clock.forward(10 * WINDOW)
    room.crm.found = LookUp(presence=Presence.UNKNOWN, detail="dana@example.com", retry_after_seconds=told)
    with pytest.raises(ApplicationError) as failed:
        room.read_source(key)
    assert (failed.value.type, failed.value.non_retryable, failed.value.next_retry_delay) == (
        SOURCE_UNREADABLE,
        False,
        wait,
    )
    assert "dana" not in str(failed.value)
    assert outcome(room, key) is Outcome.WORKING


# -- our own echo ------------------------------------------------------------------------------------------------------
def ours(room: Room, owner: str | None = "501", action: ActionKind = ActionKind.QUALIFY, **more: Any) -> Mutation:
    """A mutation of ours, of an older event, that intends this owner."""
    event = room.event("55", occurred_at=START - timedelta(hours=1))
    return room.effect(event, a_mutation(event, action=action, fields={"owner": owner}, **more))


def change_event(room: Room, name: str = "hubspot_owner_id", seconds: float = 0) -> str:
    moment = START + timedelta(seconds=seconds)
    return room.admit(
        event_kind="contact.propertyChange",
        occurrence=keys.occurrence(["contact.propertyChange", name, str(int(moment.timestamp() * 1000))]),
        occurred_at=moment,
    )


def wrote(value: Any, seconds: float = 0, by: str = "us") -> Change:
    return Change(value=value, at=START + timedelta(seconds=seconds), by=by)


def test_a_change_that_was_written_together_with_our_marker_is_an_echo(room: Room) -> None:
    mutation, key = ours(room), change_event(room)
    room.crm.found = one(history={"owner": (wrote("501", 0.004),), MARKER: (wrote(mutation.mutation_key, 0.004),)})
    reading = room.read_source(key)
    assert reading.kind is ReadingKind.CLOSED
    lead = room.ledger.lead(key)
    assert lead is not None
    assert (lead.outcome, lead.echo_of) == (Outcome.ECHO, mutation.mutation_key)


def test_a_person_who_set_the_same_value_within_the_same_second_is_no_echo(room: Room) -> None:
    mutation, key = ours(room), change_event(room)
    history = {"owner": (wrote("501", by="person:9"),), MARKER: (wrote(mutation.mutation_key, 0.5),)}
    room.crm.found = one(history=history)
    assert room.read_source(key).kind is ReadingKind.READY


@pytest.mark.parametrize(("occurred", "kind"), [(0.0, ReadingKind.READY), (0.6, ReadingKind.CLOSED)])
def test_of_two_changes_within_a_second_the_event_is_about_the_nearer(
    room: Room, occurred: float, kind: ReadingKind
) -> None:
    mutation, key = ours(room), change_event(room, seconds=occurred)
    history = {
        "owner": (wrote("501", 0.6), wrote("777", 0.0, by="person:9")),
        MARKER: (wrote(mutation.mutation_key, 0.6),),
    }
    room.crm.found = one(history=history)
    assert room.read_source(key).kind is kind


@pytest.mark.parametrize(
    "history",
    [
        pytest.param({"owner": (wrote("501", 1.5),)}, id="another-time"),
        pytest.param({"owner": (wrote("502"),)}, id="another-value-than-was-intended"),
        pytest.param({"owner": (), "lead_status": (wrote("501"),)}, id="another-field"),
    ],
)
def test_a_change_that_our_marker_does_not_cover_is_no_echo(room: Room, history: dict[str, Any]) -> None:
    mutation, key = ours(room), change_event(room)
    room.crm.found = one(history={**history, MARKER: (wrote(mutation.mutation_key),)})
    assert room.read_source(key).kind is ReadingKind.READY


@pytest.mark.parametrize("marker", ["0" * 64, None])
def test_a_marker_that_is_none_of_ours_makes_no_echo(room: Room, marker: str | None) -> None:
    ours(room)
    key = change_event(room)
    room.crm.found = one(history={"owner": (wrote("501"),), MARKER: (wrote(marker),)})
    assert room.read_source(key).kind is ReadingKind.READY


def test_a_change_of_a_field_that_we_have_no_name_for_is_no_echo(room: Room) -> None:
    mutation, key = ours(room), change_event(room, "favourite_colour")
    room.crm.found = one(history={"owner": (wrote("501"),), MARKER: (wrote(mutation.mutation_key),)})
    assert room.read_source(key).kind is ReadingKind.READY


@pytest.mark.parametrize(
    ("changed_by", "stands", "kind"),
    [
        ("us", "501", ReadingKind.CLOSED),
        ("person:9", "501", ReadingKind.READY),
        (None, "501", ReadingKind.READY),
        ("us", "777", ReadingKind.READY),
    ],
)
def test_without_history_it_is_an_echo_when_we_changed_the_record_last_and_it_carries_our_marker(
    room: Room, changed_by: str | None, stands: str, kind: ReadingKind
) -> None:
    mutation, key = ours(room), change_event(room)
    fields = {**RECORD.fields, "owner": stands}
    for history in ({}, {"lead_status": (wrote("NEW", by="person:9"),)}):
        room.crm.found = one(fields=fields, marker=mutation.mutation_key, changed_by=changed_by, history=history)
        assert room.read_source(key).kind is kind


def test_the_creation_of_a_record_that_a_create_of_ours_made_is_an_echo(room: Room) -> None:
    mutation = ours(room, action=ActionKind.CREATE)
    key = room.admit()
    room.crm.found = one(external_id=mutation.target_record)
    assert room.read_source(key).kind is ReadingKind.CLOSED
    lead = room.ledger.lead(key)
    assert lead is not None
    assert (lead.outcome, lead.echo_of) == (Outcome.ECHO, mutation.mutation_key)


@pytest.mark.parametrize("action", [ActionKind.QUALIFY, ActionKind.CREATE])
@pytest.mark.parametrize("carried", [None, "x" * 64])
def test_any_other_creation_is_none(room: Room, action: ActionKind, carried: str | None) -> None:
    ours(room, action=action)
    key = room.admit()
    room.crm.found = one(external_id=carried)
    assert room.read_source(key).kind is ReadingKind.READY


def test_a_record_that_was_only_updated_by_us_was_created_by_someone_else(room: Room) -> None:
    mutation = ours(room, action=ActionKind.QUALIFY)
    key = room.admit()
    room.crm.found = one(external_id=mutation.target_record)
    assert room.read_source(key).kind is ReadingKind.READY
