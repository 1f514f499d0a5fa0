"""What an org says of its objects, its users and the history that it keeps: asked once, and kept for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from leadproof.crm.salesforce_client import SalesforceClient, format_soql
from leadproof.crm.salesforce_question import ask
from leadproof.deadline import Deadline
from leadproof.domain.errors import ConfigurationRefused, TargetForeign, TargetUnreachable
from leadproof.domain.salesforce_ids import salesforce_id

KEPT_SECONDS: Final = 600.0
"""A field that an administrator changes is seen after this time; what is refused by an older definition is looked at
again first."""

REFUSED_SECONDS: Final = 60.0
"""What is refused is not asked again for so long: such a question is one of the org's calls, too."""

OUTDATED_SECONDS: Final = 3600.0
"""What an org said of itself is taken as it was for so long, where it cannot be asked."""

HISTORIES: Final = "Histories"
"""What the history of a lead or a contact is called as a part of its record."""

LONGEST_IN_HISTORY: Final = 255
"""A longer field's history says that it changed and not to what."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a picklist."""

    value: str
    label: str
    active: bool


@dataclass(frozen=True, slots=True)
class Field:
    """Salesforce's own definition of a field.

    Attributes:
        length: characters at most; 0 for what is no text.
        required: a record cannot be made without a value of ours.
        clearable: it may be empty.
        restricted: values other than the active choices are refused.
    """

    name: str
    type: str
    length: int
    createable: bool
    updateable: bool
    required: bool
    clearable: bool
    unique: bool
    case_sensitive: bool
    external_id: bool
    restricted: bool
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """Of an object: what our user may do with it, and its fields by their names without case.

    Attributes:
        histories: its records have a field history that can be asked for with them.
    """

    name: str
    createable: bool
    updateable: bool
    queryable: bool
    histories: bool
    fields: Mapping[str, Field]

    def field(self, name: str) -> Field | None:
        return self.fields.get(name.casefold())


