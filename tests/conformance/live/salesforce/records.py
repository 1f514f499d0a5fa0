"""Salesforce's leads as records: sessions, answers, upserts, preconditions, deletion, history."""

from __future__ import annotations

import re

from tests.conformance.live.accounts import Raw
from tests.conformance.live.checks import Checks
from tests.conformance.live.salesforce.account import SalesforceAccount, equal
from tests.conformance.live.salesforce.probing import (
    NOBODY,
    PROBES,
    code,
    given,
    history,
    message,
    new,
    patch,
    upsert,
    value,
)

_SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000\+0000")


@PROBES.of("client credentials, in the form, and the answer")
def _token(account: SalesforceAccount, checks: Checks) -> None:
    answer = account.token()
    checks.same("status", 200, answer.status)
    checks.has("the answer", {"access_token", "instance_url", "id", "token_type", "issued_at"}, answer.body)
    named = re.search(r"/id/00D\w{15}/005\w{15}$", str(answer.body.get("id")))
    checks.true("its id names org and user", named)


@PROBES.of("no session, or one that holds no more")
def _no_session(account: SalesforceAccount, checks: Checks) -> None:
    answer = account.get(NOBODY)  # with a session, so that only the session differs
    checks.same("status with a session", 404, answer.status)
    answer = account.ask("GET", f"{account.leads}/{NOBODY}", headers={"authorization": "Bearer none"})
    checks.same("status without one", 401, answer.status)
    checks.same("code without one", "INVALID_SESSION_ID", code(answer))


@PROBES.of("errors are a list of `message`")
def _errors(account: SalesforceAccount, checks: Checks) -> None:
    answer = account.make({"Company": "Acme"})
    checks.true("the body is a list", isinstance(answer.body, list))
    checks.has("an entry", {"message", "errorCode", "fields"}, answer.body[0])


@PROBES.of("create 201, update 204, delete 204")
def _statuses(account: SalesforceAccount, checks: Checks) -> None:
    made = account.make(given(account))
    checks.same("status of a create", 201, made.status)
    checks.has("a create's answer", {"id", "success", "errors"}, made.body)
    record_id = str(made.body["id"])
    for what, answer in (
        ("an update", patch(account, record_id, {"FirstName": "Bo"})),
        ("a delete", account.ask("DELETE", f"{account.leads}/{record_id}")),
    ):
        checks.same(f"status of {what}", 204, answer.status)
        checks.true(f"the body of {what} is empty", answer.body is None)


@PROBES.of("an upsert: 201, 200")
def _upsert(account: SalesforceAccount, checks: Checks) -> None:
    key = f"live-{account.run}-upsert"
    for status, created in ((201, True), (200, False)):
        answer = upsert(account, key, given(account))
        checks.same("status", status, answer.status)
        checks.has("the answer", {"id", "success", "errors", "created"}, answer.body)
        checks.same("created", created, answer.body.get("created"))


@PROBES.of("a key in the body of an upsert")
def _key_in_body(account: SalesforceAccount, checks: Checks) -> None:
    key = f"live-{account.run}-body"
    answer = upsert(account, key, given(account, **{account.external_id: key}))
    checks.same("status", 400, answer.status)


@PROBES.of("`updateOnly=true` creates nothing")
def _update_only(account: SalesforceAccount, checks: Checks) -> None:
    key = f"live-{account.run}-only"
    upsert(account, key, given(account), update_only=True)
    checks.same("records", 0, len(account.rows("Id", equal(**{account.external_id: key}))))


@PROBES.of("then it answers 404")
def _update_only_answer(account: SalesforceAccount, checks: Checks) -> None:
    answer = upsert(account, f"live-{account.run}-only", given(account), update_only=True)
    checks.same("status", 404, answer.status)


@PROBES.of("a missing id: read 404")
def _missing(account: SalesforceAccount, checks: Checks) -> None:
    for what, answer, wanted in (
        ("a read", account.get(NOBODY), "NOT_FOUND"),
        ("a write", patch(account, NOBODY, {"FirstName": "Bo"}), "INVALID_CROSS_REFERENCE_KEY"),
        ("a delete", account.ask("DELETE", f"{account.leads}/{NOBODY}"), "INVALID_CROSS_REFERENCE_KEY"),
    ):
        checks.same(f"status of {what}", 404, answer.status)
        checks.same(f"code of {what}", wanted, code(answer))


