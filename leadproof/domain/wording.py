"""Our names in the words of people: reasons, states, decisions, who changed a value, and the values. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from leadproof.domain.attribution import IN_OUR_WRITE, US
from leadproof.domain.field_catalog import OWNER
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.review import Decision

Owners = Mapping[str, str]
"""The policy's names of a target's owners, by the target's id."""

_REASONS: Final[Mapping[str, str]] = {
    Reason.NEEDS_APPROVAL: "needs approval",
    Reason.WAITS: "waits for its record",
    Reason.CHANGED_BEFORE_WRITE: "changed before the write",
    Reason.OVERWROTE_UNSEEN_EDIT: "our write replaced an edit",
    Reason.MERGED: "record merged",
    Reason.REMOVED: "record removed",
    Reason.SEVERAL: "several records fit",
    Reason.TARGET_REFUSES_US: "target refuses us",
    Reason.REFUSES_THIS: "target refuses this write",
    Reason.KEY_CONFLICT: "key conflict",
    Reason.RUN_FAILED: "run failed",
    Reason.SOURCE_DOWN: "source cannot be read",
    Reason.PLANNER: "no plan",
    Status.UNCERTAIN: "write not confirmed",
    Status.DIVERGENT: "record differs",
    Status.REJECTED: "target refused the write",
}

_STATUS: Final[Mapping[Status, str]] = {
    Status.RESERVED: "not written yet",
    Status.SUBMITTED: "being written",
    Status.OBSERVED: "written and read back",
    Status.UNCERTAIN: "not confirmed",
    Status.DIVERGENT: "the record differs",
    Status.REJECTED: "refused by the target",
    Status.SUPERSEDED: "settled by a decision",
    Status.ABANDONED: "given up",
}

_SYSTEMS: Final[Mapping[str, str]] = {"hubspot": "HubSpot", "salesforce": "Salesforce"}
_UNITS: Final = ((86_400, "day", "days"), (3_600, "h", "h"), (60, "min", "min"))


def reason_in_words(reason: str) -> str:
    """A question's or a mutation's reason, for a label."""
    return _REASONS.get(reason) or plain(reason)


def decision_in_words(decision: str, reason: str) -> str:
    """A decision, as its button names it: what was never begun is declined, and not abandoned.

    Args:
        reason: of the question.
    """
    if decision == Decision.ABANDON and reason == Reason.NEEDS_APPROVAL:
        return "decline"
    return plain(decision)


def status_in_words(mutation: Mutation) -> str:
    """Where a mutation stands."""
    if mutation.status is Status.SUPERSEDED:
        return "gave way to a newer event" if mutation.reason is Reason.NEWER_EVENT else _STATUS[mutation.status]
    told = mutation.reason is None or mutation.reason is Reason.REFUSES_THIS  # "refused" says it
    because = f" ({reason_in_words(mutation.reason)})" if not told and mutation.reason is not None else ""
    return f"{_STATUS[mutation.status]}{because}"


def system_in_words(system: str) -> str:
    """A system by the name that its maker gives it."""
    return _SYSTEMS.get(system, system)


def plain(name: str) -> str:
    """A name of ours as people write it."""
    return name.replace("_", " ")


def lasting(span: timedelta) -> str:
    """A span of time in its largest whole unit; a negative one as if it were positive."""
    seconds = abs(span).total_seconds()
    for size, one, several in _UNITS:
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {one if number == 1 else several}"
    return "less than a minute"


def value_in_words(field: str, value: Any, owners: Owners) -> str:
    """A value: an owner by the policy's name of it, a list with commas, and nothing as `(empty)`."""
    if value is None or value == "":
        return "(empty)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(str(part) for part in value)
    name = owners.get(value) if field == OWNER and isinstance(value, str) else None
    return name if name is not None else str(value)


def author(by: str | None, owners: Owners) -> str:
    """Who made a value, as `Difference.changed_by` has it."""
    if by is None:
        return "unknown"
    if by == US:
        return "us"
    if by == IN_OUR_WRITE:
        return "automation, in our own write"
    kind, _, name = by.partition(":")
    if kind == "person":
        known = owners.get(name)
        return _capital(known) if known is not None else f"person {name}"
    if kind == "integration":
        return f"another integration ({name})" if name else "another integration"
    return f"{kind} ({name})" if name else kind


def reviewer_in_words(reviewer: str) -> str:
    """Who decided, as the ledger names them; of a signal that Temporal knows no sender of, that it does not."""
    return "somebody not named" if reviewer == _UNNAMED else reviewer


_UNNAMED: Final = "temporal:unknown"


def event_in_words(event_kind: str, changed_field: str | None) -> str:
    """What happened, which tells events of one record apart."""
    if changed_field is not None:
        return f"{plain(changed_field)} set"
    subject, _, what = event_kind.partition(".")
    return plain(f"{subject} {_HAPPENED.get(what, what)}".strip())


_HAPPENED: Final[Mapping[str, str]] = {"creation": "created", "merge": "merged", "restore": "restored"}


def lead_in_words(fields: Mapping[str, Any]) -> str | None:
    """A lead in a few words: the name and the company, else how it can be reached."""
    person = " ".join(str(fields[name]) for name in ("first_name", "last_name") if fields.get(name))
    parts = [part for part in (person, fields.get("company")) if part]
    parts = parts or [fields[name] for name in ("email", "phone") if fields.get(name)][:1]
    return ", ".join(str(part) for part in parts) or None


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
