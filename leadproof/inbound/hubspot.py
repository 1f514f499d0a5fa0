"""HubSpot webhooks: a verified body to lead events.

Field names and their oddities: HubSpot's webhooks guide, and deliveries as they were received (tests/fixtures).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from leadproof import strict_json
from leadproof.domain import keys
from leadproof.domain.errors import MalformedDelivery
from leadproof.domain.events import SourceEvent
from leadproof.inbound.reading import Ignored, Reading, Readings, Unusable, Usable

SOURCE: Final = "hubspot"

MOST_EVENTS: Final = 100
"""Events of one request, by HubSpot's webhooks guide."""

_OBJECTS: Final = {
    "0-1": "contact",
    "0-2": "company",
    "0-3": "deal",
    "0-5": "ticket",
    "0-7": "product",
    "0-8": "line_item",
}
_CONTACT: Final = "contact"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_MS: Final = 253_402_300_799_999  # the last millisecond that a datetime can hold
_ID: Final = re.compile(r"[1-9][0-9]{0,19}", re.ASCII)
_KIND: Final = re.compile(r"([A-Za-z0-9_-]{1,60})\.([A-Za-z]{1,60})", re.ASCII)

REDACTED: Final = "REDACTED"
"""What stands in place of a sensitive property's value."""

_MADE_IN_THE_UI: Final = ("CRM_UI", "MOBILE")
_MADE_BY_SOFTWARE: Final = ("INTEGRATION", "API", "AUTOMATION", "WORKFLOW")


def parse(body: bytes) -> Readings:
    """Read a delivery, each event for itself.

    Raises:
        MalformedDelivery: the body as a whole is no array of 1 to 100 events.
    """
    delivery = strict_json.read(body)
    if not isinstance(delivery, list):
        raise MalformedDelivery("a HubSpot delivery is an array of events")
    if not 1 <= len(delivery) <= MOST_EVENTS:
        raise MalformedDelivery(f"a HubSpot delivery has 1 to {MOST_EVENTS} events, this one has {len(delivery)}")
    return [parse_event(event) for event in delivery]


def parse_event(event: Any) -> Reading:
    """Read one event of a delivery."""
    try:
        return _read(event)
    except MalformedDelivery as error:
        return Unusable(event, str(error))


def _read(event: Any) -> Reading:
    if not isinstance(event, dict):
        raise MalformedDelivery("an event is an object")
    strict_json.check(event)
    subject, what = _subscription(event)
    kind = f"{subject}.{what}"
    if subject != _CONTACT or what == "associationChange":
        return Ignored(event, kind)
    occurred_ms = _integer(event, "occurredAt", _LATEST_MS)
    changed_field = _text(event, "propertyName") if what == "propertyChange" else None
    return Usable(
        event,
        SourceEvent(
            source_system=SOURCE,
            account=_id(event, "portalId"),
            source_record_id=_record_id(event, what),
            event_kind=kind,
            occurrence=keys.occurrence([kind, changed_field, str(occurred_ms)]),
            occurred_at=_EPOCH + timedelta(milliseconds=occurred_ms),
            changed_field=changed_field,
            changed_value=_changed_value(event) if changed_field is not None else None,
            by_person=_by_person(event),
            extra=event,
        ),
    )


def _subscription(event: dict[str, Any]) -> tuple[str, str]:
    """Subject and verb of the subscription type in its specific form: `object.creation` of a `0-1` is a contact's."""
    given = event.get("subscriptionType", event.get("eventType"))
    match = _KIND.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        raise MalformedDelivery("subscriptionType is missing or no subscription type")
    subject, what = match.groups()
    if subject == "object":
        type_id = event.get("objectTypeId")
        if not isinstance(type_id, str):
            raise MalformedDelivery("objectTypeId is missing or no text")
        subject = _OBJECTS.get(type_id, type_id)
    return subject, what


def _record_id(event: dict[str, Any], what: str) -> str:
    """The record that the event is about; after a merge, the one that lives on."""
    if what == "merge":
        for name in ("newObjectId", "primaryObjectId"):
            if event.get(name) not in (None, 0):
                return _id(event, name)
    return _id(event, "objectId")


def _id(event: dict[str, Any], name: str) -> str:
    """An id as text; HubSpot sends numbers, and asks to treat ids as texts."""
    value = event.get(name)
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or _ID.fullmatch(text) is None:
        raise MalformedDelivery(f"{name} is missing or no id")
    return text


def _integer(event: dict[str, Any], name: str, most: int) -> int:
    number = int(_id(event, name))
    if number > most:
        raise MalformedDelivery(f"{name} is out of range")
    return number


def _text(event: dict[str, Any], name: str) -> str:
    value = event.get(name)
    if not isinstance(value, str) or not value or len(value) > 200:
        raise MalformedDelivery(f"{name} is missing or no name")
    return value


def _changed_value(event: dict[str, Any]) -> str | None:
    value = event.get("propertyValue")
    if value is None or value == REDACTED or event.get("isSensitive") is True:
        return None
    return value if isinstance(value, str) else strict_json.text_of(value)


def _by_person(event: dict[str, Any]) -> bool | None:
    """Whether a person made the change, where HubSpot says so; `CRM` and unknown sources say nothing."""
    source = event.get("changeSource")
    if not isinstance(source, str):
        return None
    if source.startswith(_MADE_IN_THE_UI):
        return True if str(event.get("sourceId", "")).startswith("userId:") else None
    if source.startswith(_MADE_BY_SOFTWARE):
        return False
    return None
