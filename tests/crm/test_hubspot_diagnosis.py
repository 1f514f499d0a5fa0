"""What an account tells an examination, also where it tells it badly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leadproof.crm.hubspot_diagnosis import SCOPES_TO_READ, HubSpotDiagnosis
from leadproof.domain.diagnosis import FieldPresence, FieldState, OurField, ServerTime, WantedField
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.fields import FieldType
from tests.crm.hostile import Hostile, Line, says
from tests.sandbox.control import Control

MakeDiagnosis = Callable[[str], HubSpotDiagnosis]


@pytest.fixture
def diagnosis_of() -> Iterator[MakeDiagnosis]:
    made: list[HubSpotDiagnosis] = []

    def make(base_url: str) -> HubSpotDiagnosis:
        made.append(
            HubSpotDiagnosis(
                token=lambda: "any",
                base_url=base_url,
                external_id_property="leadproof_external_id",
                marker_property="leadproof_effect",
                connect_timeout=2.0,
                call_timeout=5.0,
            )
        )
        return made[-1]

    yield make
    for diagnosis in made:
        diagnosis.close()


@pytest.fixture
def diagnosis(address: str, sandbox: Control, diagnosis_of: MakeDiagnosis) -> HubSpotDiagnosis:
    return diagnosis_of(f"{address}/hubspot")


def test_account_scopes_and_properties(diagnosis: HubSpotDiagnosis, sandbox: Control) -> None:
    opened = diagnosis.opened()
    assert opened.account == "62515"
    assert opened.time is not None
    assert abs(opened.time.earliest - datetime.now(UTC)) < timedelta(seconds=5)
    permissions = diagnosis.permissions()
    assert (permissions.app, permissions.lacking(SCOPES_TO_READ)) == ("54321", [])
    assert diagnosis.our_fields() == (
        FieldState(
            field=OurField.EXTERNAL_ID,
            name="leadproof_external_id",
            presence=FieldPresence.LIVE,
            kind="string/text",
            text=True,
            unique=True,
            writable=True,
            keeps_history=True,
        ),
        FieldState(
            field=OurField.MARKER,
            name="leadproof_effect",
            presence=FieldPresence.LIVE,
            kind="string/text",
            text=True,
            unique=False,
            writable=True,
            keeps_history=True,
        ),
    )
    assert {row["path"].partition("?")[0] for row in sandbox.get("/requests")} == {
        "/hubspot/account-info/v3/details",
        "/hubspot/oauth/v2/private-apps/get/access-token-info",
        "/hubspot/crm/v3/properties/contacts",
    }


def test_the_token_is_asked_about_in_header_and_body(server: Hostile, diagnosis_of: MakeDiagnosis) -> None:
    server.answers(says(200, {"hubId": 1, "scopes": []}))
    permissions = diagnosis_of(server.url).permissions()
    (request,) = server.requests
    assert {name.lower(): value for name, value in request.headers.items()}["authorization"] == "Bearer any"
    assert request.json() == {"tokenKey": "any"}
    assert (permissions.app, permissions.lacking(SCOPES_TO_READ)) == (None, list(SCOPES_TO_READ))


NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("date", "time"),
    [
        ("Mon, 30 Nov 2026 12:00:00 GMT", ServerTime(earliest=NOON, latest=NOON + timedelta(seconds=1))),
        ("Mon, 30 Nov 2026 13:00:00 +0100", ServerTime(earliest=NOON, latest=NOON + timedelta(seconds=1))),
        ("at noon", None),
        (None, None),
    ],
)
def test_the_date_of_an_answer(
    date: str | None, time: ServerTime | None, server: Hostile, diagnosis_of: MakeDiagnosis
) -> None:
    headers = {"Date": date} if date is not None else {}

    def answer(line: Line) -> None:
        line.respond(200, {"portalId": 1}, headers)

    server.answers(answer)
    assert diagnosis_of(server.url).opened().time == time


@pytest.mark.parametrize("question", ["opened", "permissions", "our_fields"])
@pytest.mark.parametrize(
    ("script", "why"),
    [
        (says(401), "refuses us: 401"),
        (says(500), "could not be asked: 500"),
        (says(200, b"<html>"), "no description"),
        (says(200, []), "no description"),
        (Line.break_off, "cannot be reached"),
    ],
)
def test_what_is_no_answer_is_one_sentence(
    script: Any, why: str, question: str, server: Hostile, diagnosis_of: MakeDiagnosis
) -> None:
    server.answers(script)
    with pytest.raises(ConfigurationRefused, match=why):
        getattr(diagnosis_of(server.url), question)()


def test_a_property_is_asked_for_once_and_never_again(server: Hostile, diagnosis_of: MakeDiagnosis) -> None:
    server.answers(Line.break_off)
    with pytest.raises(ConfigurationRefused, match="cannot be reached"):
        diagnosis_of(server.url).create_field(OurField.EXTERNAL_ID)
    (request,) = server.requests
    assert (request.method, request.json()["hasUniqueValue"], request.json()["formField"]) == ("POST", True, False)


def test_a_property_of_the_policy_is_made_with_its_options(diagnosis: HubSpotDiagnosis, sandbox: Control) -> None:
    assert diagnosis.presence_of("roles") is FieldPresence.MISSING
    options = ("CHAMPION", "champion", "BUDGET_HOLDER")
    diagnosis.create_field(
        WantedField(field="their_roles", name="roles", type=FieldType.MULTI_PICKLIST, options=options)
    )
    assert diagnosis.presence_of("roles") is FieldPresence.LIVE
    (body,) = (row["body"] for row in sandbox.requests("properties.write"))
    assert (body["type"], body["fieldType"], body["formField"]) == ("enumeration", "checkbox", False)
    assert [(one["value"], one["label"]) for one in body["options"]] == [(name, name) for name in options]


@pytest.mark.parametrize("script", [says(201, b"<html>"), says(200, {}), says(409, {"status": "error"})])
def test_a_property_that_was_not_made_is_told(script: Any, server: Hostile, diagnosis_of: MakeDiagnosis) -> None:
    server.answers(script)
    with pytest.raises(ConfigurationRefused):
        diagnosis_of(server.url).create_field(OurField.MARKER)
