"""Intended against observed: what counts as a difference, and what never does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadproof.domain.comparison import compare, moved, same
from leadproof.domain.field_catalog import CATALOG, DISQUALIFICATION_REASON, LIFECYCLE_STAGE, OWNER
from leadproof.domain.fields import FieldSpec, FieldType
from leadproof.domain.records import Change, FoundRecord

QUICK = settings(deadline=None, max_examples=40)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)

SPECS = {
    "text": FieldSpec(),
    "email": FieldSpec(type=FieldType.EMAIL),
    "phone": FieldSpec(type=FieldType.PHONE, region="DE"),
    "flag": FieldSpec(type=FieldType.BOOLEAN),
    "number": FieldSpec(type=FieldType.NUMBER),
    "amount": FieldSpec(type=FieldType.MONEY),
    "day": FieldSpec(type=FieldType.DATE),
    "moment": FieldSpec(type=FieldType.DATETIME),
    "roles": FieldSpec(type=FieldType.MULTI_PICKLIST),
    "owner": FieldSpec(type=FieldType.OWNER),
    "country": FieldSpec(type=FieldType.COUNTRY),
}
SPELLINGS: dict[str, list[list[Any]]] = {
    "text": [["Acme", " Acme ", "Acme\t"], ["Zo\u00eb", "Zoe\u0308"], ["acme"], [None, "", "  "]],
    "email": [["Dana@Example.com", "dana@example.COM "], ["kofi@example.com"], [None, ""]],
    "phone": [["030 123456", "+49 30 123456"], ["+49 30 123457"], ["call me"], [None, ""]],
    "flag": [[True, "true", "1", "yes"], [False, "false", "0"], ["maybe"], [None, ""]],
    "number": [[1200, "1200.0", "1.2e3"], [0, "-0"], ["twelve"], [None, ""]],
    "amount": [["12.5", 12.50, "12.500"], ["12.51"], [None, ""]],
    "day": [["2026-11-30", 1795996800000, "2026-11-30T00:00:00Z"], ["2026-12-01"], ["soon"], [None]],
    "moment": [["2026-11-30T10:00:00.123Z", "2026-11-30T12:00:00+02:00"], ["2026-11-30T10:00:01Z"], [None]],
    "roles": [["a;b", ["b", "a"], ("a", "b", "a")], [["a"]], [None, [], ""]],
    "owner": [["501", 501, "501 "], ["502"], [None, ""]],
    "country": [["DE", "Germany", "deu"], ["Austria", "AT"], ["Atlantis"], [None, ""]],
}
"""Per field, groups of spellings: values of one group mean the same, values of two groups never do."""


@st.composite
def two_spellings(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any], set[str]]:
    """Two records over the same fields, and the names of those in which they mean different things."""
    names = draw(st.lists(st.sampled_from(sorted(SPELLINGS)), min_size=1, unique=True))
    left, right, different = {}, {}, set()
    for name in names:
        groups = SPELLINGS[name]
        one, other = (draw(st.integers(0, len(groups) - 1)) for _ in range(2))
        left[name], right[name] = draw(st.sampled_from(groups[one])), draw(st.sampled_from(groups[other]))
        if one != other:
            different.add(name)
    return left, right, different


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.lists(st.text(max_size=3))


@QUICK
@given(two_spellings())
def test_exactly_the_fields_that_mean_something_else_differ(drawn: tuple[Any, Any, set[str]]) -> None:
    left, right, different = drawn
    assert {difference.field for difference in compare(left, right, SPECS)} == different
    assert {difference.field for difference in compare(right, left, SPECS)} == different


@QUICK
@given(st.sampled_from(sorted(SPECS)), VALUES, VALUES)
def test_any_value_equals_itself_and_equality_has_no_direction(name: str, left: Any, right: Any) -> None:
    spec = SPECS[name]
    assert same(spec, left, left)
    assert same(spec, left, right) is same(spec, right, left)


@QUICK
@given(st.dictionaries(st.sampled_from(sorted(SPECS)), VALUES, min_size=1), st.data())
def test_a_field_that_was_not_returned_is_never_equal(intended: dict[str, Any], data: st.DataObject) -> None:
    gone = data.draw(st.sampled_from(sorted(intended)))
    observed = {name: value for name, value in intended.items() if name != gone}
    (difference,) = compare(intended, observed, SPECS)
    assert (difference.field, difference.returned) == (gone, False)


def test_not_returned_is_not_empty() -> None:
    assert compare({"text": None}, {"text": None}, SPECS) == ()
    assert compare({"text": None}, {"text": ""}, SPECS) == ()
    (difference,) = compare({"text": None}, {}, SPECS)
    assert difference.returned is False


def test_empty_that_was_returned_differs_from_a_value_and_says_so() -> None:
    (difference,) = compare({"text": "Acme"}, {"text": None}, SPECS)
    assert (difference.returned, difference.intended, difference.observed) == (True, "Acme", None)


def test_what_was_not_intended_is_ignored() -> None:
    assert compare({"text": "Acme"}, {"text": "Acme", "last_modified": "2026-03-02", "owner": "7"}, SPECS) == ()


@pytest.mark.parametrize("name", [OWNER, LIFECYCLE_STAGE, DISQUALIFICATION_REASON])
def test_what_decides_about_a_lead_is_never_ignored(name: str) -> None:
    assert [d.field for d in compare({name: "1"}, {name: "2"}, CATALOG)] == [name]


def test_a_field_without_a_declaration_is_text() -> None:
    assert compare({"unheard": "a"}, {"unheard": " a"}, SPECS) == ()
    assert compare({"unheard": "1"}, {"unheard": "1.0"}, SPECS) != ()


def test_differences_come_in_the_order_of_their_names_with_who_made_them() -> None:
    history = {
        "text": (Change(value="b", at=NOON, by="person:9"), Change(value="a", at=NOON - timedelta(hours=1), by="us"))
    }
    first, second = compare({"text": "a", "owner": "1"}, {"text": "b", "owner": "2"}, SPECS, history)
    assert (first.field, first.changed_by) == ("owner", None)
    assert (second.field, second.changed_by, second.changed_at) == ("text", "person:9", NOON)


def test_nobody_is_named_by_a_history_that_ends_before_what_stands() -> None:
    """It is no longer kept of the field, or left the latest change out."""
    history = {"text": (Change(value="c", at=NOON, by="person:9"),)}
    (difference,) = compare({"text": "a"}, {"text": "b"}, SPECS, history)
    assert (difference.changed_by, difference.changed_at) == (None, None)


# -- what moved since the base -----------------------------------------------------------------------------------------
def record(**fields: Any) -> FoundRecord:
    return FoundRecord(record_id="501", fields=fields)


def test_a_field_at_its_base_has_not_moved_however_it_is_spelled() -> None:
    assert moved({"roles": ["a", "b"]}, record(roles="b;a"), ("roles",), SPECS) == ()


def test_a_field_that_moved_is_told_with_its_base() -> None:
    (difference,) = moved({"text": "a"}, record(text="b"), ("text",), SPECS)
    assert (difference.intended, difference.observed) == ("a", "b")


def test_a_field_that_the_base_does_not_know_has_moved() -> None:
    assert [d.field for d in moved({"text": "a"}, record(text="a", owner=None), ("text", "owner"), SPECS)] == ["owner"]
    assert [d.field for d in moved(None, record(text=None), ("text",), SPECS)] == ["text"]


def test_a_field_that_is_not_returned_any_more_is_told_apart_from_one_that_moved() -> None:
    known, unknown = moved({"text": "a"}, record(), ("text", "owner"), SPECS), moved({}, record(), ("text",), SPECS)
    assert [(d.field, d.returned) for d in known] == [("owner", False), ("text", False)]
    assert [(d.field, d.returned) for d in unknown] == [("text", False)]
