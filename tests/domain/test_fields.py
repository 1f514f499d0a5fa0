from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from leadproof.domain.errors import MalformedValue
from leadproof.domain.fields import FieldSpec, FieldType, canonical, normal


@pytest.mark.parametrize(
    ("field_type", "spellings", "form"),
    [
        ("text", ["Acme GmbH", "  Acme GmbH\t\r\n", "Acme GmbH\v"], "Acme GmbH"),
        ("text", ["Zoe\u0308", "Zo\u00eb"], "Zo\u00eb"),
        ("text", [True, "true"], "true"),
        ("text", [12.50, "12.5", Decimal("12.500")], "12.5"),
        ("email", ["Dana@Example.COM", " dana@example.com "], "dana@example.com"),
        ("email", ["dana@b\u00fccher.example", "Dana@XN--BCHER-KVA.example"], "dana@xn--bcher-kva.example"),
        ("email", ["dana+news@example.com"], "dana+news@example.com"),
        ("email", ["\u0390@example.com", "\u03b9\u0308\u0301@example.com"], "\u0390@example.com"),
        ("email", ["No address"], "no address"),
        ("phone", ["+49 30 123456", "+49 (0)30 123456", "tel:+49-30-123456"], "+4930123456"),
        ("phone", ["+1 415 555 0100 ext. 5", "+1 (415) 555-0100;ext=5"], "+14155550100;ext=5"),
        ("phone", ["030/123456", "030 123 456", "\uff10\uff13\uff10 123456"], "030123456"),
        ("phone", ["call me"], "call me"),
        ("boolean", [True, "true", "TRUE", "yes", "1", 1], True),
        ("boolean", [False, "false", "No", "0", 0], False),
        ("number", [1200, "1200", "1200.0", "1.2e3", 1200.0, Decimal("1200.00")], "1200"),
        ("number", [0, "-0", "0.00", "0e5"], "0"),
        ("number", ["-.50"], "-0.5"),
        ("money", [12500.5, "12500.50", "12500.500", "1.25005e4"], "12500.50"),
        ("money", ["10.005"], "10.005"),
        ("money", [7, "7.0"], "7.00"),
        ("date", ["2026-11-30", 1795996800000, "1795996800000", "2026-11-30T00:00:00Z"], "2026-11-30"),
        ("datetime", ["2026-11-30T10:00:00.123Z", "2026-11-30T12:00:00+0200"], "2026-11-30T10:00:00Z"),
        ("datetime", ["2026-11-30T10:00:00"], "2026-11-30T10:00:00Z"),
        ("picklist", ["OPEN", " OPEN "], "OPEN"),
        ("multi_picklist", ["b;a", ["a", "b"], ("b", "a", "b"), ";a;b;", {"a", "b"}, ["a;b"]], ["a", "b"]),
        ("owner", ["501", 501, "501 "], "501"),
        ("country", ["DE", "de", "DEU", "Germany", "GERMANY ", "Deutschland"], "DE"),
        ("country", ["Atlantis"], "Atlantis"),
        ("record_id", ["6001", 6001], "6001"),
    ],
)
def test_spellings_of_one_value_have_one_form(field_type: str, spellings: list[Any], form: Any) -> None:
    spec = FieldSpec(type=FieldType(field_type))

    assert [normal(spec, spelling) for spelling in spellings] == [form] * len(spellings)


@pytest.mark.parametrize("field_type", FieldType)
@pytest.mark.parametrize("empty", [None, "", [], (), set()])
def test_every_empty_value_is_none(field_type: FieldType, empty: Any) -> None:
    assert normal(FieldSpec(type=field_type), empty) is None


@pytest.mark.parametrize("empty", ["  ", "\t\r\n"])
def test_space_alone_is_empty(empty: str) -> None:
    assert normal(FieldSpec(), empty) is None
    assert normal(FieldSpec(type=FieldType.MULTI_PICKLIST), f"{empty};") is None


@pytest.mark.parametrize(
    ("field_type", "value"),
    [
        ("text", ["a"]),
        ("text", {"a": 1}),
        ("text", "a\x00b"),
        ("text", "\ud800"),
        ("text", float("nan")),
        ("boolean", "maybe"),
        ("boolean", [True]),
        ("number", "twelve"),
        ("number", "1,200"),
        ("number", True),
        ("number", float("inf")),
        ("number", "NaN"),
        ("number", "1e9999"),
        ("number", "1e-9999"),
        pytest.param("number", 10**5000, id="number-of-5000-digits"),
        ("number", {"a": 1}),
        ("money", "EUR 5"),
        ("date", "30.11.2026"),
        ("date", "2026-02-30"),
        ("date", [2026]),
        ("datetime", "9999-12-31T23:59:59-10:00"),
        ("datetime", "soon"),
        ("multi_picklist", 5),
        ("multi_picklist", [["a"]]),
        ("email", 5j),
    ],
)
def test_what_cannot_be_read_is_malformed(field_type: str, value: Any) -> None:
    with pytest.raises(MalformedValue) as refused:
        normal(FieldSpec(type=FieldType(field_type)), value)

    assert refused.value.field_type == field_type


