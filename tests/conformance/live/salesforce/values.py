"""Values of Salesforce's leads, and what is asked of the database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.conformance.hands import NotHere
from tests.conformance.live.accounts import Raw
from tests.conformance.live.checks import Checks
from tests.conformance.live.salesforce.account import SalesforceAccount, equal
from tests.conformance.live.salesforce.probing import PROBES, code, given, new, patch, value

_OF_LEADS = "WHERE EntityDefinition.QualifiedApiName = 'Lead'"


def _refused(checks: Checks, what: str, answer: Raw, wanted: str) -> None:
    checks.same(f"status of {what}", 400, answer.status)
    checks.same(f"code of {what}", wanted, code(answer))


@PROBES.of("ASCII blanks are cut off")
def _blanks(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account, FirstName="  Bo  ", Title="\u3000Head", City="")
    checks.same("ASCII blanks at both ends", "Bo", value(account, record_id, "FirstName"))
    checks.true("another blank stays", value(account, record_id, "Title") == "\u3000Head")
    checks.true("an empty text is null", value(account, record_id, "City") is None)


@PROBES.of("null for a checkbox is false")
def _checkbox(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account, DoNotCall=None, NumberOfEmployees="12")
    checks.same("a checkbox", False, value(account, record_id, "DoNotCall"))
    checks.same("a number that was sent as text", 12, value(account, record_id, "NumberOfEmployees"))


@PROBES.of("values of an unrestricted picklist")
def _picklist(account: SalesforceAccount, checks: Checks) -> None:
    answer = patch(account, new(account), {"LeadSource": "A source of the live suite"})
    checks.same("status of a value that is not in the list", 204, answer.status)


@PROBES.of("`INVALID_FIELD` for a field that is not there")
def _fields(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    _refused(checks, "an unknown field", patch(account, record_id, {"No_Such__c": "x"}), "INVALID_FIELD")
    _refused(checks, "a long text", patch(account, record_id, {"FirstName": "x" * 41}), "STRING_TOO_LONG")
    _refused(checks, "a missing name", account.make({"Company": "Acme"}), "REQUIRED_FIELD_MISSING")
    if account.system().unusable is not None:
        unusable = patch(account, record_id, {"Disqualification_Reason__c": "no such reason"})
        _refused(checks, "an unknown choice", unusable, "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST")


@PROBES.of("`INVALID_EMAIL_ADDRESS`")
def _email(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    _refused(checks, "an address that is none", patch(account, record_id, {"Email": "nobody"}), "INVALID_EMAIL_ADDRESS")
    read_only = patch(account, record_id, {"CreatedById": account.user})
    _refused(checks, "a field that is read only", read_only, "INVALID_FIELD_FOR_INSERT_UPDATE")


@PROBES.of("`INACTIVE_OWNER_OR_USER`")
def _inactive(account: SalesforceAccount, checks: Checks) -> None:
    left = account.system().inactive_owner
    if left is None:
        raise NotHere("the org has no user who has left")
    _refused(checks, "an owner who has left", patch(account, new(account), {"OwnerId": left}), "INACTIVE_OWNER_OR_USER")


@PROBES.of("an unknown owner")
def _unknown_owner(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    nobody = patch(account, record_id, {"OwnerId": "005xx0000zzzzzz"})
    _refused(checks, "an unknown owner", nobody, "INVALID_CROSS_REFERENCE_KEY")
    _refused(checks, "an id of another kind", patch(account, record_id, {"OwnerId": record_id}), "MALFORMED_ID")


@PROBES.of("queries and reads by id see a write at once")
def _at_once(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account, FirstName="Ada")
    patch(account, record_id, {"FirstName": "Bo"})
    checks.same("a read by id", "Bo", value(account, record_id, "FirstName"))
    (row,) = account.rows("FirstName", equal(Id=record_id))
    checks.same("a query", "Bo", row["FirstName"])


@PROBES.of("`FieldDefinition` and `EntityDefinition`")
def _definitions(account: SalesforceAccount, checks: Checks) -> None:
    rows = account.rows("QualifiedApiName", f"{_OF_LEADS} AND QualifiedApiName = 'Status'", source="FieldDefinition")
    checks.same("rows", 1, len(rows))


@PROBES.of("`IsFieldHistoryTracked` is among their fields")
def _tracked(account: SalesforceAccount, checks: Checks) -> None:
    where = f"{_OF_LEADS} AND QualifiedApiName = '{account.marker}'"
    rows = account.rows("QualifiedApiName, IsFieldHistoryTracked", where, source="FieldDefinition")
    checks.same("the marker's field is tracked", True, rows[0].get("IsFieldHistoryTracked") if rows else None)


@PROBES.of("`Sforce-Limit-Info: api-usage=18/5000`")
def _limits(account: SalesforceAccount, checks: Checks) -> None:
    header = account.ask("GET", f"{account.data}/limits").headers.get("sforce-limit-info", "")
    name, _, numbers = header.partition("=")
    used, _, most = numbers.partition("/")
    checks.same("the header's name for it", "api-usage", name)
    checks.true("two numbers", used.isdigit() and most.isdigit())


@PROBES.of("text compares without case, but for unique fields")
def _without_case(account: SalesforceAccount, checks: Checks) -> None:
    key, address = f"live-{account.run}-case", account.address()
    account.create(given(account, Email=address, **{account.external_id: key}))
    for what, name, text, rows in (
        ("an address in capitals", "Email", address.upper(), 1),
        ("an external id in capitals", account.external_id, key.upper(), 0),
    ):
        checks.same(f"rows of {what}", rows, len(account.rows("Id", equal(**{name: text}))))


@PROBES.of("ids of 15 and 18 characters find the same record")
def _short_ids(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    for length in (15, 18):
        found = account.rows("Id", equal(Id=record_id[:length]))
        checks.same(f"rows of an id of {length}", 1, len(found))


@PROBES.of("`MALFORMED_QUERY`")
def _malformed(account: SalesforceAccount, checks: Checks) -> None:
    for what, soql, wanted in (
        ("no query", "SELECT FROM", "MALFORMED_QUERY"),
        ("an unknown field", "SELECT No_Such__c FROM Lead", "INVALID_FIELD"),
        ("an unknown object", "SELECT Id FROM No_Such__c", "INVALID_TYPE"),
    ):
        _refused(checks, what, account.query(soql), wanted)


@PROBES.of("`attributes` in each record")
def _attributes(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    patch(account, record_id, {account.marker: "one"})
    (row,) = account.rows("Id, Owner.Name, (SELECT Field FROM Histories)", equal(Id=record_id))
    checks.has("a record", {"attributes", "Id", "Owner", "Histories"}, row)
    checks.has("its child rows", {"totalSize", "done", "records"}, row["Histories"])


@PROBES.of("`''` finds what is null")
def _empty(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    found = account.rows("Id", f"{equal(Id=record_id)} AND FirstName = ''")
    checks.same("rows", 1, len(found))


@PROBES.of("times as `2026-11-30T01:37:04Z`")
def _time_literals(account: SalesforceAccount, checks: Checks) -> None:
    record_id = new(account)
    before = datetime.now(UTC) - timedelta(days=2)
    for text in (before.strftime("%Y-%m-%dT%H:%M:%SZ"), before.isoformat(timespec="seconds")):
        checks.same("rows", 1, len(account.rows("Id", f"{equal(Id=record_id)} AND CreatedDate > {text}")))
