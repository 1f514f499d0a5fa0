"""One case: a lead, the effect that is intended on its record, and the run that carries it out."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Final

from leadproof.boundary import Ports, Rules, Submission, look, submit
from leadproof.domain import keys
from leadproof.domain.events import LeadEvent, LeadSnapshot
from leadproof.domain.field_catalog import EMAIL, specs_for
from leadproof.domain.guard import guard
from leadproof.domain.mutation import Mutation, RecordRef
from leadproof.domain.plan import Action, ActionKind, Plan, PlannerInfo, RecordedPlan
from leadproof.domain.planning import TargetState, mutations_from, settle_verdicts
from leadproof.domain.policy import Policy
from leadproof.domain.progress import Step, StepKind, step_of
from leadproof.domain.records import FoundRecord, LookUp, Presence
from leadproof.domain.review import Decision, ReviewDecision, ReviewState
from leadproof.domain.steps import Arrival, Receipts
from leadproof.ledger.store import SqlLedger
from leadproof.looking import question
from leadproof.ports import Crm
from tests.conformance.clocks import Waiting
from tests.conformance.driving import after_look, after_write
from tests.conformance.hands import Hands, Mischief, NotHere, Standing
from tests.conformance.policies import SOURCE, Unlinked, policy
from tests.conformance.systems import System

_MOST_STEPS: Final = 80
_A_MOMENT: Final = 2.0
"""After an edit: not every target's history tells more than the second."""

Planning = Callable[..., Mutation]
"""How a case that is played twice plans: an update or a create."""


