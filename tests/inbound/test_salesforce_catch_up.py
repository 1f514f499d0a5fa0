"""A record as the event of a notification: named by itself, since no notification's id can be had."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leadproof.domain.candidates import Candidate, Version
from leadproof.domain.events import SourceEvent
from leadproof.inbound import salesforce_catch_up
from leadproof.inbound.reading import Ignored, Usable
from leadproof.inbound.salesforce import parse_event
from tests.inbound.test_salesforce import LEAD, ORGANIZATION, SAVED, events, one

MADE = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
CHANGED = datetime(2026, 3, 2, 8, 59, 50, tzinfo=UTC)
TOUCHED = CHANGED + timedelta(seconds=5)


def candidate(record: str = LEAD, **changes: Any) -> Candidate:
    given: dict[str, Any] = {
        "record_id": record,
        "created": Version(value=None, at=MADE),
        "changed": Version(value=None, at=CHANGED, source_id="005xx000001Sv6AAAS"),
        "touched": TOUCHED,
    }
    return Candidate(**(given | changes))


def told(found: Candidate, since: datetime = MADE, until: datetime | None = None) -> list[SourceEvent]:
    return events(salesforce_catch_up.readings(found, account=ORGANIZATION, since=since, until=until))


def test_what_a_notification_would_say_but_for_its_id() -> None:
    (event,), (notified,) = told(candidate()), events([one(SAVED)])
    same = {"occurrence", "extra"}
    assert event.model_dump(exclude=same) == notified.model_dump(exclude=same)
    assert event.occurrence == '["catch_up","2026-03-02T08:59:55Z"]'
    assert event.extra["foundBy"] == "catch-up"


def test_the_same_state_is_the_same_event_and_a_later_one_is_another() -> None:
    later = candidate(touched=TOUCHED + timedelta(seconds=1))
    assert told(candidate()) == told(candidate())
    assert told(candidate())[0].occurrence != told(later)[0].occurrence


@pytest.mark.parametrize(
    ("since", "until", "count"),
    [
        (TOUCHED, None, 1),
        (TOUCHED, TOUCHED, 1),
        (TOUCHED + timedelta(seconds=1), None, 0),
        (MADE, TOUCHED - timedelta(seconds=1), 0),
    ],
)
def test_a_record_counts_where_it_last_moved(since: datetime, until: datetime | None, count: int) -> None:
    assert len(told(candidate(), since, until)) == count


def test_a_record_that_tells_less_is_named_by_what_it_tells() -> None:
    assert told(candidate(touched=None))[0].occurrence == '["catch_up","2026-03-02T08:59:50Z"]'
    (made,) = told(candidate(touched=None, changed=None))
    assert (made.occurrence, made.occurred_at) == ('["catch_up","2026-03-02T08:00:00Z"]', MADE)


def test_contacts_are_contacts_and_others_are_left_alone() -> None:
    (contact,) = told(candidate("003xx000004TmiQAAS"))
    assert contact.event_kind == "contact.saved"
    (other,) = salesforce_catch_up.readings(
        candidate("001xx000003DGb2AAG"), account=ORGANIZATION, since=MADE, until=None
    )
    assert isinstance(other, Ignored)


def test_what_was_kept_aside_is_read_again() -> None:
    (reading,) = salesforce_catch_up.readings(candidate(), account=ORGANIZATION, since=MADE, until=None)
    assert isinstance(reading, Usable)
    assert parse_event(reading.body) == reading
