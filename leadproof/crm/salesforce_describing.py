"""What a Salesforce org says of itself, of leads or of contacts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from leadproof.crm.salesforce_client import SalesforceClient, format_soql
from leadproof.crm.salesforce_definitions import Definition, Definitions, Field
from leadproof.crm.salesforce_fields import OBJECTS, WITHOUT_PICKLISTS, SalesforceFields
from leadproof.crm.salesforce_question import ask, session_of
from leadproof.deadline import Deadline
from leadproof.domain.errors import ConfigurationRefused, TargetForeign, TargetUnreachable
from leadproof.domain.plan import TargetObject
from leadproof.domain.records import MARKER, Description, FieldDescription, OwnerDescription
from leadproof.domain.salesforce_ids import salesforce_id

EXTERNAL_ID: Final = "external_id"
"""Under this name the field of our external id is described."""

FRESH: Final = 0.0
"""How old a definition may be that a configuration is held against."""

_PAGE = 2000
_MOST_PAGES = 50
_OWNING_USERS: Final = ["Standard", "PowerPartner"]
"""Types of users to whom a lead can belong: those of the company and of its partners."""


class Describer:
    """Reads the org, its owners and the definition of an object.

    Args:
        external_id_field, marker_field: described as `external_id` and `effect_marker`.
    """

    def __init__(
        self,
        client: SalesforceClient,
        definitions: Definitions,
        fields: SalesforceFields,
        *,
        external_id_field: str,
        marker_field: str,
    ) -> None:
        self._client = client
        self._definitions = definitions
        self._fields = fields
        self._external_id_field = external_id_field
        self._ours = {external_id_field.casefold(): EXTERNAL_ID, marker_field.casefold(): MARKER}

    def describe(self, system: str, target_object: str, deadline: Deadline) -> Description:
        """Describe the org as far as one object is concerned.

        A field is described under our name where we have one, else under its own; not at all where that is our name of
        a field that another one holds. Our user sees only what field-level security lets it see.

        Raises:
            ConfigurationRefused: Salesforce cannot be reached, refuses us, or answers what is no description.
        """
        return Description(
            system=system,
            account=session_of(self._client, deadline).organization_id,
            target_object=TargetObject(target_object),
            owners=(*self._users(deadline), *self._queues(deadline)),
            fields=dict(self._described(target_object, deadline)),
            names=self._fields.by_name(target_object),
            instead=dict(self._instead(target_object)),
        )

    def _instead(self, target_object: str) -> Iterator[tuple[str, str]]:
        for name, theirs in self._fields.by_name(target_object).items():
            if theirs in WITHOUT_PICKLISTS:
                said = f'{name} = {{ property = "{WITHOUT_PICKLISTS[theirs]}", spec = {{ type = "country" }} }}'
                yield (
                    name,
                    (
                        "it is there only where state and country picklists are on; where they are off, say "
                        f"{said} in [target.salesforce.fields]"
                    ),
                )

    def _described(self, target_object: str, deadline: Deadline) -> Iterator[tuple[str, FieldDescription]]:
        name = OBJECTS[target_object]
        definition = definition_of(self._definitions, name, deadline)
        kept = tracked(self._definitions, name, deadline) or frozenset()
        found = list(definition.fields.values())
        names = {
            field.name: self._ours.get(field.name.casefold()) or self._fields.name_of(target_object, field.name)
            for field in found
        }
        for field in found:
            ours = names[field.name]
            if ours is None and field.name not in names.values():
                ours = field.name if self._fields.field_of(target_object, field.name) is None else None
            if ours is not None:
                yield ours, self._field(field, keeps_history=field.name.casefold() in kept)

    def _field(self, field: Field, *, keeps_history: bool) -> FieldDescription:
        ours = field.name.casefold() == self._external_id_field.casefold()
        options = tuple(choice.value for choice in field.choices if choice.active)
        return FieldDescription(
            name=field.name,
            options=options,
            labels={
                choice.label: choice.value
                for choice in field.choices
                if choice.active and choice.label and choice.label not in options
            },
            # a unique field by which no record can be addressed is of no use to a create
            unique=field.unique and (field.external_id or not ours),
            keeps_history=keeps_history,
            writable=writable(field),
            required=field.required,
        )

    def _users(self, deadline: Deadline) -> Iterator[OwnerDescription]:
        select = format_soql("SELECT Id, IsActive FROM User WHERE UserType IN {}", _OWNING_USERS)
        yield from self._owners(select, lambda row: _owner(row, active=bool(row["IsActive"])), deadline)

    def _queues(self, deadline: Deadline) -> Iterator[OwnerDescription]:
        select = "SELECT Id FROM Group WHERE Type = 'Queue'"
        yield from self._owners(select, lambda row: _owner(row, active=True, queue=True), deadline)

    def _owners(
        self, select: str, read: Callable[[Any], OwnerDescription], deadline: Deadline
    ) -> Iterator[OwnerDescription]:
        """Page by page, each beginning behind the last id of the one before."""

        def page(body: Any) -> tuple[list[OwnerDescription], bool]:
            rows = [read(row) for row in body["records"]]
            return rows, not body["done"] or len(rows) >= _PAGE

        beyond = ""
        for _ in range(_MOST_PAGES):
            soql = f"{select}{beyond} ORDER BY Id LIMIT {_PAGE}"
            found, more = ask(
                self._client, partial(self._client.about_the_org, soql), deadline, lambda body, _: page(body)
            )
            yield from found
            if not (more and found):
                return
            beyond = format_soql(" AND Id > {}", found[-1].owner_id)
        raise ConfigurationRefused("Salesforce lists more owners than can be read")


def _owner(row: Any, *, active: bool, queue: bool = False) -> OwnerDescription:
    return OwnerDescription(owner_id=salesforce_id(row["Id"]), active=active, queue=queue)


def definition_of(definitions: Definitions, name: str, deadline: Deadline, *, age: float = FRESH) -> Definition:
    """The definition of an object; as it is now, if it may not be older.

    Raises:
        ConfigurationRefused: saying which object, where our user may not see it.
    """
    try:
        return definitions.of(name, deadline, age=age)
    except (TargetUnreachable, TargetForeign):
        raise
    except ConfigurationRefused as error:
        raise ConfigurationRefused(f"the definition of Salesforce's {name} cannot be read: {error}") from None


def visible(definitions: Definitions, name: str, deadline: Deadline) -> Definition | None:
    """The definition of an object, `None` where our user sees none.

    Raises:
        ConfigurationRefused: Salesforce cannot be reached.
    """
    try:
        return definitions.of(name, deadline)
    except (TargetUnreachable, TargetForeign):
        raise
    except ConfigurationRefused:
        return None


def tracked(definitions: Definitions, name: str, deadline: Deadline) -> frozenset[str] | None:
    """The fields of an object, without case, whose history is kept; `None` where our user may not ask."""
    try:
        return definitions.tracked(name, deadline)
    except (TargetUnreachable, TargetForeign):
        raise
    except ConfigurationRefused:
        return None


def writable(field: Field) -> bool:
    """Whether our user may set a field, in a new record and in one that is there."""
    return field.createable and field.updateable
