"""A record's history as events: only what brought another value, oldest first, in HubSpot's own words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from leadproof.domain.candidates import Candidate, Version
from leadproof.inbound import hubspot_catch_up
from leadproof.inbound.reading import Unusable, Usable

MADE = datetime(2026, 11, 30, 8, 0, 0, 123_000, tzinfo=UTC)


def version(value: str | None, seconds: float, **more: Any) -> Version:
    return Version(value=value, at=MADE + timedelta(seconds=seconds), **more)


def told(*newest_first: Version, since: datetime = MADE, until: datetime | None = None) -> list[tuple[str, str | None]]:
    """Kind and value of each event."""
    candidate = Candidate(
        record_id="101",
        created=Version(value=None, at=MADE, source="CRM_UI", source_id="userId:9001"),
        history={"company": newest_first},
    )
    readings = hubspot_catch_up.readings(candidate, account="62515", since=since, until=until)
    assert all(isinstance(reading, Usable) for reading in readings)
    events = [reading.event for reading in readings if isinstance(reading, Usable)]
    assert [event.occurred_at for event in events] == sorted(event.occurred_at for event in events)
    return [(event.event_kind, event.changed_value) for event in events]


def test_a_value_that_was_set_again_is_no_change() -> None:
    assert told(version("B", 3), version("A", 2), version("A", 1)) == [
        ("contact.creation", None),
        ("contact.propertyChange", "A"),
        ("contact.propertyChange", "B"),
    ]


def test_a_property_that_begins_empty_has_not_changed_and_one_that_is_emptied_has() -> None:
    assert told(version(None, 3), version("A", 2), version("", 1))[1:] == [
        ("contact.propertyChange", "A"),
        ("contact.propertyChange", ""),
    ]


def test_what_changed_before_the_time_is_known_and_not_told() -> None:
    assert told(version("A", 5), version("A", 1), since=MADE + timedelta(seconds=2)) == []


def test_an_event_is_worded_as_hubspot_words_it() -> None:
    candidate = Candidate(
        record_id="101",
        created=Version(value=None, at=MADE - timedelta(days=1)),
        history={"company": (version("Acme", 0, source="INTEGRATION", source_id="54321"),)},
    )
    (reading,) = hubspot_catch_up.readings(candidate, account="62515", since=MADE, until=MADE)
    assert isinstance(reading, Usable)
    assert reading.event.occurrence == '["contact.propertyChange","company","1796025600123"]'
    assert reading.event.account == "62515"
    assert reading.event.by_person is False
    assert reading.event.extra["foundBy"] == "catch-up"


def test_a_value_that_cannot_be_stored_is_held_back_and_its_neighbour_proceeds() -> None:
    candidate = Candidate(
        record_id="101",
        created=Version(value=None, at=MADE),
        history={"company": (version("nul\x00", 1),)},
    )
    readings = hubspot_catch_up.readings(candidate, account="62515", since=MADE, until=None)
    assert [type(reading) for reading in readings] == [Usable, Unusable]
