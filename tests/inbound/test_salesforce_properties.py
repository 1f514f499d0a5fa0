"""Whatever comes is read, kept aside, or refused as a whole; nothing else is ever raised."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain.errors import MalformedDelivery
from leadproof.inbound import salesforce
from leadproof.inbound.reading import Ignored, Unusable, Usable
from tests.inbound.test_salesforce import LEAD, NOTIFICATION, ORGANIZATION, PLAIN


def readable(body: bytes) -> bool:
    try:
        readings = salesforce.parse(body)
    except MalformedDelivery:
        return False
    assert all(isinstance(reading, Usable | Ignored | Unusable) for reading in readings)
    return True


ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1", "utf-32"])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(body: bytes) -> None:
    readable(body)


@given(texts, st.integers(0, len(PLAIN)), st.integers(0, 30), ENCODINGS)
def test_no_damage_raises_anything_else(piece: str, place: int, cut: int, encoding: str) -> None:
    readable((PLAIN[:place] + piece + PLAIN[place + cut :]).encode(encoding, "replace"))


@given(st.sampled_from(["hex", "rot13", "shift_jis", "utf-7", "idna", "", "x" * 50, "UTF-8", "undefined"]), ENCODINGS)
def test_no_declared_encoding_raises_anything_else(declared: str, encoding: str) -> None:
    readable(f'<?xml version="1.0" encoding="{declared}"?>{PLAIN}'.encode(encoding))


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "organizationId": st.just(ORGANIZATION) | json_values,
        "notificationId": st.just(NOTIFICATION) | json_values,
        "objectType": st.sampled_from(["Lead", "Contact", "Case"]) | json_values,
        "record": st.fixed_dictionaries({"Id": st.just(LEAD) | json_values, "CreatedDate": json_values}) | json_values,
        "sentFields": st.lists(json_values, max_size=3) | json_values,
        "foundBy": st.just("catch-up") | json_values,
    },
)


@given(bodies | json_values)
def test_no_entry_of_the_quarantine_raises_anything(body: Any) -> None:
    assert isinstance(salesforce.parse_event(body), Usable | Ignored | Unusable)
