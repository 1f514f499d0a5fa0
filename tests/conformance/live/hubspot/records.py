"""HubSpot's contacts as records: answers, batches, merges, archives, history, errors."""

from __future__ import annotations

import re

from tests.conformance.live.checks import Checks
from tests.conformance.live.hubspot.account import CONTACTS, HubSpotAccount
from tests.conformance.live.hubspot.probing import NOBODY, PROBES, category, history, new, patch, upsert


@PROBES.of("status and shape of every answer")
def _shapes(account: HubSpotAccount, checks: Checks) -> None:
    made = account.make({"email": account.address()})
    checks.same("status of a create", 201, made.status)
    checks.has("a created record", {"id", "properties", "createdAt", "updatedAt", "archived"}, made.body)
    record_id = str(made.body["id"])
    checks.same("status of a read", 200, account.get(record_id).status)
    checks.same("status of an update", 200, patch(account, record_id, firstname="Bo").status)
    key = f"live-{account.run}-shape"
    batch = upsert(account, key, by=account.external_id, email=account.address())
    checks.same("status of a batch upsert", 200, batch.status)
    checks.has("a batch answer", {"status", "results", "startedAt", "completedAt"}, batch.body)
    checks.same("status of an archive", 204, account.ask("DELETE", f"{CONTACTS}/{record_id}").status)


@PROBES.of("`idProperty` with a unique property")
def _by_unique(account: HubSpotAccount, checks: Checks) -> None:
    key = f"live-{account.run}-key"
    record_id = new(account, **{account.external_id: key})
    read = account.get(key, idProperty=account.external_id)
    checks.same("status of a read", 200, read.status)
    checks.true("the record that is read", str(read.body.get("id")) == record_id)
    written = upsert(account, key, by=account.external_id, firstname="Bo")
    checks.same("status of an upsert", 200, written.status)
    checks.true("the record that is written", str(written.body["results"][0]["id"]) == record_id)


@PROBES.of("upsert or update by a property that is not unique")
def _by_another(account: HubSpotAccount, checks: Checks) -> None:
    answer = upsert(account, f"live-{account.run}-none", by="jobtitle", firstname="Bo")
    checks.same("status", 400, answer.status)
    checks.true("the message", "non-unique" in str(answer.body.get("message")))


@PROBES.of("an upsert row has `new`")
def _new_or_not(account: HubSpotAccount, checks: Checks) -> None:
    key = f"live-{account.run}-new"
    for made in (True, False):
        (row,) = upsert(account, key, by=account.external_id, firstname="Bo").body["results"]
        checks.same("new", made, row.get("new"))
        checks.has("the properties of a row", {"firstname", account.external_id}, row.get("properties"))


@PROBES.of("the same for batch update and upsert")
def _traced(account: HubSpotAccount, checks: Checks) -> None:
    key = f"live-{account.run}-trace"
    traced = upsert(account, key, by=account.external_id, traced=True, lifecyclestage="no such stage")
    checks.same("status with a trace id", 207, traced.status)
    checks.has("the answer with a trace id", {"numErrors", "errors"}, traced.body)
    plain = upsert(account, key, by=account.external_id, lifecyclestage="no such stage")
    checks.same("status without one", 400, plain.status)


@PROBES.of("batch read of unknown ids")
def _batch_read(account: HubSpotAccount, checks: Checks) -> None:
    answer = account.ask("POST", f"{CONTACTS}/batch/read", {"inputs": [{"id": NOBODY}], "properties": []})
    checks.same("status", 207, answer.status)
    errors = answer.body.get("errors") or [{}]
    checks.same("category", "OBJECT_NOT_FOUND", errors[0].get("category"))


@PROBES.of("the id of a merged contact answers with the winner")
def _merged(account: HubSpotAccount, checks: Checks) -> None:
    winner, loser = new(account), new(account)
    account.merge(winner, loser)
    read = account.get(loser)
    checks.same("status of a read by the old id", 200, read.status)
    checks.true("the winner answers", read.status == 200 and str(read.body["id"]) != loser)


@PROBES.of("archived: 404")
def _archived(account: HubSpotAccount, checks: Checks) -> None:
    record_id = new(account)
    account.archive(record_id)
    checks.same("status of a read", 404, account.get(record_id).status)
    again = account.get(record_id, archived="true")
    checks.same("status of a read of archived ones", 200, again.status)
    checks.true("it says so", isinstance(again.body, dict) and again.body.get("archived") is True)
    checks.same("status of an update", 404, patch(account, record_id, firstname="Bo").status)
    checks.same("status of a second archive", 204, account.ask("DELETE", f"{CONTACTS}/{record_id}").status)


@PROBES.of("history newest first")
def _newest_first(account: HubSpotAccount, checks: Checks) -> None:
    record_id = new(account, firstname="Ada")
    patch(account, record_id, firstname="Bo")
    versions = history(account, record_id, "firstname")
    checks.same("values, newest first", "Bo,Ada", ",".join(str(version.get("value")) for version in versions))
    checks.has("an entry", {"value", "timestamp", "sourceType", "sourceId"}, versions[0] if versions else None)


@PROBES.of("writes of an app are `INTEGRATION`")
def _source(account: HubSpotAccount, checks: Checks) -> None:
    versions = history(account, new(account, firstname="Ada"), "firstname")
    checks.same("source type", "INTEGRATION", versions[0].get("sourceType") if versions else None)