@pytest.mark.parametrize("field_type", ["number", "boolean", "date"])
def test_a_refusal_does_not_repeat_the_value(field_type: str) -> None:
    with pytest.raises(MalformedValue) as refused:
        normal(FieldSpec(type=FieldType(field_type)), "dana@example.com")

    assert "dana" not in str(refused.value)


def test_a_phone_number_is_read_in_its_region() -> None:
    german = FieldSpec(type=FieldType.PHONE, region="DE")

    assert {normal(german, spelling) for spelling in ("030 123456", "tel 030: 123456", "+49 30 123456")} == {
        "+4930123456"
    }


def test_times_of_python_count_like_their_texts() -> None:
    two_hours_east = timezone(timedelta(hours=2))

    assert normal(FieldSpec(type=FieldType.DATE), date(2026, 11, 30)) == "2026-11-30"
    assert normal(FieldSpec(type=FieldType.DATE), datetime(2026, 11, 30, 1, tzinfo=two_hours_east)) == "2026-11-29"
    assert normal(FieldSpec(type=FieldType.DATETIME), datetime(2026, 11, 30, 1, 2, 3, 9, tzinfo=UTC)) == (
        "2026-11-30T01:02:03Z"
    )


@pytest.mark.parametrize(
    ("decimals", "value", "minor"),
    [(2, "12500.50", "1250050"), (0, 500, "500"), (3, "1.5", "1500"), (2, "-0.07", "-7"), (2, "10.005", "1000.5")],
)
def test_amounts_are_canonical_in_minor_units(decimals: int, value: Any, minor: str) -> None:
    assert canonical(FieldSpec(type=FieldType.MONEY, decimals=decimals), value) == minor


def test_long_amounts_lose_no_digit() -> None:
    amount = "1234567890123456789012345678901234567890.12"

    assert normal(FieldSpec(type=FieldType.MONEY), amount) == amount
    assert canonical(FieldSpec(type=FieldType.MONEY), amount) == amount.replace(".", "")


def test_only_amounts_have_another_canonical_form() -> None:
    assert canonical(FieldSpec(type=FieldType.NUMBER), "12.50") == "12.5"
    assert canonical(FieldSpec(type=FieldType.MONEY), None) is None


@pytest.mark.parametrize("decimals", [0, 2, 6])
def test_an_amount_that_can_be_read_has_minor_units(decimals: int) -> None:
    spec = FieldSpec(type=FieldType.MONEY, decimals=decimals)
    for sign in (1, -1):
        largest = sign * 10 ** (400 - decimals)
        assert canonical(spec, normal(spec, largest)) == str(sign * 10**400)
        with pytest.raises(MalformedValue):
            normal(spec, largest * 10)


def test_minor_units_have_bounds() -> None:
    with pytest.raises(ValidationError):
        FieldSpec(type=FieldType.MONEY, decimals=-1)


TEXTS = (
    st.text(max_size=20) | st.text("0123456789.-+eE ()/;x", max_size=24) | st.text("aA@. \u212a\u0345;\u037eß\u0130")
)
VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXTS
    | st.lists(TEXTS, max_size=4)
    | st.datetimes(timezones=st.none() | st.just(UTC))
    | st.dates()
    | st.decimals()
)
SPECS = st.builds(
    FieldSpec,
    type=st.sampled_from(FieldType),
    region=st.none() | st.sampled_from(["DE", "US", "IT"]),
    decimals=st.integers(0, 3),
)


@given(SPECS, VALUES)
@example(FieldSpec(type=FieldType.MULTI_PICKLIST), "a\u037eb")
@example(FieldSpec(type=FieldType.EMAIL), "x@a\u2003")
@example(FieldSpec(type=FieldType.EMAIL), "x@\uff20b")
@example(FieldSpec(type=FieldType.EMAIL), "\u0390\u0345@example.com")
@example(FieldSpec(type=FieldType.PHONE, region="DE"), "tel 030: 123456")
@example(FieldSpec(type=FieldType.PHONE, region="DE"), "00009901")
@example(FieldSpec(type=FieldType.MONEY), "12.5")
@example(FieldSpec(type=FieldType.MONEY, decimals=0), "1e20")
@example(FieldSpec(type=FieldType.COUNTRY), "united kingdom")
def test_a_normal_form_is_its_own_normal_form(spec: FieldSpec, value: Any) -> None:
    try:
        form = normal(spec, value)
    except MalformedValue:
        return

    assert normal(spec, form) == form
    assert canonical(spec, form) == canonical(spec, value)
