"""What a question says to a person: what each decision will do in this case, who changed a value, and why it is asked.

Pure, and for people who may see the lead: values of fields stand in these sentences.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from typing import Any, Final

from leadproof.domain.attribution import IN_OUR_WRITE, US
from leadproof.domain.derivation import derived_fields, shown_fields
from leadproof.domain.field_catalog import OWNER
from leadproof.domain.mutation import Difference, Mutation, Reason, Status
from leadproof.domain.review import Decision

MOST_OF_A_VALUE: Final = 80
"""So many characters of a value stand in a sentence; the tables show all of it."""

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

_LEFT: Final[Mapping[str, str]] = {
    Reason.MERGED: "Leave the merged record as it is",
    Reason.REMOVED: "Leave the record removed",
    Reason.SEVERAL: "Leave the records as they are",
}
"""What accepting means where it is not about values."""

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


def what_it_does(
    mutation: Mutation | None,
    allowed: Iterable[Decision | str],
    *,
    owners: Owners | None = None,
    dependents: int = 0,
    stage_first: Collection[Decision] = (),
    planned: bool = False,
) -> dict[Decision, str]:
    """One sentence per allowed decision: what it will do in this case.

    Args:
        mutation: what the question is about; `None` for a question about an event.
        dependents: how many effects of the lead depend on this one and are not final.
        stage_first: decisions that take two writes, since the stage has to be emptied first.
        planned: a plan is recorded for the event; it is never planned anew.
    """
    chosen = {Decision(one) for one in allowed}
    ordered = [one for one in Decision if one in chosen]
    if mutation is None:
        of_it = _OF_AN_EVENT | _OF_A_PLANNED_EVENT if planned else _OF_AN_EVENT
        return {one: of_it[one] for one in ordered if one in of_it}
    if mutation.intended_state is None:
        return dict.fromkeys(ordered, "Close the question; what it was about is no longer kept")
    told = _Telling(mutation, owners or {}, dependents)
    said = {one: told.sentence(one) for one in ordered}
    return {one: text + _TWO_WRITES if one in stage_first else text for one, text in said.items()}


_OF_AN_EVENT: Final = {
    Decision.PLAN_AGAIN: "Read the lead again and plan it from the beginning",
    Decision.ABANDON: "Give the lead up; nothing more is written for it",
}
_OF_A_PLANNED_EVENT: Final = {Decision.PLAN_AGAIN: "Read the lead again and go on with the plan that is recorded"}
_TWO_WRITES: Final = "; the stage moves backward, so it is emptied first, which makes two writes"


class _Telling:
    """The sentences about one mutation."""

    def __init__(self, mutation: Mutation, owners: Owners, dependents: int) -> None:
        self._mutation = mutation
        self._owners = owners
        self._dependents = dependents

    def sentence(self, decision: Decision) -> str:
        if decision is Decision.APPROVE:
            return f"{self._write()}, after one more look that nobody changed it"
        if decision is Decision.RETRY:
            return f"Read the record again, and send once more: {self._values(self._mutation.intent.fields)}"
        if decision is Decision.ACCEPT:
            return f"{self._kept()}; nothing is written; counted as settled{self._skipped()}"
        if decision is Decision.OVERWRITE:
            return self._overwrite()
        if decision is Decision.RESTORE:
            return f"Put back {self._lost_by()}: {self._beside(self._fields(decision))}"
        return self._given_up()

    def _write(self) -> str:
        mutation = self._mutation
        record = mutation.provider_record_id or mutation.intent.record.provider_record_id
        values = self._values(mutation.intent.fields)
        if mutation.intent.creates and record is None:
            return f"Make the {mutation.target_object} in {mutation.target_system} with {values}"
        return f"Write {values} to {mutation.target_system} {mutation.target_object} {record or ''}".rstrip()

    def _kept(self) -> str:
        mutation = self._mutation
        if mutation.reason is not None and mutation.reason in _LEFT:
            return _LEFT[mutation.reason]
        if mutation.reason is Reason.OVERWROTE_UNSEEN_EDIT:
            return f"Keep what we wrote; {self._lost_by()} stays replaced"
        authors = list(dict.fromkeys(self._possessive(one) for one in mutation.differences))
        if len(authors) != 1 or not mutation.differences:
            return "Keep the record as it stands"
        fields = ", ".join(plain(one.field) for one in mutation.differences)
        return f"Keep {authors[0]} ({fields})"

    def _overwrite(self) -> str:
        fields, shown = self._fields(Decision.OVERWRITE), shown_fields(self._mutation) or {}
        if all(name in shown and shown[name] == value for name, value in fields.items()):
            values = self._values(fields)
            return f"Send {values} once more, though it stands so already; accept settles it without a write"
        return f"Write {self._beside(fields)}"

    def _lost_by(self) -> str:
        lost = derived_fields(self._mutation, Decision.RESTORE)
        differences = [one for one in self._mutation.differences if one.field in lost]
        authors = list(dict.fromkeys(self._possessive(one) for one in differences))
        return authors[0] if len(authors) == 1 else "the earlier values"

    def _possessive(self, difference: Difference) -> str:
        by = difference.changed_by or ""
        if by.startswith("person:"):
            return f"{author(by, self._owners)}'s change"
        if by == US:
            return "our own write"
        return f"the change by {author(by, self._owners)}" if by else "what stands there"

    def _given_up(self) -> str:
        mutation = self._mutation
        counted = f"; counted as given up{self._skipped()}"
        if mutation.status is Status.RESERVED:
            verb = "Decline it" if mutation.reason is Reason.NEEDS_APPROVAL else "Give it up"
            return f"{verb}; nothing is written{counted}"
        if mutation.status is Status.UNCERTAIN:
            unknown = "; whether the earlier write arrived stays unknown"
            return f"Give it up; nothing more is written{unknown}{counted}"
        return f"Give it up; nothing more is written{counted}"

    def _skipped(self) -> str:
        if not self._dependents:
            return ""
        if self._dependents == 1:
            return ", and 1 write that depends on it is skipped"
        return f", and {self._dependents} writes that depend on it are skipped"

    def _fields(self, decision: Decision) -> dict[str, Any]:
        return derived_fields(self._mutation, decision)

    def _beside(self, fields: Mapping[str, Any]) -> str:
        """What is written over what stands; what stands already is not worth a sentence."""
        shown = shown_fields(self._mutation) or {}
        changing = {name: value for name, value in fields.items() if name not in shown or shown[name] != value}
        if not changing:
            return f"{self._values(fields)} once more; it stands so already"
        parts = [
            f"{self._value(name, value)} over what stands (now: {self._short(name, shown[name])})"
            if name in shown
            else f"{self._value(name, value)} over what stands"
            for name, value in changing.items()
        ]
        return ", ".join(parts)

    def _values(self, fields: Mapping[str, Any]) -> str:
        return ", ".join(self._value(name, value) for name, value in fields.items()) or "nothing"

    def _value(self, name: str, value: Any) -> str:
        return f"{plain(name)} = {self._short(name, value)}"

    def _short(self, name: str, value: Any) -> str:
        text = value_in_words(name, value, self._owners)
        return text if len(text) <= MOST_OF_A_VALUE else f"{text[: MOST_OF_A_VALUE - 1]}…"


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
