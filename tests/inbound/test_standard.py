from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain.errors import MalformedDelivery
from leadproof.domain.events import SourceEvent
from leadproof.inbound import standard

LEAD: dict[str, Any] = {
    "source_record_id": "form-17",
    "event_kind": "form.submitted",
    "occurrence": "submission-4711",
    "occurred_at": "2026-03-01T10:00:00+01:00",
    "lead": {"email": "mira@example.com", "company": "Sample & Co", "employees": 40},
}


def parse(value: object) -> SourceEvent:
    return standard.parse(json.dumps(value).encode(), source="website").event


def test_a_lead_in_our_own_schema() -> None:
    event = parse(
        {
            **LEAD,
            "lead": {
                **LEAD["lead"],
                "phone": " ",
                "title": None,
                "utm": {"source": "news", "utm_medium": "mail", "gclid": "x"},
                "consent": {"email_opt_out": True, "do_not_call": "maybe", "terms": "v3"},
                "favourite_colour": "teal",
            },
            "extra": {"page": "/pricing"},
        }
    )
    assert event.source_system == "website"
    assert event.account is None
    assert event.source_record_id == "form-17"
    assert event.event_kind == "form.submitted"
    assert event.occurrence == "submission-4711"
    assert event.occurred_at == datetime(2026, 3, 1, 10, tzinfo=timezone(timedelta(hours=1)))
    assert event.by_person is None
    assert event.lead == {
        "email": "mira@example.com",
        "company": "Sample & Co",
        "employees": 40,
        "utm_source": "news",
        "utm_medium": "mail",
        "email_opt_out": True,
    }
    assert event.extra == {
        "favourite_colour": "teal",
        "utm": {"utm_gclid": "x"},
        "consent": {"do_not_call": "maybe", "terms": "v3"},
        "page": "/pricing",
    }


def test_little_is_needed() -> None:
    event = parse(
        {
            "source_record_id": "1",
            "event_kind": "k",
            "occurred_at": "2026-03-01T10:00:00Z",
            "lead": {"phone": "+4930123", "utm": None, "consent": None},
            "extra": None,
        }
    )
    assert event.occurrence is None
    assert event.occurred_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert event.lead == {"phone": "+4930123"}
    assert event.extra == {}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"source_record_id": None}, "source_record_id"),
        ({"source_record_id": ""}, "source_record_id"),
        ({"source_record_id": " 1"}, "source_record_id"),
        ({"source_record_id": "1\n"}, "source_record_id"),
        ({"source_record_id": 17}, "source_record_id"),
        ({"source_record_id": "x" * 201}, "source_record_id"),
        ({"event_kind": "two words"}, "event_kind"),
        ({"event_kind": ""}, "event_kind"),
        ({"occurrence": ""}, "occurrence"),
        ({"occurrence": 5}, "occurrence"),
        ({"occurrence": "x" * 501}, "occurrence"),
        ({"occurred_at": 1772355600}, "occurred_at"),
        ({"occurred_at": "1772355600"}, "occurred_at"),
        ({"occurred_at": "2026-03-01"}, "occurred_at"),
        ({"occurred_at": "2026-03-01T10:00:00"}, "occurred_at"),
        ({"occurred_at": "2026-13-01T10:00:00Z"}, "occurred_at"),
        ({"occurred_at": "0001-01-01T00:00:00+14:00"}, "occurred_at"),
        ({"occurred_at": "9999-12-31T23:59:59-14:00"}, "occurred_at"),
        ({"lead": None}, "lead"),
        ({"lead": []}, "lead"),
        ({"lead": {}}, "e-mail address or a phone number"),
        ({"lead": {"email": " ", "phone": ""}}, "e-mail address or a phone number"),
        ({"lead": {"email": "no address"}}, "lead.email"),
        ({"lead": {"email": ["a@example.com"]}}, "lead.email"),
        ({"lead": {"email": "a@" + "x" * 320}}, "lead.email"),
        ({"lead": {"phone": 4930123}}, "lead.phone"),
        ({"lead": {"phone": "1", "employees": "40"}}, "lead.employees"),
        ({"lead": {"phone": "1", "employees": True}}, "lead.employees"),
        ({"lead": {"phone": "1", "employees": -1}}, "lead.employees"),
        ({"lead": {"phone": "1", "message": "x" * 20_001}}, "lead.message"),
        ({"lead": {"phone": "1", "utm": {"source": 5}}}, "lead.utm"),
        ({"lead": {"phone": "1", "utm": {str(n): "x" for n in range(31)}}}, "lead.utm"),
        ({"extra": []}, "extra"),
        ({"extra": {"a": "x" * 70_000}}, "extra"),
        ({"tenant": "other"}, "tenant"),
        ({"source_system": "hubspot"}, "source_system"),
        ({"extra": {"a": "\x00"}}, "NUL"),
        ({"extra": {"a": 2**53}}, "2^53"),
        ({"lead": {"phone": "1", "company": "\ud800"}}, "surrogate"),
    ],
)
def test_what_is_missing_or_wrong_is_named(change: dict[str, Any], why: str) -> None:
    with pytest.raises(MalformedDelivery) as raised:
        parse({**LEAD, **change})
    assert why in str(raised.value)


def test_no_value_is_repeated_in_the_refusal() -> None:
    with pytest.raises(MalformedDelivery) as raised:
        parse({**LEAD, "event_kind": "secret person", "lead": {"email": "secret person", "phone": ["secret person"]}})
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"1", b'[{"source_record_id":"1"}]', b'{"a":1,"a":1}'])
def test_what_is_no_lead_is_unusable(body: bytes) -> None:
    with pytest.raises(MalformedDelivery):
        standard.parse(body, source="website")


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@given(
    st.dictionaries(st.sampled_from([*LEAD, "extra", "other"]), _values, max_size=3),
    st.dictionaries(st.sampled_from([*standard.LeadFields.model_fields, "other"]), _values, max_size=3),
)
def test_whatever_is_sent_is_read_or_refused(top: dict[str, Any], lead: dict[str, Any]) -> None:
    for value in ({**LEAD, **top}, {**LEAD, "lead": {**LEAD["lead"], **lead}}):
        with contextlib.suppress(MalformedDelivery):
            assert parse(value).source_system == "website"
