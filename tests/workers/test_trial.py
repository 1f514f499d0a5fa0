"""What a trial says is what the door, the planner and the guard say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from leadproof.domain.errors import MalformedDelivery
from leadproof.domain.plan import Verdict
from leadproof.domain.policy_text import parse_policy
from tests.domain.samples import shipped
from tests.workers.salesforce_clinic import CONTACTS_TOO, SAVED_LEADS
from tests.workers.salesforce_clinic import POLICY as SALESFORCE
from workers.trial import Trial, try_lead

DEFAULT = shipped("default_policy.toml")
CLAUDE = """planner = "claude"

[claude]
model = "model-small"
shows = ["company", "country", "employees"]

[claude.escalation]
model = "model-large"
when = { at_least = { employees = 5000 } }
below_confidence = 0.5
"""
FIRST_WRITE = """[[approval]]
name = "first-write"
first_write = true
why = "the first time"

[queue.default]"""

FORM = {"source_record_id": "f-1", "event_kind": "form.submitted", "occurrence": "s-1"}
CONTACT = {"source_record_id": "101", "event_kind": "contact.creation"}
LEAD = {"email": "ana@brightwater.example", "company": "Brightwater", "employees": 20}


def tried(event: dict[str, Any], text: str = DEFAULT, lead: dict[str, Any] | None = None, **more: Any) -> Trial:
    body = {"occurred_at": "2026-11-30T09:00:00Z", **event, "lead": LEAD | (lead or {}), **more}
    return try_lead(parse_policy(text), json.dumps(body).encode())


def with_claude(text: str = DEFAULT) -> str:
    return text.replace('planner = "rules"\n', CLAUDE)


def proposed(confidence: float = 0.9, kind: str = "create", **fields: Any) -> dict[str, Any]:
    action = {"kind": kind, "target_system": "hubspot", "fields": fields, "reason": "r", "confidence": confidence}
    return {"summary": "a plan", "actions": [action]}


def test_a_form_makes_a_contact_with_what_it_said() -> None:
    trial = tried(FORM, lead={"country": "Germany", "phone": "nonsense"})

    (one,) = trial.actions
    assert (trial.source, trial.scope, trial.planner) == ("website", "event", "rules")
    assert one.guarded.verdict is Verdict.ALLOWED
    assert one.guarded.action.fields["country"] == "DE"
    assert "phone" not in one.guarded.action.fields
    assert one.stands == {}


def test_a_contact_of_hubspots_is_the_record_itself() -> None:
    trial = tried(CONTACT, record={"fields": {"lifecycle_stage": "lead"}})

    (one,) = trial.actions
    assert (trial.source, trial.scope) == ("hubspot", "record")
    assert one.guarded.action.fields["owner"] == "505"
    assert one.stands == {"lifecycle_stage": "lead"}


def test_an_owner_can_be_given_by_name_and_a_rule_sees_it() -> None:
    trial = tried(CONTACT, record={"fields": {"owner": "dana"}})

    assert trial.actions == ()
    assert trial.summary == "already-owned: The contact already has an owner"


def test_what_the_record_says_already_is_told() -> None:
    fields = {"owner": "505", "lifecycle_stage": "marketingqualifiedlead", "lead_status": "NEW"}
    same = tried(CONTACT, DEFAULT.replace('present = "owner"', 'present = "region"'), record={"fields": fields})

    assert [one.already_so for one in same.actions] == [True]


@pytest.mark.parametrize(
    ("linked_to", "verdict", "why"),
    [
        ("nobody", Verdict.FOR_A_PERSON, "does not carry our external id"),
        ("another_lead", Verdict.FOR_A_PERSON, "of another source record"),
        ("this_lead", Verdict.ALLOWED, None),
    ],
)
def test_whose_record_it_is_counts(linked_to: str, verdict: Verdict, why: str | None) -> None:
    trial = tried(FORM, record={"fields": {"email": "ana@brightwater.example"}, "linked_to": linked_to})

    (one,) = trial.actions
    assert one.guarded.verdict is verdict
    assert (why is None and one.guarded.why is None) or (why or "") in (one.guarded.why or "")


@pytest.mark.parametrize(("written", "verdict"), [(False, Verdict.FOR_A_PERSON), (True, Verdict.ALLOWED)])
def test_whether_it_is_our_first_write_counts(written: bool, verdict: Verdict) -> None:
    trial = tried(CONTACT, DEFAULT.replace("[queue.default]", FIRST_WRITE), record={"written_by_us": written})

    assert [one.guarded.verdict for one in trial.actions] == [verdict]


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ({"event_kind": "form.opened"}, "the policy names no such event kind"),
        ({"occurrence": None}, "occurrence: needed"),
        ({"event_kind": "contact.propertyChange"}, "does not name the property that changed"),
    ],
)
def test_what_the_door_leaves_alone_is_not_planned(event: dict[str, Any], why: str) -> None:
    trial = tried(FORM | event)

    assert trial.left_alone is not None
    assert why in trial.left_alone
    assert trial.summary is None


def test_a_change_is_acted_on_where_the_policy_names_what_changed() -> None:
    trial = tried(FORM | {"event_kind": "contact.propertyChange", "changed_field": "company"})

    assert trial.left_alone is None
    assert len(trial.actions) == 1


def test_claude_is_not_asked_but_what_it_would_be_shown_is_told() -> None:
    trial = tried(FORM, with_claude())

    assert (trial.planner, trial.model, trial.summary, trial.actions) == ("claude", "model-small", None, ())
    assert trial.shown["lead"] == {"company": "Brightwater", "employees": "20"}
    assert "ana@brightwater.example" not in trial.model_dump_json()


def test_a_lead_that_the_stronger_model_plans_from_the_beginning() -> None:
    trial = tried(FORM, with_claude(), lead={"employees": 9000}, plan=proposed(confidence=0.1, owner="mira"))

    assert (trial.model, trial.second_opinion) == ("model-large", None)


def test_a_plan_in_the_file_is_judged_as_claudes() -> None:
    allowed = tried(FORM, with_claude(), plan=proposed(owner="mira"))
    made_up = tried(FORM, with_claude(), plan=proposed(company="Evil Corp", owner="mira"))

    assert allowed.from_file
    assert [one.guarded.verdict for one in allowed.actions] == [Verdict.ALLOWED]
    assert allowed.actions[0].guarded.action.fields["email"] == "ana@brightwater.example"
    assert [one.guarded.verdict for one in made_up.actions] == [Verdict.REFUSED]
    assert "never made up" in (made_up.actions[0].guarded.why or "")


def test_a_second_opinion_is_told() -> None:
    assert tried(FORM, with_claude(), plan=proposed(confidence=0.4, owner="mira")).second_opinion == "model-large"
    assert tried(FORM, with_claude(), plan=proposed(confidence=0.6, owner="mira")).second_opinion is None


def test_a_plan_that_cannot_be_recorded_is_a_question() -> None:
    plan = proposed(owner="mira")
    trial = tried(FORM, with_claude(), plan={**plan, "actions": plan["actions"] * 2})

    assert trial.problem is not None
    assert trial.actions == ()


def test_a_kind_of_several_sources_needs_its_name() -> None:
    second = '[[event]]\nsource = "partner"\nkind = "form.submitted"\n'
    scopes = 'scopes = [{ from = 2026-01-01T00:00:00Z, scope = "event" }]\n\n'
    text = DEFAULT.replace("[sources]\n", f"{second}{scopes}[sources]\npartner = 10\n")
    with pytest.raises(MalformedDelivery, match='add "source": one of partner, website'):
        tried(FORM, text)

    assert tried(FORM, text, source="website").source == "website"
    assert tried(FORM, text, source="partner").summary == "No rule holds for this lead"


# -- several targets, several objects ----------------------------------------------------------------------------------
TWO_OBJECTS = SALESFORCE.replace("[queue.default]\n", CONTACTS_TOO).replace("[target.salesforce]\n", SAVED_LEADS)
SAVED = {"source_record_id": "00Qxx0000004C92EAE", "event_kind": "lead.saved"}


def updates(target_object: str, **fields: Any) -> dict[str, Any]:
    action = {"kind": "update", "target_system": "salesforce", "target_object": target_object, "reason": "r"}
    return {"summary": "a plan", "actions": [{**action, "fields": fields}]}


@pytest.mark.parametrize(
    ("object_", "stands"), [("contact", {"title": "CTO"}), ("lead", {}), (None, {})], ids=["it", "another", "unsaid"]
)
def test_a_record_stands_in_one_object_of_its_target(object_: str | None, stands: dict[str, Any]) -> None:
    record = {"fields": {"title": "CTO"}, "linked_to": "this_lead", **({"object": object_} if object_ else {})}
    trial = tried(FORM, TWO_OBJECTS, record=record, plan=updates("contact", title="CEO"))

    assert [one.stands for one in trial.actions] == [stands]


def test_a_lead_of_salesforces_is_a_lead_and_no_contact() -> None:
    qualify = {"kind": "qualify", "target_system": "salesforce", "target_object": "lead", "reason": "r"}
    status = {"lead_status": "Closed - Not Converted"}
    plan = {"summary": "a plan", "actions": [{**qualify, "fields": status}]}
    trial = tried(SAVED, TWO_OBJECTS, record={"fields": {"lead_status": "Open - Not Contacted"}}, plan=plan)

    (one,) = trial.actions
    assert (one.guarded.verdict, one.stands) == (Verdict.ALLOWED, {"lead_status": "Open - Not Contacted"})
    (contact,) = tried(SAVED, TWO_OBJECTS, plan=updates("contact", title="CEO")).actions
    assert contact.stands == {}
