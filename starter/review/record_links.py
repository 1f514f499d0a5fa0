"""Links to where a record and a run can be looked at: only where the address is the real one."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, urlsplit

from leadproof.settings import Settings

_HUBSPOT: Final = "https://api.hubapi.com"
_HUBSPOT_OBJECTS: Final = {"contact": "0-1", "company": "0-2"}
_SALESFORCE_OBJECTS: Final = {"lead": "Lead", "contact": "Contact"}
_MY_DOMAIN: Final = ".my.salesforce.com"
_DIGITS: Final = re.compile(r"[0-9]{1,20}")
_SALESFORCE_ID: Final = re.compile(r"[0-9A-Za-z]{15}|[0-9A-Za-z]{18}")


def record_link(settings: Settings, *, system: str, target_object: str, record_id: str | None) -> str | None:
    """The page of a record in its CRM; `None` where there is none that we know of, as in a local sandbox."""
    if record_id is None:
        return None
    if system == "hubspot":
        return _hubspot(settings, target_object, record_id)
    return _salesforce(settings, target_object, record_id) if system == "salesforce" else None


def _hubspot(settings: Settings, target_object: str, record_id: str) -> str | None:
    kind, portal = _HUBSPOT_OBJECTS.get(target_object), settings.hubspot_portal_id
    if settings.hubspot_base_url.rstrip("/") != _HUBSPOT or portal is None or kind is None:
        return None
    if _DIGITS.fullmatch(record_id) is None:
        return None
    return f"https://app.hubspot.com/contacts/{portal}/record/{kind}/{record_id}"


def _salesforce(settings: Settings, target_object: str, record_id: str) -> str | None:
    kind = _SALESFORCE_OBJECTS.get(target_object)
    address = urlsplit(settings.salesforce_url or "")
    host = address.hostname or ""
    if address.scheme != "https" or not host.endswith(_MY_DOMAIN) or kind is None:
        return None
    if _SALESFORCE_ID.fullmatch(record_id) is None:
        return None
    return f"https://{host.removesuffix(_MY_DOMAIN)}.lightning.force.com/lightning/r/{kind}/{record_id}/view"


def run_link(settings: Settings, workflow_id: str) -> str | None:
    """The page of a run in Temporal's UI; `None` where nobody said where that is."""
    if settings.temporal_ui_url is None:
        return None
    place = f"namespaces/{quote(settings.temporal_namespace, safe='')}/workflows/{quote(workflow_id, safe='')}"
    return f"{settings.temporal_ui_url.rstrip('/')}/{place}"
