"""Every row of Salesforce's table of answers, through the real client over a socket."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from leadproof.crm.answers import OUR_FIELD_UNUSABLE, SALESFORCE, TOO_MANY_AT_ONCE
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.records import Presence
from tests.crm.hostile import says
from tests.crm.salesforce_org import (
    CONTACT,
    CREATED,
    EXTERNAL_FIELD,
    LEAD,
    MARKER_FIELD,
    NO_SESSION,
    Org,
    creation,
    error,
    update,
)

if TYPE_CHECKING:
    from leadproof.crm.salesforce import SalesforceCrm

ACCEPTED, NOT_APPLIED = AnswerClass.ACCEPTED, AnswerClass.NOT_APPLIED
REFUSES_US, REFUSES_THIS, UNCERTAIN = AnswerClass.REFUSES_US, AnswerClass.REFUSES_THIS, AnswerClass.UNCERTAIN
HTML = b"<!DOCTYPE html><html><body>Down for maintenance</body></html>"
SHORT_CONTACT = CONTACT[:15]


@dataclass
class Case:
    name: str
    status: int
    body: Any
    outcome: AnswerClass
    code: str | None = None
    wait: float | tuple[float, float] | None = None
    read_first: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    row: str | int | None = None  # the row of the table that decides


def by_code(code: str, status: int, outcome: AnswerClass, body: Any = None, **more: Any) -> Case:
    return Case(code, status, error(code) if body is None else body, outcome, code=code, row=code, **more)


def by_status(status: int, outcome: AnswerClass, body: Any = HTML, **more: Any) -> Case:
    return Case(f"status {status}", status, body, outcome, code=f"HTTP_{status}", row=status, **more)


def duplicates(key: str) -> list[dict[str, Any]]:
    match = {"attributes": {"type": "Contact"}, "Id": SHORT_CONTACT, "Email": "bo@example.com"}
    found = {
        "allowSave": True,
        "duplicateRule": "Standard_Lead_Duplicate_Rule",
        "duplicateRuleEntityType": "Lead",
        "errorMessage": "bo@example.com exists",
        "matchResults": [
            {
                "entityType": "Contact",
                "matchRecords": [{"matchConfidence": 100.0, "record": match}, {"record": {"Id": "nobody"}}],
                "rule": "Standard_Contact_Match_Rule_v1_1",
                "size": 1,
            },
            "nonsense",
        ],
    }
    return [{key: found, "errorCode": "DUPLICATES_DETECTED", "message": "bo@example.com exists"}]


CASES = [
    by_code("INVALID_SESSION_ID", 401, REFUSES_US, NO_SESSION),
    by_code(
        "REQUEST_LIMIT_EXCEEDED", 403, REFUSES_US, error("REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.")
    ),
    Case(
        "long requests",
        403,
        error("REQUEST_LIMIT_EXCEEDED", "ConcurrentPerOrgLongTxn Limit exceeded."),
        UNCERTAIN,
        code=TOO_MANY_AT_ONCE,
        row=TOO_MANY_AT_ONCE,
    ),
    by_code("API_DISABLED_FOR_ORG", 403, REFUSES_US),
    by_code("API_CURRENTLY_DISABLED", 403, REFUSES_US),
    by_code("INVALID_TYPE", 400, REFUSES_US),
    by_code("INSUFFICIENT_ACCESS_OR_READONLY", 403, REFUSES_THIS),
    by_code("INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY", 400, REFUSES_THIS),
    by_code(
        "DUPLICATE_VALUE",
        400,
        REFUSES_THIS,
        error("DUPLICATE_VALUE", f"{EXTERNAL_FIELD} duplicates value on record with id: 00Q58", [EXTERNAL_FIELD]),
        read_first=True,
    ),
    by_code("DUPLICATES_DETECTED", 400, REFUSES_THIS, duplicates("duplicateResut")),
    by_code("UNABLE_TO_LOCK_ROW", 400, NOT_APPLIED, wait=(1, 2)),
    by_code("FIELD_INTEGRITY_EXCEPTION", 400, REFUSES_THIS, error("FIELD_INTEGRITY_EXCEPTION", fields=["Country"])),
    by_code("FIELD_CUSTOM_VALIDATION_EXCEPTION", 400, REFUSES_THIS),
    by_code("REQUIRED_FIELD_MISSING", 400, REFUSES_THIS, error("REQUIRED_FIELD_MISSING", fields=["LastName"])),
    by_code("STRING_TOO_LONG", 400, REFUSES_THIS),
    by_code("INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", 400, REFUSES_THIS),
    by_code("INVALID_FIELD", 400, REFUSES_THIS),
    by_code("INVALID_FIELD_FOR_INSERT_UPDATE", 400, REFUSES_THIS),
    by_code("CANNOT_UPDATE_CONVERTED_LEAD", 400, REFUSES_THIS),
    by_code("ENTITY_IS_DELETED", 404, REFUSES_THIS),
    by_code("NOT_FOUND", 404, REFUSES_THIS),
    by_code("INVALID_CROSS_REFERENCE_KEY", 404, REFUSES_THIS),
    by_code("INACTIVE_OWNER_OR_USER", 400, REFUSES_THIS),
    by_code("MALFORMED_ID", 400, REFUSES_THIS),
    by_code("TXN_SECURITY_NO_ACCESS", 400, REFUSES_THIS),
    by_code("SERVER_UNAVAILABLE", 503, UNCERTAIN),
    by_code("UNKNOWN_EXCEPTION", 500, UNCERTAIN),
    *(
        Case(name, status, error(code, message, fields), REFUSES_US, code=OUR_FIELD_UNUSABLE, row=OUR_FIELD_UNUSABLE)
        for name, status, code, message, fields in (
            ("no marker", 400, "INVALID_FIELD", f"No such column '{MARKER_FIELD}' on sobject of type Lead", None),
            ("marker too short", 400, "STRING_TOO_LONG", "data value too large", [MARKER_FIELD]),
            ("marker hidden", 400, "INVALID_FIELD_FOR_INSERT_UPDATE", "no", [MARKER_FIELD.lower()]),
            ("no external id", 404, "NOT_FOUND", f"Provided external ID field does not exist: {EXTERNAL_FIELD}", None),
        )
    ),
    by_status(300, REFUSES_THIS, ["/services/data/v62.0/sobjects/Lead/00Q"], read_first=True),
    *(by_status(status, REFUSES_US) for status in (301, 307, 308, 401, 402, 403, 404, 405, 407, 410, 426)),
    by_status(408, UNCERTAIN),
    by_status(412, NOT_APPLIED, b"", wait=1),
    by_status(423, NOT_APPLIED, wait=2),
    by_status(425, NOT_APPLIED, wait=1),
    by_status(429, NOT_APPLIED, wait=10),
    by_status(429, NOT_APPLIED, wait=7, headers={"Retry-After": "7"}),
    *(
        Case(f"status {status} of nobody", status, HTML, UNCERTAIN, code=f"HTTP_{status}")
        for status in (302, 303, 304, 400, 409, 418, 500, 502, 503, 504, 520)
    ),
    Case("a code of tomorrow", 400, error("NOT_YET_KNOWN"), REFUSES_THIS, code="NOT_YET_KNOWN"),
    Case("a code of tomorrow of a server", 500, error("NOT_YET_KNOWN"), UNCERTAIN, code="NOT_YET_KNOWN"),
    Case("a code that is none", 400, [{"errorCode": "bo@example.com", "message": "x"}], UNCERTAIN, code="HTTP_400"),
    Case("nested without an end", 400, b"[" * 100_000, UNCERTAIN, code="HTTP_400"),
    Case("an object and no list", 400, error("STRING_TOO_LONG")[0], REFUSES_THIS, code="STRING_TOO_LONG"),
    Case("two errors", 400, [*error("STRING_TOO_LONG"), *error("MALFORMED_ID")], REFUSES_THIS, code="STRING_TOO_LONG"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_an_answer_means(case: Case, org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(case.status, case.body, **case.headers))
    answer = salesforce.write(update(title="CTO"))
    assert (answer.outcome, answer.code, answer.http_status) == (case.outcome, case.code, case.status)
    assert (answer.read_first, answer.provider_record_id) == (case.read_first, None)
    if isinstance(case.wait, tuple):
        assert case.wait[0] <= (answer.retry_after_seconds or 0) <= case.wait[1]
    else:
        assert answer.retry_after_seconds == case.wait
    assert "example.com" not in f"{answer.detail} {answer.code}", "messages are not repeated"


def test_every_row_of_the_table_has_a_case() -> None:
    covered = {case.row for case in CASES}
    assert covered >= SALESFORCE.by_code.keys() | SALESFORCE.by_status.keys()


@pytest.mark.parametrize("key", ["duplicateResut", "duplicateResult"])
def test_a_duplicate_rule_names_itself_and_what_it_matched(key: str, org: Org, salesforce: SalesforceCrm) -> None:
    """The first is Salesforce's own spelling."""
    org.answers(says(400, duplicates(key)))
    answer = salesforce.write(creation())
    assert (answer.outcome, answer.read_first) == (REFUSES_THIS, False)
    assert answer.detail == f"DUPLICATES_DETECTED: the rule Standard_Lead_Duplicate_Rule matched {CONTACT}"
    (request,) = org.calls
    assert "allowSave=false" in request.headers["sforce-duplicate-rule-header"]


