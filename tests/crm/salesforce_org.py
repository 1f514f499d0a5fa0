"""A Salesforce org on a hostile server: it lets us in and describes itself, and the rest is what a test wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from leadproof.crm.salesforce_fields import BUILT_IN
from leadproof.domain.mutation import RecordRef
from leadproof.domain.steps import WriteRequest
from tests.crm.asking import EXTERNAL_ID, MARKER
from tests.crm.hostile import Hostile, Line, Request, Script, says

ORG = "00Dxx0000001gPLEAY"
US = "005xx000001Sv6AAAS"
ANN = "005xx000001Sv6BAAS"
ROBOT = "005xx000001Sv6CAAS"
QUEUE = "00Gxx000001Sv6AEAS"
LEAD = "00Qxx0000004C92EAE"
OTHER_LEAD = "00Qxx0000004C93EAE"
CONTACT = "003xx000004TmiQAAS"
EXTERNAL_FIELD, MARKER_FIELD = "Leadproof_External_Id__c", "Leadproof_Effect__c"
ALL_FIELDS = sorted(
    {
        *(EXTERNAL_FIELD, MARKER_FIELD, "MasterRecordId", "ConvertedContactId"),
        *(name for fields in BUILT_IN.values() for name in fields.values()),
    }
)
SIGN_IN = "/services/oauth2/token"
NO_SESSION = [{"message": "Session expired or invalid", "errorCode": "INVALID_SESSION_ID"}]
CREATED = {"id": LEAD, "success": True, "errors": [], "created": True}


def error(code: str, message: str = "no", fields: list[str] | None = None, **more: Any) -> list[dict[str, Any]]:
    return [{"message": message, "errorCode": code, "fields": fields or [], **more}]


def lead_ref(record_id: str | None = None, external_id: str = EXTERNAL_ID, **unique: str) -> RecordRef:
    return RecordRef(
        target_system="salesforce",
        target_object="lead",
        external_id=external_id,
        provider_record_id=record_id,
        unique_fields=unique,
    )


def creation(**fields: Any) -> WriteRequest:
    fields = {"last_name": "Bo", "company": "Example"} | fields
    return WriteRequest(record=lead_ref(), creates=True, fields=fields, marker=MARKER, sets_external_id=True)


def update(record_id: str | None = LEAD, *, links: bool = False, **fields: Any) -> WriteRequest:
    return WriteRequest(record=lead_ref(record_id), creates=False, fields=fields, marker=MARKER, sets_external_id=links)


def row(record_id: str = LEAD, **columns: Any) -> dict[str, Any]:
    """A lead as a query shows it."""
    kind = "Lead" if record_id.startswith("00Q") else "Contact"
    shown: dict[str, Any] = {
        "attributes": {"type": kind, "url": f"/services/data/v62.0/sobjects/{kind}/{record_id}"},
        "Id": record_id,
        "IsDeleted": False,
        "MasterRecordId": None,
        "CreatedDate": "2026-11-29T08:00:00.000+0000",
        "CreatedById": ANN,
        "LastModifiedById": US,
        "LastModifiedDate": "2026-11-30T01:37:04.000+0000",
        "SystemModstamp": "2026-11-30T01:37:04.000+0000",
        EXTERNAL_FIELD: None,
        MARKER_FIELD: None,
        "Email": None,
    }
    if kind == "Lead":
        shown |= {"IsConverted": False, "ConvertedContactId": None}
    return shown | columns


def rows(*found: Mapping[str, Any], done: bool = True) -> dict[str, Any]:
    return {"totalSize": len(found), "done": done, "records": list(found)}


def entry(field: str, old: Any, new: Any, at: str, by: str = US) -> dict[str, Any]:
    return {
        "attributes": {"type": "LeadHistory"},
        "Field": field,
        "OldValue": old,
        "NewValue": new,
        "CreatedById": by,
        "CreatedDate": f"2026-11-30T{at}.000+0000",
    }


def column(name: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    """A field as an object's description has it."""
    return {
        "name": name,
        "label": name,
        "type": kind,
        "length": 255,
        "nillable": True,
        "createable": True,
        "updateable": True,
        "defaultedOnCreate": False,
        "unique": False,
        "caseSensitive": False,
        "externalId": False,
        "restrictedPicklist": False,
        "picklistValues": [],
    } | more


def choices(*values: str, labels: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    return [{"value": one, "label": (labels or {}).get(one, one), "active": True} for one in values]


def described(*columns: dict[str, Any], name: str = "Lead", histories: bool = True) -> dict[str, Any]:
    children = [{"childSObject": "Task", "relationshipName": "Tasks"}]
    children += [{"childSObject": f"{name}History", "relationshipName": "Histories"}] if histories else []
    may = dict.fromkeys(("createable", "updateable", "queryable"), True)
    return {"name": name, "fields": list(columns), "childRelationships": children} | may


def query_of(request: Request) -> str:
    """The SOQL of a request; empty where it has none."""
    return "".join(parse_qs(urlsplit(request.path).query).get("q", []))


class Org:
    """Answers sign-ins, descriptions and questions about users as it is told, and each other request with the next
    script; the last one answers all that follow.

    Attributes:
        sign_in: answers a sign-in.
        description: of every object.
        users: rows of the table of users.
    """

    def __init__(self, server: Hostile) -> None:
        self.server = server
        self.sign_in: Script = self.lets_in
        self.description: Any = described(*(column(name) for name in ALL_FIELDS))
        self.users: list[dict[str, Any]] = [{"Id": ANN, "UserType": "Standard", "IsActive": True}]
        self.tokens = 0
        self._scripts: list[Script] = [says(500)]
        server.answers(self._answer)

    def answers(self, *scripts: Script) -> None:
        self._scripts = list(scripts)

    def shows(self, *found: Mapping[str, Any]) -> None:
        """Answer every other request with these rows."""
        self.answers(says(200, rows(*found)))

    def describes(self, line: Line) -> None:
        line.respond(200, self.description)

    def lets_in(self, line: Line, **other: Any) -> None:
        """Give a new token to whoever asks."""
        self.tokens += 1
        body = {
            "access_token": f"token-{self.tokens}",
            "instance_url": self.server.url.replace("http:", "https:"),
            "id": f"https://login.salesforce.com/id/{ORG}/{US}",
            "token_type": "Bearer",
        }
        line.respond(200, body | other)

    @property
    def calls(self) -> list[Request]:
        """The requests of the API that are neither sign-ins nor questions about the org."""
        return [one for one in self.server.requests if not (_is_sign_in(one) or _is_about_the_org(one))]

    @property
    def sign_ins(self) -> list[Request]:
        return [one for one in self.server.requests if _is_sign_in(one)]

    @property
    def users_asked_for(self) -> list[str]:
        """The conditions of the questions about users."""
        asked = [query_of(one).partition(" FROM User WHERE ")[2] for one in self.server.requests]
        return [condition for condition in asked if condition]

    def _answer(self, line: Line) -> None:
        if _is_sign_in(line.request):
            self.sign_in(line)
        elif line.request.path.partition("?")[0].endswith("/describe"):
            self.describes(line)
        elif _is_about_the_org(line.request):
            line.respond(200, rows(*self.users))
        else:
            script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
            script(line)


def _is_sign_in(request: Request) -> bool:
    return request.path == SIGN_IN


def _is_about_the_org(request: Request) -> bool:
    return "/describe" in request.path or " FROM User " in query_of(request)
