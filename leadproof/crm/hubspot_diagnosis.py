"""What `leadproof doctor` asks of a HubSpot account, and the properties that it makes there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hubspot.crm.properties import OptionInput, PropertyCreate

from leadproof.crm.hubspot import SYSTEM
from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.crm.hubspot_describing import keeps_history, writable
from leadproof.crm.hubspot_question import ask
from leadproof.crm.server_time import server_time
from leadproof.deadline import Deadline, Response
from leadproof.domain.diagnosis import (
    FieldPresence,
    FieldState,
    Opened,
    OurField,
    Permissions,
    Remark,
    WantedField,
)

SCOPES_TO_READ: Final = (
    "crm.objects.contacts.read",
    "crm.schemas.contacts.read",
    "crm.objects.owners.read",
)
"""By HubSpot's list of scopes: contacts, their property definitions, and the owners whom the policy names."""
SCOPES_TO_WRITE: Final = ("crm.objects.contacts.write",)
SCOPES_TO_CREATE: Final = ("crm.schemas.contacts.write",)

_OBJECT: Final = "contacts"
_GROUP: Final = "contactinformation"  # HubSpot's own group, so that every account has it
_WORDS: Final = {
    OurField.EXTERNAL_ID: ("Leadproof external id", "The stable identity that Leadproof gives this contact."),
    OurField.MARKER: ("Leadproof effect", "The key of the last write of Leadproof; its history is their journal."),
}


class HubSpotDiagnosis:
    """One HubSpot account under examination.

    Args:
        token: asked for the access token at every call.
        base_url: HubSpot's address.
        external_id_property, marker_property: our two properties.
        connect_timeout: seconds within which a request has begun to leave.
        call_timeout: total deadline in seconds of each call.
    """

    def __init__(
        self,
        *,
        token: Callable[[], str],
        base_url: str,
        external_id_property: str,
        marker_property: str,
        connect_timeout: float,
        call_timeout: float,
    ) -> None:
        self._client = HubSpotClient(token=token, base_url=base_url, connect_timeout=connect_timeout)
        self._names = {OurField.EXTERNAL_ID: external_id_property, OurField.MARKER: marker_property}
        self._call_timeout = call_timeout

    @property
    def system(self) -> str:
        return SYSTEM

    def opened(self) -> Opened:
        """The account that the token opens.

        Raises:
            ConfigurationRefused: HubSpot cannot be reached or refuses us.
        """
        return ask(self._client, self._client.account_details, self._deadline(), _opened)

    def permissions(self) -> Permissions:
        """The scopes of the token.

        Raises:
            ConfigurationRefused: HubSpot does not tell.
        """
        return ask(self._client, self._client.token_info, self._deadline(), _permissions)

    def our_fields(self) -> tuple[FieldState, ...]:
        """Our two properties as they are defined.

        Raises:
            ConfigurationRefused: the definitions cannot be read.
        """
        live, archived = self._definitions(archived=False), self._definitions(archived=True)
        return tuple(_state(field, name, live.get(name), name in archived) for field, name in self._names.items())

    def presence_of(self, name: str) -> FieldPresence:
        """Whether contacts have a property of this name.

        Raises:
            ConfigurationRefused: the definitions cannot be read.
        """
        if name in self._definitions(archived=False):
            return FieldPresence.LIVE
        return FieldPresence.ARCHIVED if name in self._definitions(archived=True) else FieldPresence.MISSING

    def remarks(self) -> tuple[Remark, ...]:
        """HubSpot has nothing to tell that is not asked of every target."""
        return ()

    def by_hand(self, field: FieldState | WantedField) -> str | None:
        """Every property can be made through the API."""
        return None

    def create_field(self, field: OurField | WantedField) -> None:
        """Make a property, on no form: one of ours is a line of text, unique for the external id; another one is a
        dropdown, or checkboxes, of its options.

        Whether a property is unique is decided here and cannot be changed later (HubSpot's guide to properties).

        Raises:
            ConfigurationRefused: HubSpot did not make it, or its answer was lost.
        """
        wanted = _choice(field) if isinstance(field, WantedField) else _text(field, self._names[field])
        asked = {"object_type": _OBJECT, "property_create": wanted}
        ask(self._client, self._client.properties.create, self._deadline(), _made, **asked)

    def close(self) -> None:
        """Close the idle connections."""
        self._client.close()

    def _definitions(self, *, archived: bool) -> dict[str, Any]:
        asked = {"object_type": _OBJECT, "archived": archived}
        return ask(self._client, self._client.properties.get_all, self._deadline(), _by_name, **asked)

    def _deadline(self) -> Deadline:
        return Deadline(self._call_timeout)


def _text(field: OurField, name: str) -> PropertyCreate:
    label, description = _WORDS[field]
    return PropertyCreate(
        name=name,
        label=label,
        description=description,
        type="string",
        field_type="text",
        group_name=_GROUP,
        has_unique_value=field is OurField.EXTERNAL_ID,
        form_field=False,
        hidden=False,
    )


def _choice(field: WantedField) -> PropertyCreate:
    """HubSpot writes values by an option's `value`; its label is for people, who may change it."""
    labels = [_spoken(value) for value in field.options]
    if len(set(labels)) < len(labels):  # people could not tell them apart
        labels = list(field.options)
    return PropertyCreate(
        name=field.name,
        label=_spoken(field.name),
        description=f"Set by Leadproof, which calls it {field.field}.",
        type="enumeration",
        field_type="checkbox" if field.several else "select",
        group_name=_GROUP,
        options=[
            OptionInput(label=label, value=value, display_order=order, hidden=False)
            for order, (label, value) in enumerate(zip(labels, field.options, strict=True))
        ],
        has_unique_value=False,
        form_field=False,
        hidden=False,
    )


def _spoken(name: str) -> str:
    words = name.replace("_", " ").strip().lower()
    return words[:1].upper() + words[1:]


def _opened(details: Any, response: Response) -> Opened:
    return Opened(account=str(details["portalId"]), time=server_time(response))


def _permissions(told: Any, _: Response) -> Permissions:
    app = told.get("appId")
    return Permissions(
        needed=SCOPES_TO_READ,
        to_write=SCOPES_TO_WRITE,
        to_create=SCOPES_TO_CREATE,
        granted=frozenset(str(scope) for scope in told["scopes"]),
        app=str(app) if app is not None else None,
    )


def _by_name(answer: Any, _: Response) -> dict[str, Any]:
    return {str(definition.name): definition for definition in answer.results if definition.name}


def _state(field: OurField, name: str, found: Any, archived: bool) -> FieldState:
    if found is None:
        presence = FieldPresence.ARCHIVED if archived else FieldPresence.MISSING
        return FieldState(field=field, name=name, presence=presence)
    return FieldState(
        field=field,
        name=name,
        presence=FieldPresence.LIVE,
        kind=f"{found.type or '?'}/{found.field_type or '?'}",
        text=(found.type, found.field_type) == ("string", "text"),
        unique=bool(found.has_unique_value),
        writable=writable(found),
        keeps_history=keeps_history(found),
    )


def _made(definition: Any, _: Response) -> None:
    if not definition.name:
        raise ValueError