def test_a_duplicate_rule_that_tells_nothing_is_told_as_such(org: Org, salesforce: SalesforceCrm) -> None:
    for found in ({}, {"duplicateRule": "bo@example.com", "matchResults": [{"matchRecords": [7, {"record": None}]}]}):
        org.answers(says(400, error("DUPLICATES_DETECTED", duplicateResut=found)))
        answer = salesforce.write(creation())
        assert answer.detail == ("DUPLICATES_DETECTED: the rule without a name matched records that it does not name")


def test_a_refusal_names_fields_and_no_value(org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(400, error("STRING_TOO_LONG", "Company: data value too large: Bo Ltd", ["Company", "bo@x.de"])))
    assert salesforce.write(update(title="CTO")).detail == "STRING_TOO_LONG: Company"
    org.answers(says(400, error("INVALID_FIELD", "No such column 'Utm_Source__c' on sobject of type Lead")))
    assert salesforce.write(update(title="CTO")).detail == "INVALID_FIELD: Utm_Source__c"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, CREATED | {"created": False}),
        (201, CREATED),
        (201, CREATED | {"id": LEAD[:15]}),
    ],
)
def test_an_upsert_that_names_a_record_is_accepted(status: int, body: Any, org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(status, body))
    answer = salesforce.write(creation())
    assert (answer.outcome, answer.provider_record_id, answer.http_status) == (ACCEPTED, LEAD, status)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (204, b""),
        (202, CREATED),
        (206, CREATED),
        *(
            (status, body)
            for status in (200, 201)
            for body in (
                b"",
                HTML,
                [],
                None,
                {},
                [CREATED],
                CREATED | {"id": None},
                CREATED | {"id": "1"},
                CREATED | {"id": CONTACT},
                CREATED | {"success": False},
                CREATED | {"success": "true"},
                CREATED | {"errors": error("UNKNOWN_EXCEPTION")},
            )
        ),
    ],
)
def test_any_other_success_of_an_upsert_is_uncertain(
    status: int, body: Any, org: Org, salesforce: SalesforceCrm
) -> None:
    org.answers(says(status, body))
    answer = salesforce.write(creation())
    assert (answer.outcome, answer.provider_record_id, answer.http_status) == (UNCERTAIN, None, status)
    assert "a success that names no record" in str(answer.detail)


