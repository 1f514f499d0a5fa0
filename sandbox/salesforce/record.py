"""A record and every state that it has been in."""

from dataclasses import dataclass, field
from typing import Any

from sandbox.salesforce.values import Value

KEPT_STATES = 50
MERGED_INTO = "MasterRecordId"


@dataclass(slots=True)
class State:
    """What a record is between two writes.

    `history` is what Salesforce tells of it, oldest first: rows of LeadHistory, of tracked fields only. `versions` is
    what a witness tells: every value of every field, newest first.
    """

    at: int
    values: dict[str, Value] = field(default_factory=dict)
    history: tuple[dict[str, Value], ...] = ()
    versions: dict[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)

    def next(self, at: int) -> "State":
        return State(at, dict(self.values), self.history, dict(self.versions))

    @property
    def live(self) -> bool:
        return not self.values["IsDeleted"]

    @property
    def merged_into(self) -> str | None:
        master = self.values.get(MERGED_INTO)
        return str(master) if master else None


@dataclass(slots=True)
class Record:
    id: str
    kind: str
    created_at: int
    states: list[State]

    @property
    def now(self) -> State:
        return self.states[-1]

    @property
    def before(self) -> State | None:
        """The state before the last write; none if that write created the record."""
        return self.states[-2] if len(self.states) > 1 else None

    def become(self, state: State) -> None:
        self.states.append(state)
        del self.states[:-KEPT_STATES]
