"""What each decision will do: in the words of a case, for people who may see the lead, and without any value. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from leadproof.domain.attribution import US
from leadproof.domain.derivation import derived_fields, shown_fields
from leadproof.domain.mutation import Difference, Mutation, Reason, Status
from leadproof.domain.review import Decision
from leadproof.domain.wording import Owners, author, plain, value_in_words

MOST_OF_A_VALUE: Final = 80
"""So many characters of a value stand in a sentence; the tables show all of it."""

_LEFT: Final[Mapping[str, str]] = {
    Reason.MERGED: "Leave the merged record as it is",
    Reason.REMOVED: "Leave the record removed",
    Reason.SEVERAL: "Leave the records as they are",
}
"""What accepting means where it is not about values."""

_IN_GENERAL: Final = {
    Decision.APPROVE: "it may be written, after one more look that nobody changed the record",
    Decision.RETRY: "the record is read again, then it is sent once more under the same key",
    Decision.ACCEPT: "what stands in the record stays; nothing is written",
    Decision.OVERWRITE: "what we intended is written over what stands, unless that has moved since it was shown",
    Decision.RESTORE: "what our write replaced unseen is put back",
    Decision.ABANDON: "it is given up, nothing more is written, and what depends on it is skipped",
    Decision.PLAN_AGAIN: "the lead is read again, and planned from the beginning unless a plan is recorded",
}


def in_general(decision: Decision) -> str:
    """What a decision does, for those who may not see the values of the case."""
    return _IN_GENERAL[decision]


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
