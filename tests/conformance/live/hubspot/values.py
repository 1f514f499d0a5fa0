"""Values of HubSpot's contacts: how they come back, which are refused, which are unique."""

from __future__ import annotations

import re

from tests.conformance.live.checks import Checks
from tests.conformance.live.hubspot.account import HubSpotAccount
from tests.conformance.live.hubspot.probing import NOBODY, PROBES, category, codes, new, patch


@PROBES.of("values are strings")
def _strings(account: HubSpotAccount, checks: Checks) -> None:
    record_id = new(account)
    read = account.get(record_id, properties="email,jobtitle").body["properties"]
    checks.true("every value is text or null", all(isinstance(value, str | None) for value in read.values()))
    checks.true("what is unset is there", "jobtitle" in read)
    checks.true("what is unset is null", read.get("jobtitle") is None)


@PROBES.of("a cleared value is")
def _cleared(account: HubSpotAccount, checks: Checks) -> None:
    record_id = new(account, jobtitle="Head")
    patch(account, record_id, jobtitle="")
    checks.same("a cleared value", "", account.get(record_id, properties="jobtitle").body["properties"].get("jobtitle"))


@PROBES.of("a requested property that is not defined")
def _undefined_read(account: HubSpotAccount, checks: Checks) -> None:
    read = account.get(new(account), properties="email,leadproof_no_such_property")
    checks.same("status", 200, read.status)
    checks.true("it is absent", "leadproof_no_such_property" not in read.body["properties"])


@PROBES.of("a written property that is not defined")
def _undefined_write(account: HubSpotAccount, checks: Checks) -> None:
    answer = patch(account, new(account), leadproof_no_such_property="x")
    checks.same("status", 400, answer.status)
    checks.same("category", "VALIDATION_ERROR", category(answer))
    checks.same("code", "PROPERTY_DOESNT_EXIST", codes(answer))
    checks.true("the problems as JSON inside the message", "[{" in str(answer.body.get("message")))


@PROBES.of("`INVALID_OPTION`")
def _invalid(account: HubSpotAccount, checks: Checks) -> None:
    record_id = new(account)
    for name, value, code in (
        ("lifecyclestage", "no such stage", "INVALID_OPTION"),
        ("email", "nobody", "INVALID_EMAIL"),
    ):
        answer = patch(account, record_id, **{name: value})
        checks.same(f"status of {code}", 400, answer.status)
        checks.same("code", code, codes(answer))


@PROBES.of("`READ_ONLY_VALUE`")
def _read_only(account: HubSpotAccount, checks: Checks) -> None:
    answer = patch(account, new(account), num_notes="3")
    checks.same("status", 400, answer.status)
    checks.same("code", "READ_ONLY_VALUE", codes(answer))


@PROBES.of("`INVALID_OWNER`")
def _owner(account: HubSpotAccount, checks: Checks) -> None:
    answer = patch(account, new(account), hubspot_owner_id=NOBODY)
    checks.same("status for an unknown owner", 400, answer.status)
    checks.same("code for an unknown owner", "INVALID_OWNER", codes(answer))


@PROBES.of("addresses are kept in lower case")
def _lower(account: HubSpotAccount, checks: Checks) -> None:
    address = account.address()
    record_id = account.create({"email": address.replace("live", "LIVE")})
    checks.true("lower case", account.get(record_id, properties="email").body["properties"]["email"] == address)


@PROBES.of("a second contact of an address")
def _second(account: HubSpotAccount, checks: Checks) -> None:
    address = account.address()
    first = account.create({"email": address})
    answer = account.make({"email": address})
    checks.same("status", 409, answer.status)
    checks.same("category", "CONFLICT", category(answer))
    named = re.search(r"Existing ID:\s*(\d+)", str(answer.body.get("message")))
    checks.true("the message names the id", named is not None and named[1] == first)


@PROBES.of("the same text for a property with `hasUniqueValue`")
def _unique(account: HubSpotAccount, checks: Checks) -> None:
    key, address = f"live-{account.run}-unique", account.address()
    holder = account.create({"email": address, account.external_id: key})
    other = new(account)
    for name, value in ((account.external_id, key), ("email", address)):
        answer = patch(account, other, **{name: value})
        what = "the address" if name == "email" else "a unique property"
        checks.same(f"status for {what}", 400, answer.status)
        message = str(answer.body.get("message"))
        checks.true(f"the message for {what}", "PropertyValueCoordinates" in message)
        checks.true(
            f"the message for {what} names the holder second", message.endswith(f"{holder} already has that value.")
        )


@PROBES.of("an archived contact holds no address")
def _archived_holds_nothing(account: HubSpotAccount, checks: Checks) -> None:
    given = {"email": account.address(), account.external_id: f"live-{account.run}-again"}
    account.archive(account.create(given))
    checks.same("status of a create with the same values", 201, account.make(given).status)


@PROBES.of("`lifecyclestage` set backward")
def _stage(account: HubSpotAccount, checks: Checks) -> None:
    record_id = new(account, lifecyclestage="customer")

    def stage() -> str | None:
        value: str | None = account.get(record_id, properties="lifecyclestage").body["properties"]["lifecyclestage"]
        return value

    checks.same("status of a move backward", 200, patch(account, record_id, lifecyclestage="lead").status)
    checks.same("the stage after it", "customer", stage())
    patch(account, record_id, lifecyclestage="")
    patch(account, record_id, lifecyclestage="lead")
    checks.same("the stage that was cleared first", "lead", stage())


@PROBES.of("owner property has `externalOptions`")
def _owner_property(account: HubSpotAccount, checks: Checks) -> None:
    body = account.ask("GET", "/crm/v3/properties/contacts/hubspot_owner_id").body
    checks.true("externalOptions", body.get("externalOptions"))
    checks.same("options", 0, len(body.get("options") or ()))


@PROBES.of("the top-level domain of an address")
def _top_level(account: HubSpotAccount, checks: Checks) -> None:
    address = account.address().replace("example.com", "example.invalid")
    checks.same("status of a create", 201, account.make({"email": address}).status)


@PROBES.of("a leading `;` adds")
def _adds(account: HubSpotAccount, checks: Checks) -> None:
    record_id = new(account, hs_buying_role="CHAMPION")
    patch(account, record_id, hs_buying_role=";OTHER")
    chosen = account.get(record_id, properties="hs_buying_role").body["properties"]["hs_buying_role"] or ""
    checks.same("the selection", "CHAMPION,OTHER", ",".join(sorted(chosen.split(";"))))
