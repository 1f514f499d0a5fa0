"""A record's next state, while a save is at work on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.clock import rfc3339
from sandbox.faults import Fault
from sandbox.salesforce import times
from sandbox.salesforce.ids import Ids
from sandbox.salesforce.people import People
from sandbox.salesforce.record import State
from sandbox.salesforce.schema import Field, Object
from sandbox.salesforce.values import Value, in_history, json_value

OWNER = "OwnerId"
API, UI, FLOW, ASSIGNMENT_RULE, CONVERSION, MERGE = "API", "UI", "FLOW", "ASSIGNMENT_RULE", "CONVERSION", "MERGE"


@dataclass(frozen=True, slots=True)
class Writing:
    """Who writes, and how.

    Args:
        user: whose session it is; what automation does in the same transaction is under this name too.
        source: `API` or `UI`, for the witness.
        assigns: whether assignment rules are to run.
        saves_duplicates: whether the writer has said that a duplicate is meant.
        rewrite: a flow that runs before the save.
    """

    user: str
    source: str = API
    assigns: bool = False
    saves_duplicates: bool = False
    rewrite: Fault | None = None


class Draft:
    """Collects the values, the history and the witness's versions of one save."""

    def __init__(self, kind: Object, state: State, writing: Writing, people: People, ids: Ids) -> None:
        self.kind = kind
        self.state = state
        self._writing = writing
        self._people = people
        self._ids = ids
        self._logged = dict(state.values)

    @property
    def values(self) -> dict[str, Value]:
        return self.state.values

    def put(self, name: str, value: Value, source: str | None = None) -> None:
        """Set a value; an equal one leaves no version."""
        if self.values.get(name) != value or type(self.values.get(name)) is not type(value):
            self.values[name] = value
            self._remember(name, value, source or self._writing.source)

    def seal(self, *, creating: bool) -> None:
        """What every save leaves: the full name, and who saved when."""
        at, user = times.moment(self.state.at), self._writing.user
        names = [str(self.values[name]) for name in ("FirstName", "LastName") if self.values.get(name)]
        self.values["Name"] = " ".join(names) or None
        self.values.update({"LastModifiedDate": at, "SystemModstamp": at, "LastModifiedById": user})
        if creating:
            self.values.update({"CreatedDate": at, "CreatedById": user})

    def note_creation(self) -> None:
        self.note("created")
        self._logged = dict(self.values)

    def note_changes(self, owner_field: str = "Owner") -> None:
        """Rows for what tracked fields were since the last call, and are now."""
        for field in self.kind.fields.values():
            old, new = self._logged.get(field.name), self.values.get(field.name)
            if not field.tracked or old == new:
                continue
            if field.name == OWNER:
                self.note(owner_field, self._named(old), self._named(new), "Text")
                self.note(owner_field, old, new, "EntityId")
            else:
                self.note(field.name, in_history(field, old), in_history(field, new), _data_type(field))
        self._logged = dict(self.values)

    def note(self, name: str, old: Value = None, new: Value = None, data_type: str = "Text") -> None:
        row: dict[str, Value] = {
            "Id": self._ids.new("017"),
            "IsDeleted": False,
            f"{self.kind.name}Id": self.values["Id"],
            "Field": name,
            "DataType": data_type,
            "OldValue": old,
            "NewValue": new,
            "CreatedById": self._writing.user,
            "CreatedDate": times.moment(self.state.at),
        }
        self.state.history = (*self.state.history, row)

    def _remember(self, name: str, value: Value, source: str) -> None:
        version: Mapping[str, Any] = {
            "value": json_value(value),
            "timestamp": rfc3339(self.state.at),
            "sourceType": source,
            "sourceId": self._writing.user,
        }
        self.state.versions[name] = (dict(version), *self.state.versions.get(name, ()))

    def _named(self, owner: Value) -> Value:
        return self._people.name_of(str(owner)) if owner else None


def _data_type(field: Field) -> str:
    return {"boolean": "Boolean", "int": "Integer", "double": "Double", "currency": "Currency"}.get(field.type, "Text")
