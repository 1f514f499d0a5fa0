"""Salesforce ids in 15 and 18 characters are one id."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain.errors import MalformedValue
from leadproof.domain.salesforce_ids import salesforce_id

# as captured: the long form beside the short one (facts of outbound messages that others recorded)
CAPTURED = ["00Dxx0000001gPLEAY", "00Qxx0000004C92EAE", "04lxx000000TzMKAA0", "04kxx0000000001AAA"]

SHORT = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", min_size=15, max_size=15)


@pytest.mark.parametrize("whole", CAPTURED)
def test_both_forms_of_a_captured_id_are_the_long_one(whole: str) -> None:
    assert salesforce_id(whole) == salesforce_id(whole[:15]) == whole


@given(SHORT, SHORT)
def test_two_ids_that_differ_in_case_alone_differ_whatever_case_is_lost(one: str, other: str) -> None:
    assert (salesforce_id(one) == salesforce_id(other)) == (one == other)
    if one != other and one.lower() == other.lower():
        assert salesforce_id(one).lower() != salesforce_id(other).lower()


@given(SHORT.filter(lambda text: any(one.isalpha() for one in text)))
def test_case_is_told_by_the_suffix(short: str) -> None:
    swapped = short.swapcase()
    assert salesforce_id(short).lower() != salesforce_id(swapped).lower()


@pytest.mark.parametrize(
    "text", ["", "00Q", "00Qxx0000004C92EAF", "00Qxx0000004C92eae", "00Qxx0000004C9\u0662", "../../Account", None, 15]
)
def test_what_is_no_id_is_refused_and_not_repeated(text: object) -> None:
    with pytest.raises(MalformedValue) as refused:
        salesforce_id(text)
    assert not text or str(text) not in str(refused.value)


def test_an_id_of_something_else_is_refused() -> None:
    with pytest.raises(MalformedValue, match="begins with 003"):
        salesforce_id("00Qxx0000004C92EAE", prefix="003")
