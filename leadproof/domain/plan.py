"""What a planner may say about one lead event."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

MOST_ACTIONS = 20


class ActionKind(StrEnum):
    """The kinds of effect on a CRM record.

    What is decided together about one record is one action. `create` makes the record where it is not there (upsert by
    external id); every other kind addresses a record that exists.
    """

    CREATE = "create"
    QUALIFY = "qualify"
    UPDATE = "update"
    LINK = "link"
    CLEAR_STAGE = "clear_stage"
    SET_STAGE = "set_stage"


class TargetObject(StrEnum):
    """The fixed list of things that an effect can be made on."""

    CONTACT = "contact"
    COMPANY = "company"
    LEAD = "lead"
    MESSAGE = "message"


class Evidence(BaseModel):
    """Where in the source a planner saw the ground for an action."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    source: str = Field(max_length=200)
    says: str = Field(max_length=2000)


class Action(BaseModel):
    """One proposed effect on one record of one target system.

    Attributes:
        fields: our field name to intended value; owners by the policy's name or the target's id, stages by value.
        reason: prose for people; in no key and no fingerprint.
        confidence: 0 to 1 where the planner has one.
        depends_on: ordinals (from 0) of earlier actions of the same plan that must be observed first.
    """

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    kind: ActionKind
    target_system: str = Field(max_length=60)
    target_object: TargetObject = TargetObject.CONTACT
    discriminator: str | None = None
    fields: dict[str, Any]
    reason: str = Field(max_length=2000)
    evidence: tuple[Evidence, ...] = ()
    confidence: float | None = Field(default=None, ge=0, le=1)
    depends_on: tuple[int, ...] = ()


class Plan(BaseModel):
    """All that is proposed for one event; an empty one says that there is nothing to do."""

    model_config = ConfigDict(frozen=True, defer_build=True, extra="forbid")

    summary: str = Field(max_length=2000)
    actions: tuple[Action, ...] = Field(default=(), max_length=MOST_ACTIONS)

    @model_validator(mode="after")
    def _dependencies_point_back(self) -> Self:
        for ordinal, action in enumerate(self.actions):
            for needed in action.depends_on:
                if not 0 <= needed < ordinal:
                    raise ValueError(f"action {ordinal} depends on {needed}, which does not come before it")
        return self


class Verdict(StrEnum):
    """What the guard says of an action."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    FOR_A_PERSON = "for_a_person"


class GuardedAction(BaseModel):
    """An action with the guard's verdict; refused ones stay in the plan with their reason.

    Attributes:
        why: one sentence where the verdict is not *allowed*.
        queue: the review queue of an action for a person.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    action: Action
    verdict: Verdict
    why: str | None = None
    queue: str | None = None


class PlannerInfo(BaseModel):
    """Who planned: evidence kept beside the plan."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    kind: str
    model: str | None = None
    prompt_digest: str | None = None
    policy_digest: str | None = None
    usage: dict[str, Any] | None = None


class RecordedPlan(BaseModel):
    """The plan row of an event under one policy version."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    event_key: str
    policy_version: str
    snapshot: dict[str, Any] | None
    summary: str
    guarded: tuple[GuardedAction, ...]
    planner: PlannerInfo
    planned_at: datetime