@pytest.mark.parametrize(("status", "body"), [(200, b""), (200, HTML), (200, CREATED), (201, CREATED), (202, b"")])
def test_an_update_is_accepted_by_an_empty_answer_only(
    status: int, body: Any, org: Org, salesforce: SalesforceCrm
) -> None:
    org.answers(says(204, b"", **{"X-SFDC-Request-Id": "abc-1"}))
    answer = salesforce.write(update(LEAD[:15], title="CTO"))
    assert (answer.outcome, answer.provider_record_id) == (ACCEPTED, LEAD)
    assert answer.correlation_id == "abc-1"
    org.answers(says(status, body))
    assert salesforce.write(update(title="CTO")).outcome is UNCERTAIN


def test_a_create_whose_field_is_not_there_is_no_missing_record(org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(404, error("NOT_FOUND", "The requested resource does not exist")))
    assert salesforce.write(creation()).outcome is REFUSES_US
    assert salesforce.write(update(title="CTO")).outcome is REFUSES_THIS


@pytest.mark.parametrize(
    ("status", "body", "refuses_us", "wait"),
    [
        (401, NO_SESSION, True, None),
        (403, error("REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded."), True, None),
        (400, error("INVALID_FIELD", f"No such column '{MARKER_FIELD}'"), True, None),
        (400, error("INVALID_FIELD", "No such column 'Utm_Source__c'"), False, None),
        (400, error("INVALID_TYPE"), True, None),
        (404, HTML, True, None),
        (429, HTML, False, 10.0),
        (503, HTML, False, None),
        (503, error("SERVER_UNAVAILABLE"), False, None),
        (302, b"", False, None),
        (204, b"", False, None),
    ],
)
def test_a_read_that_is_refused_says_unknown(
    status: int, body: Any, refuses_us: bool, wait: float | None, org: Org, salesforce: SalesforceCrm
) -> None:
    org.answers(says(status, body))
    found = salesforce.read("lead", LEAD, ["email"], history=True)
    assert (found.presence, found.refuses_us, found.retry_after_seconds) == (Presence.UNKNOWN, refuses_us, wait)
    assert str(status) in str(found.detail)
