"""The activities over a real ledger, with a CRM that shows what it is told to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from temporalio.testing import ActivityEnvironment

from activities.messages import Book, PlanCommand, Reading
from activities.planning import PlanningActivities
from activities.source import SourceActivities
from leadproof.adapters import Adapters
from leadproof.domain.events import Lead, LeadEvent, LeadSnapshot
from leadproof.domain.mutation import Answer, Mutation, RecordRef
from leadproof.domain.plan import Action, ActionKind, Plan, PlannerInfo
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.records import Description, FoundRecord, LookUp, Presence
from leadproof.domain.steps import Arrival, WriteRequest
from leadproof.ports import Planner
from leadproof.rulebook import Rulebook
from tests.boundary.world import POLICY
from tests.support.ledgers import HandClock, OwnedLedger, a_lead_event, planned

RECORD = FoundRecord(
    record_id="101",
    fields={"owner": None, "lead_status": None, "email": "dana@example.com"},
    raw={"email": "Dana@example.com"},
)
ABSENT = LookUp(presence=Presence.ABSENT)


def one(record: FoundRecord = RECORD, **changes: Any) -> LookUp:
    return LookUp(presence=Presence.ONE, record=record.model_copy(update=changes))


class Shown:
    """A CRM that shows `found` and answers every write with `answer`."""

    system = "hubspot"
    identity = "app:42"

    def __init__(self, found: LookUp) -> None:
        self.found = found
        self.asked: list[object] = []
        self.without_history: set[str] = set()

    def read(self, target_object: str, record_id: str, fields: Sequence[str], *, history: bool) -> LookUp:
        self.asked.append(record_id)
        return self.found

    def find(self, record: RecordRef, fields: Sequence[str], *, history: bool) -> LookUp:
        self.asked.append(record)
        return self.found

    def write(self, request: WriteRequest) -> Answer:
        raise NotImplementedError

    def keeps_history(self, target_object: str, fields: Sequence[str]) -> bool:
        return self.without_history.isdisjoint(fields)

    def describe(self, target_object: str) -> Description:
        raise NotImplementedError


class Proposes:
    """A planner that proposes what it is given, or does what it is told."""

    kind = "rules"

    def __init__(self, propose: Callable[[], Plan]) -> None:
        self.propose = propose

    def plan(
        self, lead: Lead, snapshot: LeadSnapshot, policy: Policy, *, stronger: bool = False
    ) -> tuple[Plan, PlannerInfo]:
        return self.propose(), PlannerInfo(kind=self.kind)


def qualifies(owner: str = "dana", **more: Any) -> Plan:
    action = Action(kind=ActionKind.QUALIFY, target_system="hubspot", fields={"owner": owner}, reason="because", **more)
    return Plan(summary=f"give it to {owner}", actions=(action,))


def our_field(system: str, name: str, policy: Policy) -> str | None:
    return {"hubspot_owner_id": "owner", "hs_lead_status": "lead_status"}.get(name) if system == "hubspot" else None


class Room:
    """One ledger with one policy, and the activities of a worker."""

    def __init__(self, ledger: OwnedLedger, clock: HandClock) -> None:
        self.ledger = ledger
        self.clock = clock
        self.crm = Shown(one())
        self.rulebook = Rulebook(ledger, parse_policy)
        self.environment = ActivityEnvironment()
        ledger.load_policy(POLICY)

    def admit(self, record: str = "101", **changes: Any) -> str:
        event = self.event(record, **changes)
        self.ledger.admit([Arrival(event=event)])
        return event.event_key

    def event(self, record: str = "101", **changes: Any) -> LeadEvent:
        return a_lead_event(record, policy_version=POLICY.version, **changes)

    def effect(self, event: LeadEvent, *mutations: Mutation) -> Mutation:
        """A mutation of ours that stands in the ledger."""
        return planned(self.ledger, event, *mutations)[0]

    # -- the activities, as a worker runs them -----------------------------------------------------------------------
    def read_source(self, event_key: str, missed: Sequence[datetime] = ()) -> Reading:
        source = SourceActivities(self.ledger, Adapters({"hubspot": self.crm}), self.rulebook, self.clock, our_field)
        return self.environment.run(source.read_source, event_key, missed)

    def plan(self, event_key: str, planner: Planner, snapshot: LeadSnapshot | None = None) -> Book:
        planning = PlanningActivities(
            self.ledger, Adapters({"hubspot": self.crm}), {"rules": planner}, self.rulebook, self.clock
        )
        return self.environment.run(planning.plan, PlanCommand(event_key=event_key, snapshot=snapshot))

    def snapshot(self, **changes: Any) -> LeadSnapshot:
        values: dict[str, Any] = {
            "source_system": "hubspot",
            "source_object": "contact",
            "source_record_id": "101",
            "fields": RECORD.fields,
            "record": RECORD.model_copy(update={"raw": {}}),
            "read_at": self.clock.now(),
        }
        return LeadSnapshot(**(values | changes))
