from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from leadproof.domain.events import Scope
from tests.domain.samples import policy


@pytest.mark.parametrize(
    ("moment", "scope"),
    [
        (datetime(2020, 1, 1, tzinfo=UTC), Scope.RECORD),
        (datetime(2026, 5, 31, 23, 59, 59, tzinfo=UTC), Scope.RECORD),
        (datetime(2026, 6, 1, tzinfo=UTC), Scope.EVENT),
        (datetime(2030, 1, 1, tzinfo=UTC), Scope.EVENT),
    ],
)
def test_the_scope_is_decided_by_the_time_of_the_event(moment: datetime, scope: Scope) -> None:
    event = policy().event_kind("hubspot", "contact.creation")

    assert event is not None
    assert event.scope_at(moment) is scope


def test_an_event_kind_that_is_not_listed_is_none() -> None:
    assert policy().event_kind("hubspot", "contact.deletion") is None
    assert policy().event_kind("website", "contact.creation") is None


def test_quiescence_is_connecting_applying_and_the_clocks() -> None:
    target = policy().targets["hubspot"]

    assert target.quiescence == timedelta(seconds=5 + 120 + 2)
    assert target.observation_window == timedelta(seconds=300)


def test_an_unknown_queue_is_the_default_one() -> None:
    assert policy().queue("enterprise")[0] == "enterprise"
    assert policy().queue("enterprise")[1].due_hours == 4
    assert policy().queue("gone") == ("default", policy().queues["default"])
    assert policy().queue(None)[0] == "default"
