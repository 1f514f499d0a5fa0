"""What a HubSpot account says of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.crm.hubspot_fields import HubSpotFields
from leadproof.crm.hubspot_question import ask
from leadproof.deadline import Deadline
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.records import MARKER, Description, FieldDescription, OwnerDescription

T = TypeVar("T")

EXTERNAL_ID: Final = "external_id"
"""Under this name the property of our external id is described."""

_PAGE = 100
_MOST_PAGES = 100
_OBJECT = "contacts"


class Describer:
    """Reads account, owners and property definitions.

    Args:
        external_id_property, marker_property: described as `external_id` and `effect_marker`.
    """

    def __init__(
        self, client: HubSpotClient, fields: HubSpotFields, *, external_id_property: str, marker_property: str
    ) -> None:
        self._client = client
        self._fields = fields
        self._ours = {external_id_property: EXTERNAL_ID, marker_property: MARKER}

    def describe(self, system: str, deadline: Deadline) -> Description:
        """Describe the account.

        A property is described under our field name where we have one, else under its own; not at all where that is
        our name of a field that another property holds.

        Raises:
            ConfigurationRefused: HubSpot cannot be reached, refuses us, or answers what is no description.
        """
        account = self._ask(self._client.account_details, deadline, lambda details: str(details["portalId"]))
        return Description(
            system=system,
            account=account,
            owners=(*self._owners(deadline, archived=False), *self._owners(deadline, archived=True)),
            fields=dict(self._described(deadline)),
            names=self._fields.by_name(),
        )

    def _described(self, deadline: Deadline) -> Iterator[tuple[str, FieldDescription]]:
        found = self._ask(self._client.properties.get_all, deadline, _fields, object_type=_OBJECT)
        names = {field.name: self._ours.get(field.name) or self._fields.name_of(field.name) for field in found}
        for field in found:
            name = names[field.name]
            if name is not None:
                yield name, field
            elif field.name not in names.values() and self._fields.property_of(field.name) is None:
                yield field.name, field

    def _owners(self, deadline: Deadline, *, archived: bool) -> Iterator[OwnerDescription]:
        after: str | None = None
        for _ in range(_MOST_PAGES):
            asked: dict[str, Any] = {"limit": _PAGE, "archived": archived}
            if after is not None:
                asked["after"] = after
            rows, after = self._ask(self._client.owners.get_page, deadline, _owner_rows, **asked)
            for row in rows:
                yield OwnerDescription(owner_id=str(row.id), active=not archived, queue=row.type == "QUEUE")
            if after is None:
                return
        raise ConfigurationRefused("HubSpot lists more owners than can be read")

    def _ask(self, method: Callable[..., Any], deadline: Deadline, read: Callable[[Any], T], **asked: Any) -> T:
        return ask(self._client, method, deadline, lambda value, _: read(value), **asked)


def _fields(answer: Any) -> list[FieldDescription]:
    return [_field(definition) for definition in answer.results if definition.name]


def _field(definition: Any) -> FieldDescription:
    listed = [(str(option.value), str(option.label or "")) for option in definition.options or ()]
    options = tuple(value for value, _ in listed)
    return FieldDescription(
        name=str(definition.name),
        options=options,
        labels={label: value for value, label in listed if label and label not in options},
        unique=bool(definition.has_unique_value) or definition.name == "email",
        keeps_history=keeps_history(definition),
        writable=writable(definition),
    )


def keeps_history(definition: Any) -> bool:
    """HubSpot keeps up to 20 values of every property of a contact, but of calculated ones."""
    return not definition.calculated


def writable(definition: Any) -> bool:
    """Whether the API may set this property."""
    metadata = definition.modification_metadata
    return not definition.calculated and not (metadata is not None and metadata.read_only_value)


def _owner_rows(answer: Any) -> tuple[list[Any], str | None]:
    following = answer.paging.next if answer.paging is not None else None
    rows = list(answer.results)
    if any(not row.id for row in rows):
        raise ValueError
    return rows, following.after if following is not None else None
