"""What `leadproof doctor` asks of a Salesforce org.

Fields are made by people: custom fields want Salesforce's Metadata API, an administrator's rights, and field-level
security for our user besides, and a worker's user should have none of these rights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from leadproof.crm.salesforce_budget import SHARE
from leadproof.crm.salesforce_client import SalesforceClient, format_soql
from leadproof.crm.salesforce_definitions import KEPT_SECONDS, Definition, Definitions, Field
from leadproof.crm.salesforce_describing import definition_of, tracked, writable
from leadproof.crm.salesforce_fields import OBJECTS
from leadproof.crm.salesforce_question import ask, session_of
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
from leadproof.domain.errors import ConfigurationRefused, TargetForeign, TargetUnreachable
from leadproof.domain.plan import TargetObject

T = TypeVar("T")

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
        self._rows(soql, lambda row: row["Id"])  # that the API takes the token is seen by using it
        return Opened(account=session.organization_id, time=time)

    def permissions(self) -> Permissions:
        """What our user may do with each object, as far as the object's definition says.

        Raises:
            ConfigurationRefused: Salesforce cannot be reached.
        """
        granted: set[str] = set()
        for target_object in self._objects:
            definition = self._visible(target_object)
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
        return (*self._of_the_user(), *self._of_what_it_sees(), *self._of_the_history(), *self._of_the_calls())

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

    def _visible(self, target_object: TargetObject) -> Definition | None:
        """The definition of an object, `None` where our user sees none."""
        try:
            return self._definition(target_object)
        except (TargetUnreachable, TargetForeign):
            raise
        except ConfigurationRefused:
            return None

    def _of_the_user(self) -> Iterator[Remark]:
        user_id = self._client.user_id
        if user_id is None:
            return
        says = f"our writes are those of the user {user_id}"
        soql = format_soql(
            "SELECT PermissionSet.PermissionsApiUserOnly FROM PermissionSetAssignment WHERE AssigneeId = {}", user_id
        )
        try:
            told = self._rows(soql, lambda row: bool(row["PermissionSet"]["PermissionsApiUserOnly"]))
        except ConfigurationRefused:
            told = []
        if not told:  # a profile is a permission set too, so whoever sees none is not shown them
            yield Remark(check="user", says=says)
        elif any(told):
            yield Remark(check="user", says=f"{says}, as whom nobody can work in Salesforce by hand")
        else:
            yield Remark(
                check="user",
                says=f"{says}, as whom a person can sign in too, and what a person does so is taken for ours",
                do="give this user to nobody else, and the permission API Only User to it",
            )

    def _of_what_it_sees(self) -> Iterator[Remark]:
        """A record that is not shared with our user looks as if it were not there."""
        user_id, names = self._client.user_id, [OBJECTS[each] for each in self._objects]
        soql = format_soql(
            "SELECT SobjectType, PermissionsViewAllRecords FROM ObjectPermissions WHERE SobjectType IN {names} "
            "AND ParentId IN (SELECT PermissionSetId FROM PermissionSetAssignment WHERE AssigneeId = {user})",
            names=names,
            user=user_id or "",
        )
        try:
            told = self._rows(soql, lambda row: (str(row["SobjectType"]), bool(row["PermissionsViewAllRecords"])))
        except ConfigurationRefused:
            return
        unseen = [name for name in names if (name, False) in told and (name, True) not in told]
        if unseen:
            which = " and ".join(unseen)
            yield Remark(
                check="sees",
                says=f"our user lacks View All on {which}, so that a record that is not shared with it looks absent",
                do=f"give it View All on {which}, unless your org shares every one of them with everybody",
            )

    def _of_the_history(self) -> Iterator[Remark]:
        try:
            names = [OBJECTS[each] for each in self._objects if self._visible(each) is not None]
            untold = [name for name in names if tracked(self._definitions, name, self._deadline()) is None]
        except ConfigurationRefused:  # Salesforce is out of reach, which every other check says
            return
        if untold:
            yield Remark(
                check="history",
                says=f"Salesforce does not tell our user which fields of {' and '.join(untold)} keep their history, "
                "so that none is taken to",
                do="let our user read FieldDefinition (the permission View Setup and Configuration)",
            )

    def _of_the_calls(self) -> Iterator[Remark]:
        budget = self._client.budget()
        if budget.used is None or budget.limit is None:
            return
        says = f"{budget.used} of the org's {budget.limit} calls a day are used"
        if budget.used < SHARE * budget.limit:
            yield Remark(check="calls", says=says)
        else:
            yield Remark(
                check="calls",
                says=f"{says}, and above {SHARE:.0%} ours are sent ever more slowly",
                do="look in Setup, System Overview, who uses them, or have more of them",
            )

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

    def _rows(self, soql: str, read: Callable[[Any], T]) -> list[T]:
        def rows(body: Any, _: Response) -> list[T]:
            return [read(row) for row in body["records"]]

        return ask(self._client, partial(self._client.about_the_org, soql), self._deadline(), rows)

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
