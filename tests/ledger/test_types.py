"""What goes in comes out, the same from both databases."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadproof.domain.steps import Arrival
from leadproof.ledger.types import storable
from tests.support.ledgers import OwnedLedger, a_lead_event

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_times_are_moments_in_any_zone_to_the_microsecond(ledger: OwnedLedger) -> None:
    moment = datetime(2026, 3, 29, 1, 59, 59, 123456, tzinfo=UTC)
    event = a_lead_event("1", occurred_at=moment.astimezone(timezone(timedelta(hours=5, minutes=30))))
    ledger.admit([Arrival(event=event)])
    lead = ledger.lead(event.event_key)
    assert lead is not None
    assert lead.occurred_at == moment
    assert lead.occurred_at.utcoffset() == timedelta(0)


def test_a_time_without_a_zone_is_refused(ledger: OwnedLedger) -> None:
    naive = a_lead_event("1", occurred_at=datetime(2026, 3, 2))  # noqa: DTZ001 - that is the fault
    with pytest.raises(Exception, match="without a zone"):
        ledger.admit([Arrival(event=naive)])


def test_json_from_outside_is_always_stored(ledger: OwnedLedger) -> None:
    odd = {"a\x00": ["\ud800", "é", "\U0001f600"], "n": [2**70, 0.1, float("inf")], "": {"deep": None}}
    event = a_lead_event("1", lead=odd)
    ledger.admit([Arrival(event=event)])
    lead = ledger.lead(event.event_key)
    assert lead is not None
    assert lead.lead == {
        "a\ufffd": ["\ufffd", "é", "\U0001f600"],
        "n": [2**70, 0.1, "inf"],
        "": {"deep": None},
    }


@settings(max_examples=50)
@given(JSON)
def test_what_can_be_stored_is_left_alone_and_the_rest_becomes_storable(value: object) -> None:
    once = storable(value)
    assert storable(once) == once

    def plain(part: object) -> bool:
        if isinstance(part, str):
            return "\x00" not in part and not any(0xD800 <= ord(letter) < 0xE000 for letter in part)
        if isinstance(part, float):
            return math.isfinite(part)
        if isinstance(part, list):
            return all(map(plain, part))
        return not isinstance(part, dict) or all(plain(k) and plain(v) for k, v in part.items())

    assert plain(once)
    if plain(value):
        assert once == value
