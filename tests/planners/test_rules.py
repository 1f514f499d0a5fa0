from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.events import LeadSnapshot
from leadproof.domain.guard import guard
from leadproof.domain.plan import Action, ActionKind, Evidence, Plan, TargetObject, Verdict
from leadproof.domain.policy import Policy, Rule
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.records import FoundRecord
from leadproof.domain.references import reference
from leadproof.planners.rules import RulesPlanner
from leadproof.ports import Planner
from tests.domain.samples import policy, shipped, snapshot
from tests.domain.test_policy_further_actions import RULE, TEXT, THEN
from tests.planners.samples import a_lead

PLANNER: Planner = RulesPlanner()
DEFAULT = parse_policy(shipped("default_policy.toml"))


def planned(read: LeadSnapshot, by: Policy = DEFAULT) -> Plan:
    return PLANNER.plan(a_lead(read.source_system), read, by)[0]


def only(read: LeadSnapshot, by: Policy = DEFAULT) -> Action:
    (action,) = planned(read, by).actions
    return action


@pytest.mark.parametrize(
    ("source", "fields", "kind", "proposed"),
    [
        (
            "hubspot",
            {"email": "a@acme.example", "employees": "500", "country": "AT"},
            ActionKind.QUALIFY,
            {"owner": "dana", "lifecycle_stage": "salesqualifiedlead", "lead_status": "OPEN"},
        ),
        (
            "hubspot",
            {"email": "a@acme.example", "employees": "500", "country": "US"},
            ActionKind.QUALIFY,
            {"owner": "kofi", "lifecycle_stage": "salesqualifiedlead", "lead_status": "OPEN"},
        ),
        (
            "hubspot",
            {"email": "a@competitor.example", "employees": "500", "country": "DE"},
            ActionKind.QUALIFY,
            {"lead_status": "UNQUALIFIED", "disqualification_reason": "competitor"},
        ),
        (
            "hubspot",
            {"email": "a@gmail.com"},
            ActionKind.QUALIFY,
            {"lifecycle_stage": "lead", "lead_status": "BAD_TIMING"},
        ),
        (
            "hubspot",
            {"email": "a@gmail.com", "company": "Acme"},
            ActionKind.QUALIFY,
            {"owner": "inbound", "lifecycle_stage": "marketingqualifiedlead", "lead_status": "NEW"},
        ),
        (
            "website",
            {"email": "a@acme.example", "employees": "40"},
            ActionKind.CREATE,
            {
                "email": "a@acme.example",
                "owner": "mira",
                "lifecycle_stage": "marketingqualifiedlead",
                "lead_status": "NEW",
            },
        ),
    ],
)
def test_the_default_policy_decides(
    source: str, fields: dict[str, Any], kind: ActionKind, proposed: dict[str, Any]
) -> None:
    action = only(snapshot(source, **fields))

    assert (action.kind, action.target_system, action.target_object) == (kind, "hubspot", TargetObject.CONTACT)
    assert action.fields == proposed
    assert action.discriminator is None


@pytest.mark.parametrize(
    ("source", "fields", "rule"),
    [
        ("hubspot", {"email": "a@acme.example", "owner": "777", "employees": "5000"}, "already-owned"),
        ("website", {"email": "a@rival.example"}, "website-competitor"),
    ],
)
def test_a_rule_can_say_that_there_is_nothing_to_do(source: str, fields: dict[str, Any], rule: str) -> None:
    plan = planned(snapshot(source, **fields))

    assert plan.actions == ()
    assert plan.summary.startswith(f"{rule}: ")


def test_a_lead_that_no_rule_knows_is_left_alone() -> None:
    assert planned(snapshot("fax", email="a@acme.example")) == Plan(summary="No rule holds for this lead")


def test_a_create_carries_what_the_lead_says_as_far_as_the_policy_permits() -> None:
    said = {
        "email": "a@acme.example",
        "phone": "+4930123456",
        "first_name": "Ada",
        "last_name": "B",
        "company": "Acme",
        "website": "acme.example",
        "title": "CEO",
        "country": "DE",
        "region": "Berlin",
        "message": "Hello",
    }
    not_written = {
        "employees": "40",
        "utm_source": "ads",
        "owner": "777",
        "title_of_nobility": "Earl",
        "lead_status": "OPEN",
    }

    action = only(snapshot("website", **said, **not_written))

    assert {name: action.fields[name] for name in said} == said
    assert action.fields["owner"] == "mira"
    assert action.fields["lead_status"] == "NEW"
    assert action.fields.keys() == said.keys() | {"owner", "lifecycle_stage", "lead_status"}


def test_empty_fields_of_the_lead_are_not_written() -> None:
    assert "phone" not in only(snapshot("website", email="a@acme.example", phone=None)).fields


def test_nobody_is_lost_for_a_value_that_cannot_be_used() -> None:
    read = snapshot("website", email="a@acme.example", phone="call me", company="Acme")

    action = only(read)

    assert "phone" not in action.fields
    assert action.fields["company"] == "Acme"


def test_a_lead_that_cannot_be_reached_is_left_to_the_guard() -> None:
    read = snapshot("website", email="none", phone="call me")

    (guarded,) = guard(planned(read), DEFAULT, snapshot=read, records={})

    assert guarded.verdict is Verdict.REFUSED
    assert guarded.why == "the value of 'email' is no e-mail address"


def test_a_rule_has_the_last_word_over_what_the_lead_says() -> None:
    rule = Rule(name="r", action=ActionKind.CREATE, fields={"email": "house@example.com"})
    ruled = policy().model_copy(update={"rules": (rule,)})

    assert only(snapshot("website", email="a@acme.example"), ruled).fields == {"email": "house@example.com"}


