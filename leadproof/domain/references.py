"""A value that only another effect's outcome gives: the id of the record that an earlier action of the plan is about.

A reference has one form and stands in place of a value. It names a step of the rule in the policy (`salesforce lead`),
an action's ordinal in a plan, and a mutation's key in an intent and its fingerprint. It becomes the record's id in the
attempt, never before and never on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

RECORD_ID_OF: Final = "record_id_of"

Reference = dict[str, int | str]


class Effect(Protocol):
    """What of a mutation names its record."""

    @property
    def mutation_key(self) -> str: ...

    @property
    def parent_key(self) -> str | None: ...

    @property
    def provider_record_id(self) -> str | None: ...


def reference(to: int | str) -> Reference:
    """A reference to the record of a step, an action or a mutation."""
    return {RECORD_ID_OF: to}


def referred(value: object) -> int | str | None:
    """What a value refers to; `None` where it is no reference."""
    if not isinstance(value, dict) or value.keys() != {RECORD_ID_OF}:
        return None
    to = value[RECORD_ID_OF]
    return to if isinstance(to, int | str) and not isinstance(to, bool) else None


def references_in(fields: Mapping[str, object]) -> dict[str, int | str]:
    """The fields that hold a reference, with what each refers to."""
    found = {name: referred(value) for name, value in fields.items()}
    return {name: to for name, to in found.items() if to is not None}


def told(value: object) -> str | None:
    """A reference in words, for people; `None` where the value is none."""
    to = referred(value)
    if to is None:
        return None
    return f"the id of the record of {f'action {to}' if isinstance(to, int) else to[:12]}"


def resolved(fields: Mapping[str, Any], effects: Iterable[Effect]) -> dict[str, Any]:
    """The fields with each reference replaced by the id of the record; one that is not known yet stays a reference.

    Args:
        effects: the mutations of the event.
    """
    known = tuple(effects)
    ids = {name: _record_id(to, known) for name, to in references_in(fields).items()}
    return {**fields, **{name: record_id for name, record_id in ids.items() if record_id is not None}}


def _record_id(key: int | str, effects: tuple[Effect, ...]) -> str | None:
    """The record of a mutation; of one that was answered by a derived one, the record of that one, which is another
    where records were merged in between."""
    derived = (_record_id(one.mutation_key, effects) for one in effects if one.parent_key == key)
    answered = next((record_id for record_id in derived if record_id is not None), None)
    if answered is not None:
        return answered
    return next((one.provider_record_id for one in effects if one.mutation_key == key), None)
