from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.plan import TargetObject
from leadproof.domain.policy_target import missing, objects_of
from leadproof.domain.policy_text import check_against, doubts_against, faults_against, parse_policy
from leadproof.domain.records import Description, FieldDescription, OwnerDescription
from tests.domain.samples import POLICY, changed, line_of, policy

OPTIONS = {
    "lifecycle_stage": ("subscriber", "lead", "marketingqualifiedlead", "opportunity", "customer"),
    "lead_status": ("NEW", "OPEN", "LOST"),
    "roles": ("CHAMPION", "BUDGET_HOLDER"),
}
OWNERS = (
    OwnerDescription(owner_id="501", active=True),
    OwnerDescription(owner_id="502", active=True, queue=True),
    OwnerDescription(owner_id="503", active=False),
)


def described(**instead: Any) -> Description:
    """A target in which everything is as the sample policy needs it, but for the fields given (`None`: not there)."""
    names = {name for permission in policy().actions for name in (*permission.fields, *permission.compare_also)}
    fields: dict[str, Any] = {name: {"options": OPTIONS.get(name, ())} for name in names}
    fields.update({name: field for name, field in instead.items() if name in fields})
    return Description(
        system=instead.get("system", "hubspot"),
        account="62515",
        owners=instead.get("owners", OWNERS),
        fields={
            name: FieldDescription(name=f"hs_{name}", **field) for name, field in fields.items() if field is not None
        },
        names={name: f"hs_{name}" for name in names},
    )


def refused(text: str, description: Description) -> PolicyRefused:
    with pytest.raises(PolicyRefused) as caught:
        check_against(parse_policy(text), description)
    return caught.value


def test_a_policy_that_fits_its_target_is_accepted() -> None:
    check_against(policy(), described())


def test_a_target_that_the_policy_does_not_name_says_nothing_of_it() -> None:
    check_against(policy(), described(system="salesforce", owners=()))


@pytest.mark.parametrize(
    ("instead", "at", "says"),
    [
        ({"owners": OWNERS[1:]}, 'dana = "501"', "hubspot has no owner 501 (dana); active are 502 (a queue)"),
        (
            {"email": None},
            'fields = ["email"',
            "hubspot has no contact property hs_email (the field 'email'); make it as one that",
        ),
        (
            {"second_owner": None},
            '"second_owner", "email"',
            "hubspot has no contact property hs_second_owner (the field 'second_owner')",
        ),
        ({"email_opt_out": {"writable": False}}, 'fields = ["email"', "does not let us write 'email_opt_out'"),
        ({"lifecycle_stage": {"options": ("lead", "customer")}}, '"marketingqualifiedlead"', "no stage"),
        (
            {"lifecycle_stage": {"options": ("customer", "opportunity", "marketingqualifiedlead", "lead")}},
            'hubspot = ["lead"',
            "in another order there: customer, opportunity",
        ),
        ({"lead_status": {"options": ("NEW",)}}, 'lead_status = ["NEW"', "no option 'OPEN' for 'lead_status'"),
    ],
)
def test_what_the_target_does_not_have_is_refused(instead: dict[str, Any], at: str, says: str) -> None:
    refusal = refused(POLICY, described(**instead))

    assert says in refusal.why
    assert refusal.line == line_of(POLICY, at)


def test_an_inactive_owner_is_refused() -> None:
    text = changed('kofi = "502"', 'kofi = "503"')

    refusal = refused(text, described())

    assert "the owner 503 (kofi) is not active in hubspot; active are 501, 502 (a queue)" in refusal.why
    assert refusal.line == line_of(text, "kofi")


def test_a_field_that_several_actions_name_is_missing_once_with_the_options_of_the_policy() -> None:
    found = list(missing(policy(), described(lead_status=None, roles=None, website=None)))

    assert [(field.name, field.options, field.several) for _, field in found] == [
        ("hs_lead_status", ("NEW", "OPEN"), False),
        ("hs_roles", ("BUDGET_HOLDER", "CHAMPION"), True),
    ]
    assert found[0][0].path == ("actions", 0, "fields", 4)
    assert found[0][1].kind == "a dropdown with the options NEW, OPEN"
    assert refused(POLICY, described(lead_status=None)).why == found[0][0].why


def test_of_many_owners_only_some_are_listed() -> None:
    many = tuple(OwnerDescription(owner_id=str(number), active=True) for number in range(600, 625))

    assert refused(POLICY, described(owners=many)).why.endswith(", 618, 619 and 5 more")
    assert refused(POLICY, described(owners=())).why.endswith("; it has no active one")


def test_a_rule_may_only_use_the_targets_options() -> None:
    text = changed('lead_status = ["NEW", "OPEN"]\n', "").replace('lead_status = "NEW"', 'lead_status = "WARM"')

    refusal = refused(text, described())

    assert "the rule 'named': hubspot has no option 'WARM' for 'lead_status'" in refusal.why
    assert refusal.line == line_of(text, 'lead_status = "WARM"')


def test_a_field_that_is_only_compared_need_not_be_writable() -> None:
    text = changed('compare_also = ["email"]', 'compare_also = ["website"]')
    description = described()
    with_website = description.model_copy(
        update={"fields": {**description.fields, "website": FieldDescription(name="website", writable=False)}}
    )

    check_against(parse_policy(text), with_website)
    assert "no contact property website; make it as one that holds a text" in refused(text, description).why


