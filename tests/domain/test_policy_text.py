# ruff: noqa: E501  # the faults are a table
from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.events import Scope
from leadproof.domain.fields import FieldType
from leadproof.domain.plan import ActionKind, TargetObject
from leadproof.domain.policy_text import parse_policy
from tests.domain.samples import POLICY, changed, line_of


def refused(text: str) -> PolicyRefused:
    with pytest.raises(PolicyRefused) as caught:
        parse_policy(text)
    return caught.value


def test_a_policy_is_read() -> None:
    policy = parse_policy(POLICY)

    assert (policy.version, policy.planner) == ("1", "rules")
    assert (policy.text, policy.digest) == (POLICY, hashlib.sha256(POLICY.encode()).hexdigest())
    assert [entry.scope for entry in policy.events[0].scopes] == [Scope.RECORD, Scope.EVENT]
    assert policy.events[0].scopes[0].from_ == datetime(2026, 1, 1, tzinfo=UTC)
    assert policy.targets["hubspot"].apply_lag_seconds == 120
    assert policy.targets["hubspot"].fields["budget"].spec.type is FieldType.MONEY
    assert policy.owners == {"hubspot": {"dana": "501", "kofi": "502"}}
    permission = policy.permission("qualify", "hubspot", "contact")
    assert permission is not None
    assert permission.compare_also == ("email",)
    assert policy.permission("qualify", "hubspot", "company") is None
    assert policy.approvals[0].sets == ("owner",)
    assert policy.rules[0].action is ActionKind.QUALIFY
    assert policy.rules[0].object is TargetObject.CONTACT
    assert policy.rules[0].when.source == ("hubspot",)
    assert policy.rules[1].action is None
    assert policy.queues["enterprise"].due_hours == 4
    assert policy.retention.keys_days[ActionKind.SET_STAGE] == 60


