"""All faults of a policy at once, by the rules by which the first one is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.policy_text import examine, parse_policy
from tests.domain.samples import POLICY, changed, line_of

SAYS = (
    "should be 'record' or 'event'",
    "'haircut' is unknown",
    "'vip' is not in this policy",
    "less than or equal to 1",
    "a key that the policy does not know",
    "'rest' does nothing and sets fields",
)


def first_line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def spoiled(*changes: tuple[str, str]) -> str:
    text = POLICY
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
        text = text.replace(old, new)
    return text


def test_a_policy_without_a_fault_is_read_as_a_whole() -> None:
    examined = examine(POLICY)

    assert examined.policy == parse_policy(POLICY)
    assert examined.faults == ()
    assert examined.whole


def test_every_fault_is_named_with_its_line_in_the_order_of_the_text() -> None:
    text = spoiled(
        ('dana = "501"', 'dana = "501"\n502 = "501"'),
        ('queue = "enterprise"', 'queue = "vip"'),
        ('lead_status = "NEW" }', 'lead_status = "COLD" }'),
        ("clear_stage = 60\n", ""),
    )

    examined = examine(text)

    assert [(fault.line, fault.why.partition(" ")[0]) for fault in examined.faults] == [
        (line_of(text, '502 = "501"'), "the"),
        (line_of(text, 'queue = "vip"'), "the"),
        (line_of(text, '"COLD"'), "the"),
        (line_of(text, "[retention.keys_days]"), "retention.keys_days"),
    ]
    assert examined.whole


def test_an_entry_of_another_shape_hides_no_fault_beside_it() -> None:
    text = spoiled(
        ('scope = "event" }', 'scope = "day" }'),
        ("below_confidence = 0.5", "below_confidence = 5"),
        ('"phone", "owner",', '"phone", "haircut",'),
        ('queue = "enterprise"', 'queue = "vip"'),
        ('name = "named"\n', 'name = "named"\npriority = 1\n'),
        ('action = "none"', 'action = "none"\nfields = { owner = "dana" }'),
    )

    examined = examine(text)

    assert [(fault.line, says) for fault, says in zip(examined.faults, SAYS, strict=True) if says in fault.why] == [
        (line_of(text, 'scope = "day"'), "should be 'record' or 'event'"),
        (line_of(text, '"haircut"'), "'haircut' is unknown"),
        (line_of(text, 'queue = "vip"'), "'vip' is not in this policy"),
        (line_of(text, "below_confidence"), "less than or equal to 1"),
        (line_of(text, "priority"), "a key that the policy does not know"),
        (line_of(text, 'fields = { owner = "dana" }\n'), "'rest' does nothing and sets fields"),
    ]
    assert examined.policy is None
    assert examined.whole


def test_what_others_refer_to_is_mended_before_they_are_looked_at() -> None:
    text = spoiled(("due_hours = 4", "due_hours = 0"), ("apply_lag_seconds = 120", "apply_lag_seconds = -1"))

    examined = examine(text)

    assert [fault.line for fault in examined.faults] == [line_of(text, "apply_lag_seconds"), line_of(text, "due_hours")]
    assert not examined.whole, "a queue without its numbers is not said to be missing where it is named"


def test_a_plural_is_read_as_what_it_was_meant_to_be() -> None:
    text = changed('owner = "dana", lead_status', 'owner = "dan", lead_status').replace("[[rule]]", "[[rules]]")

    examined = examine(text)

    assert [(fault.line, fault.why) for fault in examined.faults] == [
        (first_line_of(text, "[[rules]]"), "'rules' is a key that the policy does not know; write [[rule]]"),
        (
            line_of(text, '"dan"'),
            "the rule 'named' sets 'owner' to 'dan', which is none of [owners.hubspot]: dana, kofi",
        ),
    ]


def test_what_is_no_toml_has_one_fault() -> None:
    examined = examine(POLICY + "x = \ny = \n")

    assert [fault.line for fault in examined.faults] == [POLICY.count("\n") + 1]
    assert not examined.whole


@pytest.mark.parametrize("planner", ['"gpt"', "5", "[]"])
def test_a_planner_that_there_is_none_of_is_one_fault(planner: str) -> None:
    text = changed('version = "1"', f'version = "1"\nplanner = {planner}')

    assert [(fault.line, fault.why) for fault in examine(text).faults] == [
        (2, 'planner can only be "rules" or "claude"')
    ]


LINES = POLICY.splitlines()
INSTEAD = ["", "x = 1", "[x]", "name = true", "fields = 3", "when = []", "scopes = [1]", 'queue = "x"', "[[rules]]"]


@given(st.dictionaries(st.integers(0, len(LINES) - 1), st.sampled_from(INSTEAD), max_size=4))
def test_the_first_of_all_faults_is_the_one_that_is_refused(instead: dict[int, str]) -> None:
    text = "\n".join(instead.get(at, line) for at, line in enumerate(LINES))
    examined = examine(text)
    try:
        policy = parse_policy(text)
    except PolicyRefused as refusal:
        assert (refusal.line, refusal.why) == (examined.faults[0].line, examined.faults[0].why)  # noqa: PT017
    else:
        assert (policy, ()) == examined[:2]
    lines = [fault.line for fault in examined.faults]
    assert lines == sorted(lines, key=lambda line: (line is None, line or 0))
    assert len({(fault.line, fault.why) for fault in examined.faults}) == len(lines)
