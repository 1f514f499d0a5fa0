"""Questions that stand in a ledger, without a run that asked them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from leadproof.domain.mutation import AnswerClass, Difference, Mutation, Reason, Status
from leadproof.domain.plan import Evidence
from leadproof.domain.review import ReviewItem
from leadproof.domain.steps import Arrival, Question
from tests.ledger import steps
from tests.starter.door import Door
from tests.support.ledgers import a_lead_event, a_mutation, a_plan, an_observation

FIELDS = {"owner": "502", "lead_status": "OPEN"}
STANDS = {"owner": "501", "lead_status": "OPEN"}
BASE = {"owner": None, "lead_status": None}


def planned(door: Door, record: str = "101", *, lead: dict[str, Any] | None = None, **changes: Any) -> Mutation:
    """A lead of HubSpot whose one mutation sets owner and status of its contact."""
    event = a_lead_event(record, policy_version="embedded-2", occurred_at=door.clock.now())
    given: dict[str, Any] = {"fields": FIELDS, "base_state": BASE, "provider_record_id": f"9{record}"} | changes
    mutation = a_mutation(event, created_at=door.clock.now(), updated_at=door.clock.now(), **given)
    evidence = (Evidence(source="employees", says="1200 people work there"),)
    intent = mutation.intent.model_copy(update={"evidence": evidence, "reason": "a company of this size"})
    mutation = mutation.model_copy(update={"intended_state": intent})
    known = lead or {"first_name": "Mira", "last_name": "Novak", "company": "Acme"}
    plan = a_plan(event, [mutation], snapshot={"fields": known}, summary="a seller takes it")
    door.ledger.admit([Arrival(event=event)])
    (row,) = door.ledger.record_plan(plan, [mutation]).mutations
    return row


def asked(door: Door, reason: str, queue: str = "default", hours: float = 4) -> Question:
    return Question(reason=reason, queue=queue, due_at=door.clock.now() + timedelta(hours=hours))


def approval(
    door: Door, record: str = "101", *, queue: str = "enterprise", hours: float = 4, **more: Any
) -> ReviewItem:
    """Nothing was sent, and somebody has to approve it."""
    row = planned(door, record, reason=Reason.NEEDS_APPROVAL, **more)
    return door.ledger.open_review(row.mutation_key, asked(door, Reason.NEEDS_APPROVAL, queue, hours))


def edited(door: Door, record: str = "101", *, by: str = "person:501", **more: Any) -> ReviewItem:
    """It was written, and then somebody gave it another owner."""
    row = steps.answered(door.ledger, steps.won(door.ledger, planned(door, record, **more)), correlation_id="c-1")
    door.clock.forward(5)
    at = door.clock.now()
    changes = {"lead_status": [{"value": "OPEN", "at": at.isoformat(), "by": "us"}]}
    settled = steps.settled(
        door.ledger,
        row,
        Status.DIVERGENT,
        observation=an_observation(row, at, fields=STANDS, changes=changes, ours=True),
        differences=(Difference(field="owner", intended="502", observed="501", changed_by=by, changed_at=at),),
        question=asked(door, "divergent"),
    )
    assert settled.review is not None
    return settled.review


def edited_again(door: Door, item: ReviewItem, owner: str = "503") -> None:
    """What stands moves on while the question is open."""
    row = door.ledger.mutation(item.subject)
    assert row is not None
    door.clock.forward(60)
    fields = {**STANDS, "owner": owner}
    steps.settled(
        door.ledger,
        row,
        Status.DIVERGENT,
        observation=an_observation(row, door.clock.now(), fields=fields, ours=True),
        differences=(Difference(field="owner", intended="502", observed=owner, changed_by="person:503"),),
    )


def replaced(door: Door, record: str = "101") -> ReviewItem:
    """It was written over an edit that nobody had seen."""
    row = steps.answered(door.ledger, steps.won(door.ledger, planned(door, record)))
    lost = Difference(field="owner", intended="502", observed="502", lost="501", changed_by="person:501")
    settled = steps.settled(
        door.ledger,
        row,
        Status.DIVERGENT,
        Reason.OVERWROTE_UNSEEN_EDIT,
        observation=an_observation(row, door.clock.now(), ours=True),
        differences=(lost,),
        question=asked(door, Reason.OVERWROTE_UNSEEN_EDIT),
    )
    assert settled.review is not None
    return settled.review


def unanswered(door: Door, record: str = "101") -> ReviewItem:
    """It was sent, and its answer was lost."""
    row = steps.won(door.ledger, planned(door, record))
    steps.answered(door.ledger, row, AnswerClass.UNCERTAIN, detail="connection reset by peer")
    settled = steps.settled(
        door.ledger,
        row,
        Status.UNCERTAIN,
        observation=an_observation(row, door.clock.now(), "unknown", detail="read timed out"),
        question=asked(door, "uncertain"),
    )
    assert settled.review is not None
    return settled.review


def refused(door: Door, record: str = "101", **more: Any) -> ReviewItem:
    """It was sent, and the target refused it."""
    row = steps.won(door.ledger, planned(door, record, **more))
    steps.answered(door.ledger, row, AnswerClass.REFUSES_THIS, code="INVALID_OPTION", detail="hs_lead_status")
    settled = steps.settled(
        door.ledger,
        row,
        Status.REJECTED,
        Reason.REFUSES_THIS,
        observation=an_observation(row, door.clock.now(), fields=BASE, marker=None, ours=False),
        question=asked(door, Reason.REFUSES_THIS),
    )
    assert settled.review is not None
    return settled.review


def unplanned(door: Door, record: str = "form-1", lead: dict[str, Any] | None = None) -> ReviewItem:
    """A lead of a form, for which there is no plan."""
    known = {"lead": lead or {"email": "a@example.com"}, "extra": {}}
    event = a_lead_event(
        record, source_system="website", event_kind="form.submitted", occurrence="1", lead=known
    ).model_copy(update={"policy_version": "embedded-2"})
    door.ledger.admit([Arrival(event=event)])
    return door.ledger.open_event_review(event.event_key, asked(door, "planner"))
