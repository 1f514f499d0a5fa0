"""The adapter against the sandbox's org, whose request log is the witness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leadproof.domain.mutation import AnswerClass, RecordRef
from leadproof.domain.records import MARKER as MARKER_NAME
from leadproof.domain.records import LookUp, Presence
from leadproof.domain.steps import WriteRequest
from tests.crm.asking import EXTERNAL_ID, MARKER
from tests.crm.conftest import MakeSalesforce
from tests.crm.salesforce_org import EXTERNAL_FIELD, MARKER_FIELD, creation, lead_ref, update
from tests.sandbox.control import Control, eventually

if TYPE_CHECKING:
    from leadproof.crm.salesforce import SalesforceCrm

EMAIL = "bo@example.com"
DANA, TOM = "005xx000001Sv6BAAS", "005xx000001Sv6DAAS"
INBOUND, ENTERPRISE = "00Gxx000000Qu1AEAS", "00Gxx000000Qu1BEAS"
OTHER_MARKER = "b" * 64


@pytest.fixture
def crm(address: str, sandbox: Control, make_salesforce: MakeSalesforce) -> SalesforceCrm:
    return make_salesforce(address)


def person(sandbox: Control, record_id: str | None = None, kind: str = "leads", **properties: Any) -> str:
    needed = {"LastName": "Bo", **({"Company": "Example"} if kind == "leads" else {})} if record_id is None else {}
    asked = {"provider": "salesforce", "object": kind, "id": record_id, "user": DANA}
    return str(sandbox.put("/records", asked | {"properties": needed | properties})["id"])


def leads(sandbox: Control, kind: str = "leads") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sandbox.get("/records", provider="salesforce", object=kind)
    return [row["properties"] for row in found if not row["archived"]]


def written(sandbox: Control) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sandbox.get("/requests", provider="salesforce", operation="leads.write")
    return found


def fault(sandbox: Control, kind: str, operation: str = "leads.write", **more: Any) -> None:
    sandbox.post("/faults", {"provider": "salesforce", "operation": operation, "kind": kind, **more})


def setting(sandbox: Control, **settings: Any) -> None:
    sandbox.post("/salesforce", settings)


def find(crm: SalesforceCrm, *fields: str) -> LookUp:
    return crm.find(lead_ref(email=EMAIL), fields or ("email",), history=False)


def made(crm: SalesforceCrm, **fields: Any) -> str:
    answer = crm.write(creation(email=EMAIL, **fields))
    assert answer.outcome is AnswerClass.ACCEPTED, answer
    return str(answer.provider_record_id)


def test_a_lead_is_made_found_changed_and_read_back(crm: SalesforceCrm, sandbox: Control) -> None:
    assert find(crm).presence is Presence.ABSENT
    meant = {
        "title": "CTO",
        "country": "DE",
        "employees": "1000",
        "owner": ENTERPRISE,
        "do_not_call": True,
        "lead_status": "Working - Contacted",
    }
    record_id = made(crm, **meant)
    found = find(crm, *meant)
    assert found.record is not None
    assert (found.record.record_id, found.record.fields) == (record_id, meant)
    assert (found.record.external_id, found.record.marker) == (EXTERNAL_ID, MARKER)
    answer = crm.write(update(record_id[:15], title=None, owner=DANA))
    assert (answer.outcome, answer.provider_record_id) == (AnswerClass.ACCEPTED, record_id)
    found = crm.read("lead", record_id, ["title", "owner"], history=False)
    assert found.record is not None
    assert (found.record.fields, found.record.changed_by) == ({"title": None, "owner": DANA}, "us")
    assert len(leads(sandbox)) == 1


def test_a_contact_is_made_and_found_alike(crm: SalesforceCrm, sandbox: Control) -> None:
    record = RecordRef(
        target_system="salesforce", target_object="contact", external_id=EXTERNAL_ID, unique_fields={"email": EMAIL}
    )
    fields = {"last_name": "Bo", "email": EMAIL, "country": "IE"}
    request = WriteRequest(record=record, creates=True, fields=fields, marker=MARKER, sets_external_id=True)
    assert crm.write(request).outcome is AnswerClass.ACCEPTED
    found = crm.find(record, list(fields), history=True)
    assert found.record is not None
    assert (found.record.fields, found.record.marker) == (fields, MARKER)
    assert len(leads(sandbox, "contacts")) == 1


def test_a_create_that_is_sent_twice_makes_one_record_and_one_welcome(crm: SalesforceCrm, sandbox: Control) -> None:
    assert made(crm) == made(crm)
    assert len(leads(sandbox)) == 1
    assert len(sandbox.get("/side_effects")) == 1


@pytest.mark.parametrize("kind", ["drop_before_apply", "drop_after_apply", "garbage_after_apply", "apply_later"])
@pytest.mark.parametrize("creates", [True, False])
def test_a_lost_answer_is_uncertain_whether_it_was_applied_or_not(
    kind: str, creates: bool, crm: SalesforceCrm, sandbox: Control
) -> None:
    record_id = person(sandbox)
    fault(sandbox, kind, args={"seconds": 0.05})
    answer = crm.write(creation(email=EMAIL) if creates else update(record_id, email=EMAIL))
    assert (answer.outcome, answer.provider_record_id) == (AnswerClass.UNCERTAIN, None)
    assert len(written(sandbox)) == 1
    if kind != "drop_before_apply":
        eventually(lambda: any(row.get("Email") == EMAIL for row in leads(sandbox)))
    else:
        assert all(row.get("Email") != EMAIL for row in leads(sandbox))


def test_the_assignment_rule_is_told_to_keep_out(crm: SalesforceCrm, sandbox: Control) -> None:
    record_id = made(crm, owner=ENTERPRISE)
    crm.write(update(record_id, owner=DANA))
    assert [row["OwnerId"] for row in leads(sandbox)] == [DANA]


def test_a_session_that_ends_is_renewed_and_the_rule_still_kept_out(crm: SalesforceCrm, sandbox: Control) -> None:
    """The library repeats such a write without our headers."""
    record_id = made(crm, owner=ENTERPRISE)
    setting(sandbox, expire_sessions=True)
    assert crm.write(update(record_id, title="CTO")).outcome is AnswerClass.ACCEPTED
    assert [row["OwnerId"] for row in leads(sandbox)] == [ENTERPRISE]
    assert [one["status"] for one in written(sandbox)] == [201, 401, 204]


def test_sessions_that_are_refused_for_ever_are_no_storm(crm: SalesforceCrm, sandbox: Control) -> None:
    record_id = made(crm)
    before = len(sandbox.get("/requests", provider="salesforce"))
    setting(sandbox, refuse_sessions=True)
    costs = []
    for _ in range(3):
        assert crm.write(update(record_id, title="CTO")).outcome is AnswerClass.REFUSES_US
        now = len(sandbox.get("/requests", provider="salesforce"))
        costs.append(now - before)
        before = now
    assert costs == [3, 1, 1], "two requests and a token, and then one"


def test_a_record_that_somebody_changed_is_not_overwritten(crm: SalesforceCrm, sandbox: Control) -> None:
    record_id = made(crm)
    found = find(crm)
    assert found.record is not None
    sandbox.advance(5)
    person(sandbox, record_id, Title="CFO")
    request = update(record_id, title="CTO").model_copy(update={"unmodified_since": found.record.changed_at})
    answer = crm.write(request)
    assert (answer.outcome, answer.http_status) == (AnswerClass.NOT_APPLIED, 412)
    found = find(crm, "title")
    assert found.record is not None
    assert (found.record.fields["title"], found.record.changed_by) == ("CFO", f"person:{DANA}")
    again = request.model_copy(update={"unmodified_since": found.record.changed_at})
    assert crm.write(again).outcome is AnswerClass.ACCEPTED


def test_history_tells_a_person_from_us_and_from_a_rule(crm: SalesforceCrm, sandbox: Control) -> None:
    record_id = made(crm, title="CEO", owner=ENTERPRISE)
    person(sandbox, record_id, Title="CFO", OwnerId=DANA)
    crm.write(_marked(record_id, title="CTO"))
    found = crm.read("lead", record_id, ["title", "owner", "company"], history=True)
    assert found.record is not None
    history = found.record.history
    assert [(change.value, change.by) for change in history["title"]] == [
        ("CTO", "us"),
        ("CFO", f"person:{DANA}"),
        ("CEO", "us"),
    ]
    assert [(change.value, change.by) for change in history["owner"]] == [(DANA, f"person:{DANA}"), (ENTERPRISE, "us")]
    assert [change.value for change in history[MARKER_NAME]] == [OTHER_MARKER, MARKER]
    assert "company" not in history
    assert history["title"][1].at < history[MARKER_NAME][0].at, "whatever second it was"


def _marked(record_id: str, **fields: Any) -> WriteRequest:
    return update(record_id, **fields).model_copy(update={"marker": OTHER_MARKER})


def test_a_flow_in_our_own_write_is_in_our_name(crm: SalesforceCrm, sandbox: Control) -> None:
    record_id = made(crm, title="CEO")
    fault(sandbox, "rewrite", args={"fields": {"Title": "Chief"}})
    crm.write(_marked(record_id, title="CTO"))
    found = crm.read("lead", record_id, ["title"], history=True)
    assert found.record is not None
    assert found.record.fields["title"] == "Chief"
    assert (found.record.history["title"][0].value, found.record.history["title"][0].by) == ("Chief", "us")


def test_deleted_merged_and_converted_leads(crm: SalesforceCrm, sandbox: Control) -> None:
    record_id = made(crm)
    other = person(sandbox, Email="other@example.com")
    merging = {"provider": "salesforce", "object": "leads", "user": DANA}
    sandbox.post("/merge", merging | {"winner": other, "loser": record_id})
    found = crm.read("lead", record_id, ["email"], history=True)
    assert found.presence is Presence.ONE
    assert found.record is not None
    assert found.record.record_id == other
    sandbox.post("/convert", {"provider": "salesforce", "object": "leads", "id": other, "user": DANA})
    (contact,) = leads(sandbox, "contacts")
    found = crm.read("lead", other, ["email"], history=True)
    assert found.record is not None
    assert found.record.record_id == contact["Id"]
    answer = crm.write(update(other, title="CTO"))
    assert (answer.outcome, answer.code) == (AnswerClass.REFUSES_THIS, "CANNOT_UPDATE_CONVERTED_LEAD")


def test_a_deleted_lead_is_removed(crm: SalesforceCrm, sandbox: Control) -> None:
    record_id = made(crm)
    sandbox.delete("/records", {"provider": "salesforce", "object": "leads", "id": record_id, "user": DANA})
    found = find(crm)
    assert (found.presence, found.record_ids) == (Presence.REMOVED, (record_id,))
    assert crm.read("lead", record_id, [], history=False).presence is Presence.REMOVED
    answer = crm.write(update(record_id, title="CTO"))
    assert (answer.outcome, answer.code) == (AnswerClass.REFUSES_THIS, "ENTITY_IS_DELETED")


def test_a_duplicate_rule_asks_a_person(crm: SalesforceCrm, sandbox: Control) -> None:
    holder = person(sandbox, kind="contacts", Email=EMAIL)
    assert find(crm).presence is Presence.ABSENT, "a contact is no lead"
    answer = crm.write(creation(email=EMAIL))
    assert (answer.outcome, answer.code, answer.read_first) == (AnswerClass.REFUSES_THIS, "DUPLICATES_DETECTED", False)
    assert str(answer.detail).endswith(f"matched {holder}")
    assert leads(sandbox) == []


def test_an_external_id_that_another_record_took_is_to_be_read_first(crm: SalesforceCrm, sandbox: Control) -> None:
    made(crm)
    other = person(sandbox, Email="other@example.com")
    answer = crm.write(update(other, links=True, title="CTO"))
    assert (answer.outcome, answer.code, answer.read_first) == (AnswerClass.REFUSES_THIS, "DUPLICATE_VALUE", True)


def test_an_org_whose_calls_are_used_up_refuses_us(crm: SalesforceCrm, sandbox: Control) -> None:
    record_id = made(crm)
    fault(sandbox, "rate_limit")
    answer = crm.write(update(record_id, title="CTO"))
    assert (answer.outcome, answer.code) == (AnswerClass.REFUSES_US, "REQUEST_LIMIT_EXCEEDED")
    fault(sandbox, "lock")
    answer = crm.write(update(record_id, title="CTO"))
    assert (answer.outcome, answer.code) == (AnswerClass.NOT_APPLIED, "UNABLE_TO_LOCK_ROW")


def test_the_nearer_the_limit_the_fewer_calls(crm: SalesforceCrm, sandbox: Control) -> None:
    record_id = made(crm)
    setting(sandbox, daily_limit=5000, daily_used=4990)
    assert find(crm).presence is Presence.ONE
    answer = crm.write(update(record_id, title="CTO"))
    assert answer.outcome is AnswerClass.ACCEPTED, "a write goes at once after its check"
    assert "CALLS_ARE_SPACED" in str(find(crm).detail)
    assert crm.budget().held == 1
    assert len(written(sandbox)) == 2


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"title": "x" * 129}, "STRING_TOO_LONG"),
        ({"disqualification_reason": "No budget"}, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST"),
        ({"disqualification_reason": "duplicate"}, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST"),
        ({"owner": TOM}, "INACTIVE_OWNER_OR_USER"),
        ({"last_name": None}, "REQUIRED_FIELD_MISSING"),
        ({"region": "California"}, "FIELD_INTEGRITY_EXCEPTION"),
    ],
)
def test_the_org_says_itself_what_is_found_before(
    fields: dict[str, Any], code: str, crm: SalesforceCrm, sandbox: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each check answers with the code that the org would give, and says more."""
    request = creation(email=EMAIL, **fields)
    told = crm.write(request)
    assert (told.outcome, told.code, told.http_status) == (AnswerClass.REFUSES_THIS, code, None)
    assert str(told.detail).startswith("nothing was sent: ")
    assert written(sandbox) == []
    monkeypatch.setattr("leadproof.crm.salesforce_checks.refusal", lambda *_, **__: None)
    answer = crm.write(request)
    assert (answer.outcome, answer.code, answer.http_status) == (AnswerClass.REFUSES_THIS, code, 400)
    assert leads(sandbox) == []


