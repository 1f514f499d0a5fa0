"""What an org tells an examination, also where it tells it badly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from leadproof.crm.salesforce_sign_in import ClientCredentials
from leadproof.domain.diagnosis import FieldPresence, FieldState, OurField, WantedField
from leadproof.domain.errors import ConfigurationRefused, TargetForeign, TargetUnreachable
from leadproof.domain.fields import FieldType
from leadproof.domain.plan import TargetObject
from tests.crm.hostile import Hostile, Line, Script, says
from tests.crm.salesforce_org import (
    EXTERNAL_FIELD,
    MARKER_FIELD,
    ORG,
    US,
    Org,
    column,
    described,
    error,
    query_of,
    rows,
)
from tests.sandbox.control import Control

if TYPE_CHECKING:
    from leadproof.crm.salesforce_diagnosis import SalesforceDiagnosis

MakeDiagnosis = Callable[..., "SalesforceDiagnosis"]

LEAD, CONTACT = TargetObject.LEAD, TargetObject.CONTACT
VERSIONS = [{"version": "62.0"}, {"version": "9.0"}, {"version": "61.0"}]
OURS = {"field": OurField.EXTERNAL_ID, "target_object": LEAD, "name": EXTERNAL_FIELD}


@pytest.fixture
def diagnosis_of() -> Iterator[MakeDiagnosis]:
    from leadproof.crm.salesforce_client import SalesforceClient
    from leadproof.crm.salesforce_diagnosis import SalesforceDiagnosis

    made: list[SalesforceDiagnosis] = []

    def make(url: str, *, version: str = "62.0", **objects: tuple[str, ...]) -> SalesforceDiagnosis:
        sign_in = ClientCredentials("leadproof", "secret")
        made.append(
            SalesforceDiagnosis(
                SalesforceClient(url=url, sign_in=sign_in, version=version, connect_timeout=2.0),
                version=version,
                external_id_field=EXTERNAL_FIELD,
                marker_field=MARKER_FIELD,
                objects={TargetObject(name): verbs for name, verbs in (objects or {"lead": ("edit",)}).items()},
                call_timeout=5.0,
            )
        )
        return made[-1]

    yield make
    for diagnosis in made:
        diagnosis.close()


def org_of(org: Org, **answers: Script) -> None:
    """Answer by a word of the path or of the query; versions as they are usual, anything else with no rows."""

    def answer(line: Line) -> None:
        asked = f"{line.request.path} {query_of(line.request)}"
        script = next((script for word, script in answers.items() if word in asked), says(200, rows()))
        (says(200, VERSIONS) if line.request.path == "/services/data/" else script)(line)

    org.answers(answer)


def test_org_rights_and_fields(address: str, sandbox: Control, diagnosis_of: MakeDiagnosis) -> None:
    diagnosis = diagnosis_of(address, lead=("create", "edit"), contact=())
    opened = diagnosis.opened()
    assert (opened.account, opened.unusable) == (ORG, None)
    assert opened.time is not None
    assert abs(opened.time.earliest - datetime.now(UTC)) < timedelta(seconds=5)
    permissions = diagnosis.permissions()
    assert (permissions.needed, permissions.to_write, permissions.to_create) == (
        ("read on Lead", "read on Contact"),
        ("create on Lead", "edit on Lead"),
        (),
    )
    assert permissions.lacking((*permissions.needed, *permissions.to_write)) == []
    states = diagnosis.our_fields()
    assert [(state.target_object, state.field) for state in states] == [
        (LEAD, OurField.EXTERNAL_ID),
        (LEAD, OurField.MARKER),
        (CONTACT, OurField.EXTERNAL_ID),
        (CONTACT, OurField.MARKER),
    ]
    assert states[0] == FieldState(
        **OURS,
        presence=FieldPresence.LIVE,
        kind="string",
        text=True,
        unique=True,
        holds=80,
        addresses=True,
        case_sensitive=True,
        writable=True,
        keeps_history=False,
    )
    assert [state.keeps_history for state in states] == [False, True, False, True]


def test_it_is_asked_for_the_time_and_the_versions_before_any_version_is_named(
    address: str, sandbox: Control, diagnosis_of: MakeDiagnosis
) -> None:
    opened = diagnosis_of(address, version="99.0").opened()
    assert opened.account == ORG
    assert opened.unusable is not None
    assert (opened.unusable.check, opened.unusable.do) == (
        "version",
        "set LEADPROOF_SALESFORCE_API_VERSION to one of these",
    )
    assert re.fullmatch(r"Salesforce has no version 99\.0 of its API; it has \d\d\.0 to \d\d\.0", opened.unusable.says)
    assert [row["path"] for row in sandbox.get("/requests", provider="salesforce")][1:] == ["/services/data/"]


def test_a_token_that_the_api_does_not_take_opens_nothing(org: Org, diagnosis_of: MakeDiagnosis) -> None:
    org.users = []
    org_of(org)
    org.server.answers(lambda line: _refuses_users(org, line))
    with pytest.raises(ConfigurationRefused, match="refuses us: 401 INVALID_SESSION_ID"):
        diagnosis_of(org.server.url).opened()


def _refuses_users(org: Org, line: Line) -> None:
    if " FROM User " in query_of(line.request):
        line.respond(401, error("INVALID_SESSION_ID"))
    else:
        org._answer(line)


def test_rights_that_lack_and_objects_that_are_hidden(org: Org, diagnosis_of: MakeDiagnosis) -> None:
    org.description = {**described(), "createable": False}
    permissions = diagnosis_of(org.server.url, lead=("create", "edit")).permissions()
    assert permissions.lacking((*permissions.needed, *permissions.to_write)) == ["create on Lead"]
    org.server.answers(lambda line: _hides(org, line))
    permissions = diagnosis_of(org.server.url, contact=("edit",)).permissions()
    assert permissions.lacking((*permissions.needed, *permissions.to_write)) == ["read on Contact", "edit on Contact"]


def _hides(org: Org, line: Line) -> None:
    if line.request.path.endswith("/describe"):
        line.respond(404, error("NOT_FOUND"))
    else:
        org._answer(line)


@pytest.mark.parametrize(
    ("defined", "state"),
    [
        ({"type": "textarea"}, {"text": False}),
        ({"length": 40}, {"holds": 40}),
        ({"unique": False}, {"unique": False}),
        ({"externalId": False}, {"addresses": False}),
        ({"caseSensitive": False}, {"case_sensitive": False}),
        ({"updateable": False}, {"writable": False}),
    ],
)
def test_a_field_of_ours_that_is_another_one(
    defined: dict[str, Any], state: dict[str, Any], org: Org, diagnosis_of: MakeDiagnosis
) -> None:
    sound = {"length": 80, "unique": True, "externalId": True, "caseSensitive": True}
    org.description = described(column(EXTERNAL_FIELD, **{"kind": "string", **sound, **defined}))
    org_of(org)
    found, marker = diagnosis_of(org.server.url).our_fields()
    assert {name: getattr(found, name) for name in state} == state
    assert marker.presence is FieldPresence.MISSING


def test_fields_are_made_by_people_who_are_told_where_and_how(diagnosis_of: MakeDiagnosis) -> None:
    diagnosis = diagnosis_of("http://127.0.0.1:1", lead=(), contact=())
    state = FieldState(**OURS, presence=FieldPresence.MISSING)
    assert diagnosis.by_hand(state) == (
        "see to it in Setup, Object Manager, Lead, Fields & Relationships that Leadproof_External_Id__c is a text "
        "field of length 80, unique (case-sensitive) and an external id, and that our user's permission set may read "
        "and edit it"
    )
    wanted = WantedField(
        field="roles", target_object=CONTACT, name="Roles__c", type=FieldType.MULTI_PICKLIST, options=("a", "b")
    )
    assert "Contact, Fields & Relationships that Roles__c is checkboxes with the options a, b" in diagnosis.by_hand(
        wanted
    )
    with pytest.raises(ConfigurationRefused, match=r"made by people: .* Lead and Contact, .*history tracking on"):
        diagnosis.create_field(OurField.MARKER)
    with pytest.raises(ConfigurationRefused, match=r"made by people: .*Roles__c"):
        diagnosis.create_field(wanted)


# -- remarks -----------------------------------------------------------------------------------------------------------
def assignment(api_only: bool) -> dict[str, Any]:
    return {"PermissionSet": {"PermissionsApiUserOnly": api_only}}


@pytest.mark.parametrize(
    ("script", "says_", "does"),
    [
        (says(200, rows(assignment(False), assignment(True))), "nobody can work in Salesforce by hand", False),
        (says(200, rows(assignment(False))), "a person can sign in too", True),
        (says(200, rows()), f"of the user {US}", False),
        (says(400, error("INVALID_TYPE")), f"of the user {US}", False),
    ],
)
def test_whether_the_user_is_a_person_too_where_it_is_told(
    script: Script, says_: str, does: bool, org: Org, diagnosis_of: MakeDiagnosis
) -> None:
    org_of(org, PermissionSetAssignment=script)
    diagnosis = diagnosis_of(org.server.url)
    diagnosis.opened()
    (remark,) = (remark for remark in diagnosis.remarks() if remark.check == "user")
    assert remark.says.endswith(says_) or says_ in remark.says
    assert ((remark.do or "").startswith("give this user"), remark.fatal) == (does, False)


def object_right(name: str, sees_all: bool) -> dict[str, Any]:
    return {"SobjectType": name, "PermissionsViewAllRecords": sees_all}


@pytest.mark.parametrize(
    ("script", "unseen"),
    [
        (says(200, rows(object_right("Lead", False), object_right("Lead", True), object_right("Contact", True))), None),
        (says(200, rows(object_right("Lead", True), object_right("Contact", False))), "Contact"),
        (says(200, rows(object_right("Lead", False), object_right("Contact", False))), "Lead and Contact"),
        (says(200, rows()), None),
        (says(400, error("MALFORMED_QUERY")), None),
    ],
)
def test_whether_the_user_sees_every_record_where_it_is_told(
    script: Script, unseen: str | None, org: Org, diagnosis_of: MakeDiagnosis
) -> None:
    org_of(org, ObjectPermissions=script)
    diagnosis = diagnosis_of(org.server.url, lead=("edit",), contact=())
    diagnosis.opened()
    told = [remark.says for remark in diagnosis.remarks() if remark.check == "sees"]
    assert [f"lacks View All on {unseen}, " in says_ for says_ in told] == ([True] if unseen else [])


def test_that_the_history_is_not_told_is_said(org: Org, diagnosis_of: MakeDiagnosis) -> None:
    org_of(org, FieldDefinition=says(400, error("INVALID_TYPE")))
    (remark,) = (one for one in diagnosis_of(org.server.url).remarks() if one.check == "history")
    assert "which fields of Lead keep their history" in remark.says
    assert "View Setup and Configuration" in (remark.do or "")


@pytest.mark.parametrize(("used", "spaced"), [(3999, False), (4000, True), (5000, True)])
def test_what_is_left_of_the_calls(used: int, spaced: bool, org: Org, diagnosis_of: MakeDiagnosis) -> None:
    org.answers(says(200, VERSIONS, **{"Sforce-Limit-Info": f"api-usage={used}/5000"}))
    diagnosis = diagnosis_of(org.server.url)
    diagnosis.opened()
    (remark,) = (one for one in diagnosis.remarks() if one.check == "calls")
    assert remark.says.startswith(f"{used} of the org's 5000 calls a day are used")
    assert ("above 80% ours are sent ever more slowly" in remark.says, remark.do is not None) == (spaced, spaced)


# -- no answers --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("script", "error_type", "why"),
    [
        (says(500), ConfigurationRefused, "could not be asked: 500"),
        (says(404, b"<html>"), TargetForeign, "refuses us: 404"),
        (says(200, b"<html>"), TargetForeign, "no description"),
        (says(200, {}), TargetForeign, "no description"),
        (says(200, []), TargetForeign, "no description"),
        (Line.break_off, TargetUnreachable, "cannot be reached at http://"),
    ],
)
def test_what_is_no_answer_is_one_sentence(
    script: Script, error_type: type[Exception], why: str, org: Org, diagnosis_of: MakeDiagnosis
) -> None:
    org.answers(script)
    with pytest.raises(error_type, match=why):
        diagnosis_of(org.server.url).opened()


def test_credentials_that_are_refused(org: Org, diagnosis_of: MakeDiagnosis) -> None:
    org.sign_in = says(400, {"error": "invalid_client", "error_description": "invalid client credentials"})
    with pytest.raises(ConfigurationRefused, match="refuses us: invalid_client: signing in was refused"):
        diagnosis_of(org.server.url).opened()


def test_an_org_that_cannot_be_reached(server: Hostile, diagnosis_of: MakeDiagnosis) -> None:
    diagnosis = diagnosis_of(server.url)
    server.close_listener()
    with pytest.raises(TargetUnreachable, match=r"cannot be reached at http://127\.0\.0\.1:"):
        diagnosis.opened()
