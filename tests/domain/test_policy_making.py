"""What a target would not make, and what it would not write to, is told before a lead comes."""

from __future__ import annotations

import pytest

from leadproof.domain.plan import TargetObject
from leadproof.domain.policy_text import doubts, doubts_against, faults_against, parse_policy
from leadproof.domain.records import Description, FieldDescription
from tests.domain.samples import POLICY, changed, line_of
from tests.domain.two_targets import TWO_TARGETS

MAKES = """
[[rule]]
name = "makes"
when = { source = "website" }
action = "create"
target = "salesforce"
object = "lead"
fields = { owner = "inbound" }
"""
TEXT = TWO_TARGETS.replace('\n[[rule]]\nname = "rest"', f'{MAKES}\n[[rule]]\nname = "rest"')
FIELDS = 'fields = ["email", "last_name", "owner", "company"]'
NEEDED = {"last_name": "LastName", "company": "Company"}


def lead(*, contact: bool = False, **also: str) -> Description:
    """Of an org that needs last name and company, and what is given besides."""
    given = {"email": "Email", "owner": "OwnerId", **NEEDED, **also}
    return Description(
        system="salesforce",
        account="00D",
        target_object=TargetObject.CONTACT if contact else TargetObject.LEAD,
        owners=(),
        fields={
            name: FieldDescription(name=theirs, keeps_history=True, required=name not in {"email", "owner"})
            for name, theirs in given.items()
        },
    )


def told(text: str, description: Description) -> list[str]:
    return [fault.why for fault in faults_against(parse_policy(text), description) if "needs" in fault.why]


def doubted(text: str, description: Description | None = None) -> list[tuple[int | None, str]]:
    return [(doubt.line, doubt.why) for doubt in doubts_against(parse_policy(text), description or lead())]


def test_a_create_that_may_not_set_what_the_target_needs_is_a_fault_of_its_line() -> None:
    text = TEXT.replace(FIELDS, 'fields = ["email", "last_name", "owner"]')
    (fault,) = [one for one in faults_against(parse_policy(text), lead()) if "needs" in one.why]

    assert fault.why == (
        "salesforce needs Company for a new lead, and this create may not set it; add 'company' to its fields"
    )
    assert fault.line == line_of(text, 'fields = ["email", "last_name", "owner"]')
    assert told(TEXT, lead()) == []
    assert told(text, lead(contact=True)) == [], "nothing is made of another object"


def test_what_has_no_name_of_ours_is_to_be_given_one_and_our_own_two_are_set_by_us() -> None:
    (why,) = told(TEXT, lead(Region__c="Region__c", external_id="Ours__c", effect_marker="Effect__c"))

    assert why == (
        "salesforce needs Region__c for a new lead, and this create may not set it; name it in "
        "[target.salesforce.fields] and add it to its fields"
    )


def test_a_rule_that_makes_a_record_without_a_sure_value_is_doubted() -> None:
    assert doubted(TEXT) == [
        (
            line_of(TEXT, 'name = "makes"') - 1,
            "salesforce makes no lead without LastName, Company, and for the rule 'makes' a lead need not have it; "
            'say present = ["last_name", "company"] in its when, or set it in its fields',
        )
    ]


WEBSITE = 'when = { source = "website" }\naction = "create"'
EARLIER = '[[rule]]\nname = "makes"\nwhen = {'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (WEBSITE, 'when = { present = ["last_name", "company"] }\naction = "create"'),
        (WEBSITE, 'when = { present = "last_name", equals = { company = "Acme" } }\naction = "create"'),
        (f"{MAKES}", MAKES.replace('"inbound" }', '"inbound", last_name = "Unknown", company = "Unknown" }')),
        (
            EARLIER,
            '[[rule]]\nname = "none"\nwhen = { source = ["website", "hubspot"], absent = "company" }\n'
            f'action = "none"\n\n{EARLIER} present = "last_name",',
        ),
        (
            EARLIER,
            '[[rule]]\nname = "none"\nwhen = { absent = "company" }\n'
            f'action = "none"\n\n{EARLIER} present = "last_name",',
        ),
    ],
)
def test_a_value_that_every_lead_of_the_rule_has_is_sure(old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    assert doubted(TEXT.replace(old, new)) == []


@pytest.mark.parametrize(
    "earlier",
    [
        '{ source = "hubspot", absent = "company" }',
        '{ source = "website", absent = ["company", "phone"] }',
        '{ source = "website", absent = "company", email_domain = "example.com" }',
    ],
)
def test_an_earlier_rule_that_lets_some_past_makes_nothing_sure(earlier: str) -> None:
    text = TEXT.replace(
        EARLIER, f'[[rule]]\nname = "none"\nwhen = {earlier}\naction = "none"\n\n{EARLIER} present = "last_name",'
    )

    ((_, why),) = doubted(text)
    assert "without Company, and" in why


def test_a_value_is_sure_only_where_it_becomes_the_records() -> None:
    owned = TEXT.replace(
        MAKES, MAKES.replace('source = "website"', 'present = "owner"').replace('owner = "inbound"', "")
    )
    needs_owner = lead().model_copy(
        update={"fields": {"owner": FieldDescription(name="OwnerId", required=True, keeps_history=True)}}
    )

    ((_, why),) = doubted(owned, needs_owner)
    assert "without OwnerId, and" in why, "the owner of a contact is not taken over to what is made of it"


def test_a_further_action_is_doubted_at_its_own_line() -> None:
    sets = 'fields = { owner = "dana", lead_status = "NEW" }\n'
    then = (
        '\n[[rule.then]]\naction = "create"\ntarget = "salesforce"\nobject = "lead"\nfields = { owner = "inbound" }\n'
    )
    text = TWO_TARGETS.replace(sets, sets + then)

    ((line, why),) = doubted(text)
    assert line == line_of(text, "[[rule.then]]")
    assert "without LastName, and for the rule 'named'" in why, "its condition asks for a company"


def test_a_kind_of_events_that_no_rule_is_about_is_doubted() -> None:
    named = 'name = "rest"\nwhen = { source = "hubspot" }\n'
    text = changed('name = "rest"\n', named).replace(
        "[target.hubspot]\n",
        '[[event]]\nsource = "website"\nkind = "form.submitted"\n'
        'scopes = [{ from = 2026-01-01T00:00:00Z, scope = "event" }]\n\n[target.hubspot]\n',
    )

    (doubt,) = doubts(parse_policy(text))
    assert doubt.why == "no rule is about leads of website, so that nothing is ever done at its form.submitted"
    assert doubt.line == line_of(text, 'kind = "form.submitted"')
    assert doubts(parse_policy(text.replace(named, 'name = "rest"\n'))) == ()
    assert doubts(parse_policy(POLICY)) == ()
