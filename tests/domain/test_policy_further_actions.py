"""Rules with several actions: what they may say, and what is refused with its line."""

from __future__ import annotations

import pytest

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.plan import ActionKind, TargetObject
from leadproof.domain.policy import RuleAction
from leadproof.domain.policy_text import check_against, examine, parse_policy
from leadproof.domain.records import Description, FieldDescription
from tests.domain.samples import line_of
from tests.domain.two_targets import TWO_TARGETS

RULE = 'fields = { owner = "dana", lead_status = "NEW" }\n'
THEN = """
[[rule.then]]
action = "create"
target = "salesforce"
object = "lead"
fields = { owner = "inbound" }

[[rule.then]]
action = "update"
fields = { salesforce_id = { record_id_of = "salesforce lead" }, company = "Acme" }
"""
TEXT = TWO_TARGETS.replace(RULE, RULE + THEN)


def test_a_rule_proposes_its_own_action_and_what_follows_in_order() -> None:
    rule = parse_policy(TEXT).rules[0]
    mark = {"salesforce_id": {"record_id_of": "salesforce lead"}, "company": "Acme"}

    assert rule.proposals == (
        RuleAction(action=ActionKind.QUALIFY, fields={"owner": "dana", "lead_status": "NEW"}),
        RuleAction(
            action=ActionKind.CREATE, target="salesforce", object=TargetObject.LEAD, fields={"owner": "inbound"}
        ),
        RuleAction(action=ActionKind.UPDATE, fields=mark),
    )
    assert parse_policy(TEXT).rules[1].proposals == ()


FAULTS = [
    (
        '"salesforce lead"',
        '"salesforce contact"',
        "no action before it is about 'salesforce contact'; there is: hubspot contact, salesforce lead",
    ),
    ('"salesforce lead"', "1", "no action before it is about 1; there is: "),
    ('record_id_of = "salesforce lead"', "record_id_of = true", "record_id_of names a target and an object"),
    (
        'record_id_of = "salesforce lead"',
        'id_of = "salesforce lead"',
        "sets 'salesforce_id' to {'id_of': 'salesforce lead'}: id_of is unknown here; the id of a record is written "
        '{ record_id_of = "salesforce lead" }',
    ),
    (
        '{ record_id_of = "salesforce lead" }',
        '"{{salesforce.lead.id}}"',
        "sets 'salesforce_id' to '{{salesforce.lead.id}}': one id would stand on every lead; the id of a record is "
        'written { record_id_of = "salesforce lead" }',
    ),
    (
        'company = "Acme" }',
        'company = { record_id_of = "salesforce lead" } }',
        "'company' cannot be the id of a record",
    ),
    (
        '"salesforce lead"',
        '"salesforce lead", x = 1',
        "x is unknown here; the id of a record is written { record_id_of",
    ),
    (
        'fields = { owner = "inbound" }',
        'fields = { owner = "dana" }',
        "sets 'owner' to 'dana', which is none of [owners.salesforce]: inbound",
    ),
    ('fields = { owner = "inbound" }', 'fields = { title = "x" }', "create on salesforce lead may not"),
    (
        'object = "lead"\nfields = { owner',
        'object = "contact"\nfields = { owner',
        "create on salesforce contact, which is not permitted",
    ),
    (
        'target = "salesforce"\nobject = "lead"\nfields = { owner',
        'target = "sap"\nobject = "lead"\nfields = { owner',
        "the target 'sap' is not in this policy",
    ),
    ('action = "update"', 'action = "update"\nreason = "x"', "'reason' in rule.then is a key"),
    ('action = "update"\n', "", "'action' in rule.then is missing"),
]


@pytest.mark.parametrize(("old", "new", "says"), FAULTS)
def test_a_fault_of_a_further_action_is_refused_with_its_line(old: str, new: str, says: str) -> None:
    assert THEN.count(old) == 1
    text = TWO_TARGETS.replace(RULE, RULE + THEN.replace(old, new))
    with pytest.raises(PolicyRefused) as refused:
        parse_policy(text)

    assert says in refused.value.why
    first, last = line_of(text, RULE), line_of(text, 'name = "rest"')
    assert first < (refused.value.line or 0) < last


def test_the_id_of_a_record_is_none_of_an_action_that_comes_later() -> None:
    *_, create, mark = THEN.split("[[rule.then]]")
    text = TWO_TARGETS.replace(RULE, f"{RULE}[[rule.then]]{mark}[[rule.then]]{create}")

    (fault,) = examine(text).faults
    assert "no action before it is about 'salesforce lead'" in fault.why


def test_what_one_record_gets_is_one_action() -> None:
    (fault,) = examine(
        TEXT.replace(THEN, f"{THEN}\n[[rule.then]]\naction = 'update'\nfields = {{ company = 'A' }}")
    ).faults

    assert "proposes update on hubspot contact twice" in fault.why


def test_a_rule_that_does_nothing_has_nothing_that_follows() -> None:
    text = TWO_TARGETS.replace('name = "rest"\naction = "none"\n', 'name = "rest"\naction = "none"\n' + THEN)

    (fault,) = examine(text).faults
    assert "'rest' does nothing and has further actions" in fault.why
    assert fault.line == line_of(text, '[[rule.then]]\naction = "create"')


def test_a_further_action_is_held_against_its_own_target() -> None:
    text = TEXT.replace('owner = "inbound" }\n', 'owner = "inbound", rating = "Hot" }\n').replace(
        '["email", "last_name", "owner", "company"]', '["owner", "rating"]'
    )
    text += '\n[target.salesforce.fields]\nrating = { property = "Rating", spec = { type = "picklist" } }\n'
    described = Description(
        system="salesforce",
        account="00D",
        target_object=TargetObject.LEAD,
        owners=(),
        fields={
            "owner": FieldDescription(name="OwnerId"),
            "rating": FieldDescription(name="Rating", options=("Cold",)),
        },
        names={},
    )
    without_owners = (
        text.replace('inbound = "00Gxx0000000001AAA"\n', "")
        .replace('owner = "inbound", ', "")
        .replace('["owner", "rating"]', '["rating"]')
    )
    with pytest.raises(PolicyRefused) as refused:
        check_against(parse_policy(without_owners), described)

    assert "the rule 'named': salesforce has no option 'Hot' for 'rating'" in refused.value.why
    assert refused.value.line == line_of(without_owners, 'rating = "Hot"')