def test_the_evidence_is_what_the_condition_looked_at() -> None:
    action = only(snapshot("hubspot", email="a@acme.example", employees="500", country="DE", message="hire me"))

    assert action.evidence == (
        Evidence(source="hubspot contact 123", says="country is DE"),
        Evidence(source="hubspot contact 123", says="employees is 500"),
    )
    assert action.reason == "A company of 500 people or more in Germany, Austria or Switzerland"


def test_an_empty_field_is_evidence_too() -> None:
    action = only(snapshot("hubspot", email="a@gmail.com"))

    assert [one.says for one in action.evidence] == ["email is a@gmail.com", "company is empty"]


def test_long_values_do_not_make_a_plan_malformed() -> None:
    rule = Rule(name="n" * 3000, when={"present": ("message",)}, fields={"lead_status": "NEW"})
    ruled = policy().model_copy(update={"rules": (rule,)})

    (evidence,) = only(snapshot("hubspot", message="x" * 70_000), ruled).evidence

    assert len(evidence.says) == 2000


def test_each_further_action_waits_for_the_one_before_and_is_told_of_its_record() -> None:
    by = parse_policy(TEXT)
    read = snapshot("hubspot", company="Acme", last_name="Kim", email="kim@acme.example")
    qualify, create, mark = planned(read, by).actions

    assert (qualify.kind, qualify.depends_on) == (ActionKind.QUALIFY, ())
    assert (create.kind, create.target_system, create.depends_on) == (ActionKind.CREATE, "salesforce", (0,))
    assert create.fields == {
        "email": "kim@acme.example",
        "last_name": "Kim",
        "company": "Acme",
        "owner": "inbound",
    }
    assert (mark.kind, mark.target_system, mark.depends_on) == (ActionKind.UPDATE, "hubspot", (0, 1))
    assert mark.fields == {"salesforce_id": reference(1), "company": "Acme"}
    assert mark.reason == create.reason == qualify.reason
    records = {("hubspot", "contact"): FoundRecord(record_id="101", fields={})}
    guarded = guard(planned(read, by), by, snapshot=read, records=records)
    assert [one.verdict for one in guarded] == [Verdict.ALLOWED] * 3


def test_what_is_referred_to_is_waited_for_although_something_stands_between() -> None:
    between = "\n[[rule.then]]\naction = 'qualify'\nfields = { lead_status = 'OPEN' }\n"
    text = TEXT.replace(RULE, 'target = "salesforce"\nobject = "lead"\naction = "create"\n').replace(
        THEN, between + THEN[THEN.rindex("[[rule.then]]") :]
    )
    *_, mark = planned(snapshot("hubspot", company="Acme"), parse_policy(text)).actions

    assert (mark.depends_on, mark.fields["salesforce_id"]) == ((0, 1), reference(0))


def test_a_condition_reads_a_lead_as_its_own_source_declares_it() -> None:
    text = (
        TEXT.replace('present = "company" }', 'equals = { budget = "5" } }')
        .replace(RULE, 'target = "salesforce"\nobject = "lead"\naction = "create"\n')
        .replace(THEN, "")
    )

    assert planned(snapshot("hubspot", budget="5.00"), parse_policy(text)).actions


def test_the_first_rule_that_holds_decides() -> None:
    rules = (
        Rule(name="first", fields={"lead_status": "NEW"}),
        Rule(name="second", fields={"lead_status": "OPEN"}),
    )

    assert only(snapshot(), policy().model_copy(update={"rules": rules})).fields == {"lead_status": "NEW"}
    assert only(snapshot(), policy().model_copy(update={"rules": rules[::-1]})).fields == {"lead_status": "OPEN"}


def test_the_same_lead_gets_the_same_plan_and_says_who_planned() -> None:
    read = snapshot("website", message="hi", email="a@acme.example")
    shuffled = read.model_copy(update={"fields": dict(reversed(read.fields.items()))})

    plan, info = PLANNER.plan(a_lead("website"), read, DEFAULT)

    assert PLANNER.plan(a_lead("website"), shuffled, DEFAULT)[0].model_dump_json() == plan.model_dump_json()
    assert (info.kind, info.policy_digest, info.model) == ("rules", DEFAULT.digest, None)
    assert PLANNER.kind == "rules"


@pytest.mark.parametrize("name", ["default_policy.toml", "embedded_policy.toml"])
@pytest.mark.parametrize("source", ["hubspot", "website"])
@pytest.mark.parametrize("employees", [None, "20", "500", "1500"])
@pytest.mark.parametrize("email", ["a@acme.example", "a@gmail.com", "a@rival.example"])
@pytest.mark.parametrize("country", ["DE", "US"])
def test_the_guard_refuses_nothing_that_the_shipped_rules_propose(
    name: str, source: str, employees: str | None, email: str, country: str
) -> None:
    by = parse_policy(shipped(name))
    read = snapshot(source, employees=employees, email=email, country=country, phone="+4930123456", message="hi")

    known = None if source == "website" else FoundRecord(record_id="101", fields={})
    guarded = guard(planned(read, by), by, snapshot=read, records={("hubspot", "contact"): known})

    person_asked = employees == "1500" and "rival" not in email
    assert {one.verdict for one in guarded} <= {Verdict.FOR_A_PERSON if person_asked else Verdict.ALLOWED}
    assert {one.queue for one in guarded} <= {"enterprise" if person_asked else None}