@PROBES.of("a deleted record: 404")
def _deleted(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    account.archive(record_id)
    for what, answer in (
        ("a write", patch(account, record_id, {"FirstName": "Bo"})),
        ("a read", account.get(record_id)),
    ):
        checks.same(f"status of {what}", 404, answer.status)
        checks.same(f"code of {what}", "ENTITY_IS_DELETED", code(answer))


@PROBES.of("a deleted record holds no unique value")
def _holds_nothing(account: SalesforceAccount, checks: Checks) -> None:
    linked = {account.external_id: f"live-{account.run}-again"}
    account.archive(new(account, **linked))
    checks.same("status of a create with the same value", 201, account.make(given(account, **linked)).status)


@PROBES.of("an id of another object")
def _another_object(account: SalesforceAccount, checks: Checks) -> None:
    for what, text, status, wanted in (
        ("a user's id", account.user, 400, "MALFORMED_ID"),
        ("what is no id", "nothing", 404, "NOT_FOUND"),
    ):
        answer = account.get(text)
        checks.same(f"status for {what}", status, answer.status)
        checks.same(f"code for {what}", wanted, code(answer))


@PROBES.of("405 `METHOD_NOT_ALLOWED`")
def _method(account: SalesforceAccount, checks: Checks) -> None:
    answer = account.ask("PUT", f"{account.leads}/{NOBODY}", {})
    checks.same("status", 405, answer.status)
    checks.same("code", "METHOD_NOT_ALLOWED", code(answer))


@PROBES.of("ids come with 18 characters")
def _ids(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    checks.same("characters of an id", 18, len(record_id))
    short = account.get(record_id[:15])
    checks.same("status of a read with 15", 200, short.status)
    checks.true("the whole id comes back", isinstance(short.body, dict) and short.body.get("Id") == record_id)
    checks.true("case counts", account.get(record_id[:15].swapcase()).status != 200)


@PROBES.of("times in whole seconds")
def _times(account: SalesforceAccount, checks: Checks) -> None:
    made = value(account, new(account), "CreatedDate")
    checks.true("a time has the form 2026-11-30T01:37:04.000+0000", _SECONDS.fullmatch(str(made)))


@PROBES.of("`If-Unmodified-Since`, against")
def _precondition(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    old = {"If-Unmodified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"}
    checks.same("status of a write that came too late", 412, patch(account, record_id, {"FirstName": "Bo"}, old).status)
    checks.true("it changed nothing", value(account, record_id, "FirstName") is None)
    none = {"If-Unmodified-Since": "yesterday"}
    checks.same("status of a write with no time", 400, patch(account, record_id, {"FirstName": "Bo"}, none).status)
    answer = account.ask("DELETE", f"{account.leads}/{record_id}", headers=old)
    checks.same("status of a delete with one", 400, answer.status)


@PROBES.of("that it works for leads and for upserts")
def _precondition_of_upserts(account: SalesforceAccount, checks: Checks) -> None:
    key, old = f"live-{account.run}-since", {"If-Unmodified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"}
    upsert(account, key, given(account))
    answer = upsert(account, key, {"FirstName": "Bo"}, old)
    checks.same("status of an upsert that came too late", 412, answer.status)
    checks.true("its body is empty", answer.body is None)


@PROBES.of("`DUPLICATE_VALUE` names the other record")
def _duplicate(account: SalesforceAccount, checks: Checks) -> None:
    linked = {account.external_id: f"live-{account.run}-twice"}
    holder = new(account, **linked)
    answer = account.make(given(account, **linked))
    checks.same("status", 400, answer.status)
    checks.same("code", "DUPLICATE_VALUE", code(answer))
    checks.true("the message ends with 15 characters", message(answer).endswith(f"id: {holder[:15]}"))


@PROBES.of("`LeadHistory`: rows for tracked fields only")
def _history(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    patch(account, record_id, {account.marker: "one", "City": "Cork"})
    rows = history(account, record_id, account.marker, "City")
    checks.same("rows for the marker, and none for the city", 1, len(rows))
    checks.true("the time is in whole seconds", rows and _SECONDS.fullmatch(str(rows[0]["CreatedDate"])))


@PROBES.of("a creation is one row `created`")
def _created(account: SalesforceAccount, checks: Checks) -> None:
    rows = history(account, new(account, **{account.marker: "one"}))
    checks.same("fields of the rows", "created", ",".join(str(row["Field"]) for row in rows))


@PROBES.of("a new owner is two rows `Owner`")
def _new_owner(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    patch(account, record_id, {"OwnerId": account.system().owner})
    rows = history(account, record_id, "Owner")
    checks.same("rows", 2, len(rows))
    ids = [row for row in rows if str(row["NewValue"]).startswith(("005", "00G"))]
    checks.same("rows with ids", 1, len(ids))


@PROBES.of("an equal value leaves no row")
def _equal(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account, **{account.marker: "one"})
    before = value(account, record_id, "SystemModstamp")
    account.edit(record_id, {account.marker: "one"})
    checks.same("rows", 0, len(history(account, record_id, account.marker)))
    checks.true("the record is modified all the same", value(account, record_id, "SystemModstamp") != before)


@PROBES.of("collections: at most 200")
def _collections(account: SalesforceAccount, checks: Checks) -> None:
    answer = _collection(account, all_or_none=False)
    checks.same("status although a row failed", 200, answer.status)
    checks.same("success of the rows", "yes,no", _successes(answer.body))


@PROBES.of("codes of failed rows")
def _rolled_back(account: SalesforceAccount, checks: Checks) -> None:
    answer = _collection(account, all_or_none=True)
    checks.same("success of the rows", "no,no", _successes(answer.body))
    errors = answer.body[0].get("errors") or [{}]
    rolled_back = errors[0].get("statusCode")
    checks.same("code of the row that was rolled back", "ALL_OR_NONE_OPERATION_ROLLED_BACK", rolled_back)


def _collection(account: SalesforceAccount, *, all_or_none: bool) -> Raw:
    keys = [f"live-{account.run}-{'all' if all_or_none else 'some'}-{number}" for number in (1, 2)]
    account.journal.external_ids |= dict.fromkeys(keys)
    good, bad = given(account), {"Company": "Acme"}
    rows = [
        {"attributes": {"type": "Lead"}, account.external_id: key, **fields}
        for key, fields in zip(keys, (good, bad), strict=True)
    ]
    path = f"{account.data}/composite/sobjects/Lead/{account.external_id}"
    return account.ask("PATCH", path, {"allOrNone": all_or_none, "records": rows})


def _successes(body: object) -> str:
    rows = body if isinstance(body, list) else []
    return ",".join("yes" if row.get("success") else "no" for row in rows)