@PROBES.of("an equal value makes no version")
def _equal(account: HubSpotAccount, checks: Checks) -> None:
    record_id = new(account, firstname="Ada")
    patch(account, record_id, firstname="Ada")
    checks.same("versions", 1, len(history(account, record_id, "firstname")))


@PROBES.of("all values of one request have one time")
def _one_time(account: HubSpotAccount, checks: Checks) -> None:
    record_id = new(account)
    patch(account, record_id, firstname="Bo", jobtitle="Head")
    times = [history(account, record_id, name)[0]["timestamp"] for name in ("firstname", "jobtitle")]
    checks.true("the times of two values of one request are equal", times[0] == times[1])


@PROBES.of("account details")
def _details(account: HubSpotAccount, checks: Checks) -> None:
    body = account.ask("GET", "/account-info/v3/details").body
    checks.has("the answer", {"portalId", "accountType", "timeZone", "uiDomain"}, body)


@PROBES.of("the header `Date`")
def _date(account: HubSpotAccount, checks: Checks) -> None:
    text = account.ask("GET", "/account-info/v3/details").headers.get("date", "")
    checks.true("it is one of RFC 9110", re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", text))


@PROBES.of("every error has `correlationId`")
def _correlation(account: HubSpotAccount, checks: Checks) -> None:
    for answer in (account.get(NOBODY), patch(account, new(account), lifecyclestage="no such stage")):
        checks.has("an error", {"status", "message", "correlationId", "category"}, answer.body)
        checks.true("the header x-hubspot-correlation-id", answer.headers.get("x-hubspot-correlation-id"))


@PROBES.of("401 `INVALID_AUTHENTICATION`")
def _unauthorised(account: HubSpotAccount, checks: Checks) -> None:
    answer = account.ask("GET", f"{CONTACTS}/{NOBODY}", headers={"authorization": ""})
    checks.same("status without a token", 401, answer.status)
    checks.same("category without a token", "INVALID_AUTHENTICATION", category(answer))
    missing = account.get(NOBODY)
    checks.same("status of an id that is not there", 404, missing.status)
    checks.same("category of an id that is not there", "OBJECT_NOT_FOUND", category(missing))


@PROBES.of("rate-limit headers count")
def _limits(account: HubSpotAccount, checks: Checks) -> None:
    headers = account.ask("GET", "/account-info/v3/details").headers
    for name in ("max", "remaining", "interval-milliseconds"):
        checks.true(f"the header x-hubspot-ratelimit-{name}", headers.get(f"x-hubspot-ratelimit-{name}"))


@PROBES.of("with `objectWriteTraceId` inputs fail one by one")
def _one_by_one(account: HubSpotAccount, checks: Checks) -> None:
    for trace, status in (({"objectWriteTraceId": "t1"}, 207), ({}, 400)):
        address = account.address()
        account.journal.addresses[address] = None
        rows = [{"properties": {"email": address}}, {"properties": {"email": "nobody"}}]
        answer = account.ask("POST", f"{CONTACTS}/batch/create", {"inputs": [{**row, **trace} for row in rows]})
        checks.same(f"status {'with' if trace else 'without'} a trace id", status, answer.status)


@PROBES.of("upsert by address is allowed")
def _by_address(account: HubSpotAccount, checks: Checks) -> None:
    for traced in (False, True):
        address = account.address()
        account.journal.addresses[address] = None
        answer = upsert(account, address, by="email", traced=traced, firstname="Bo")
        checks.same(f"status {'with' if traced else 'without'} a trace id", 200, answer.status)


@PROBES.of("equal ids in one batch")
def _equal_ids(account: HubSpotAccount, checks: Checks) -> None:
    row = {"id": new(account), "properties": {"firstname": "Bo"}}
    answer = account.ask("POST", f"{CONTACTS}/batch/update", {"inputs": [row, row]})
    checks.same("status", 400, answer.status)


@PROBES.of("results of a batch come in reverse order")
def _reverse(account: HubSpotAccount, checks: Checks) -> None:
    ids = [new(account), new(account)]
    rows = [{"id": record_id, "properties": {"firstname": "Bo"}} for record_id in ids]
    results = account.ask("POST", f"{CONTACTS}/batch/update", {"inputs": rows}).body["results"]
    checks.true("the last input comes first", [str(row["id"]) for row in results] == ids[::-1])


@PROBES.of("the id of a merged contact is unknown to batches")
def _merged_in_batch(account: HubSpotAccount, checks: Checks) -> None:
    winner, loser = new(account), new(account)
    account.merge(winner, loser)
    row = {"id": loser, "properties": {"firstname": "Bo"}}
    answer = account.ask("POST", f"{CONTACTS}/batch/update", {"inputs": [row]})
    checks.same("status of a batch update by the old id", 404, answer.status)


@PROBES.of("a merge keeps the winner's values")
def _merge(account: HubSpotAccount, checks: Checks) -> None:
    winner, loser = new(account, firstname="Ada"), new(account, firstname="Bo", jobtitle="Head")
    account.merge(winner, loser)
    body = account.get(loser, properties="firstname,jobtitle,hs_merged_object_ids,hs_additional_emails").body
    read = body["properties"]
    checks.same("the winner's own value", "Ada", read.get("firstname"))
    checks.same("a value that it lacked", "Head", read.get("jobtitle"))
    checks.true("the loser's id is kept", loser in (read.get("hs_merged_object_ids") or ""))
    checks.true("the loser's address is kept", read.get("hs_additional_emails"))
