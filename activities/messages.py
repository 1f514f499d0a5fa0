"""What workflows and activities tell each other. Durable: these models only ever gain optional fields."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from leadproof.domain.events import Lead, LeadSnapshot, Outcome
from leadproof.domain.mutation import Reason
from leadproof.domain.progress import MutationView, Unstored
from leadproof.domain.review import DecisionVerdict, ReviewItem

_FROZEN = ConfigDict(frozen=True, defer_build=True)


class LeadView(BaseModel):
    """A lead's row without personal fields: what the status query answers."""

    model_config = _FROZEN

    event_key: str
    tenant: str
    environment: str
    source_system: str
    event_kind: str
    occurred_at: datetime
    policy_version: str
    outcome: Outcome
    run: int
    workflow_id: str
    deliveries: int = 1
    conflicts: int = 0
    first_seen_at: datetime
    last_seen_at: datetime

    @classmethod
    def of(cls, lead: Lead) -> LeadView:
        return cls.model_validate(lead.model_dump(include=set(cls.model_fields)))


class ReadingKind(StrEnum):
    """*ready*: the source was read. *planned*: a plan is recorded, nothing was read. *later*: the record can't be read
    yet. *closed*: the event has its final outcome. *unknown*: no ledger whose worker was asked knows the key."""

    READY = "ready"
    PLANNED = "planned"
    LATER = "later"
    CLOSED = "closed"
    UNKNOWN = "unknown"


class Reading(BaseModel):
    """What reading the source gave; `lead` is missing only where the key is unknown.

    Attributes:
        at: of *later*: when to read again, giving `missed` back: when the record was not found so far.
    """

    model_config = _FROZEN

    kind: ReadingKind
    lead: LeadView | None = None
    snapshot: LeadSnapshot | None = None
    at: datetime | None = None
    missed: tuple[datetime, ...] = ()


class ActionView(BaseModel):
    """One action of a plan, without its values.

    Attributes:
        why: what the guard said of it, where it is for a person: a text of the policy or of ours.
        evidence: names of the fields that it was planned on.
    """

    model_config = _FROZEN

    why: str | None = None
    evidence: tuple[str, ...] = ()


class PlanView(BaseModel):
    """A plan as a run shows it; nothing that a lead or a model wrote.

    Attributes:
        planner: `rules`, or the kind of planner and its model.
        because: the rule that held and its reason, which are the policy's; `None` where a model planned.
        record: the source record in the source's own id, where a CRM is the source.
        actions: in the plan's order; a mutation's `ordinal` is its place.
    """

    model_config = _FROZEN

    planner: str
    because: str | None = None
    record: str | None = None
    actions: tuple[ActionView, ...] = ()


class PlanCommand(BaseModel):
    model_config = _FROZEN

    event_key: str
    snapshot: LeadSnapshot | None = None


class Book(BaseModel):
    """Where a lead's mutations stand.

    Attributes:
        views: the mutations that changed; all of them where `whole`.
        event_review: the open review item of the event itself.
        problem: why the event could not be planned; a person is asked.
        wake: workflow ID of a lead that waits for a record which this step freed; `also_wake`: the same of further
            records.
        plan: with the answer to planning, where there is a plan.
        review_page: where people find questions: each has a page of its own behind it.
    """

    model_config = _FROZEN

    outcome: Outcome
    views: tuple[MutationView, ...] = ()
    whole: bool = True
    event_review: ReviewItem | None = None
    problem: Reason | None = None
    wake: str | None = None
    also_wake: tuple[str, ...] = ()
    plan: PlanView | None = None
    review_page: str | None = None


class WriteCommand(BaseModel):
    """One attempt, by the run's own reading of the row."""

    model_config = _FROZEN

    mutation_key: str
    version: int
    number: int
    alone: bool = False


class LookCommand(BaseModel):
    """A look, and first the answer of the attempt before it, where the ledger was not there to store it."""

    model_config = _FROZEN

    mutation_key: str
    alone: bool = False
    unstored: Unstored | None = None


class AskCommand(BaseModel):
    """A question for a person: about a mutation, or about the event where `mutation_key` is `None`.

    Attributes:
        why: of a question about the event, our own sentence about what failed; nothing personal.
    """

    model_config = _FROZEN

    event_key: str
    mutation_key: str | None = None
    reason: Reason
    why: str | None = None


class DecideCommand(BaseModel):
    """What was sent as a decision, as it arrived.

    Attributes:
        sent: the positional arguments; `None` asks to apply what is pending in the ledger.
        via: `signal` or `update`.
        place: position among the run's signals, from 0, or the update's id: tells whose it was.
        sender: the identity that Temporal recorded, for what came without the starter's proof.
    """

    model_config = _FROZEN

    event_key: str
    sent: list[Any] | None = None
    via: str = "signal"
    place: str = ""
    sender: str | None = None


class Answered(BaseModel):
    """What became of one decision.

    Attributes:
        until: from when a pending one can be applied.
    """

    model_config = _FROZEN

    decision_id: str
    verdict: DecisionVerdict
    why: str | None = None
    until: datetime | None = None


class Decided(BaseModel):
    model_config = _FROZEN

    answers: tuple[Answered, ...]
    book: Book
    plan_again: bool = False