def test_a_field_without_listed_options_takes_any_value() -> None:
    check_against(policy(), described(lead_status={"options": ()}, lifecycle_stage={"options": ()}))


# -- a target with several objects -------------------------------------------------------------------------------------
TWO_OBJECTS = (
    changed(
        '[[rule]]\nname = "rest"',
        """
[[event]]
source = "salesforce"
kind = "contact.saved"
scopes = [{ from = 2026-01-01T00:00:00Z, scope = "event" }]

[target.salesforce]
apply_lag_seconds = 120
apply_lag_source = "assumed"

[owners.salesforce]
inbound = "00G5e000000AbcdEAC"

[values.salesforce]
lead_status = ["New", "Open - Not Contacted"]
disqualification_reason = ["No budget"]

[[action]]
kind = "create"
target = "salesforce"
object = "lead"
fields = ["lead_status", "company", "owner"]

[[action]]
kind = "update"
target = "salesforce"
object = "contact"
fields = ["title", "website"]

[[rule]]
name = "to salesforce"
when = { source = "hubspot" }
action = "create"
target = "salesforce"
object = "lead"
fields = { lead_status = "New" }

[[rule]]
name = "rest"
""".rstrip(),
    )
    .replace("create = 60\n", "create = 60\nupdate = 60\n")
    .replace("website = 75\n", "website = 75\nsalesforce = 24\n")
)
STATUS = FieldDescription(
    name="Status", options=("Open - Not Contacted", "New__c"), labels={"New": "New__c", "Fresh": "New__c"}
)


def salesforce(target_object: TargetObject, *names: str, **fields: FieldDescription) -> Description:
    return Description(
        system="salesforce",
        account="00Dxx0000001gPLEAY",
        target_object=target_object,
        owners=(OwnerDescription(owner_id="00G5e000000AbcdEAC", active=False, queue=True),),
        fields={**{name: FieldDescription(name=name.title()) for name in names}, **fields},
        names={name: name.title() for name in ("company", "title", "website")},
        instead={"website": 'say website = { property = "Site" } in [target.salesforce.fields]'},
    )


def test_the_objects_of_a_target_are_those_of_its_actions_and_its_leads() -> None:
    two = parse_policy(TWO_OBJECTS)

    assert objects_of(two, "salesforce") == ("lead", "contact")
    assert objects_of(two, "hubspot") == ("contact",)
    assert objects_of(two, "gohighlevel") == ()


def test_an_object_is_held_against_its_own_actions_and_rules_only() -> None:
    two = parse_policy(TWO_OBJECTS)
    lead = salesforce(TargetObject.LEAD, "owner", lead_status=STATUS)
    contact = salesforce(TargetObject.CONTACT, "title", lead_status=FieldDescription(name="X", options=("other",)))

    told = [fault.why for fault in faults_against(two, lead, contact)]

    assert sorted(told) == [
        "salesforce has no contact property Website (the field 'website'); say website = { property = \"Site\" } in "
        "[target.salesforce.fields], or take the field out of the policy",
        "salesforce has no lead property Company (the field 'company'); make it as one that holds a text, "
        "or take the field out of the policy",
        "salesforce has no option 'New' for 'lead_status': that is a label, and the value is 'New__c'",
        "the owner 00G5e000000AbcdEAC (inbound) is not active in salesforce; it has no active one",
        "the rule 'to salesforce': salesforce has no option 'New' for 'lead_status': that is a label, and the value "
        "is 'New__c'",
    ]
    assert [wanted.target_object for _, wanted in missing(two, contact)] == [TargetObject.CONTACT]


def test_an_action_on_what_the_target_keeps_no_history_of_is_told_unless_the_policy_allows_it() -> None:
    kept = FieldDescription(name="Company", keeps_history=True)
    lead = salesforce(TargetObject.LEAD, "owner", company=kept, lead_status=STATUS)
    allowed = TWO_OBJECTS.replace('"company", "owner"]\n', '"company", "owner"]\nwithout_history = true\n')

    (told,) = doubts_against(parse_policy(TWO_OBJECTS), lead, salesforce(TargetObject.CONTACT))

    why = (
        "salesforce keeps no history of lead_status, owner, so that create is refused for a lead that exists; "
        "let salesforce keep it, or say without_history = true"
    )
    assert (told.why, told.line) == (why, line_of(TWO_OBJECTS, 'fields = ["lead_status", "company", "owner"]'))
    assert doubts_against(parse_policy(allowed), lead) == ()
    assert faults_against(parse_policy(TWO_OBJECTS), lead)[0].why != why


def test_values_of_a_field_that_no_action_names_are_held_against_every_object_that_has_it() -> None:
    two = parse_policy(TWO_OBJECTS)
    reason = FieldDescription(name="Reason__c", options=("no_budget",), labels={"No budget": "no_budget"})
    contact = salesforce(TargetObject.CONTACT, "title", "website", disqualification_reason=reason)

    assert any("the value is 'no_budget'" in fault.why for fault in faults_against(two, contact))