class Stage:
    """What a case is played on.

    Args:
        crm: the adapter in question, over the CRM's real client.
        impatient: the same with a deadline that a slow answer misses.
        tenant: of nobody else, so that cases can share a ledger.
    """

    def __init__(
        self,
        system: System,
        *,
        crm: Crm,
        impatient: Crm,
        hands: Hands,
        ledger: SqlLedger,
        clock: Waiting,
        tenant: str,
        base_age: float,
    ) -> None:
        self.system = system
        self.hands = hands
        self.ledger = ledger
        self.clock = clock
        self.tenant = tenant
        self.key = ""
        self.record_id: str | None = None
        self.event: LeadEvent | None = None
        self._crm = crm
        self._impatient = impatient
        self._base_age = base_age
        self._policy: Policy = policy(system, base_age=base_age)
        self._people = itertools.count(1)
        self.email = self.address()
        self.lead = self._somebody()
        for found_unlinked in ("review", "link"):
            ledger.load_policy(policy(system, found_unlinked, base_age))

    # -- what stands before the lead ---------------------------------------------------------------------------------
    def address(self) -> str:
        """An e-mail address that no other record has."""
        return f"{self.tenant}.{next(self._people)}@example.com"

    def _somebody(self) -> dict[str, str]:
        """What a record cannot do without, like no other record: rules for duplicates find what only resembles, too."""
        return {name: f"{name} Reyes {secrets.token_hex(6)}" for name in ("last_name", *self.system.required)}

    def person(self, *, external_id: str | None = None, **fields: Any) -> str:
        """A record that a person made; its id."""
        given = {EMAIL: self.email, **self._somebody(), **fields}
        linked = {} if external_id is None else {self.system.external_id: external_id}
        return self.hands.create({**self.system.raw(given), **linked})

    @property
    def other_owner(self) -> str:
        """An owner whom nobody intends."""
        if self.system.other_owner is None:
            raise NotHere("the account has one active owner")
        return self.system.other_owner

    @property
    def unusable(self) -> Mapping[str, str]:
        """A field and a value of it that the target does not have."""
        if self.system.unusable is None:
            raise NotHere("the account has no field that refuses a value")
        return self.system.unusable

    @property
    def inactive_owner(self) -> str:
        if self.system.inactive_owner is None:
            raise NotHere("the account has no owner who has left")
        return self.system.inactive_owner

    # -- what is intended --------------------------------------------------------------------------------------------
    @property
    def qualified(self) -> dict[str, Any]:
        """The decision that most cases write."""
        return {"owner": self.system.owner, "lead_status": self.system.status}

    def update(self, record_id: str | None = None, **fields: Any) -> Mutation:
        """Plan an update of a record, which a person makes where none is named; read, guarded and reserved."""
        self.record_id = record_id or self.person()
        names = (*specs_for(self._policy, self.system.name),)
        found = self._crm.read(self.system.target_object, self.record_id, names, history=False)
        record = found.record
        if record is None:  # only a case that wants one that is not there comes here
            record = FoundRecord(record_id=self.record_id, fields=dict.fromkeys(names))
        snapshot = self._snapshot(self.system.name, self.record_id, record.fields)
        one = LookUp(presence=Presence.ONE, record=record)
        state = TargetState(found=one, read_at=self.clock.now(), of_the_event=True)
        return self._reserve(ActionKind.QUALIFY, snapshot, fields or self.qualified, state)

    def create(self, found_unlinked: Unlinked = "review", **fields: Any) -> Mutation:
        """Plan a create for a lead that came from elsewhere; looked up, guarded and reserved."""
        self._policy = policy(self.system, found_unlinked, self._base_age)
        given = {EMAIL: self.email, **self.lead, **self.qualified, **fields}
        snapshot = self._snapshot(SOURCE, f"form-{next(self._people)}", given)
        event = self._event(snapshot)
        ref = RecordRef(
            target_system=self.system.name,
            target_object=self.system.target_object,
            external_id=event.external_id,
            unique_fields={EMAIL: given[EMAIL]},
        )
        names = (*specs_for(self._policy, self.system.name),)
        found = self._crm.find(ref, names, history=False)
        return self._reserve(ActionKind.CREATE, snapshot, given, TargetState(found=found, read_at=self.clock.now()))

    def _snapshot(self, source: str, record_id: str, fields: Mapping[str, Any]) -> LeadSnapshot:
        return LeadSnapshot(
            source_system=source,
            source_object=self.system.target_object,
            source_record_id=record_id,
            fields=dict(fields),
            read_at=self.clock.now(),
        )

    def _event(self, snapshot: LeadSnapshot) -> LeadEvent:
        if self.event is None:
            kind = "form.submitted" if snapshot.source_system == SOURCE else self.system.event_kind
            names = {
                "tenant": self.tenant,
                "environment": "conformance",
                "source_system": snapshot.source_system,
                "source_record_id": snapshot.source_record_id,
                "event_kind": kind,
                "occurrence": "1",
            }
            self.event = LeadEvent(
                **names,
                event_key=keys.event_key(**names),
                occurred_at=self.clock.now(),
                fingerprint=keys.digest(["fingerprint", snapshot.source_record_id]),
                lead={"lead": {}, "extra": {}},
                policy_version=self._policy.version,
            )
            self.hands.expects(self.event.external_id)
        return self.event

    def _reserve(
        self, kind: ActionKind, snapshot: LeadSnapshot, fields: Mapping[str, Any], state: TargetState
    ) -> Mutation:
        """What the planning activity does with a proposal: guard it, hold it against the record, record it."""
        event, system = self._event(snapshot), self.system
        action = Action(
            kind=kind,
            target_system=system.name,
            target_object=system.target_object,
            fields=dict(fields),
            reason="the case says so",
        )
        blind = {name for name in fields if not self._crm.keeps_history(system.target_object, (name,))}
        where = (system.name, str(system.target_object))
        states = {where: state.model_copy(update={"without_history": frozenset(blind)})}
        plan = Plan(summary="a case", actions=(action,))
        guarded = guard(plan, self._policy, snapshot=snapshot, records={where: state.found.record})
        settled = settle_verdicts(guarded, states, event.external_id, self._policy)
        self.ledger.admit([Arrival(event=event)])
        lead = self.ledger.lead(event.event_key)
        assert lead is not None
        recorded = self.ledger.record_plan(
            RecordedPlan(
                event_key=event.event_key,
                policy_version=self._policy.version,
                snapshot=snapshot.model_dump(mode="json"),
                summary=plan.summary,
                guarded=settled,
                planner=PlannerInfo(kind="rules"),
                planned_at=self.clock.now(),
            ),
            mutations_from(lead, settled, self._policy, states, self.clock.now()),
        )
        (mutation,) = recorded.mutations
        self.key = mutation.mutation_key
        return mutation

    # -- what stands -------------------------------------------------------------------------------------------------
    @property
    def receipts(self) -> Receipts:
        found = self.ledger.receipts(self.key)
        assert found is not None
        return found

    @property
    def record(self) -> Standing:
        """The record in question, as the witness sees it."""
        record_id = self.record_id or self.receipts.mutation.provider_record_id
        return next(one for one in self.hands.records() if one.record_id == record_id)

    def holds(self, **fields: Any) -> bool:
        """Whether the record holds these values, by the witness."""
        return self.system.shows(self.record.values, fields)

    # -- what goes wrong ---------------------------------------------------------------------------------------------
    def fails(self, kind: str, **more: Any) -> None:
        """The next write meets a fault."""
        self.hands.arm(Mischief(kind=kind, operation=self.system.write, **more))

    def fails_to_read(self, kind: str, **more: Any) -> None:
        """The next read meets a fault."""
        self.hands.arm(Mischief(kind=kind, operation=self.system.read, **more))

    def edited(self, **fields: Any) -> None:
        """A person edits the record now."""
        assert self.record_id is not None
        self.hands.edit(self.record_id, self.system.raw(fields))
        self.clock.wait(_A_MOMENT)

    def edited_at_the_write(self, *, before: bool, **fields: Any) -> None:
        """A person edits the record right before the next write is applied, or right after."""
        self.hands.person_in_between(self.system.write, self.system.raw(fields), before=before)

    def hurries(self) -> None:
        """From now on the client's deadline is one that a slow answer misses."""
        self._crm = self._impatient
        self._crm.describe(self.system.target_object)  # what it asks once in its life, it has asked

    def the_base_grows_old(self) -> None:
        """Let so much time pass that the record is read again before the write."""
        self.clock.wait(self._base_age + 1)

    # -- what a run does ---------------------------------------------------------------------------------------------
    @property
    def ports(self) -> Ports:
        return Ports(self.ledger, self._crm, self.clock)

    @property
    def rules(self) -> Rules:
        name = self.system.name
        return Rules(policy=self._policy, target=self._policy.targets[name], specs=specs_for(self._policy, name))

    def submit(self, *, version: int, number: int) -> Submission:
        """One attempt, by an own reading of the row."""
        return submit(self.ports, self.rules, self.key, version=version, number=number)

    def attempt(self) -> None:
        """One attempt, and nothing after it."""
        receipts = self.receipts
        self.submit(version=receipts.mutation.version, number=len(receipts.attempts) + 1)

    def run(self) -> Mutation:
        """Go on from the row as the workflow does, until nothing but a person is left to go on."""
        known: Step | None = None
        for _ in range(_MOST_STEPS):
            receipts = self.receipts
            item = receipts.review if receipts.review and receipts.review.state is ReviewState.OPEN else None
            step = known or step_of(receipts.mutation, receipts.attempts, self.rules.target, item)
            if step.asks is not None:
                asked = question(self.rules, step.asks, self.clock.now())
                self.ledger.open_review(self.key, asked)
            if step.kind not in {StepKind.WRITE, StepKind.LOOK} or (item is not None and step.kind is StepKind.LOOK):
                return receipts.mutation
            if step.at is not None:
                self.clock.wait((step.at - self.clock.now()).total_seconds())
            known = self._step(step.kind, receipts)
        raise AssertionError("the run goes round in a circle")

    def _step(self, kind: StepKind, receipts: Receipts) -> Step | None:
        """One step, and the one that follows where its result knows better than the row."""
        if kind is StepKind.WRITE:
            return after_write(self.submit(version=receipts.mutation.version, number=len(receipts.attempts) + 1))
        return after_look(look(self.ports, self.rules, self.key, receipts=receipts))

    def decide(self, decision: Decision) -> None:
        """A person answers the open question."""
        item = self.ledger.review_of(self.key)
        assert item is not None
        sent = ReviewDecision(
            decision_id=f"{self.key}:{item.round}", review_id=item.review_id, version=item.version, decision=decision
        )
        self.ledger.record_decision(sent, reviewer="api:conformance", via="api")
        self.ledger.apply_decision(sent.decision_id, quiescence=self.rules.target.quiescence)
