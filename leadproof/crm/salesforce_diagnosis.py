"""What `leadproof doctor` asks of a Salesforce org.

Fields are made by people: custom fields want Salesforce's Metadata API, an administrator's rights, and field-level
security for our user besides, and a worker's user should have none of these rights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from leadproof.crm.salesforce_client import SalesforceClient, format_soql
from leadproof.crm.salesforce_definitions import KEPT_SECONDS, Definition, Definitions, Field
from leadproof.crm.salesforce_describing import definition_of, tracked, visible, writable
from leadproof.crm.salesforce_fields import OBJECTS
from leadproof.crm.salesforce_question import ask, session_of
from leadproof.crm.salesforce_remarks import Remarks
from leadproof.crm.server_time import server_time
from leadproof.deadline import Deadline, Response
from leadproof.domain.diagnosis import (
    FieldPresence,
    FieldState,
    Opened,
    OurField,
    Permissions,
    Remark,
    ServerTime,
    WantedField,
)
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.plan import TargetObject

SYSTEM: Final = "salesforce"

_LENGTH: Final = 80
_WHERE: Final = "in Setup, Object Manager, {}, Fields & Relationships"
_SHOWN: Final = "our user's permission set may read and edit it"
_HAS_TO_BE: Final = {
    OurField.EXTERNAL_ID: f"a text field of length {_LENGTH}, unique (case-sensitive) and an external id",
    OurField.MARKER: f"a text field of length {_LENGTH} with history tracking on",
}


class SalesforceDiagnosis:
    """One Salesforce org under examination.

    Args:
        client: closed with this.
        version: of the REST API, as the settings have it.
        external_id_field, marker_field: our two fields, on every object.
        objects: what is written to which of our objects: `create`, `edit`; nothing where leads only come from it.
        call_timeout: total deadline in seconds of each call.
    """

    def __init__(
        self,
        client: SalesforceClient,
        *,
        version: str,
        external_id_field: str,
        marker_field: str,
        objects: Mapping[TargetObject, tuple[str, ...]],
        call_timeout: float,
    ) -> None:
        self._client = client
        self._version = version
        self._definitions = Definitions(client)
        self._names = {OurField.EXTERNAL_ID: external_id_field, OurField.MARKER: marker_field}
        self._objects = objects
        self._call_timeout = call_timeout

    @property
    def system(self) -> str:
        return SYSTEM

    def opened(self) -> Opened:
        """The org that lets us in, if its API also takes the token.

        Raises:
            ConfigurationRefused: Salesforce cannot be reached or refuses us.
        """
        session = session_of(self._client, self._deadline())
        versions, time = self._ask_versions()
        if self._version not in versions:
            unusable = Remark(
                check="version",
                says=f"Salesforce has no version {self._version} of its API; it has {versions[0]} to {versions[-1]}",
                do="set LEADPROOF_SALESFORCE_API_VERSION to one of these",
                fatal=True,
            )
            return Opened(account=session.organization_id, time=time, unusable=unusable)
        soql = format_soql("SELECT Id FROM User WHERE Id = {}", session.user_id)
        # that the API takes the token is seen by using it
        ask(self._client, partial(self._client.about_the_org, soql), self._deadline(), lambda body, _: body["records"])
        return Opened(account=session.organization_id, time=time)

    def permissions(self) -> Permissions:
        """What our user may do with each object, as far as the object's definition says.

        Raises:
            ConfigurationRefused: Salesforce cannot be reached.
        """
        granted: set[str] = set()
        for target_object in self._objects:
            definition = visible(self._definitions, OBJECTS[target_object], self._deadline())
            may = definition is not None and {
                "read": definition.queryable,
                "create": definition.createable,
                "edit": definition.updateable,
            }
            granted |= {f"{verb} on {OBJECTS[target_object]}" for verb, given in (may or {}).items() if given}
        return Permissions(
            needed=tuple(f"read on {OBJECTS[each]}" for each in self._objects),
            to_write=tuple(f"{verb} on {OBJECTS[each]}" for each, verbs in self._objects.items() for verb in verbs),
            granted=frozenset(granted),
        )

    def our_fields(self) -> tuple[FieldState, ...]:
        """Our two fields of each object, as our user sees them.

        Raises:
            ConfigurationRefused: the definitions cannot be read.
        """
        return tuple(state for target_object in self._objects for state in self._states(target_object))

    def remarks(self) -> tuple[Remark, ...]:
        """Our user, what it sees and is told of, and what is left of the org's calls."""
        return tuple(Remarks(self._client, self._definitions, self._objects, self._call_timeout).all())

    def presence_of(self, name: str) -> FieldPresence:
        """Whether one of the objects has a field of this name that our user sees; that one was deleted is not told.

        Raises:
            ConfigurationRefused: the definitions cannot be read.
        """
        definitions = [self._definition(target_object) for target_object in self._objects]
        there = any(definition.field(name) for definition in definitions)
        return FieldPresence.LIVE if there else FieldPresence.MISSING

    def by_hand(self, field: FieldState | WantedField) -> str:
        """What a field has to be, and where a person sees to it."""
        is_to_be = _HAS_TO_BE[field.field] if isinstance(field, FieldState) else field.kind
        where = _WHERE.format(OBJECTS[field.target_object])
        return f"see to it {where} that {field.name} is {is_to_be}, and that {_SHOWN}"

    def create_field(self, field: OurField | WantedField) -> None:
        """Nothing is made here.

        Raises:
            ConfigurationRefused: always, saying what a person does.
        """
        if isinstance(field, WantedField):
            raise ConfigurationRefused(f"fields of Salesforce are made by people: {self.by_hand(field)}")
        where = _WHERE.format(" and ".join(OBJECTS[each] for each in self._objects))
        raise ConfigurationRefused(
            f"fields of Salesforce are made by people: see to it {where} that {self._names[field]} is "
            f"{_HAS_TO_BE[field]}, and that {_SHOWN}"
        )

    def close(self) -> None:
        """Close the idle connections."""
        self._client.close()

    def _states(self, target_object: TargetObject) -> Iterator[FieldState]:
        definition = self._definition(target_object)
        kept = tracked(self._definitions, definition.name, self._deadline()) or frozenset()
        for ours, name in self._names.items():
            found = definition.field(name)
            if found is None:
                yield FieldState(field=ours, target_object=target_object, name=name, presence=FieldPresence.MISSING)
            else:
                yield _state(ours, target_object, found, keeps_history=name.casefold() in kept)

    def _definition(self, target_object: TargetObject) -> Definition:
        return definition_of(self._definitions, OBJECTS[target_object], self._deadline(), age=KEPT_SECONDS)

    def _ask_versions(self) -> tuple[list[str], ServerTime | None]:
        """The versions of the REST API, oldest first; asked without naming one."""

        def get(deadline: Deadline) -> Any:
            return self._client.call(
                lambda salesforce: salesforce.session.get(
                    f"https://{salesforce.sf_instance}/services/data/", headers=salesforce.headers
                ),
                deadline,
                spaced=False,
            )

        def read(body: Any, response: Response) -> tuple[list[str], ServerTime | None]:
            versions = sorted((str(one["version"]) for one in body), key=float)
            if not versions:
                raise ValueError
            return versions, server_time(response)

        return ask(self._client, get, self._deadline(), read)

    def _deadline(self) -> Deadline:
        return Deadline(self._call_timeout)


def _state(ours: OurField, target_object: TargetObject, found: Field, *, keeps_history: bool) -> FieldState:
    return FieldState(
        field=ours,
        target_object=target_object,
        name=found.name,
        presence=FieldPresence.LIVE,
        kind=found.type,
        text=found.type == "string",
        holds=found.length,
        unique=found.unique,
        addresses=found.external_id,
        case_sensitive=found.case_sensitive,
        writable=writable(found),
        keeps_history=keeps_history,
    )
