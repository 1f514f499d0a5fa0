"""What has the shape of a policy and makes no sense is refused with its line: numbers, texts, conditions."""

from __future__ import annotations

import pytest

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.fields import FieldType
from leadproof.domain.policy_text import examine, parse_policy
from tests.domain.samples import POLICY, changed, line_of

WHEN = 'when = { source = "hubspot", present = "company" }'


def refused(old: str, new: str) -> PolicyRefused:
    text = changed(old, new)
    with pytest.raises(PolicyRefused) as error:
        parse_policy(text)
    assert "\n" not in str(error.value)
    assert error.value.line is not None
    return error.value


@pytest.mark.parametrize("value", ["true", "false", '"5"', "[5]"])
@pytest.mark.parametrize(
    "old",
    ["apply_lag_seconds = 120", "due_hours = 4", "below_confidence = 0.5", "clear_stage = 60"],
)
def test_a_number_is_a_number(old: str, value: str) -> None:
    name = old.partition(" ")[0]
    error = refused(old, f"{name} = {value}")
    assert name in error.why


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("max_attempts = true", "max_attempts"),
        ("max_attempts = 3.0", "max_attempts"),
        ('max_attempts = "3"', "max_attempts"),
        ("connect_timeout_seconds = true", "connect_timeout_seconds"),
    ],
)
def test_a_count_is_a_whole_number(line: str, name: str) -> None:
    assert name in refused("apply_lag_seconds = 120", f"apply_lag_seconds = 120\n{line}").why


@pytest.mark.parametrize("hours", ["3.9", "0.1"])
def test_nothing_is_given_up_before_it_is_due(hours: str) -> None:
    error = refused("due_hours = 4", f"due_hours = 4\nabandon_after_hours = {hours}")
    assert error.why == f"the queue 'enterprise': abandon_after_hours ({hours}) must be at least due_hours (4)"


@pytest.mark.parametrize("hours", [4, 48.5])
def test_what_nobody_decides_is_given_up_when_it_is_due_or_later(hours: float) -> None:
    policy = parse_policy(changed("due_hours = 4", f"due_hours = 4\nabandon_after_hours = {hours}"))
    assert policy.queues["enterprise"].abandon_after_hours == hours
    assert policy.queues["default"].abandon_after_hours is None


@pytest.mark.parametrize("value", ["1", "0", '"yes"', '"true"'])
def test_yes_or_no_is_a_boolean(value: str) -> None:
    error = refused("due_hours = 4", f"due_hours = 4\nraw_signals_count = {value}")
    assert "raw_signals_count" in error.why


@pytest.mark.parametrize("value", ["5", "1.5", "true"])
def test_a_time_is_no_number(value: str) -> None:
    text = POLICY.replace("from = 2026-01-01T00:00:00Z", f"from = {value}", 1)
    with pytest.raises(PolicyRefused, match="is a time, as in 2026-01-01T00:00:00Z"):
        parse_policy(text)


@pytest.mark.parametrize("escaped", ["\\u0000", "\\u001B", "\\u0085", "\\u2028", "\\u007F"])
@pytest.mark.parametrize(
    "old",
    ['version = "1"', 'name = "named"', 'queue = "enterprise"', 'dana = "501"', 'lead_status = "NEW" }'],
)
def test_no_text_has_a_control_character(old: str, escaped: str) -> None:
    text = changed(old, old.replace('"', f'"{escaped}', 1))
    found = [fault for fault in examine(text).faults if "control character" in fault.why]
    assert [fault.line for fault in found] == [line_of(text, old.replace('"', f'"{escaped}', 1))]
    with pytest.raises(PolicyRefused):
        parse_policy(text)


def test_no_name_has_a_control_character() -> None:
    assert "a name in 'hubspot' has a control character" in refused('dana = "501"', '"da\\u0000na" = "501"').why


@pytest.mark.parametrize(("escaped", "fits"), [("\\n", True), ("\\t", True), ("\\u0000", False), ("\\r", False)])
def test_prose_may_have_several_lines(escaped: str, fits: bool) -> None:
    text = POLICY.replace('why = "', f'why = "one{escaped}', 1)
    assert text != POLICY
    assert (examine(text).faults == ()) is fits


@pytest.mark.parametrize(
    ("equals", "says"),
    [
        ("{ country = [1, [2]] }", "'country' is compared with texts"),
        ("{ country = 49 }", "'country' is compared with texts"),
        ("{ country = true }", "'country' is compared with texts"),
        ("{ country = { a = 1 } }", "'country' is compared with texts"),
        ("{ country = 1979-05-27 }", "'country' is compared with texts"),
        ("{ country = [] }", "'country' has no value to equal"),
        ('{ country = "" }', "for an empty field there is absent"),
        ('{ country = ["DE", " "] }', "for an empty field there is absent"),
        ('{ email = "notanemail" }', "the value of 'email' is no e-mail address"),
        ('{ phone = "soon" }', "the value of 'phone' is no telephone number"),
        ("{ employees = true }", "cannot be read as number"),
        ('{ employees = "many" }', "cannot be read as number"),
        ("{ employees = nan }", "cannot be read as number"),
        ('{ email_opt_out = "perhaps" }', "cannot be read as boolean"),
    ],
)
def test_a_condition_whose_value_no_field_equals(equals: str, says: str) -> None:
    assert says in refused(WHEN, f"when = {{ equals = {equals} }}").why


