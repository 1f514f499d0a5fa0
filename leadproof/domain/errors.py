"""The errors of the domain, by name. Every text is one sentence for a person and carries no personal data."""

from __future__ import annotations


class LeadproofError(Exception):
    """Base of everything that this project raises on purpose."""


class MalformedKey(LeadproofError):
    """An ingredient of a key is missing or unusable.

    Attributes:
        field: name of the ingredient.
    """

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"the key ingredient {field!r} {why}")
        self.field = field


class MalformedValue(LeadproofError):
    """A value cannot be read as its field's declared type.

    Attributes:
        field_type: the declared type. The value itself is left out: it may be personal.
    """

    def __init__(self, field_type: str, why: str) -> None:
        super().__init__(f"a value cannot be read as {field_type}: {why}")
        self.field_type = field_type


class MalformedPlan(LeadproofError):
    """A plan that cannot be recorded at all, as opposed to one whose actions the guard refuses."""


class PlannerRefused(LeadproofError):
    """The planner gives no plan for this event, and asking again would not change that: a person is asked."""


class PlannerUnavailable(LeadproofError):
    """The planner gives no plan now.

    Attributes:
        retry_after_seconds: how long it asks us to wait, where it says so.
    """

    def __init__(self, why: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(why)
        self.retry_after_seconds = retry_after_seconds


class MalformedDelivery(LeadproofError):
    """A delivery that is unusable as a whole."""


class MalformedDecision(LeadproofError):
    """What was sent as a decision is none."""


class PolicyRefused(LeadproofError):
    """A policy that must not be loaded.

    Attributes:
        line: line of the policy's text, from 1, where the fault is; `None` where no single line is wrong.
    """

    def __init__(self, why: str, line: int | None = None) -> None:
        where = f"line {line} of the policy" if line is not None else "the policy"
        super().__init__(f"{where}: {why}")
        self.line = line
        self.why = why


class IllegalTransition(LeadproofError):
    """A mutation was asked to move where the table of transitions does not lead."""


class KeyConflict(LeadproofError):
    """The same key with another fingerprint: nothing is written, neither the old nor the new payload is used."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key} already stands for another payload")
        self.key = key


class LedgerUnavailable(LeadproofError):
    """The ledger did not answer in time; nothing can be decided without it."""


class LedgerOutdated(LeadproofError):
    """The ledger's schema is older than this code."""


class NotFound(LeadproofError):
    """Nothing stands under this key."""


class ConfigurationRefused(LeadproofError):
    """A setting without which the process cannot work is missing or wrong."""


class TargetUnreachable(ConfigurationRefused):
    """A target gave no answer at all: nothing is said of credentials."""


class TargetForeign(ConfigurationRefused):
    """What answers under a target's address does not speak as the target does: its address may be another one's."""
