"""A ledger for a test, and rows to put into it."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from leadproof.domain import keys
from leadproof.domain.events import LeadEvent
from leadproof.domain.mutation import Answer, AnswerClass, Intent, Mutation, Observation, Reason, RecordRef, Status
from leadproof.domain.plan import Action, ActionKind, GuardedAction, PlannerInfo, RecordedPlan, TargetObject, Verdict
from leadproof.domain.steps import Arrival
from leadproof.ledger import schema
from leadproof.ledger.engine import connect
from leadproof.ledger.store import SqlLedger
from leadproof.ports import Clock

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TENANT, ENVIRONMENT, POLICY_VERSION = "acme", "test", "2026-03-01"


class HandClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._monotonic = 1000.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def forward(self, seconds: float) -> datetime:
        """Let time pass; the time that it is then."""
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
        return self._now


class OwnedLedger(SqlLedger):
    """A ledger that closes its own connections: `with sqlite_ledger(path, clock) as ledger`."""

    def __enter__(self) -> OwnedLedger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@functools.cache
def _migrated() -> bytes:
    """A migrated, empty SQLite ledger; made once per test process, since a migration takes longer than a copy."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        schema.upgrade(f"sqlite:///{path}")
        return path.read_bytes()


def sqlite_ledger(path: Path, clock: Clock, *, busy_seconds: float = 30.0) -> OwnedLedger:
    """The ledger in the file `path`, which is made with its schema if it is not there."""
    if not path.exists():
        path.write_bytes(_migrated())
    return OwnedLedger(connect(f"sqlite:///{path}", busy_seconds=busy_seconds), clock)


def a_lead_event(record: str = "101", *, occurred_at: datetime = START, **changes: Any) -> LeadEvent:
    """A lead event of the HubSpot contact `record`; its key follows from what it is, unless `event_key` is given."""
    values: dict[str, Any] = {
        "tenant": TENANT,
        "environment": ENVIRONMENT,
        "source_system": "hubspot",
        "source_record_id": record,
        "event_kind": "contact.creation",
        "occurrence": None,
    } | {name: changes.pop(name) for name in ("source_system", "event_kind", "occurrence") if name in changes}
    given: dict[str, Any] = {
        "event_key": keys.event_key(**values),
        "occurred_at": occurred_at,
        "fingerprint": keys.digest(["fingerprint", record]),
        "lead": {"lead": {"email": f"lead-{record}@example.com"}, "extra": {}},
        "policy_version": POLICY_VERSION,
    }
    return LeadEvent(**(values | given | changes))


def a_mutation(
    event: LeadEvent,
    *,
    action: ActionKind = ActionKind.QUALIFY,
    fields: Mapping[str, Any] | None = None,
    target_record: str | None = None,
    provider_record_id: str | None = None,
    discriminator: str | None = None,
    **changes: Any,
) -> Mutation:
    """A fresh mutation of an event, of the record that the event's external id names."""
    key = keys.mutation_key(
        event_key=event.event_key,
        policy_version=event.policy_version,
        action_kind=action,
        target_system="hubspot",
        target_object=TargetObject.CONTACT,
        discriminator=discriminator,
    )
    intended = {"lead_status": "qualified"} if fields is None else dict(fields)
    record = RecordRef(
        target_system="hubspot",
        target_object=TargetObject.CONTACT,
        external_id=target_record or event.external_id,
        provider_record_id=provider_record_id,
        linked=provider_record_id is not None,
    )
    values: dict[str, Any] = {
        "mutation_key": key,
        "event_key": event.event_key,
        "ordinal": 0,
        "tenant": event.tenant,
        "environment": event.environment,
        "source_system": event.source_system,
        "source_record_id": event.source_record_id,
        "policy_version": event.policy_version,
        "action_kind": action,
        "target_system": "hubspot",
        "target_object": TargetObject.CONTACT,
        "target_record": record.external_id,
        "discriminator": discriminator,
        "fingerprint": keys.digest(["fingerprint/1", intended]),
        "base_state": None if action is ActionKind.CREATE else dict.fromkeys(intended),
        "intended_state": Intent(
            record=record,
            creates=action is ActionKind.CREATE,
            fields=intended,
            reason="the rules say so",
            policy_version=event.policy_version,
            mutation_key=key,
        ),
        "provider_record_id": provider_record_id,
        "created_at": START,
        "updated_at": START,
    }
    return Mutation(**(values | changes))


def a_plan(event: LeadEvent, mutations: Sequence[Mutation] = (), **changes: Any) -> RecordedPlan:
    """A plan of an event that allows exactly these mutations."""
    guarded = tuple(
        GuardedAction(
            action=Action(
                kind=ActionKind(mutation.action_kind),
                target_system=mutation.target_system,
                fields=mutation.intent.fields,
                reason=mutation.intent.reason,
            ),
            verdict=Verdict.ALLOWED,
        )
        for mutation in mutations
    )
    values: dict[str, Any] = {
        "event_key": event.event_key,
        "policy_version": event.policy_version,
        "snapshot": {"fields": {"email": "lead@example.com"}},
        "summary": "as the rules say",
        "guarded": guarded,
        "planner": PlannerInfo(kind="rules"),
        "planned_at": START,
    }
    return RecordedPlan(**(values | changes))


def an_answer(outcome: AnswerClass = AnswerClass.ACCEPTED, **changes: Any) -> Answer:
    """An answer to a write; an accepted one names no record unless told."""
    status = {AnswerClass.ACCEPTED: 200, AnswerClass.NOT_APPLIED: 429, AnswerClass.REFUSES_THIS: 400}.get(outcome)
    return Answer(**({"outcome": outcome, "http_status": status} | changes))


def an_observation(mutation: Mutation, read_at: datetime, verdict: str = "one", **state: Any) -> Observation:
    """A read-back; `state` is laid over what a look-up of that verdict says."""
    seen: dict[str, Any] = {"presence": verdict}
    if verdict == "one":
        seen |= {"record_id": "501", "marker": mutation.mutation_key, "ours": True, "fields": mutation.intent.fields}
    return Observation(
        mutation_key=mutation.mutation_key,
        number=0,
        read_at=read_at,
        identity="app:42",
        verdict=verdict,
        state=seen | state,
    )


def planned(ledger: SqlLedger, event: LeadEvent, *mutations: Mutation) -> tuple[Mutation, ...]:
    """Admit an event and record a plan with these mutations; the rows as they stand."""
    ledger.admit([Arrival(event=event)])
    return ledger.record_plan(a_plan(event, mutations), mutations).mutations


__all__ = [
    "ENVIRONMENT",
    "POLICY_VERSION",
    "START",
    "TENANT",
    "HandClock",
    "OwnedLedger",
    "Reason",
    "Status",
    "a_lead_event",
    "a_mutation",
    "a_plan",
    "an_answer",
    "an_observation",
    "planned",
    "sqlite_ledger",
]
