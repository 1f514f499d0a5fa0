"""A trial says what a run would do: the same lead through the activities of a worker gets the same verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leadproof.domain.errors import MalformedDelivery
from leadproof.domain.events import LeadEvent
from leadproof.domain.plan import GuardedAction
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.records import LookUp
from leadproof.domain.steps import Arrival
from leadproof.planners.rules import RulesPlanner
from leadproof.settings import Settings
from starter.admission import judge
from tests.activities.room import ABSENT, Room, one
from tests.support.ledgers import HandClock, sqlite_ledger
from workers.trial import try_lead
from workers.trial_lead import TrialLead, read_lead

EXAMPLES = Path(__file__).parents[2] / "examples"
POLICIES = sorted(
    path.stem
    for path in (EXAMPLES / "policies").glob("*.toml")
    if "[target.salesforce]" not in path.read_text(encoding="utf-8")  # the run has HubSpot alone
)
LEADS = [path for path in sorted((EXAMPLES / "leads").glob("*.json")) if not path.stem.startswith("brief-")]


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    clock = HandClock()
    with sqlite_ledger(tmp_path / "ledger.db", clock) as ledger:
        yield Room(ledger, clock)


def found(given: TrialLead, event: LeadEvent) -> LookUp:
    """What the CRM of a run shows of the lead's record."""
    if given.record is None:
        return ABSENT
    ours = given.linked_to == "this_lead"
    return one(given.record, external_id=event.external_id if ours else given.record.external_id)


def run(room: Room, policy: Policy, given: TrialLead) -> tuple[str, tuple[GuardedAction, ...]]:
    """The plan that a worker records for the lead."""
    event = judge(given.event, policy=policy, settings=Settings(), fields={}, now=given.event.occurred_at)
    assert isinstance(event, LeadEvent)
    room.ledger.admit([Arrival(event=event)])
    room.crm.found = found(given, event)
    read = room.read_source(event.event_key)
    room.plan(event.event_key, RulesPlanner(), read.snapshot)
    plan = room.ledger.plan_of(event.event_key, policy.version)
    assert plan is not None
    return plan.summary, plan.guarded


@pytest.mark.parametrize("name", POLICIES)
def test_a_run_and_a_trial_agree(name: str, room: Room) -> None:
    policy = parse_policy((EXAMPLES / "policies" / f"{name}.toml").read_text(encoding="utf-8"))
    room.ledger.load_policy(policy)
    compared = 0
    for lead in LEADS:
        body = lead.read_bytes()
        try:
            trial = try_lead(policy, body)
        except MalformedDelivery:
            continue  # a lead of another example, with a record that this one has no target or no field for
        if trial.planner == "rules":
            told = (trial.summary, tuple(tried.guarded for tried in trial.actions))
            assert run(room, policy, read_lead(policy, body)) == told, lead.stem
            compared += 1
    assert compared >= 3