FAULTS = [
    ("[queue.default]", "[queue.default]\ncolour = 'red'", "colour = ", "'colour' in queue.default is a key"),
    ("[retention]", "[retentions]\n[retention]", "[retentions]", "'retentions' is a key that the policy does not"),
    ('version = "1"\n', "", None, "'version' is missing"),
    ('version = "1"', "version = 1", "version = 1", "'version' is a text and stands in quotes"),
    ('version = "1"', 'version = "a b"', 'version = "a b"', "letters, digits"),
    ('version = "1"', 'version = "1"\nplanner = "gpt"', "planner =", 'planner can only be "rules" or "claude"'),
    ('version = "1"', 'version = "1"\nplanner = ["rules"]', "planner =", 'planner can only be "rules" or "claude"'),
    ('version = "1"', 'version = "1"\nrules = []', "rules = []", "'rules' is a key that the policy does not know; write"),
    ('version = "1"', 'version = "1"\ndigest = "x"', "digest", "'digest' is a key that the policy does not know"),
    ('dana = "501"', "dana = 501", "dana = 501", "'dana' in owners.hubspot is a text"),
    # events
    ("[sources]\nhubspot = 24", "[sources]", 'source = "hubspot"\nkind', "the source 'hubspot' has no retry window"),
    ('scope = "event" }', 'scope = "day" }', 'scope = "day"', "'scope' in event.scopes should be 'record' or 'event'"),
    ("2026-06-01T00:00:00Z", "2025-06-01T00:00:00Z", "2025-06-01", "not in ascending order of 'from'"),
    ("2026-06-01T00:00:00Z", "2026-01-01T00:00:00Z", 'scope = "event" }', "not in ascending order of 'from'"),
    ("2026-06-01T00:00:00Z", "2026-06-01T00:00:00", "2026-06-01T00:00:00,", "'from' in event.scopes needs a time zone"),
    ("2026-06-01T00:00:00Z", "2026-06-01", "2026-06-01,", "'from' in event.scopes needs a time zone"),
    ("[target.hubspot]", '[[event]]\nsource = "hubspot"\nkind = "x"\nscopes = []\n\n[target.hubspot]', "scopes = []", "empty"),
    ("website = 75\n\n", 'website = 75\nsalesforce = 24\n\n[[event]]\nsource = "salesforce"\nkind = "lead.created"\nscopes = [{ from = 2026-01-01T00:00:00Z, scope = "event" }]\n\n', 'kind = "lead.created"', "no 'lead.created' ever comes: the events of salesforce are lead.saved and contact.saved"),
    # the target's numbers
    ("apply_lag_seconds = 120", "apply_lag_seconds = 300", "[target.hubspot]\n", "observation_window_seconds (300) does not cover"),
    ("apply_lag_seconds = 120", "apply_lag_seconds = inf", "apply_lag_seconds = inf", "finite number"),
    ("apply_lag_seconds = 120", "apply_lag_seconds = -1", "apply_lag_seconds = -1", "greater than or equal to 0"),
    ("apply_lag_seconds = 120\n", "", "[target.hubspot]\n", "'apply_lag_seconds' in target.hubspot is missing"),
    ('apply_lag_source = "documented"', 'apply_lag_source = ""', "apply_lag_source", "must not be empty"),
    ('"documented"', '"x"\nconnect_timeout_seconds = 20', "[target.hubspot]\n", "call_timeout_seconds (15) must be more than connect_timeout_seconds (20)"),
    ('"documented"', '"x"\nsend_within_seconds = 61', "send_within_seconds", "between 1 and 60"),
    ('"documented"', '"x"\nread_spacing_seconds = 300', "read_spacing_seconds", "less than observation_window_seconds (300)"),
    ('"documented"', '"x"\nfound_unlinked = "ignore"', "found_unlinked", "'found_unlinked' in target.hubspot should be 'link'"),
    ("roles = {", "effect_marker = {", "effect_marker", "the field 'effect_marker' is ours alone"),
    ("roles = {", "Roles = {", "Roles = {", "not lower_case_with_underscores"),
    ('property = "roles"', 'property = "budget"', 'roles = { property = "budget"', "already stands for 'budget'"),
    ('type = "money"', 'type = "coins"', 'type = "coins"', "'type' in target.hubspot.fields.budget.spec should be"),
    # owners, stages, values
    ("[owners.hubspot]", "[owners.salesforce]", "[owners.salesforce]", "the target 'salesforce' is not in this policy"),
    ('kofi = "502"', 'kofi = "502"\n501 = "502"', '501 = "502"', "the owner name '501' is another owner's id"),
    ('"opportunity", ', '"lead", ', 'hubspot = ["lead"', "the stage 'lead' is there twice"),
    ("[stages]\n", "[stages]\nsap = []\n", "sap = []", "the target 'sap' is not in this policy"),
    ("lead_status = [\"NEW\"", "lead_state = [\"NEW\"", "lead_state", "the field 'lead_state' is unknown"),
    # actions
    ('kind = "clear_stage"', 'kind = "delete"', 'kind = "delete"', "'kind' in action should be 'create'"),
    ('kind = "clear_stage"', 'kind = "set_stage"', "[[action]]\nkind = \"set_stage\"\ntarget = \"hubspot\"\nfields = [\"lifecycle_stage\"]\n\n[[approval]]", "permitted twice"),
    ('"phone", "owner",', '"phone", "haircut",', '"phone", "haircut"', "the field 'haircut' is unknown"),
    ('"phone", "owner",', '"phone", "external_id",', '"phone", "external_id"', "the field 'external_id' is ours alone"),
    ('compare_also = ["email"]', 'compare_also = ["e_mail"]', "compare_also", "the field 'e_mail' is unknown"),
    ('"phone", "owner",', '"phone", "phone",', '"phone", "phone"', "the field 'phone' is there twice"),
    ('kind = "create"\ntarget = "hubspot"', 'kind = "create"\ntarget = "sap"', 'target = "sap"', "the target 'sap' is not in"),
    # approvals
    ('queue = "enterprise"', 'queue = "vip"', 'queue = "vip"', "the queue 'vip' is not in this policy"),
    ('sets = "owner"', 'sets = ["owner", "boss"]', 'sets = ["owner"', "the field 'boss' is unknown"),
    ('action = "qualify"\nsets', 'action = "link"\nsets', 'action = "link"', "link is an action that this policy does not permit"),
    ('name = "unsure"', 'name = "big"', '[[approval]]\nname = "big"\nbelow', "the approval 'big' is there twice"),
    ("at_least = { employees", "at_least = { staff", "staff = 1000", "the field 'staff' is unknown"),
    ("at_least = { employees", "at_least = { company", "company = 1000", "the field 'company' is no number"),
    ('when = { source = "website" }', 'when = { source = "fax" }', 'source = "fax"', "the source 'fax' is not in [sources]"),
    ("below_confidence = 0.5", "below_confidence = 5", "below_confidence = 5", "less than or equal to 1"),
    # rules
    ('name = "rest"', 'name = "named"', '[[rule]]\nname = "named"\naction', "the rule 'named' is there twice"),
    ('owner = "dana", lead_status', 'owner = "dan", lead_status', 'owner = "dan"', "sets 'owner' to 'dan', which is none of [owners.hubspot]: dana, kofi"),
    ('owner = "dana", lead_status', 'title = "Boss", lead_status', 'title = "Boss"', "sets 'title', which qualify on hubspot contact may not"),
    ('lead_status = "NEW" }', 'lead_status = "COLD" }', '"COLD"', "sets 'lead_status' to 'COLD', which is none of [values.hubspot]: NEW, OPEN"),
    ('lead_status = "NEW" }', 'lifecycle_stage = "fan" }', '"fan"', "sets 'lifecycle_stage' to 'fan', which is none of the [stages] of hubspot: lead, "),
    ('lead_status = "NEW" }', 'employees = "many" }', '"many"', "sets 'employees' to 'many', which cannot be read as number"),
    ('lead_status = "NEW" }', "email_opt_out = false }", "email_opt_out = false", "tightened (true) and never loosened"),
    ('present = "company"', 'present = "firm"', 'present = "firm"', "the field 'firm' is unknown"),
    ('present = "company"', 'presents = "company"', "presents", "'presents' in rule.when is a key"),
    ('fields = { owner = "dana", lead_status = "NEW" }', "", '[[rule]]\nname = "named"', "the rule 'named' sets no field"),
    ('name = "rest"\naction = "none"', 'name = "rest"\naction = "link"', 'action = "link"', "not permitted by any [[action]]"),
    ('name = "rest"\naction = "none"', 'name = "rest"\naction = "clear_stage"', 'action = "clear_stage"', "made by the guard alone"),
    ('action = "none"', 'action = "none"\nfields = { owner = "dana" }', 'fields = { owner = "dana" }\n', "does nothing and sets fields"),
    ('action = "none"', 'action = "none"\ntarget = 5', "target = 5", "'target' in rule is a text"),
    ('when = { source = "hubspot", present = "company" }', "when = {}", '[[rule]]\nname = "rest"', "the rule 'rest' is never reached: 'named' always holds"),
    # queues and retention
    ("[queue.default]", "[queue.others]", "[queue.others]", "a queue named 'default' is required"),
    ("due_hours = 4", "due_hours = 0", "due_hours = 0", "greater than 0"),
    ("clear_stage = 60", "clear_stage = 33", "clear_stage = 33", "33 days, less than the 75 hours in which website retries and the 30 days of human_rerun_days"),
    ("clear_stage = 60\n", "", "[retention.keys_days]", "does not say how long keys of clear_stage"),
    ("clear_stage = 60", "clear_stage = true", "clear_stage = true", "should be a valid number"),
    ("clear_stage = 60", "cleaning = 60", "cleaning = 60", "'cleaning' in retention.keys_days"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "at", "says"), FAULTS, ids=[f"{new[:30]}|{says[:30]}" for _, new, _, says in FAULTS])  # fmt: skip