def test_a_field_that_is_not_there_says_that_the_org_is_not_set_up(
    address: str, sandbox: Control, make_salesforce: MakeSalesforce
) -> None:
    record_id = person(sandbox)
    for ours in ({"marker_field": "Nothing__c"}, {"external_id_field": "Nothing__c"}):
        crm = make_salesforce(address, **ours)
        answers = [crm.write(creation(email=EMAIL)), crm.write(update(record_id, links=True, title="CTO"))]
        assert {answer.outcome for answer in answers} == {AnswerClass.REFUSES_US}
        assert find(crm).refuses_us
    assert [row.get("Title") for row in leads(sandbox)] == [None]


def test_history_is_kept_of_what_the_seed_tracks(crm: SalesforceCrm, sandbox: Control) -> None:
    assert crm.keeps_history("lead", ["title", "owner", "lead_status", "disqualification_reason"])
    assert not crm.keeps_history("lead", ["title", "do_not_call"])
    assert not crm.keeps_history("lead", ["message"]), "a long text's history has no values"
    setting(sandbox, fields={"Lead": {"Title": {"tracked": False}}})
    assert crm.keeps_history("lead", ["title"]), "what was asked is kept for some minutes"


def test_the_fields_of_the_wire_are_the_ones_that_we_mean(crm: SalesforceCrm, sandbox: Control) -> None:
    made(crm, title=" CTO　", country="Germany")
    (stored,) = leads(sandbox)
    assert (stored["Title"], stored["CountryCode"]) == ("CTO　", "DE")
    assert (stored[EXTERNAL_FIELD], stored[MARKER_FIELD]) == (EXTERNAL_ID, MARKER)
