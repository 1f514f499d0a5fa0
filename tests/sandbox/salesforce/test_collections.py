"""Collections of leads: 200 also where rows fail."""

from typing import Any

import httpx
import pytest

from tests.sandbox.salesforce.client import ANN, DATA, EFFECT, EXTERNAL_ID, Org

PATH = f"{DATA}/composite/sobjects/Lead/{EXTERNAL_ID}"


def lead(key: str, **fields: Any) -> dict[str, Any]:
    return {
        "attributes": {"type": "Lead"},
        EXTERNAL_ID: key,
        "LastName": "Lee",
        "Company": "Acme",
        "Email": f"{key}@example.com",
        **fields,
    }


def upsert(rest: httpx.Client, *records: Any, **body: Any) -> Any:
    answer = rest.patch(PATH, json={"records": list(records), **body})
    assert answer.status_code == 200
    return answer.json()


def test_rows_fail_one_by_one_and_keep_their_order(rest: httpx.Client, org: Org) -> None:
    rows = upsert(rest, lead("x1"), lead("x2", LastName=""), lead("x3"))
    assert [row["success"] for row in rows] == [True, False, True]
    assert rows[0] == {"id": rows[0]["id"], "success": True, "errors": [], "created": True}
    assert rows[1]["errors"] == [
        {
            "statusCode": "REQUIRED_FIELD_MISSING",
            "message": "Required fields are missing: [LastName]",
            "fields": ["LastName"],
        }
    ]
    again = upsert(rest, lead("x3", Title="CTO"))
    assert [(row["id"], row["created"]) for row in again] == [(rows[2]["id"], False)]
    assert [row["properties"][EXTERNAL_ID] for row in org.records()] == ["x1", "x3"]


def test_all_or_none(rest: httpx.Client, org: Org) -> None:
    upsert(rest, lead("x1"))
    before = org.records()
    rows = upsert(rest, lead("x1", Title="CTO"), lead("x2"), lead("x3", Email="nonsense"), allOrNone=True)
    codes = [row["errors"][0]["statusCode"] for row in rows]
    assert codes == ["ALL_OR_NONE_OPERATION_ROLLED_BACK"] * 2 + ["INVALID_EMAIL_ADDRESS"]
    assert org.records() == before
    assert len(org.control.get("/side_effects")) == 1
    assert upsert(rest, lead("x2"))[0]["created"] is True


def test_several_of_one_value(rest: httpx.Client, org: Org) -> None:
    for company in ("Acme", "Brand"):
        org.person(**{**ANN, "Company": company})
    path = f"{DATA}/composite/sobjects/Lead/Email"
    record = {"attributes": {"type": "Lead"}, "Email": ANN["Email"], EFFECT: "e1"}
    [row] = rest.patch(path, json={"records": [record]}).json()
    assert row["errors"][0]["statusCode"] == "DUPLICATE_EXTERNAL_ID"


def test_without_a_key(rest: httpx.Client) -> None:
    [row] = upsert(rest, {"attributes": {"type": "Lead"}, "LastName": "Lee"})
    assert (row["success"], row["errors"][0]["statusCode"]) == (False, "MISSING_ARGUMENT")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"records": [lead(str(number)) for number in range(201)]}, "EXCEEDED_ID_LIMIT"),
        ({"records": []}, "EXCEEDED_ID_LIMIT"),
        ({"records": [{EXTERNAL_ID: "x1"}]}, "JSON_PARSER_ERROR"),
        ({"records": "x"}, "JSON_PARSER_ERROR"),
        ({}, "JSON_PARSER_ERROR"),
    ],
)
def test_refused_as_a_whole(rest: httpx.Client, org: Org, body: Any, code: str) -> None:
    answer = rest.patch(PATH, json=body)
    assert (answer.status_code, answer.json()[0]["errorCode"]) == (400, code)
    assert org.records() == []


def test_a_row_that_fails_by_a_fault(rest: httpx.Client, org: Org) -> None:
    org.fault("partial_batch", match="x2")
    rows = upsert(rest, lead("x1"), lead("x2"))
    assert [row["success"] for row in rows] == [True, False]
    assert rows[1]["errors"][0]["statusCode"] == "UNABLE_TO_LOCK_ROW"
    org.fault("partial_batch", args={"code": "UNKNOWN_EXCEPTION", "message": "no", "fields": []})
    [row] = upsert(rest, lead("x2"))
    assert row["errors"] == [{"statusCode": "UNKNOWN_EXCEPTION", "message": "no", "fields": []}]
    assert upsert(rest, lead("x2"))[0]["created"] is True