def test_a_fault_is_refused_with_its_line_and_a_sentence(old: str, new: str, at: str | None, says: str) -> None:
    text = changed(old, new)

    refusal = refused(text)

    assert says in refusal.why
    assert refusal.line == (None if at is None else line_of(text, at))


def test_retention_just_long_enough_is_accepted() -> None:
    assert parse_policy(changed("clear_stage = 60", "clear_stage = 33.125"))


def test_a_window_just_wide_enough_is_accepted() -> None:
    needed = 120 + 5 + 2 + 10
    one_less = changed('"documented"', f'"documented"\nobservation_window_seconds = {needed - 1}')

    assert parse_policy(one_less.replace(f"= {needed - 1}", f"= {needed}"))
    assert "does not cover" in refused(one_less).why


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("version = '1'\nversion = '2'", 2, "overwrite"),
        ("version = \n", 1, "value"),
        ("[[rule]\n", 1, "]]"),
        ("a = 1\nb = 2026-13-01\n", 2, ""),
        ("version = '1'\nx = {", 2, ""),
        ("version = '\ud800'", 1, ""),
        ("\ufeffversion = '1'", 1, "begins with a byte-order mark; save it as UTF-8 without one"),
        ("x = " + "[" * 5000, 1, ""),
        ("x = " + "1" * 5000, 1, ""),
    ],
    ids=["twice", "no value", "brackets", "no date", "open end", "surrogate", "mark", "deep", "long number"],
)
def test_what_is_no_toml_is_refused_with_a_line(text: str, line: int, says: str) -> None:
    refusal = refused(text)

    assert refusal.why.startswith("this is no TOML")
    assert says in refusal.why
    assert refusal.line == line


@pytest.mark.parametrize("text", ["", "event = 5", "event = [5]", "target = []", "rule = [{}]", "queue = 'default'"])
def test_a_policy_of_another_shape_is_refused(text: str) -> None:
    refused(text)


def test_the_first_fault_in_the_text_is_named() -> None:
    text = changed('dana = "501"', 'dana = "501"\nnobody = 7').replace("due_hours = 4", "due_hours = 0")

    assert refused(text).line == line_of(text, "nobody = 7")


def test_stages_and_owners_are_needed_where_they_may_be_set() -> None:
    no_stages = POLICY.replace(POLICY[POLICY.index("[stages]") : POLICY.index("[values.hubspot]")], "")
    no_owners = POLICY.replace(POLICY[POLICY.index("[owners.") : POLICY.index("[stages]")], "")

    assert "[stages] says nothing of hubspot" in refused(no_stages).why
    assert "[owners.hubspot] names nobody" in refused(no_owners).why


LINES = POLICY.splitlines()


@given(
    st.integers(0, len(LINES) - 1),
    st.sampled_from(["", "x = 1", "[x]", "[[x]]", "]", '"', "name = true", "fields = 3", "when = []", "scopes = [1]"]),
)
def test_a_disturbed_policy_is_read_or_refused(at: int, instead: str) -> None:
    text = "\n".join([*LINES[:at], instead, *LINES[at + 1 :]])
    try:
        parse_policy(text)
    except PolicyRefused as refusal:
        assert refusal.line is None or 1 <= refusal.line <= len(LINES) + 1  # noqa: PT017
