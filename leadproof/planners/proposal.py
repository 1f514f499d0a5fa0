"""A model's answer read as a plan: strictly in its form, and without a judgement on what it proposes.

The API holds an answer to the schema, but nothing here relies on it. What has the form of a plan becomes one, also
where a value or a field is none of the offered: the guard refuses it by name, so that it stays to be seen.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leadproof import strict_json
from leadproof.domain.errors import MalformedDelivery, MalformedPlan
from leadproof.domain.events import LeadSnapshot
from leadproof.domain.plan import MOST_ACTIONS, Action, ActionKind, Evidence, Plan, TargetObject
from leadproof.domain.policy import Policy
from leadproof.planners.about_the_lead import said_of_the_person

_LONGEST_PROSE: Final = 2000
_MOST_EVIDENCE: Final = 20
_NAME: Final = r"^[a-z][a-z0-9_]{0,59}$"
_FORM: Final = ConfigDict(frozen=True, extra="forbid", strict=True)

_Sets = Annotated[list["_Set"], Field(max_length=100)]


class _Set(BaseModel):
    model_config = _FORM

    field: str = Field(pattern=_NAME)
    value: str | bool | int | float | list[str] | None


class _Seen(BaseModel):
    model_config = _FORM

    field: str
    says: str


class _Proposed(BaseModel):
    model_config = _FORM

    action: str
    sets: _Sets
    reason: str
    evidence: list[_Seen]


class _Answer(BaseModel):
    model_config = _FORM

    summary: str
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)
    actions: list[_Proposed] = Field(max_length=MOST_ACTIONS)


def plan_of(text: str, snapshot: LeadSnapshot, policy: Policy) -> Plan:
    """The plan in a model's answer.

    A create gets, besides what the model sets, what the lead says about the person: the model is not shown all of it.

    Raises:
        MalformedPlan: the text is not exactly one JSON document of the schema's form; nothing of it is repeated.
    """
    answer = _read(text)
    return Plan(
        summary=answer.summary[:_LONGEST_PROSE],
        actions=tuple(_action(one, answer.confidence, snapshot, policy) for one in answer.actions),
    )


def _read(text: str) -> _Answer:
    try:
        document = strict_json.read(text.encode("utf-8"))
        strict_json.check(document)
    except (MalformedDelivery, UnicodeEncodeError):
        raise MalformedPlan("the model's answer is not one clean JSON document; have the event planned again") from None
    try:
        return _Answer.model_validate(document)
    except ValidationError as error:
        where = _place(error)
        raise MalformedPlan(
            f"the model's answer does not have the form of a plan ({where}); have the event planned again"
        ) from None


def _place(error: ValidationError) -> str:
    """Where the first fault is, in names of ours: names that a model made up are not repeated."""
    known = {*_Answer.model_fields, *_Proposed.model_fields, *_Set.model_fields, *_Seen.model_fields}
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]["loc"]
    return ".".join(str(part) for part in first if isinstance(part, int) or part in known) or "the top"


def _action(one: _Proposed, confidence: float, snapshot: LeadSnapshot, policy: Policy) -> Action:
    kind, target, target_object = _named(one.action)
    fields: dict[str, Any] = {entry.field: entry.value for entry in one.sets}
    if len(fields) != len(one.sets):
        raise MalformedPlan("the model's answer sets a field twice in one action; have the event planned again")
    if kind is ActionKind.CREATE:
        fields = {**said_of_the_person(snapshot, policy, target, target_object), **fields}
    return Action(
        kind=kind,
        target_system=target,
        target_object=target_object,
        fields=fields,
        reason=one.reason[:_LONGEST_PROSE],
        evidence=tuple(_evidence(seen, snapshot) for seen in one.evidence[:_MOST_EVIDENCE]),
        confidence=confidence,
    )


def _named(action: str) -> tuple[ActionKind, str, TargetObject]:
    kind, _, rest = action.partition(" ")
    target, _, target_object = rest.partition(" ")
    if kind in set(ActionKind) and re.fullmatch(_NAME, target) and target_object in set(TargetObject):
        return ActionKind(kind), target, TargetObject(target_object)
    raise MalformedPlan("the model's answer proposes a kind of action that there is not; look at the lead's own text")


def _evidence(seen: _Seen, snapshot: LeadSnapshot) -> Evidence:
    place = f"{snapshot.source_system} {snapshot.source_object} {snapshot.source_record_id}, {seen.field}"
    return Evidence(source=place[:200], says=seen.says[:_LONGEST_PROSE])
