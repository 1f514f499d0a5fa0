"""Two targets in one plan: each effect has its own record, key, approval and outcome, and waits for its needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from temporalio.testing import ActivityEnvironment

from activities.effects import EffectActivities
from activities.messages import AskCommand, Book, DecideCommand, LookCommand, PlanCommand, WriteCommand
from activities.planning import PlanningActivities
from activities.review import ReviewActivities
from leadproof.adapters import Adapters
from leadproof.domain.events import LeadSnapshot, Outcome
from leadproof.domain.mutation import AnswerClass, Mutation, Reason, Status
from leadproof.domain.plan import TargetObject, Verdict
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.progress import StepKind
from leadproof.domain.records import FoundRecord
from leadproof.domain.references import reference
from leadproof.domain.steps import Arrival
from leadproof.planners.rules import RulesPlanner
from leadproof.ports import Crm
from leadproof.rulebook import Rulebook
from tests.activities.room import Room
from tests.boundary.target import Stops, Target, answers
from tests.domain.test_policy_further_actions import RULE, TEXT
from tests.domain.two_targets import TWO_TARGETS
from tests.support.ledgers import a_lead_event

SAID = {"company": "Acme", "last_name": "Kim", "email": "kim@acme.example"}
HELD = '[[approval]]\nname = "handed-over"\naction = "create"\nwhy = "a person hands it over"\n\n'


def said_by(text: str) -> Policy:
    """A policy of two targets, under a version of its own."""
    return parse_policy(text.replace('version = "1"', 'version = "two"'))


POLICY = said_by(TEXT)


@dataclass
class Salesforce(Target):
    """The second target, whose records are of another kind."""

    system = "salesforce"
    identity = "user:005"


class _Nobody:
    async def identity(self, workflow_id: str, run_id: str, *, via: str, place: str) -> str:
        return "unknown"


class Two:
    """A HubSpot contact 101 that is handed over to Salesforce."""

    def __init__(
        self, room: Room, policy: Policy = POLICY, source: str = "hubspot", *, alone: bool = False, **changes: Any
    ) -> None:
        self.room, self.ledger = room, room.ledger
        self.hubspot, self.salesforce = Target(room.clock, Stops()), Salesforce(room.clock, Stops())
        crms: dict[str, Crm] = {"hubspot": self.hubspot}
        if not alone:
            crms["salesforce"] = self.salesforce
        room.ledger.load_policy(policy)
        adapters = Adapters(crms)
        rulebook, environment = Rulebook(room.ledger, parse_policy), ActivityEnvironment()
        self.environment = environment
        self.planning = PlanningActivities(room.ledger, adapters, {"rules": RulesPlanner()}, rulebook, room.clock)
        self.effects = EffectActivities(room.ledger, adapters, rulebook, room.clock)
        self.review = ReviewActivities(room.ledger, rulebook, room.clock, _Nobody(), None)
        self.event = a_lead_event(policy_version=policy.version, source_system=source)
        room.ledger.admit([Arrival(event=self.event)])
        stands = {**dict.fromkeys(("owner", "lead_status", "salesforce_id", "company")), **SAID}
        if source == "hubspot":
            self.hubspot.stands("101", **stands)
        self.snapshot = LeadSnapshot(
            source_system=source,
            source_object=TargetObject.CONTACT if source == "hubspot" else TargetObject.LEAD,
            source_record_id="101",
            fields=SAID,
            record=FoundRecord(record_id="101", fields=stands) if source == "hubspot" else None,
            read_at=room.clock.now(),
        ).model_copy(update=changes)

    def plan(self) -> tuple[Mutation, ...]:
        command = PlanCommand(event_key=self.event.event_key, snapshot=self.snapshot)
        self.environment.run(self.planning.plan, command)
        return self.rows

    @property
    def rows(self) -> tuple[Mutation, ...]:
        return self.ledger.mutations_of(self.event.event_key)

    @property
    def outcome(self) -> Outcome:
        lead = self.ledger.lead(self.event.event_key)
        assert lead is not None
        return lead.outcome

    def write(self, which: int) -> Book:
        row = self.rows[which]
        attempts = len(self.ledger.attempts_of(row.mutation_key))
        command = WriteCommand(mutation_key=row.mutation_key, version=row.version, number=attempts + 1, alone=False)
        return self.environment.run(self.effects.write, command)

    def look(self, which: int) -> Book:
        command = LookCommand(mutation_key=self.rows[which].mutation_key, alone=False)
        return self.environment.run(self.effects.reconcile, command)

    def done(self, which: int) -> Mutation:
        self.room.clock.forward(1)
        self.write(which)
        self.room.clock.forward(1)
        self.look(which)
        return self.rows[which]

    def decide(self, which: int, decision: str) -> Book:
        key = self.rows[which].mutation_key
        ask = AskCommand(event_key=self.event.event_key, mutation_key=key, reason=Reason.NEEDS_APPROVAL)
        self.environment.run(self.review.open_review, ask)
        item = self.ledger.review_of(key)
        assert item is not None
        said = {"review_id": item.review_id, "version": item.version, "decision": decision, "reason": ""}
        command = DecideCommand(event_key=self.event.event_key, sent=[said], sender="ann")
        return self.environment.run(self.review.apply_decision, command).book


def standing(two: Two) -> list[tuple[Status, Reason | None]]:
    return [(row.status, row.reason) for row in two.rows]


def test_a_lead_is_qualified_handed_over_and_marked_with_the_id_of_its_record(room: Room) -> None:
    two = Two(room)
    qualify, create, mark = two.plan()
    assert [(row.action_kind, row.target_system, row.target_object) for row in (qualify, create, mark)] == [
        ("qualify", "hubspot", "contact"),
        ("create", "salesforce", "lead"),
        ("update", "hubspot", "contact"),
    ]
    assert create.depends_on == (qualify.mutation_key,)
    assert mark.depends_on == (qualify.mutation_key, create.mutation_key)
    assert mark.intent.fields["salesforce_id"] == reference(create.mutation_key)
    assert len({row.mutation_key for row in two.rows}) == 3

    assert [two.done(which).status for which in range(3)] == [Status.OBSERVED] * 3
    assert two.outcome is Outcome.DONE
    (made,) = two.salesforce.records.values()
    assert two.hubspot.records["101"].fields["salesforce_id"] == made.record_id
    assert made.external_id == two.hubspot.records["101"].external_id == two.event.external_id
    assert [len(target.effects) for target in (two.hubspot, two.salesforce)] == [2, 1]


def test_the_source_record_is_the_target_of_its_own_kind_only(room: Room) -> None:
    two = Two(room, source="hubspot", source_object=TargetObject.LEAD)
    two.plan()
    assert two.hubspot.calls == ["find"]


def test_a_record_of_each_target_is_looked_up_once(room: Room) -> None:
    two = Two(room)
    two.plan()
    assert (two.hubspot.calls, two.salesforce.calls) == ([], ["find"])


def test_nothing_is_written_before_what_it_depends_on_is_observed(room: Room) -> None:
    two = Two(room)
    two.plan()
    assert [view.step.kind for view in two.write(1).views] == [StepKind.WRITE, StepKind.DEPENDS, StepKind.DEPENDS]
    two.write(0)
    two.write(1)
    two.write(2)
    assert (two.salesforce.sent, len(two.hubspot.sent)) == ([], 1)


def test_a_website_lead_becomes_a_contact_a_lead_and_a_mark(room: Room) -> None:
    text = (
        TEXT.replace(RULE, 'action = "create"\nfields = { owner = "dana" }\n')
        .replace('source = "hubspot", present', 'source = "website", present')
        .replace("below_confidence = 0.5\n", 'sets = "lead_status"\n')
    )
    two = Two(room, said_by(text), source="website")
    assert [row.action_kind for row in two.plan()] == ["create", "create", "update"]

    assert [two.done(which).status for which in range(3)] == [Status.OBSERVED] * 3
    (contact,), (made,) = two.hubspot.records.values(), two.salesforce.records.values()
    assert contact.fields["salesforce_id"] == made.record_id


def test_a_create_that_meets_our_own_lead_is_an_update_of_it(room: Room) -> None:
    two = Two(room)
    two.salesforce.stands("00Q1", external_id=two.event.external_id, email="kim@acme.example")
    two.plan()

    assert [two.done(which).status for which in range(3)] == [Status.OBSERVED] * 3
    assert list(two.salesforce.records) == ["00Q1"]
    assert not two.salesforce.sent[0].request.creates
    assert two.hubspot.records["101"].fields["salesforce_id"] == "00Q1"


def test_a_lead_that_is_found_and_not_linked_is_the_policys_question(room: Room) -> None:
    two = Two(room)
    two.salesforce.stands("00Q1", email="kim@acme.example")
    two.plan()

    assert standing(two) == [
        (Status.RESERVED, None),
        (Status.RESERVED, Reason.NEEDS_APPROVAL),
        (Status.RESERVED, Reason.DEPENDS),
    ]
    two.done(0)
    two.decide(1, "approve")
    assert [two.done(which).status for which in (1, 2)] == [Status.OBSERVED] * 2
    assert two.hubspot.records["101"].fields["salesforce_id"] == "00Q1"


def test_a_policy_can_link_a_lead_that_nobody_has_linked(room: Room) -> None:
    links = TEXT.replace("[target.salesforce]\n", '[target.salesforce]\nfound_unlinked = "link"\n')
    two = Two(room, said_by(links))
    two.salesforce.stands("00Q1", email="kim@acme.example")
    two.plan()

    assert [two.done(which).status for which in range(3)] == [Status.OBSERVED] * 3
    assert two.salesforce.records["00Q1"].external_id == two.event.external_id


def test_an_approval_holds_its_own_action_and_what_depends_on_it_waits(room: Room) -> None:
    two = Two(room, said_by(TEXT.replace("[[approval]]\n", f"{HELD}[[approval]]\n", 1)))
    two.plan()
    assert two.done(0).status is Status.OBSERVED

    assert standing(two)[1:] == [(Status.RESERVED, Reason.NEEDS_APPROVAL), (Status.RESERVED, Reason.DEPENDS)]
    two.write(1)
    assert two.salesforce.sent == []


def test_what_depends_on_a_declined_action_is_given_up_and_the_rest_stands(room: Room) -> None:
    two = Two(room, said_by(TEXT.replace("[[approval]]\n", f"{HELD}[[approval]]\n", 1)))
    two.plan()
    two.done(0)
    two.decide(1, "abandon")

    assert standing(two) == [
        (Status.OBSERVED, None),
        (Status.ABANDONED, Reason.DECLINED),
        (Status.ABANDONED, Reason.DEPENDENCY),
    ]
    assert two.outcome is Outcome.PARTLY
    assert (two.salesforce.sent, len(two.hubspot.sent)) == ([], 1)


def test_what_depends_on_a_refused_write_waits_and_is_given_up_with_it(room: Room) -> None:
    two = Two(room)
    two.plan()
    two.done(0)
    two.salesforce.replies.append(answers(AnswerClass.REFUSES_THIS, code="REQUIRED_FIELD_MISSING"))
    assert two.done(1).status is Status.REJECTED
    two.decide(1, "abandon")

    assert standing(two)[1:] == [(Status.ABANDONED, Reason.REFUSES_THIS), (Status.ABANDONED, Reason.DEPENDENCY)]
    assert two.outcome is Outcome.PARTLY


def test_what_depends_on_an_action_that_is_refused_is_refused_with_it_and_the_rest_stands(room: Room) -> None:
    two = Two(room, alone=True)
    assert [row.action_kind for row in two.plan()] == ["qualify"]

    plan = two.ledger.plan_of(two.event.event_key, POLICY.version)
    assert plan is not None
    assert [(one.verdict, one.why) for one in plan.guarded[1:]] == [
        (Verdict.REFUSED, "nothing here can write to the target"),
        (Verdict.REFUSED, "it depends on action 1, which was refused"),
    ]


def test_one_target_that_is_down_leaves_the_other_alone(room: Room) -> None:
    two = Two(room)
    two.plan()
    room.ledger.mark_target("salesforce", up=False, reason="401")
    assert two.done(0).status is Status.OBSERVED
    two.write(1)
    assert (two.salesforce.sent, two.rows[1].status) == ([], Status.RESERVED)


def test_a_form_takes_no_contact_of_another_lead_by_its_address(room: Room) -> None:
    text = TWO_TARGETS.replace('source = "hubspot", present = "company"', 'source = "website"')
    two = Two(room, said_by(text.replace("below_confidence = 0.5\n", 'sets = "roles"\n')), source="website")
    two.hubspot.stands("601", external_id="f" * 64, email="kim@acme.example", owner="502")
    two.plan()

    assert standing(two) == [(Status.RESERVED, Reason.NEEDS_APPROVAL)]
    two.write(0)
    assert two.hubspot.sent == []
    two.decide(0, "approve")
    assert two.done(0).status is Status.OBSERVED


LINKS = (
    TWO_TARGETS.replace(RULE, 'action = "link"\n')
    .replace("[[approval]]\n", '[[action]]\nkind = "link"\ntarget = "hubspot"\nfields = ["owner"]\n\n[[approval]]\n', 1)
    .replace("[retention.keys_days]\n", "[retention.keys_days]\nlink = 60\n")
)


def test_a_link_puts_our_id_on_the_record_and_nothing_else(room: Room) -> None:
    two = Two(room, said_by(LINKS))
    two.plan()

    assert (two.done(0).status, two.rows[0].reason) == (Status.OBSERVED, None)
    assert [(one.request.fields, one.request.sets_external_id) for one in two.hubspot.sent] == [({}, True)]
    assert two.hubspot.records["101"].external_id == two.event.external_id


def test_a_record_that_carries_our_id_is_linked_already(room: Room) -> None:
    two = Two(room, said_by(LINKS))
    two.plan()
    two.hubspot.records["101"] = two.hubspot.records["101"]._replace(external_id=two.event.external_id)

    assert (two.done(0).status, two.rows[0].reason) == (Status.OBSERVED, Reason.ALREADY_SO)
    assert two.hubspot.sent == []
