from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.policy_target import missing
from leadproof.domain.policy_text import check_against, parse_policy
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
