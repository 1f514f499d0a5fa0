"""What is found before a write, and that a person is told what the org takes instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leadproof.domain.mutation import Answer, AnswerClass
from tests.crm.hostile import says
from tests.crm.salesforce_org import (
    ANN,
    CREATED,
    QUEUE,
    US,
    Org,
    choices,
    column,
    creation,
    described,
    update,
)

if TYPE_CHECKING:
    from leadproof.crm.salesforce import SalesforceCrm

REASONS = choices("no_budget", "no_fit", labels={"no_budget": "No budget"})
LEAD_OBJECT = described(
    column("Id", "id", nillable=False, createable=False, defaultedOnCreate=True),
    column("LastName", length=80, nillable=False),
    column("Company", nillable=False),
    column("Title", length=10),
    column("DoNotCall", "boolean", nillable=False),
    column("OwnerId", "reference", length=18, nillable=False, defaultedOnCreate=True),
    column("Status", "picklist", nillable=False, defaultedOnCreate=True, picklistValues=choices("Open")),
    column("LeadSource", "picklist", picklistValues=choices("web", labels={"web": "Web form"})),
    column("Disqualification_Reason__c", "picklist", restrictedPicklist=True, picklistValues=REASONS),
    column("State"),
    column("StateCode", "picklist", restrictedPicklist=True, picklistValues=choices("BY")),
    column("Country"),
    column("CountryCode", "picklist", restrictedPicklist=True, picklistValues=choices("DE", "US")),
)


@pytest.fixture
def crm(org: Org, salesforce: SalesforceCrm) -> SalesforceCrm:
    org.description = LEAD_OBJECT
    org.answers(lambda line: line.respond(201, CREATED) if "__c/" in line.request.path else line.respond(204))
    return salesforce


def refused(answer: Answer) -> tuple[str | None, str | None]:
    assert (answer.outcome, answer.http_status) == (AnswerClass.REFUSES_THIS, None)
    return answer.code, (answer.detail or "").removeprefix("nothing was sent: ")


def told(org: Org, answer: Answer) -> tuple[str | None, str | None]:
    assert org.calls == []
    return refused(answer)


def test_nothing_and_no_are_values(org: Org, crm: SalesforceCrm) -> None:
    needs = [column("NumberOfEmployees", "int", nillable=False), column("HasOptedOutOfEmail", "custom", nillable=False)]
    org.description = described(*needs)
    assert crm.write(creation(employees=0, email_opt_out=False)).outcome is AnswerClass.ACCEPTED
    missing = refused(crm.write(creation()))
    assert missing == ("REQUIRED_FIELD_MISSING", "Lead needs NumberOfEmployees, HasOptedOutOfEmail")


def test_what_nothing_speaks_against_is_sent(org: Org, crm: SalesforceCrm) -> None:
    fine: dict[str, Any] = {"disqualification_reason": "no_fit", "title": "x" * 10, "do_not_call": True, "owner": QUEUE}
    assert crm.write(creation(**fine, country="DE", region="Bayern")).outcome is AnswerClass.ACCEPTED
    assert crm.write(update(**fine, region="Bayern")).outcome is AnswerClass.ACCEPTED, "it may have its country already"
    assert len(org.calls) == 2
    described_ = [one for one in org.server.requests if "/describe" in one.path]
    assert len(described_) == 1, "an object is described once"


@pytest.mark.parametrize(
    ("fields", "code", "detail"),
    [
        ({"title": "Chief of all"}, "STRING_TOO_LONG", "Title holds 10 characters at most, and not 12"),
        (
            {"disqualification_reason": "No budget"},
            "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
            "Disqualification_Reason__c takes no_budget, no_fit",
        ),
        ({"country": "FR"}, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", "CountryCode takes DE, US"),
        ({"last_name": None}, "REQUIRED_FIELD_MISSING", "LastName cannot be emptied"),
    ],
)
def test_what_the_org_would_refuse_is_not_sent(
    fields: dict[str, Any], code: str, detail: str, org: Org, crm: SalesforceCrm
) -> None:
    assert told(org, crm.write(update(**fields))) == (code, detail)


def test_a_record_is_not_made_without_what_it_needs(org: Org, crm: SalesforceCrm) -> None:
    answer = crm.write(creation(company=None))
    assert told(org, answer) == ("REQUIRED_FIELD_MISSING", "Lead needs Company")


def test_a_state_needs_its_country(org: Org, crm: SalesforceCrm) -> None:
    answer = crm.write(creation(region="Bayern"))
    assert told(org, answer) == ("FIELD_INTEGRITY_EXCEPTION", "State needs CountryCode, which takes DE, US")


def test_without_state_and_country_picklists_a_state_stands_alone(org: Org, crm: SalesforceCrm) -> None:
    org.description = described(column("State"), column("Country"))
    assert crm.write(creation(region="Bayern")).outcome is AnswerClass.ACCEPTED


def test_a_label_in_the_place_of_a_value_is_found_where_any_value_is_taken(org: Org, crm: SalesforceCrm) -> None:
    """An unrestricted picklist stores whatever is sent, a label too."""
    org.description = described(column("Title", "picklist", picklistValues=choices("web", labels={"web": "Web form"})))
    assert told(org, crm.write(update(title="Web form"))) == (
        "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
        "Title takes web",
    )
    assert crm.write(update(title="something new")).outcome is AnswerClass.ACCEPTED


def test_many_choices_are_not_all_listed(org: Org, crm: SalesforceCrm) -> None:
    many = choices(*(f"v{number:03}" for number in range(200)))
    org.description = described(column("CountryCode", "picklist", restrictedPicklist=True, picklistValues=many))
    detail = told(org, crm.write(update(country="DE")))[1]
    assert str(detail).endswith("v019 and 180 more")


def test_an_inactive_value_is_none(org: Org, crm: SalesforceCrm) -> None:
    gone = [choice | {"active": choice["value"] != "no_fit"} for choice in REASONS]
    org.description = described(
        column("Disqualification_Reason__c", "picklist", restrictedPicklist=True, picklistValues=gone)
    )
    detail = told(org, crm.write(update(disqualification_reason="no_fit")))[1]
    assert detail == "Disqualification_Reason__c takes no_budget"


def test_an_inactive_owner_is_found(org: Org, crm: SalesforceCrm) -> None:
    org.users = [{"Id": ANN, "IsActive": False, "UserType": "Standard"}]
    answer = crm.write(update(owner=ANN))
    assert told(org, answer) == ("INACTIVE_OWNER_OR_USER", f"OwnerId: the user {ANN} is not active")
    org.users = []  # of whom nothing is known, the org itself says
    assert crm.write(update(owner=QUEUE)).outcome is AnswerClass.ACCEPTED
    assert crm.write(update(owner=US)).outcome is AnswerClass.ACCEPTED


def test_an_old_definition_refuses_nothing(org: Org, crm: SalesforceCrm, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that an administrator added a moment ago is taken."""
    assert crm.write(update(disqualification_reason="no_fit")).outcome is AnswerClass.ACCEPTED
    now = crm._definitions._clock() + 60
    monkeypatch.setattr(crm._definitions, "_clock", lambda: now)
    org.description = described(
        column("Disqualification_Reason__c", "picklist", restrictedPicklist=True, picklistValues=choices("new"))
    )
    assert crm.write(update(disqualification_reason="new")).outcome is AnswerClass.ACCEPTED
    assert refused(crm.write(update(disqualification_reason="no_fit")))[0] == "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST"


@pytest.mark.parametrize("description", [b"<html>", {}, {"fields": [{}]}, None])
def test_where_the_org_cannot_be_asked_the_write_is_sent(description: Any, org: Org, crm: SalesforceCrm) -> None:
    org.description = description
    assert crm.write(update(title="Chief of all")).outcome is AnswerClass.ACCEPTED


def test_our_own_two_fields_say_nothing_of_the_lead(org: Org, crm: SalesforceCrm) -> None:
    org.description = described(column("Leadproof_Effect__c", length=10))
    org.answers(says(204))
    assert crm.write(update(title="CTO")).outcome is AnswerClass.ACCEPTED
