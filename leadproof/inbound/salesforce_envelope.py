"""The envelope of Salesforce's outbound messages: what it says of each notification, without the values of its fields.

Source: Salesforce's SOAP API guide, "Understanding Outbound Messaging", and messages as they were received
(tests/fixtures). The session id that a message can carry opens the org, so it is read into nothing.
"""

from __future__ import annotations

import re
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]  # ships no annotations
from defusedxml.ElementTree import XMLParser  # type: ignore[import-untyped]

from leadproof.domain.errors import MalformedDelivery

MOST_NOTIFICATIONS: Final = 100
"""Notifications of one message, by Salesforce's guide."""

DEEPEST: Final = 20
"""Levels of nesting; a message has six."""

KEPT_FIELDS: Final = ("Id", "LastModifiedDate", "SystemModstamp", "CreatedDate")
"""Fields of a record whose values are kept: which record it is, and when it was saved."""

_SOAP: Final = "{http://schemas.xmlsoap.org/soap/envelope/}"
_OUTBOUND: Final = "{http://soap.sforce.com/2005/09/outbound}"
_RECORD: Final = "{urn:sobject.enterprise.soap.sforce.com}"
_SCHEMA: Final = "{http://www.w3.org/2001/XMLSchema-instance}"
_TYPE: Final = f"{_SCHEMA}type"
_NIL: Final = f"{_SCHEMA}nil"

_WHITE: Final = " \t\r\n"
_DECLARED: Final = re.compile(r"<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")


def notifications(body: bytes) -> list[dict[str, Any]]:
    """Read a message, each notification for itself; what it lacks is `None`.

    Raises:
        MalformedDelivery: the body as a whole is no outbound message of an organization with 1 to 100 notifications.
    """
    message = _message(_root(body))
    organization = _text(_only(message, f"{_OUTBOUND}OrganizationId"))
    if organization is None:
        raise MalformedDelivery("OrganizationId is missing, or there twice")
    found = message.findall(f"{_OUTBOUND}Notification")
    if not 1 <= len(found) <= MOST_NOTIFICATIONS:
        raise MalformedDelivery(
            f"an outbound message has 1 to {MOST_NOTIFICATIONS} notifications, this one has {len(found)}"
        )
    action = _text(_only(message, f"{_OUTBOUND}ActionId"))
    return [{"organizationId": organization, "actionId": action} | _notification(one) for one in found]


def _notification(notification: Element) -> dict[str, Any]:
    record = _only(notification, f"{_OUTBOUND}sObject")
    fields = [field for field in record if field.tag.startswith(_RECORD)] if record is not None else []
    names = [field.tag.removeprefix(_RECORD) for field in fields]
    values = dict(zip(reversed(names), reversed(fields), strict=True))  # of two of a name, the first
    return {
        "notificationId": _text(_only(notification, f"{_OUTBOUND}Id")),
        "objectType": _object_type(record),
        "record": {name: _text(values.get(name)) for name in KEPT_FIELDS},
        "sentFields": names,
    }


def _object_type(record: Element | None) -> str | None:
    name = record.get(_TYPE, "") if record is not None else ""
    return name.removeprefix(_RECORD) if name.startswith(_RECORD) else None


def _message(root: Element) -> Element:
    if root.tag != f"{_SOAP}Envelope":
        raise MalformedDelivery("the body is no SOAP envelope")
    body = _only(root, f"{_SOAP}Body")
    message = _only(body, f"{_OUTBOUND}notifications") if body is not None else None
    if message is None:
        raise MalformedDelivery("the envelope's body is no outbound message")
    return message


def _only(parent: Element, tag: str) -> Element | None:
    """The child of this name; of two nobody knows which is meant."""
    found = parent.findall(tag)
    return found[0] if len(found) == 1 else None


def _text(element: Element | None) -> str | None:
    if element is None or element.get(_NIL, "").strip(_WHITE) in {"true", "1"}:
        return None
    return (element.text or "").strip(_WHITE) or None


class _Builder(TreeBuilder):
    """A tree whose types are written out: `sf:Lead` means nothing without the prefixes that hold where it stands."""

    def __init__(self) -> None:
        super().__init__()
        self._prefixes: dict[str, list[str]] = {}
        self._depth = 0

    def start_ns(self, prefix: str, uri: str) -> None:
        self._prefixes.setdefault(prefix, []).append(uri)

    def end_ns(self, prefix: str) -> None:
        self._prefixes[prefix].pop()

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self._depth += 1
        if self._depth > DEEPEST:
            raise MalformedDelivery(f"the body is nested deeper than {DEEPEST} levels")
        if _TYPE in attrs:
            attrs = attrs | {_TYPE: self._written_out(attrs[_TYPE].strip(_WHITE))}
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self._depth -= 1
        return super().end(tag)

    def _written_out(self, name: str) -> str:
        prefix, _, local = name.rpartition(":")
        known = self._prefixes.get(prefix)
        return f"{{{known[-1]}}}{local}" if known else local


def _root(body: bytes) -> Element:
    # some senders put a line break before the declaration, which a strict parser refuses
    parser = XMLParser(target=_Builder(), forbid_dtd=True)
    try:
        parser.feed(_decoded(body).lstrip(_WHITE))
        root: Element = parser.close()
    except DefusedXmlException:
        raise MalformedDelivery("the body has a document type or entities of its own") from None
    except ParseError as error:
        line, _ = error.position
        raise MalformedDelivery(f"the body is no XML: it goes wrong in line {line}") from None
    return root


def _decoded(body: bytes) -> str:
    """The text of a body in one of the two encodings that XML demands; UTF-16 has a byte-order mark."""
    wide = body.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = body.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise MalformedDelivery("the body is neither UTF-8 nor UTF-16 with a byte-order mark") from None
    if "\x00" in text:  # which the parser would take for a sign of UTF-16
        raise MalformedDelivery("the body contains a NUL character")
    declared = _DECLARED.match(text.lstrip(_WHITE))
    if declared is not None and declared[1].lower() not in ({"utf-16"} if wide else {"utf-8", "us-ascii"}):
        raise MalformedDelivery("the body declares another encoding than it has, or none of UTF-8 and UTF-16")
    return text
