"""Writes against the sandbox, whose request log is the witness."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.crm.hubspot import HubSpotCrm
from leadproof.crm.hubspot_fields import HubSpotFields
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.fields import FieldSpec, FieldType
from leadproof.domain.mutation import Answer, AnswerClass
from leadproof.domain.policy import TargetField
from tests.crm.asking import EXTERNAL_ID, MARKER, creation, update
from tests.crm.conftest import MakeCrm
from tests.sandbox.control import Control, eventually

EMAIL = "bo@example.com"


def written(sandbox: Control) -> list[dict[str, Any]]:
    return sandbox.requests("contacts.write")


def person(sandbox: Control, **properties: str) -> str:
    return str(sandbox.person(**properties)["id"])


def test_a_create_is_an_upsert_of_one_by_our_external_id(crm: HubSpotCrm, sandbox: Control) -> None:
    answer = crm.write(creation(email=EMAIL, first_name="Bo"))
    assert answer.outcome is AnswerClass.ACCEPTED
    assert answer.correlation_id
    (request,) = written(sandbox)
    assert (request["method"], request["path"]) == ("POST", "/hubspot/crm/v3/objects/contacts/batch/upsert")
    (row,) = request["body"]["inputs"]
    assert (row["id"], row["idProperty"], row["objectWriteTraceId"]) == (EXTERNAL_ID, "leadproof_external_id", MARKER)
    stored = sandbox.record(str(answer.provider_record_id))["properties"]
    assert (stored["email"], stored["firstname"]) == (EMAIL, "Bo")
    assert (stored["leadproof_external_id"], stored["leadproof_effect"]) == (EXTERNAL_ID, MARKER)


def test_a_create_that_is_sent_twice_makes_one_record(crm: HubSpotCrm, sandbox: Control) -> None:
    first, second = crm.write(creation(email=EMAIL)), crm.write(creation(email=EMAIL))
    assert first.provider_record_id == second.provider_record_id
    assert len(sandbox.records()) == 1


def test_an_update_goes_to_the_id_and_cannot_create(crm: HubSpotCrm, sandbox: Control) -> None:
    record_id = person(sandbox, email=EMAIL, firstname="Bo")
    answer = crm.write(update(record_id, lead_status="OPEN", first_name=None, owner="502"))
    assert (answer.outcome, answer.provider_record_id) == (AnswerClass.ACCEPTED, record_id)
    (request,) = written(sandbox)
    assert (request["method"], request["path"]) == ("PATCH", f"/hubspot/crm/v3/objects/contacts/{record_id}")
    assert request["body"] == {
        "properties": {
            "hs_lead_status": "OPEN",
            "firstname": "",
            "hubspot_owner_id": "502",
            "leadproof_effect": MARKER,
        }
    }
    gone = crm.write(update("999", lead_status="OPEN"))
    assert (gone.outcome, gone.code) == (AnswerClass.REFUSES_THIS, "OBJECT_NOT_FOUND")
    assert len(sandbox.records()) == 1


def test_the_external_id_goes_along_only_where_it_is_to_be_set(crm: HubSpotCrm, sandbox: Control) -> None:
    record_id = person(sandbox, email=EMAIL)
    crm.write(update(record_id, lead_status="OPEN"))
    assert sandbox.record(record_id)["properties"].get("leadproof_external_id") is None
    crm.write(update(record_id, links=True, lead_status="OPEN"))
    assert sandbox.record(record_id)["properties"]["leadproof_external_id"] == EXTERNAL_ID


def test_every_value_is_text_on_the_wire(address: str, sandbox: Control, make_crm: MakeCrm) -> None:
    fields = HubSpotFields(
        {
            "roles": TargetField(property="hs_buying_role", spec=FieldSpec(type=FieldType.MULTI_PICKLIST)),
            "revenue": TargetField(property="annualrevenue", spec=FieldSpec(type=FieldType.MONEY)),
            "closed": TargetField(property="closedate", spec=FieldSpec(type=FieldType.DATE)),
        }
    )
    crm = make_crm(f"{address}/hubspot", fields=fields)
    meant: dict[str, Any] = {"roles": ["CHAMPION", "OTHER"], "revenue": "1234.50", "closed": "2026-11-30"}
    answer = crm.write(creation(email=EMAIL, **meant))
    assert answer.outcome is AnswerClass.ACCEPTED
    sent = written(sandbox)[0]["body"]["inputs"][0]["properties"]
    assert all(isinstance(value, str) for value in sent.values())
    assert (sent["hs_buying_role"], sent["annualrevenue"]) == ("CHAMPION;OTHER", "1234.50")
    found = crm.read("contact", str(answer.provider_record_id), list(meant), history=False)
    assert found.record is not None
    assert found.record.fields == meant


@pytest.mark.parametrize("kind", ["drop_before_apply", "drop_after_apply", "garbage_after_apply", "apply_later"])
@pytest.mark.parametrize("creates", [True, False])
def test_a_lost_answer_is_uncertain_whether_it_was_applied_or_not(
    kind: str, creates: bool, crm: HubSpotCrm, sandbox: Control
) -> None:
    record_id = person(sandbox, email="other@example.com")
    sandbox.fault(kind, args={"seconds": 0.05})
    answer = crm.write(creation(email=EMAIL) if creates else update(record_id, email=EMAIL))
    assert (answer.outcome, answer.provider_record_id) == (AnswerClass.UNCERTAIN, None)
    assert len(written(sandbox)) == 1
    applied = kind != "drop_before_apply"
    if applied:
        eventually(lambda: any(row["properties"].get("email") == EMAIL for row in sandbox.records()))
    else:
        assert all(row["properties"].get("email") != EMAIL for row in sandbox.records())


def test_an_answer_that_is_too_late_is_uncertain(address: str, sandbox: Control, make_crm: MakeCrm) -> None:
    crm = make_crm(f"{address}/hubspot", connect_timeout=0.3, call_timeout=0.3)
    sandbox.fault("delay", args={"seconds": 3})
    assert crm.write(creation(email=EMAIL)).outcome is AnswerClass.UNCERTAIN
    assert len(sandbox.records()) == 1


def outcome(answer: Answer) -> tuple[AnswerClass, str | None, bool]:
    return answer.outcome, answer.code, answer.read_first


def test_what_hubspot_refuses(crm: HubSpotCrm, sandbox: Control) -> None:
    record_id = person(sandbox, email=EMAIL)
    refused = AnswerClass.REFUSES_THIS
    assert outcome(crm.write(update(record_id, lead_status="Open"))) == (refused, "INVALID_OPTION", False)
    assert outcome(crm.write(update(record_id, email="nobody"))) == (refused, "INVALID_EMAIL", False)
    assert outcome(crm.write(update(record_id, utm_source="x"))) == (refused, "PROPERTY_DOESNT_EXIST", False)
    assert outcome(crm.write(update(record_id, owner="504"))) == (refused, "INVALID_OWNER", False)
    assert outcome(crm.write(creation(lead_status="Open"))) == (refused, "INVALID_OPTION", False)
    assert len(sandbox.records()) == 1


@pytest.mark.parametrize("creates", [True, False])
def test_an_address_that_another_record_holds_is_to_be_read_first(
    creates: bool, crm: HubSpotCrm, sandbox: Control
) -> None:
    holder, other = person(sandbox, email=EMAIL), person(sandbox, email="other@example.com")
    answer = crm.write(creation(email=EMAIL) if creates else update(other, email=EMAIL))
    assert (answer.outcome, answer.read_first) == (AnswerClass.REFUSES_THIS, True)
    assert answer.provider_record_id is None
    told = answer.model_copy(update={"correlation_id": None}).model_dump_json()  # whose digits are chance
    assert "example.com" not in told
    assert holder not in told


def test_a_row_of_a_batch_that_fails_is_no_success(crm: HubSpotCrm, sandbox: Control) -> None:
    sandbox.fault("partial_batch", args={"category": "VALIDATION_ERROR"})
    answer = crm.write(creation(email=EMAIL))
    assert (answer.outcome, answer.http_status) == (AnswerClass.REFUSES_THIS, 207)
    sandbox.fault("partial_batch")
    answer = crm.write(creation(email=EMAIL))
    assert (answer.outcome, answer.http_status) == (AnswerClass.UNCERTAIN, 207)


def test_a_missing_marker_property_refuses_us(address: str, sandbox: Control, make_crm: MakeCrm) -> None:
    record_id = person(sandbox, email=EMAIL)
    crm = make_crm(f"{address}/hubspot", marker_property="not_made_yet")
    assert crm.write(update(record_id, lead_status="OPEN")).outcome is AnswerClass.REFUSES_US


def test_the_old_id_of_a_merged_record_answers_with_the_winner_s(crm: HubSpotCrm, sandbox: Control) -> None:
    winner, loser = person(sandbox, email=EMAIL), person(sandbox, email="loser@example.com")
    sandbox.post(
        "/merge", {"provider": "hubspot", "object": "contacts", "winner": winner, "loser": loser, "user": "9001"}
    )
    assert crm.write(update(loser, lead_status="OPEN")).provider_record_id == winner


def test_what_cannot_be_asked_is_not_sent(crm: HubSpotCrm, sandbox: Control) -> None:
    assert crm.write(update(shoe_size="43")).code == "UNKNOWN_FIELD"
    nowhere = update().model_copy(update={"record": update().record.model_copy(update={"provider_record_id": None})})
    assert crm.write(nowhere).code == "NO_RECORD_ID"
    company = update().record.model_copy(update={"target_object": "company"})
    assert crm.write(update().model_copy(update={"record": company})).code == "UNKNOWN_OBJECT"
    assert written(sandbox) == []


def test_a_malformed_value_is_not_sent(address: str, sandbox: Control, make_crm: MakeCrm) -> None:
    money = {"revenue": TargetField(property="annualrevenue", spec=FieldSpec(type=FieldType.MONEY))}
    crm = make_crm(f"{address}/hubspot", fields=HubSpotFields(money))
    answer = crm.write(creation(email=EMAIL, revenue="much of bo@example.com"))
    assert (answer.outcome, answer.code) == (AnswerClass.REFUSES_THIS, "MALFORMED_VALUE")
    assert "example.com" not in answer.model_dump_json()
    assert written(sandbox) == []


def test_history_is_kept_of_what_hubspot_has(crm: HubSpotCrm) -> None:
    assert crm.keeps_history("contact", ["owner", "lead_status"])
    assert not crm.keeps_history("contact", ["owner", "shoe_size"])
    assert not crm.keeps_history("company", ["owner"])


def test_our_own_properties_are_no_fields(make_crm: MakeCrm) -> None:
    with pytest.raises(ConfigurationRefused, match="the field industry is mapped to industry"):
        make_crm(
            "http://127.0.0.1:1",
            marker_property="industry",
            fields=HubSpotFields({"industry": TargetField(property="industry")}),
        )
    with pytest.raises(ConfigurationRefused, match="a HubSpot property each"):
        make_crm("http://127.0.0.1:1", marker_property="leadproof_external_id")
