"""An outbound message on the wire: a SOAP envelope, and what its receiver answers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from xml.sax.saxutils import escape

from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]  # ships no annotations
from defusedxml.ElementTree import ParseError, fromstring  # type: ignore[import-untyped]

from sandbox.salesforce.soql_tables import Value

SOAP = "http://schemas.xmlsoap.org/soap/envelope/"
OUTBOUND = "http://soap.sforce.com/2005/09/outbound"
MY_DOMAIN = "https://acme.my.salesforce.com"
API = "60.0"

HEADERS = {
    "content-type": "text/xml; charset=utf-8",
    "soapaction": '""',
    "user-agent": "Jakarta Commons-HttpClient/3.1",
}

_UNSPEAKABLE = dict.fromkeys({*range(32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000)} - set(map(ord, "\t\n\r")))
"""Characters that no XML can hold."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A notification's id, and the record that it tells of as it is now; no fields where it is gone."""

    id: str
    object_name: str
    record: str
    fields: Mapping[str, Value]


def envelope(organization: str, action: str, session: str | None, notifications: Iterable[Sent]) -> bytes:
    account = organization[:15]
    told = "".join(_notification(sent) for sent in notifications)
    known = f"<SessionId>{session}</SessionId>" if session else '<SessionId xsi:nil="true"/>'
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="{SOAP}" xmlns:xsd="http://www.w3.org/2001/XMLSchema" \
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
 <soapenv:Body>
  <notifications xmlns="{OUTBOUND}">
   <OrganizationId>{organization}</OrganizationId>
   <ActionId>{action}</ActionId>
   {known}
   <EnterpriseUrl>{MY_DOMAIN}/services/Soap/c/{API}/{account}</EnterpriseUrl>
   <PartnerUrl>{MY_DOMAIN}/services/Soap/u/{API}/{account}</PartnerUrl>
{told}  </notifications>
 </soapenv:Body>
</soapenv:Envelope>
""".encode()


def acknowledged(body: bytes) -> bool:
    """Whether an answer is the one that a listener gives once it has taken a message over."""
    try:
        root = fromstring(body, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return False
    path = f"{{{SOAP}}}Body/{{{OUTBOUND}}}notificationsResponse/{{{OUTBOUND}}}Ack"
    acks = root.findall(path) if root.tag == f"{{{SOAP}}}Envelope" else []
    return [(ack.text or "").strip() for ack in acks] == ["true"]


def _notification(sent: Sent) -> str:
    names = sorted(name for name, value in sent.fields.items() if value is not None and name != "Id")
    fields = "".join(f"     <sf:{name}>{_text(sent.fields[name])}</sf:{name}>\n" for name in names)
    return f"""\
   <Notification>
    <Id>{sent.id}</Id>
    <sObject xsi:type="sf:{sent.object_name}" xmlns:sf="urn:sobject.enterprise.soap.sforce.com">
     <sf:Id>{sent.record}</sf:Id>
{fields}    </sObject>
   </Notification>
"""


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.1f}" if value.is_integer() else repr(value)
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%S.000Z}"
    if isinstance(value, date):
        return value.isoformat()
    return escape(str(value).translate(_UNSPEAKABLE), {"\r": "&#13;"})
