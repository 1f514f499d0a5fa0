"""Every row of the table of answers, through the real client over a socket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from leadproof.crm.answers import HUBSPOT, UNIQUE_VALUE_TAKEN, lost
from leadproof.crm.hubspot import HubSpotCrm
from leadproof.deadline import Exchange, Response
from leadproof.domain.mutation import AnswerClass
from tests.crm.asking import EXTERNAL_ID, MARKER, creation, update
from tests.crm.conftest import MakeCrm
from tests.crm.hostile import Hostile, says

ACCEPTED, NOT_APPLIED = AnswerClass.ACCEPTED, AnswerClass.NOT_APPLIED
REFUSES_US, REFUSES_THIS, UNCERTAIN = AnswerClass.REFUSES_US, AnswerClass.REFUSES_THIS, AnswerClass.UNCERTAIN
HTML = b"<!DOCTYPE html><html><body>One moment, please</body></html>"


def error(category: str | None = None, message: str = "no", **more: Any) -> dict[str, Any]:
    body = {"status": "error", "message": message, "correlationId": "c-1", **more}
    return body | {"category": category} if category else body


def invalid(code: str, hubspot_property: str = "email") -> dict[str, Any]:
    detail = {"message": "bo@example.com is wrong", "code": code, "context": {"propertyName": [hubspot_property]}}
    return error("VALIDATION_ERROR", "Property values were not valid: bo@example.com", errors=[detail])


TAKEN = error(
    "VALIDATION_ERROR",
    "Cannot set PropertyValueCoordinates{portalId=62515, objectTypeId=ObjectTypeId{legacyObjectType=CONTACT}, "
    "propertyName=email, value=bo@example.com} on 552148386511. 552239500007 already has that value.",
)


@dataclass
class Case:
    name: str
    status: int
    body: Any
    outcome: AnswerClass
    code: str | None = None
    wait: float | None = None
    read_first: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    row: str | int | None = None  # the row of the table that decides


def by_code(code: str, status: int, outcome: AnswerClass, body: Any = None, **more: Any) -> Case:
    return Case(code, status, error(code) if body is None else body, outcome, code=code, row=code, **more)


def by_status(status: int, outcome: AnswerClass, body: Any = HTML, **more: Any) -> Case:
    return Case(f"status {status}", status, body, outcome, code=f"HTTP_{status}", row=status, **more)


CODES = [
    by_code(UNIQUE_VALUE_TAKEN, 400, REFUSES_THIS, TAKEN, read_first=True),
    by_code("DAILY", 429, REFUSES_US, error(errorType="RATE_LIMIT", policyName="DAILY")),
    by_code(
        "TEN_SECONDLY_ROLLING",
        429,
        NOT_APPLIED,
        error(errorType="RATE_LIMIT", policyName="TEN_SECONDLY_ROLLING"),
        wait=10,
    ),
    by_code("SECONDLY", 429, NOT_APPLIED, error(errorType="RATE_LIMIT", policyName="SECONDLY"), wait=1),
    *(
        by_code(code, 400, REFUSES_THIS, invalid(code))
        for code in (
            "PROPERTY_DOESNT_EXIST",
            "READ_ONLY_VALUE",
            "INVALID_OPTION",
            "INVALID_DATE",
            "INVALID_EMAIL",
            "INVALID_INTEGER",
            "INVALID_OWNER",
            "MISSING_CONDITIONAL_REQUIRED_PROPERTY",
            "MISSING_REQUIRED_PROPERTY",
        )
    ),
    by_code("MISSING_SCOPES", 403, REFUSES_US),
    by_code("INVALID_AUTHENTICATION", 401, REFUSES_US),
    by_code("EXPIRED_AUTHENTICATION", 401, REFUSES_US),
    by_code("RATE_LIMITS", 429, NOT_APPLIED, wait=10),
    by_code("RATE_LIMIT", 429, NOT_APPLIED, error(errorType="RATE_LIMIT"), wait=10),
    by_code(
        "CONFLICT", 409, REFUSES_THIS, error("CONFLICT", "Contact already exists. Existing ID: 6001"), read_first=True
    ),
    by_code("OBJECT_ALREADY_EXISTS", 409, REFUSES_THIS, read_first=True),
    by_code("OBJECT_NOT_FOUND", 404, REFUSES_THIS),
    by_code("VALIDATION_ERROR", 400, REFUSES_THIS),
    *(
        Case(
            f"{ours} is missing",
            400,
            invalid("PROPERTY_DOESNT_EXIST", ours),
            REFUSES_US,
            code="PROPERTY_DOESNT_EXIST:ours",
            row="PROPERTY_DOESNT_EXIST:ours",
        )
        for ours in ("leadproof_effect", "leadproof_external_id")
    ),
]
STATUSES = [
    *(by_status(status, REFUSES_US) for status in (301, 307, 308, 401, 402, 403, 404, 405, 407, 410, 426)),
    by_status(408, UNCERTAIN),
    by_status(409, REFUSES_THIS, read_first=True),
    by_status(423, NOT_APPLIED, wait=2),
    by_status(425, NOT_APPLIED, wait=1),
    by_status(429, NOT_APPLIED, wait=10),
    by_status(477, NOT_APPLIED, wait=60),
]
OTHERS = [
    Case(
        "retry-after wins", 429, error("RATE_LIMITS"), NOT_APPLIED, "RATE_LIMITS", 3.5, headers={"Retry-After": "3.5"}
    ),
    Case("migration for a day", 477, HTML, NOT_APPLIED, "HTTP_477", 86400, headers={"Retry-After": "90000"}),
    Case("retry-after as a date", 423, HTML, NOT_APPLIED, "HTTP_423", 2, headers={"Retry-After": "Mon, 01 Jan 2029"}),
    Case("negative retry-after", 423, HTML, NOT_APPLIED, "HTTP_423", 2, headers={"Retry-After": "-1"}),
    Case("endless retry-after", 423, HTML, NOT_APPLIED, "HTTP_423", 2, headers={"Retry-After": "inf"}),
    Case("unknown category of a 422", 422, error("NEW_WORD"), REFUSES_THIS, "NEW_WORD"),
    Case("an unknown code keeps its category's meaning", 400, invalid("NEW_RULE"), REFUSES_THIS, "NEW_RULE"),
    Case("the code wins over the status", 403, error("RATE_LIMITS"), NOT_APPLIED, "RATE_LIMITS", 10),
    Case("a bare 400", 400, b"", UNCERTAIN, "HTTP_400"),
    Case("a 400 of something in between", 400, HTML, UNCERTAIN, "HTTP_400"),
    Case("a 400 in another format", 400, {"message": "Bad Request"}, UNCERTAIN, "HTTP_400"),
    Case("a 400 that is a list", 400, [1], UNCERTAIN, "HTTP_400"),
    Case("a 400 that is no text", 400, b"\xff\xfe\x00", UNCERTAIN, "HTTP_400"),
    Case("a 400 nested without an end", 400, b"[" * 100_000, UNCERTAIN, "HTTP_400"),
    Case("302", 302, HTML, UNCERTAIN, "HTTP_302", headers={"Location": "/elsewhere"}),
    Case("303", 303, HTML, UNCERTAIN, "HTTP_303", headers={"Location": "/elsewhere"}),
    *(
        Case(f"{status}", status, body, UNCERTAIN, code)
        for status in (500, 502, 503, 504, 521, 522, 523, 524)
        for body, code in ((HTML, f"HTTP_{status}"), (error("INTERNAL_ERROR"), "INTERNAL_ERROR"))
    ),
    Case("503 with retry-after", 503, HTML, UNCERTAIN, "HTTP_503", 7, headers={"Retry-After": "7"}),
]
CASES = [*CODES, *STATUSES, *OTHERS]


@pytest.fixture
def crm(server: Hostile, make_crm: MakeCrm) -> Iterator[HubSpotCrm]:
    yield make_crm(server.url)
    assert len(server.requests) == 1, "one write is one request"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize(
    "request_", [update(email="bo@example.com"), creation(email="bo@example.com")], ids=["update", "create"]
)
def test_an_answer_means(case: Case, request_: Any, server: Hostile, crm: HubSpotCrm) -> None:
    server.answers(says(case.status, case.body, **case.headers))
    answer = crm.write(request_)
    assert (answer.outcome, answer.code, answer.retry_after_seconds, answer.read_first) == (
        case.outcome,
        case.code,
        case.wait,
        case.read_first,
    )
    assert answer.http_status == case.status
    assert answer.provider_record_id is None, "no id of a refusal is ever used: neither 6001 nor either of the two"
    assert "example.com" not in answer.model_dump_json()


def test_every_row_of_the_table_has_a_case() -> None:
    tested = {case.row for case in CASES}
    assert set(HUBSPOT.by_code) | set(HUBSPOT.by_status) <= tested


def test_a_refusal_that_arrived_in_time_counts_although_the_library_was_late() -> None:
    in_time = Exchange[object](sent=True, late=True, status=401, response=Response(401, {}, b""))
    assert lost(in_time) is None
    answer = lost(Exchange[object](sent=True, late=True, status=401))
    assert answer is not None
    assert (answer.outcome, answer.http_status) == (UNCERTAIN, 401)


def test_detail_names_codes_and_properties_and_no_value(server: Hostile, crm: HubSpotCrm) -> None:
    body = invalid("INVALID_EMAIL")
    body["errors"].append({"code": "INVALID_OPTION", "context": {"propertyName": ["hs_lead_status", "bo@example.com"]}})
    body["errors"].append({"code": "bo@example.com", "context": {"propertyName": "email"}})
    server.answers(says(400, body))
    answer = crm.write(update(email="bo@example.com"))
    assert answer.detail == "INVALID_EMAIL: email; INVALID_OPTION: hs_lead_status"
    assert answer.correlation_id == "c-1"


def success(*rows: dict[str, Any], status: str = "COMPLETE", **more: Any) -> dict[str, Any]:
    at = "2026-11-30T03:00:00.000Z"
    return {"status": status, "results": list(rows), "startedAt": at, "completedAt": at, **more}


def row(record_id: str | None = "7", **properties: str) -> dict[str, Any]:
    return {"id": record_id, "properties": properties, "new": True, "archived": False}


OUR_ROW = row("7", leadproof_external_id=EXTERNAL_ID)
STRANGER = row("8", leadproof_external_id="f" * 64)


def failed(category: str, *, trace_id: str | None = MARKER, **more: Any) -> dict[str, Any]:
    context = {"objectWriteTraceId": [trace_id]} if trace_id else {}
    return {"status": "error", "category": category, "message": "bo@example.com", "context": context, **more}


@pytest.mark.parametrize(
    ("status", "body", "outcome", "record_id", "code"),
    [
        pytest.param(200, success(OUR_ROW), ACCEPTED, "7", None, id="our row"),
        pytest.param(200, success(STRANGER, OUR_ROW), ACCEPTED, "7", None, id="not the first row"),
        pytest.param(
            200, success(row("7") | {"objectWriteTraceId": MARKER}), ACCEPTED, "7", None, id="our row by its trace id"
        ),
        pytest.param(200, success(STRANGER), UNCERTAIN, None, None, id="a row that is not ours"),
        pytest.param(200, success(row("7")), UNCERTAIN, None, None, id="a row that says nothing of itself"),
        pytest.param(200, success(), UNCERTAIN, None, None, id="no row"),
        pytest.param(200, success(OUR_ROW, OUR_ROW), UNCERTAIN, None, None, id="our row twice"),
        pytest.param(
            200, success(row(None, leadproof_external_id=EXTERNAL_ID)), UNCERTAIN, None, None, id="our row without id"
        ),
        pytest.param(207, success(OUR_ROW), ACCEPTED, "7", None, id="207 with our row"),
        pytest.param(207, success(), UNCERTAIN, None, None, id="207 with nothing"),
        pytest.param(
            207, success(errors=[failed("VALIDATION_ERROR")]), REFUSES_THIS, None, "VALIDATION_ERROR", id="207 invalid"
        ),
        pytest.param(
            207,
            success(errors=[failed("VALIDATION_ERROR", trace_id=None)]),
            REFUSES_THIS,
            None,
            "VALIDATION_ERROR",
            id="207 invalid, not saying which",
        ),
        pytest.param(207, success(errors=[failed("RATE_LIMITS")]), NOT_APPLIED, None, "RATE_LIMITS", id="207 limited"),
        pytest.param(
            207, success(errors=[failed("MISSING_SCOPES")]), REFUSES_US, None, "MISSING_SCOPES", id="207 no scope"
        ),
        pytest.param(
            207, success(errors=[failed("INTERNAL_ERROR")]), UNCERTAIN, None, "INTERNAL_ERROR", id="207 row failed"
        ),
        pytest.param(
            207,
            success(errors=[failed("VALIDATION_ERROR", trace_id="b" * 64)]),
            UNCERTAIN,
            None,
            None,
            id="207 error of another row",
        ),
        pytest.param(
            207, success(OUR_ROW, errors=[failed("VALIDATION_ERROR")]), UNCERTAIN, None, None, id="207 says both"
        ),
        pytest.param(207, success(errors=["what"]), UNCERTAIN, None, "HTTP_207", id="207 with an error that is none"),
        pytest.param(200, {"results": "abc"}, UNCERTAIN, None, None, id="results that are text"),
        pytest.param(200, {"results": 5}, UNCERTAIN, None, None, id="results that are a number"),
        pytest.param(200, {"results": [None]}, UNCERTAIN, None, None, id="a row that is null"),
        pytest.param(201, success(OUR_ROW), UNCERTAIN, None, None, id="201, which the client does not read"),
    ],
)
def test_a_batch_answer_is_read_by_rows(
    status: int,
    body: Any,
    outcome: AnswerClass,
    record_id: str | None,
    code: str | None,
    server: Hostile,
    crm: HubSpotCrm,
) -> None:
    server.answers(says(status, body))
    answer = crm.write(creation(email="bo@example.com"))
    assert (answer.outcome, answer.provider_record_id, answer.code) == (outcome, record_id, code)
    assert answer.http_status == status
    assert "example.com" not in answer.model_dump_json()


def test_a_unique_value_that_is_taken_in_a_row_is_to_be_read_first(server: Hostile, crm: HubSpotCrm) -> None:
    taken = failed("VALIDATION_ERROR") | {"message": TAKEN["message"]}
    server.answers(says(207, success(errors=[taken])))
    answer = crm.write(creation(email="bo@example.com"))
    assert (answer.outcome, answer.code, answer.read_first) == (REFUSES_THIS, UNIQUE_VALUE_TAKEN, True)
    assert answer.provider_record_id is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, HTML),
        (200, b""),
        (200, []),
        (200, {}),
        (200, {"id": ""}),
        (200, {"id": None, "properties": {}}),
        (200, b'{"id": "7", "prop'),
        (200, b"\xff\xfe"),
        (201, {"id": "7"}),
        (202, {"id": "7"}),
        (204, b""),
        (207, {"id": "7"}),
    ],
)
def test_a_success_without_a_usable_record_id_is_uncertain(
    status: int, body: Any, server: Hostile, crm: HubSpotCrm
) -> None:
    server.answers(says(status, body))
    answer = crm.write(update(email="bo@example.com"))
    assert (answer.outcome, answer.http_status, answer.provider_record_id) == (UNCERTAIN, status, None)


def test_a_success_is_accepted_with_its_id_and_correlation_id(server: Hostile, crm: HubSpotCrm) -> None:
    server.answers(says(200, {"id": 101, "properties": {}}, **{"X-HubSpot-Correlation-Id": "c-9"}))
    answer = crm.write(update("101", email="bo@example.com"))
    assert (answer.outcome, answer.provider_record_id, answer.correlation_id) == (ACCEPTED, "101", "c-9")


def test_another_id_in_the_answer_is_reported_as_it_is(server: Hostile, crm: HubSpotCrm) -> None:
    server.answers(says(200, {"id": "202", "properties": {}}))
    assert crm.write(update("101", email="bo@example.com")).provider_record_id == "202"
