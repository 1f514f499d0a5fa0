"""What the probes of HubSpot share."""

from __future__ import annotations

from typing import Any, Final

from tests.conformance.live.accounts import Raw
from tests.conformance.live.checks import Probes
from tests.conformance.live.hubspot.account import CONTACTS, HubSpotAccount

PROBES: Final[Probes[HubSpotAccount]] = Probes()

NOBODY: Final = "999999999999999"


def new(account: HubSpotAccount, **properties: str) -> str:
    """A contact of this run; its id."""
    return account.create({"email": account.address(), **properties})


def patch(account: HubSpotAccount, record_id: str, **properties: str) -> Raw:
    """Update one contact."""
    return account.ask("PATCH", f"{CONTACTS}/{record_id}", {"properties": properties})


def codes(answer: Raw) -> str:
    """The codes of an error's details, as one text."""
    errors = answer.body.get("errors") or () if isinstance(answer.body, dict) else ()
    return ",".join(sorted({str(error.get("code")) for error in errors}))


def category(answer: Raw) -> str:
    """The category of an error."""
    return str(answer.body.get("category")) if isinstance(answer.body, dict) else "no object"


def upsert(account: HubSpotAccount, key: str, *, by: str, traced: bool = False, **properties: str) -> Raw:
    """A batch upsert of one."""
    account.journal.external_ids[key] = None
    row: dict[str, Any] = {"id": key, "idProperty": by, "properties": properties}
    if traced:
        row["objectWriteTraceId"] = "t1"
    return account.ask("POST", f"{CONTACTS}/batch/upsert", {"inputs": [row]})


def history(account: HubSpotAccount, record_id: str, name: str) -> list[dict[str, Any]]:
    """The versions of one property, as they come."""
    body = account.get(record_id, propertiesWithHistory=name).body
    versions: list[dict[str, Any]] = (body.get("propertiesWithHistory") or {}).get(name, [])
    return versions
