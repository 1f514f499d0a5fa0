from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leadproof.crm.hubspot_fields import HubSpotFields
from leadproof.domain.events import LeadEvent, SourceEvent
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.steps import EchoQuestion
from starter.admission import HeldBack, LeftAlone, echo_question, judge
from tests.starter.door import POLICY, PORTAL, settings_of
from tests.support.ledgers import START

SETTINGS = settings_of(LEADPROOF_TENANT="acme", LEADPROOF_ENVIRONMENT="prod")
FIELDS = {"hubspot": HubSpotFields()}


def policy(**replace: str) -> Policy:
    text = POLICY.read_text(encoding="utf-8")
    for old, new in replace.items():
        text = text.replace(old, new)
    return parse_policy(text)


def change(**more: Any) -> SourceEvent:
    given: dict[str, Any] = {
        "source_system": "hubspot",
        "account": str(PORTAL),
        "source_record_id": "101",
        "event_kind": "contact.propertyChange",
        "occurrence": '["contact.propertyChange","email","1"]',
        "occurred_at": START,
        "changed_field": "email",
        "changed_value": "Mira@Example.com",
        "by_person": False,
    }
    return SourceEvent(**{**given, **more})


def creation(**more: Any) -> SourceEvent:
    return change(
        **{
            "event_kind": "contact.creation",
            "occurrence": '["contact.creation",null,"1752613920733"]',
            "changed_field": None,
            "changed_value": None,
            **more,
        }
    )


def admitted(event: SourceEvent, of: Policy | None = None) -> LeadEvent:
    judged = judge(event, policy=of or policy(), settings=SETTINGS, fields=FIELDS, now=START)
    assert isinstance(judged, LeadEvent), judged
    return judged


def test_keys_are_made_of_what_the_scope_says() -> None:
    per_record = admitted(creation())
    assert per_record.occurrence is None
    # printf '%s' '["lead-event/1","acme","prod","hubspot","101","contact.creation",null]' | sha256sum
    assert per_record.event_key == "d3f4cd4e85738abc4684dac07798b0f526a693845f2849ca864b283350e5dc84"
    per_event = admitted(change())
    assert per_event.occurrence == '["contact.propertyChange","email","1"]'
    # the same with "contact.propertyChange" and that text as its last element
    assert per_event.event_key == "a67856e815c34d5e4886319b151df499704be8d652e2c384eb6648a11edcc958"


def test_evidence_is_kept_and_is_in_neither_key_nor_fingerprint() -> None:
    first = admitted(creation(extra={"eventId": 1}))
    again = admitted(creation(extra={"eventId": 2}, occurrence='["contact.creation",null,"2"]', by_person=True))
    assert (first.event_key, first.fingerprint) == (again.event_key, again.fingerprint)
    assert first.lead == {
        "lead": {},
        "extra": {"eventId": 1, "sent_occurrence": '["contact.creation",null,"1752613920733"]'},
    }


def test_a_changed_value_stands_in_our_name_and_in_the_fingerprint() -> None:
    event = admitted(change(extra={"propertyName": "email"}))
    assert event.lead == {"lead": {"email": "Mira@Example.com"}, "extra": {"propertyName": "email"}}
    assert admitted(change(changed_value="x")).fingerprint != event.fingerprint
    assert admitted(change(changed_value="x")).event_key == event.event_key


def test_a_fingerprint_does_not_move_with_the_policys_names_of_fields() -> None:
    renamed = '[target.hubspot.fields.work_email]\nproperty = "work_email"\n\n[owners.hubspot]'
    other = policy(**{"[owners.hubspot]": renamed})
    assert "work_email" in other.targets["hubspot"].fields
    assert admitted(change(), other).fingerprint == admitted(change()).fingerprint


@pytest.mark.parametrize(
    "event",
    [
        creation(event_kind="contact.deletion"),
        creation(source_system="elsewhere", account=None),
        change(changed_field="phone"),
        change(changed_field=None),
    ],
)
def test_what_the_policy_does_not_name_is_left_alone(event: SourceEvent) -> None:
    assert isinstance(judge(event, policy=policy(), settings=SETTINGS, fields=FIELDS, now=START), LeftAlone)


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (creation(account="999"), "foreign_account"),
        (creation(account=None), "foreign_account"),
        (creation(account="999", event_kind="contact.deletion"), "foreign_account"),
        (change(occurrence=None), "malformed"),
        (change(occurred_at=START + timedelta(seconds=300, milliseconds=1)), "future"),
        (creation(occurred_at=datetime(2999, 1, 1, tzinfo=UTC)), "future"),
        (creation(source_record_id=""), "malformed"),
        (creation(source_record_id="\x00"), "malformed"),
        (creation(source_record_id="\ud800"), "malformed"),
        (
            creation(
                source_system="website",
                event_kind="form.submitted",
                account=None,
                lead={"email_opt_out": "mira@example.com"},
            ),
            "malformed",
        ),
    ],
)
def test_what_cannot_be_used_is_held_back(event: SourceEvent, reason: str) -> None:
    judged = judge(event, policy=policy(), settings=SETTINGS, fields=FIELDS, now=START)
    assert isinstance(judged, HeldBack)
    assert judged.reason == reason
    assert "mira" not in judged.why


def test_a_clock_that_is_ahead_by_as_much_as_a_signature_may_be_is_accepted() -> None:
    assert admitted(change(occurred_at=START + timedelta(minutes=5))).occurred_at > START


def test_without_a_configured_account_any_is_ours() -> None:
    anyones = settings_of(LEADPROOF_HUBSPOT_PORTAL_ID="")
    judged = judge(creation(account="999"), policy=policy(), settings=anyones, fields=FIELDS, now=START)
    assert isinstance(judged, LeadEvent)


def test_the_ledger_is_asked_about_our_field_in_its_normal_form() -> None:
    assert echo_question(change(), policy=policy(), fields=FIELDS) == EchoQuestion(
        target_system="hubspot",
        record_id="101",
        field="email",
        value="mira@example.com",
        quiescence=policy().targets["hubspot"].quiescence,
    )
    assert policy().targets["hubspot"].quiescence > timedelta(0)


@pytest.mark.parametrize(
    "event",
    [
        change(by_person=True),
        change(by_person=None),
        change(changed_value=None),
        change(changed_field="favourite_colour"),
        change(source_system="website"),
        creation(),
    ],
)
def test_what_a_person_may_have_done_is_never_dropped_at_the_door(event: SourceEvent) -> None:
    assert echo_question(event, policy=policy(), fields=FIELDS) is None
