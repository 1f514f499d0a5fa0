"""Salesforce's outbound messages: a body to lead events.

A notification says that a record was saved and no more: a late one carries the values of the day it is sent, not those
of the save. So none of its values is part of the event, and the run reads the record.

What is promised of keys: the same notification has the same occurrence (organization and notification id) and the same
fingerprint, however often and with whatever values it comes. Its time is the record's own, and that may be later in a
redelivery; the row keeps the first. Only the scope follows from the time: a notification that comes once before a
`from` of the policy's scope history and once with a time after it has two keys, and the second event finds everything
already so. Salesforce gives a notification up after 24 hours, and so this is over a day after the `from`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from leadproof import strict_json
from leadproof.domain import keys
from leadproof.domain.errors import MalformedDelivery, MalformedValue
from leadproof.domain.events import SourceEvent
from leadproof.domain.salesforce_ids import salesforce_id
from leadproof.inbound import times
from leadproof.inbound.reading import Ignored, Reading, Readings, Unusable, Usable
from leadproof.inbound.salesforce_envelope import notifications

SOURCE: Final = "salesforce"

CATCH_UP: Final = "catch-up"
"""`foundBy` of what no notification told of."""

PREFIXES: Final = {"Lead": "00Q", "Contact": "003"}
"""The objects that are leads to us, and how the ids of their records begin."""

_TIMES: Final = ("LastModifiedDate", "SystemModstamp", "CreatedDate")
_EVIDENCE: Final = ("organizationId", "actionId", "notificationId", "objectType", "sentFields", "foundBy")


def parse(body: bytes) -> Readings:
    """Read an outbound message, each notification for itself.

    Raises:
        MalformedDelivery: the body as a whole is no outbound message of an organization with 1 to 100 notifications.
    """
    found = notifications(body)
    _id(found[0]["organizationId"], "OrganizationId", "00D")
    return [parse_event(notification) for notification in found]


def parse_event(notification: Any) -> Reading:
    """Read one notification, as its envelope told it."""
    try:
        return _read(notification)
    except MalformedDelivery as error:
        return Unusable(notification, str(error))


def _read(notification: Any) -> Reading:
    if not isinstance(notification, dict):
        raise MalformedDelivery("a notification is an object")
    strict_json.check(notification)
    object_type = notification.get("objectType")
    if not isinstance(object_type, str):
        raise MalformedDelivery("sObject is missing, there twice, or of no type: is its record deleted?")
    kind = f"{object_type.lower()}.saved"
    prefix = PREFIXES.get(object_type)
    if prefix is None:
        return Ignored(notification, kind)
    record, sent = notification.get("record"), notification.get("sentFields")
    if not isinstance(record, dict) or not isinstance(sent, list):
        raise MalformedDelivery("sObject is no record")
    if len({str(name) for name in sent}) != len(sent):
        raise MalformedDelivery("a field of the record is there twice")
    organization = _id(notification.get("organizationId"), "OrganizationId", "00D")
    return Usable(
        notification,
        SourceEvent(
            source_system=SOURCE,
            account=organization,
            source_record_id=_id(record.get("Id"), "the record's Id", prefix),
            event_kind=kind,
            occurrence=_occurrence(notification, record, organization),
            occurred_at=_saved_at(record),
            extra={name: notification[name] for name in _EVIDENCE if notification.get(name) is not None},
        ),
    )


def _occurrence(notification: Mapping[str, Any], record: Mapping[str, Any], organization: str) -> str:
    if notification.get("foundBy") == CATCH_UP:
        return keys.occurrence(["catch_up", keys.instant(_time(record, "SystemModstamp"))])
    return keys.occurrence([organization, _id(notification.get("notificationId"), "the notification's Id", "04l")])


def _saved_at(record: Mapping[str, Any]) -> datetime:
    for name in _TIMES:
        if record.get(name) is not None:
            return _time(record, name)
    raise MalformedDelivery("no time: add LastModifiedDate to the fields that the outbound message sends")


def _time(record: Mapping[str, Any], name: str) -> datetime:
    try:
        return times.moment(str(record.get(name)))
    except ValueError:
        raise MalformedDelivery(f"{name} is no time") from None


def _id(value: Any, name: str, prefix: str) -> str:
    try:
        return salesforce_id(value, prefix=prefix)
    except MalformedValue:
        raise MalformedDelivery(f"{name} is missing or no id that begins with {prefix}") from None