@pytest.mark.parametrize(
    ("when", "says"),
    [
        ('{ email_domain = "@gmail.com" }', "'@gmail.com' is no domain"),
        ('{ email_domain = ["gmail.com", ""] }', "'' is no domain"),
        ('{ email_domain = "gmail.com, yahoo.com" }', "is no domain"),
        ('{ present = "company", absent = "company" }', "'company' cannot be absent and have a value"),
        ('{ email_domain = "gmail.com", absent = "email" }', "'email' cannot be absent and have a value"),
        ("{ at_least = { employees = 10 }, absent = 'employees' }", "'employees' cannot be absent and have a value"),
        ("{ at_least = { employees = 10 }, at_most = { employees = 5 } }", "no 'employees' is at least that"),
        ("{ at_least = { employees = true } }", "employees"),
        ("{ at_least = { employees = '5' } }", "employees"),
    ],
)
def test_a_condition_that_never_holds(when: str, says: str) -> None:
    assert says in refused(WHEN, f"when = {when}").why


@pytest.mark.parametrize(
    "when",
    [
        '{ equals = { country = ["DE", "Austria"], employees = [500, "500.0"], email_opt_out = true } }',
        '{ email_domain = ["gmail.com", "bücher.example", "example.co.uk"], present = "company", absent = "owner" }',
        "{ at_least = { employees = 5 }, at_most = { employees = 5.5 } }",
    ],
)
def test_a_condition_that_may_hold(when: str) -> None:
    assert examine(changed(WHEN, f"when = {when}")).faults == ()


def test_names_that_nest_deeper_than_python_calls_are_a_fault_like_any_other() -> None:
    assert examine("a." * 3000 + "b = 1\n" + POLICY).faults != ()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('dana = "501"', 'dana = ""', "'dana' in owners.hubspot must not be empty"),
        ('name = "named"', 'name = ""', "'name' in rule must not be empty"),
        ('name = "big"', 'name = ""', "'name' in approval must not be empty"),
        ('why = "the planner is not sure"', 'why = ""', "'why' in approval must not be empty"),
        ('kind = "contact.creation"', 'kind = ""', "'kind' in event must not be empty"),
        ('kind = "contact.creation"', 'kind = "a contact"', "'kind' in event is not written as it has to be"),
    ],
)
def test_what_is_needed_is_not_empty(old: str, new: str, says: str) -> None:
    assert says in refused(old, new).why


FURTHER = 'second_owner = { property = "second_owner", spec = { type = "owner" } }'


@pytest.mark.parametrize("kind", [one for one in FieldType if one is not FieldType.TEXT])
def test_only_text_is_prose(kind: FieldType) -> None:
    spec = f'x = {{ property = "x", spec = {{ type = "{kind}", free = true }} }}'
    why = refused(FURTHER, f"{FURTHER}\n{spec}").why
    assert why == f"'x' is declared free, and only text is prose; its type is {kind}"
    accepted(FURTHER, f'{FURTHER}\nx = {{ property = "x", spec = {{ free = true }} }}')


@pytest.mark.parametrize(
    ("field", "kind"),
    [("owner", "owner"), ("lifecycle_stage", "picklist"), ("email_opt_out", "boolean"), ("do_not_call", "boolean")],
)
def test_a_field_that_is_judged_by_its_type_keeps_it(field: str, kind: str) -> None:
    of_text = f'{field} = {{ property = "mine", spec = {{ free = true }} }}'
    assert refused(FURTHER, f"{FURTHER}\n{of_text}").why == f"the field {field!r} is always of the type {kind}"
    accepted(FURTHER, f'{FURTHER}\n{field} = {{ property = "mine", spec = {{ type = "{kind}" }} }}')


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("picklist", " A", "' A' would never be met: a value of the type picklist reads as 'A'"),
        ("picklist", "", "'' would never be met: a value of the type picklist reads as empty"),
        ("number", "1.0", "'1.0' would never be met: a value of the type number reads as '1'"),
        ("number", "many", "'many' is no value of the type number"),
        ("boolean", "true", "'true' would never be met: a value of the type boolean reads as True"),
        ("multi_picklist", "A;B", "'A;B' would never be met: a value of the type multi_picklist reads as ['A', 'B']"),
        ("country", "Germany", "'Germany' would never be met: a value of the type country reads as 'DE'"),
    ],
)
def test_a_listed_value_is_one_that_can_be_met(kind: str, value: str, why: str) -> None:
    x = f'{FURTHER}\nx = {{ property = "x", spec = {{ type = "{kind}" }} }}\n\n[values.hubspot]\n'
    text = POLICY.replace("[values.hubspot]\n", "")
    with pytest.raises(PolicyRefused) as error:
        parse_policy(text.replace(FURTHER, f'{x}x = ["{value}"]'))
    assert (error.value.why, error.value.line) == (why, line_of(text, FURTHER) + 4)


@pytest.mark.parametrize(("old", "new"), [('dana = "501"', 'dana = " 501"'), ('dana = "501"', '"dana " = "501"')])
def test_an_owner_is_named_as_he_is_compared(old: str, new: str) -> None:
    assert "would never be met" in refused(old, new).why


@pytest.mark.parametrize("name", ["", "q" * 101])
def test_a_name_can_be_shown_and_found(name: str) -> None:
    why = refused("[queue.default]", f'[queue."{name}"]\n\n[queue.default]').why
    assert why == f"a name has 1 to 100 characters, this one has {len(name)}"


@pytest.mark.parametrize("name", ["a/b", "web?x", "x=y", "a;b", "..", "our form", "\u00fc"])
def test_a_source_is_named_as_its_address_can_be(name: str) -> None:
    why = refused("website = 75", f'website = 75\n"{name}" = 75').why
    assert why.endswith("is not made of letters, digits, dots, hyphens and underscores, as its address is")


def accepted(old: str, new: str) -> None:
    parse_policy(changed(old, new))
