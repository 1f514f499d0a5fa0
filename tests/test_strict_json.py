from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof import strict_json
from leadproof.domain.errors import MalformedDelivery


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "no JSON"),
        (b"[", "no JSON"),
        (b"[1] 2", "no JSON"),
        (b"{'a':1}", "no JSON"),
        (b'"a\nb"', "no JSON"),
        (b"\xff\xfe[\x00]\x00", "not UTF-8"),
        (b'["\xc3"]', "not UTF-8"),
        (b'["\xed\xa0\x80"]', "not UTF-8"),
        (b"\xef\xbb\xbf[]", "byte order mark"),
        ("[]".encode("utf-16-le"), "no JSON"),
        (b'[{"a":1,"a":1}]', "same name twice"),
        (b'[{"a":1,"\\u0061":2}]', "same name twice"),
        (b"[NaN]", "NaN"),
        (b"[-Infinity]", "NaN"),
        (b"[1e999]", "out of range"),
        (b"[" + b"9" * 5000 + b"]", "digits"),
        (b"[" * 21 + b"]" * 21, "nested deeper"),
        (b"[" * 200_000, "nested deeper"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested deeper"),
    ],
)
def test_a_body_that_two_parsers_could_read_differently_is_refused(body: bytes, why: str) -> None:
    with pytest.raises(MalformedDelivery, match=why):
        strict_json.read(body)


def test_brackets_inside_texts_are_no_levels() -> None:
    text = '["' + "[{" * 100 + '\\"' + "[" * 100 + '", {"]": "\\\\"}]'
    assert strict_json.read(text.encode()) == json.loads(text)


def test_the_deepest_allowed_level_is_read() -> None:
    body = b"[" * strict_json.DEEPEST + b"]" * strict_json.DEEPEST
    assert strict_json.read(body) == json.loads(body)


def test_a_body_made_to_be_slow_is_refused_in_time() -> None:
    started = time.perf_counter()
    with pytest.raises(MalformedDelivery):
        strict_json.read(b'"' + b'\\"' * 500_000 + b"\\")
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"[9007199254740992]", "2\\^53"),
        (b'{"a":[-9007199254740992]}', "2\\^53"),
        (b"[" + b"9" * 900 + b"]", "2\\^53"),
        (b'["a\\u0000b"]', "NUL"),
        (b'{"\\u0000":1}', "NUL"),
        (b'["\\ud800"]', "surrogate"),
        (b'[{"a":"\\udc00\\ud800"}]', "surrogate"),
    ],
)
def test_a_value_that_cannot_be_kept_as_it_came_is_refused_by_itself(body: bytes, why: str) -> None:
    value = strict_json.read(body)
    with pytest.raises(MalformedDelivery, match=why):
        strict_json.check(value)
    text = strict_json.text_of(value)
    assert "\x00" not in text
    assert strict_json.read(text.encode("utf-8")) == value


def test_a_surrogate_pair_and_the_largest_integer_are_fine() -> None:
    value = strict_json.read(b'["\\ud83d\\ude00", 9007199254740991, -1, true, null, 1.5]')
    strict_json.check(value)
    assert value == ["\N{GRINNING FACE}", 2**53 - 1, -1, True, None, 1.5]


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@given(_json)
def test_ordinary_json_is_read_as_the_standard_library_reads_it(value: object) -> None:
    for ascii_only in (False, True):
        text = json.dumps(value, ensure_ascii=ascii_only)
        try:
            body = text.encode("utf-8")
        except UnicodeEncodeError:
            continue
        assert strict_json.read(body) == value


@given(st.binary(max_size=200) | st.text(alphabet='[]{}",:\\u0019aeE.-', max_size=60).map(str.encode))
def test_no_body_raises_anything_else(body: bytes) -> None:
    with contextlib.suppress(MalformedDelivery):
        strict_json.check(strict_json.read(body))
