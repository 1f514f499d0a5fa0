"""What the probes of Salesforce share."""

from __future__ import annotations

import secrets
from typing import Any, Final

from tests.conformance.live.accounts import Raw
from tests.conformance.live.checks import Probes
from tests.conformance.live.salesforce.account import AS_WE_ARE, SalesforceAccount, equal

PROBES: Final[Probes[SalesforceAccount]] = Probes()

NOBODY: Final = "00Qxx0000zzzzzzEAA"


def given(account: SalesforceAccount, **fields: Any) -> dict[str, Any]:
    """The fields of a lead of this run."""
    somebody = {name: f"{name} Reyes {secrets.token_hex(6)}" for name in ("LastName", "Company")}
    return {**somebody, "Email": account.address(), **fields}


def new(account: SalesforceAccount, **fields: Any) -> str:
    """A lead of this run; its id."""
    return account.create(given(account, **fields))


def patch(
    account: SalesforceAccount, record_id: str, fields: dict[str, Any], headers: dict[str, str] | None = None
) -> Raw:
    """Update one lead."""
    return account.ask("PATCH", f"{account.leads}/{record_id}", fields, headers={**AS_WE_ARE, **(headers or {})})


def upsert(
    account: SalesforceAccount,
    key: str,
    fields: dict[str, Any],
    headers: dict[str, str] | None = None,
    *,
    update_only: bool = False,
) -> Raw:
    """An upsert by our external id."""
    account.journal.external_ids[key] = None
    path = f"{account.leads}/{account.external_id}/{key}{'?updateOnly=true' if update_only else ''}"
    return account.ask("PATCH", path, fields, headers={**AS_WE_ARE, **(headers or {})})


def code(answer: Raw) -> str:
    """The code of an error."""
    body = answer.body
    return str(body[0].get("errorCode")) if isinstance(body, list) and body and isinstance(body[0], dict) else "no list"


def message(answer: Raw) -> str:
    """The text of an error."""
    body = answer.body
    return str(body[0].get("message")) if isinstance(body, list) and body and isinstance(body[0], dict) else ""


def value(account: SalesforceAccount, record_id: str, name: str) -> Any:
    """What a field holds now."""
    return account.get(record_id, fields=name).body.get(name)


def history(account: SalesforceAccount, record_id: str, *fields: str) -> list[dict[str, Any]]:
    """The rows of a lead's history about these fields, oldest first."""
    where = f"{equal(LeadId=record_id)} ORDER BY CreatedDate"
    rows = account.rows("Field, OldValue, NewValue, CreatedDate", where, source="LeadHistory")
    return [row for row in rows if not fields or row["Field"] in fields]