class Definitions:
    """Reads definitions and keeps them. Threads may share it.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, client: SalesforceClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], tuple[float, Any]] = {}
        self._refused: dict[tuple[str, str], tuple[float, str]] = {}

    def of(self, name: str, deadline: Deadline, *, age: float = KEPT_SECONDS) -> Definition:
        """The definition of an object.

        Args:
            name: Salesforce's name of the object.
            age: seconds that it may be old.

        Raises:
            ConfigurationRefused: Salesforce cannot be reached, refuses us, or answers what is no definition.
        """

        def describe() -> Definition:
            return ask(
                self._client,
                lambda within: self._client.definition(name, within),
                deadline,
                lambda body, _: _definition(body),
            )

        found: Definition = self._recent(("object", name), age, describe)
        return found

    def tracked(self, name: str, deadline: Deadline) -> frozenset[str]:
        """The fields of an object, without case, whose history tells every value.

        Raises:
            ConfigurationRefused: as for `of`.
        """

        def look() -> frozenset[str]:
            soql = format_soql(
                "SELECT QualifiedApiName FROM FieldDefinition "
                "WHERE EntityDefinition.QualifiedApiName = {} AND IsFieldHistoryTracked = true",
                name,
            )
            names = self._select(soql, deadline, lambda row: str(row["QualifiedApiName"]).casefold())
            definition = self.of(name, deadline)
            return frozenset(
                one for one in names if (field := definition.field(one)) and field.length <= LONGEST_IN_HISTORY
            )

        found: frozenset[str] = self._recent(("history", name), KEPT_SECONDS, look)
        return found

    def user_is_active(self, user_id: str, deadline: Deadline, *, age: float = KEPT_SECONDS) -> bool | None:
        """Whether a user is active; `None` where Salesforce has no such user.

        Raises:
            ConfigurationRefused: as for `of`.
        """
        soql = format_soql("SELECT Id, IsActive FROM User WHERE Id = {}", user_id)

        def look() -> bool | None:
            rows = self._select(soql, deadline, lambda row: bool(row["IsActive"]))
            return rows[0] if rows else None

        found: bool | None = self._recent(("active", user_id), age, look)
        return found

    def user_types(self, user_ids: frozenset[str], deadline: Deadline) -> dict[str, str]:
        """What kind of user each of them is, as far as Salesforce tells; a user's kind is kept for good, and for a
        while that it tells none.

        Raises:
            ConfigurationRefused: as for `of`.
        """
        now = self._clock()
        with self._lock:
            kept = {one: self._kept["user", one] for one in user_ids if ("user", one) in self._kept}
        known: dict[str, str | None] = {
            one: kind for one, (at, kind) in kept.items() if kind is not None or now - at < KEPT_SECONDS
        }
        missing = sorted(user_ids - known.keys())
        if missing:
            soql = format_soql("SELECT Id, UserType FROM User WHERE Id IN {}", missing)
            found = dict(self._select(soql, deadline, lambda row: (salesforce_id(row["Id"]), str(row["UserType"]))))
            with self._lock:
                told = {**dict.fromkeys(missing), **found}
                self._kept.update({("user", one): (now, kind) for one, kind in told.items()})
            known |= found
        return {one: kind for one, kind in known.items() if kind is not None}

    def _select(self, soql: str, deadline: Deadline, read: Callable[[Any], Any]) -> list[Any]:
        return ask(
            self._client,
            lambda within: self._client.about_the_org(soql, within),
            deadline,
            lambda body, _: [read(row) for row in body["records"]],
        )

    def _recent(self, key: tuple[str, str], age: float, look: Callable[[], Any]) -> Any:
        """What is kept, or a fresh look; two threads that look at once both ask, and either may be kept.

        Where the org does not answer for a moment, what it said before counts, unless a fresh look is asked for: a plan
        is made once, and must not say for good that there is no history.

        Raises:
            ConfigurationRefused: a moment ago or now.
        """
        with self._lock:
            kept, refused = self._kept.get(key), self._refused.get(key)
        if kept is not None and self._clock() - kept[0] < age:
            return kept[1]
        try:
            if refused is not None and self._clock() - refused[0] < min(age, REFUSED_SECONDS):
                raise ConfigurationRefused(refused[1])
            found = self._looked(key, look)
        except ConfigurationRefused:
            if kept is None or age < KEPT_SECONDS or self._clock() - kept[0] >= OUTDATED_SECONDS:
                raise
            return kept[1]
        with self._lock:
            self._kept[key] = (self._clock(), found)
        return found

    def _looked(self, key: tuple[str, str], look: Callable[[], Any]) -> Any:
        try:
            return look()
        except (TargetUnreachable, TargetForeign):
            raise
        except ConfigurationRefused as refusal:
            with self._lock:
                self._refused[key] = (self._clock(), str(refusal))
            raise


def _definition(body: Any) -> Definition:
    fields = [_field(one) for one in body["fields"]]
    return Definition(
        name=str(body["name"]),
        createable=bool(body["createable"]),
        updateable=bool(body["updateable"]),
        queryable=bool(body.get("queryable", True)),
        histories=any(one.get("relationshipName") == HISTORIES for one in body["childRelationships"]),
        fields=MappingProxyType({field.name.casefold(): field for field in fields}),
    )


def _field(one: Any) -> Field:
    kind = str(one["type"])
    optional = bool(one["nillable"]) or bool(one.get("defaultedOnCreate")) or kind == "boolean"
    return Field(
        name=str(one["name"]),
        type=kind,
        length=int(one.get("length") or 0),
        createable=bool(one["createable"]),
        updateable=bool(one["updateable"]),
        required=bool(one["createable"]) and not optional,
        clearable=bool(one["nillable"]),
        unique=bool(one.get("unique")),
        case_sensitive=bool(one.get("caseSensitive")),
        external_id=bool(one.get("externalId")),
        restricted=bool(one.get("restrictedPicklist")),
        choices=tuple(
            Choice(value=str(choice["value"]), label=str(choice.get("label") or ""), active=bool(choice["active"]))
            for choice in one.get("picklistValues") or ()
        ),
    )
