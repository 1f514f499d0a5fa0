"""A contact and every state that it has been in."""

from dataclasses import dataclass, field
from typing import Any

from sandbox.clock import rfc3339
from sandbox.hubspot.source import Source

KEPT_STATES = 50
ADDITIONAL_EMAILS = "hs_additional_emails"
MERGED_IDS = "hs_merged_object_ids"


@dataclass(slots=True)
class State:
    """What a contact is between two writes. History is newest first."""

    at: int
    values: dict[str, str] = field(default_factory=dict)
    history: dict[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)
    archived_at: int | None = None
    merged_into: str | None = None

    def next(self, at: int) -> "State":
        following = State(at, dict(self.values), dict(self.history), self.archived_at, self.merged_into)
        following.values["lastmodifieddate"] = rfc3339(at)
        return following

    def put(self, name: str, value: str, source: Source) -> bool:
        """Set a value and remember who did; an equal value changes nothing."""
        if self.values.get(name, "") == value:
            return False
        self.values[name] = value
        self.history[name] = (source.version(value, rfc3339(self.at)), *self.history.get(name, ()))
        return True

    @property
    def live(self) -> bool:
        return self.archived_at is None and self.merged_into is None

    def emails(self) -> list[str]:
        return [mail for mail in (self.values.get("email", ""), *self.additional_emails()) if mail]

    def additional_emails(self) -> list[str]:
        return [mail for mail in self.values.get(ADDITIONAL_EMAILS, "").split(";") if mail]

    def merged_ids(self) -> list[str]:
        return [record for record in self.values.get(MERGED_IDS, "").split(";") if record]


@dataclass(slots=True)
class Contact:
    id: str
    created_at: int
    states: list[State]

    @property
    def now(self) -> State:
        return self.states[-1]

    @property
    def before(self) -> State | None:
        """The state before the last write; none if that write created the contact."""
        return self.states[-2] if len(self.states) > 1 else None

    def as_of(self, moment: int) -> State | None:
        return next((state for state in reversed(self.states) if state.at <= moment), None)

    def become(self, state: State) -> None:
        self.states.append(state)
        del self.states[:-KEPT_STATES]
