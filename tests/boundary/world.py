"""One ledger, one target, one mutation, and runs of it in virtual time."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

from leadproof.boundary import Looked, Ports, Result, Rules, Submission, look, submit
from leadproof.domain.events import LeadEvent
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.mutation import AnswerClass, Attempt, Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.progress import Step, StepKind, step_of
from leadproof.domain.reconciliation import Next
from leadproof.domain.review import ReviewState
from leadproof.domain.steps import Question, Receipts
from tests.boundary.target import Effect, Record, Stop, Stopping, Stops, Target
from tests.domain.samples import changed
from tests.support.ledgers import START, HandClock, OwnedLedger, a_lead_event, a_mutation, planned, sqlite_ledger

POLICY: Policy = parse_policy(
    changed(
        "apply_lag_seconds = 120",
        """apply_lag_seconds = 20
connect_timeout_seconds = 5
clock_margin_seconds = 5
send_within_seconds = 10
call_timeout_seconds = 8
observation_window_seconds = 120
read_spacing_seconds = 2
base_age_seconds = 60
max_attempts = 3
patience_seconds = 600
probe_seconds = 45""",
    )
)
TARGET = POLICY.targets["hubspot"]
RULES = Rules(policy=POLICY, target=TARGET, specs=specs_for(POLICY, "hubspot"))
EMAIL = "dana@example.com"
INTENT = {"owner": "501", "lead_status": "NEW"}


_MOST_STEPS = 80


class World:
    """One ledger, one target, one mutation in question, and what a run does with it."""

    def __init__(self, ledger: OwnedLedger, clock: HandClock) -> None:
        self.clock = clock
        self.ledger = ledger
        self.stops = Stops()
        self.target = Target(clock, self.stops)
        ports = (Stopping(ledger, self.stops), Stopping(self.target, self.stops), clock)
        self.ports = Ports(*cast(Any, ports))
        self.key = ""

    # -- what is intended --------------------------------------------------------------------------------------------
    def update(
        self,
        *,
        linked: bool = True,
        base_age: float | None = None,
        later: float = 0,
        kind: str = "qualify",
        **changes: Any,
    ) -> Mutation:
        """Reserve an update of record 601, which stands at its base.

        Args:
            base_age: read so many seconds ago; `None` makes the check read again in any case.
            later: of an event that occurred so many seconds later.
        """
        event = self._event(later)
        external_id = event.external_id if linked else None
        if "601" not in self.target.records:
            self.target.stands("601", external_id=external_id)
        fields = changes.pop("fields", INTENT)
        mutation = a_mutation(event, fields=fields, provider_record_id="601", **changes)
        read_at = self.clock.now() - timedelta(seconds=base_age) if base_age is not None else None
        record = mutation.intent.record.model_copy(update={"linked": linked})
        intent = mutation.intent.model_copy(update={"base_read_at": read_at, "record": record})
        return self._reserve(event, mutation.model_copy(update={"intended_state": intent}))

    def of_another_lead(self) -> Mutation:
        """Reserve an update of the same record, which carries no external id yet, on behalf of another lead."""
        event = a_lead_event("202", policy_version=POLICY.version)
        self.target.stands("601", external_id=None)
        mutation = a_mutation(event, fields={"email": EMAIL}, provider_record_id="601")
        record = mutation.intent.record.model_copy(update={"linked": False})
        intent = mutation.intent.model_copy(update={"record": record})
        return self._reserve(event, mutation.model_copy(update={"intended_state": intent}))

    def create(self, *, later: float = 0, **changes: Any) -> Mutation:
        """Reserve a create, with an e-mail that the target keeps unique."""
        event = self._event(later)
        fields = {**changes.pop("fields", INTENT), "email": EMAIL}
        mutation = a_mutation(event, action=ActionKind.CREATE, fields=fields, **changes)
        record = mutation.intent.record.model_copy(update={"unique_fields": {"email": EMAIL}})
        intent = mutation.intent.model_copy(update={"record": record})
        return self._reserve(event, mutation.model_copy(update={"intended_state": intent}))

    def _event(self, later: float) -> LeadEvent:
        occurrence = None if later == 0 else str(later)
        return a_lead_event(
            policy_version=POLICY.version, occurrence=occurrence, occurred_at=START + timedelta(seconds=later)
        )

    def _reserve(self, event: LeadEvent, mutation: Mutation) -> Mutation:
        (row,) = planned(self.ledger, event, mutation)
        self.key = row.mutation_key
        return row

    # -- what stands -------------------------------------------------------------------------------------------------
    @property
    def receipts(self) -> Receipts:
        found = self.ledger.receipts(self.key)
        assert found is not None
        return found

    @property
    def mutation(self) -> Mutation:
        return self.receipts.mutation

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        return self.receipts.attempts

    @property
    def outcomes(self) -> list[AnswerClass | None]:
        return [attempt.outcome for attempt in self.attempts]

    @property
    def effects(self) -> list[Effect]:
        return [effect for effect in self.target.effects if effect.marker == self.key]

    @property
    def record(self) -> Record:
        (record,) = self.target.records.values()
        return record

    # -- what a run does ---------------------------------------------------------------------------------------------
    def submit(self, *, version: int | None = None, number: int | None = None) -> Submission:
        """One attempt, by the row as it stands or by an older reading of it."""
        return submit(
            self.ports,
            RULES,
            self.key,
            version=version if version is not None else self.mutation.version,
            number=number if number is not None else len(self.attempts) + 1,
        )

    def look(self) -> Looked:
        return look(self.ports, RULES, self.key)

    def run(self, *, most: int | None = None) -> Mutation:
        """Go on from the row as the workflow does, moving time to the next step, until nothing but a person is left.

        It ends as well when a person is asked while the reading goes on.

        Args:
            most: end after so many steps; without it a run that does not end is a failure.
        """
        known: Step | None = None
        for _ in range(most or _MOST_STEPS):
            receipts = self.receipts
            item = receipts.review if receipts.review and receipts.review.state is ReviewState.OPEN else None
            step = known or step_of(receipts.mutation, receipts.attempts, TARGET, item)
            if step.kind not in {StepKind.WRITE, StepKind.LOOK} or (item is not None and step.kind is StepKind.LOOK):
                return receipts.mutation
            if step.at is not None and step.at > self.clock.now():
                self.clock.forward((step.at - self.clock.now()).total_seconds())
            known = self._step(step.kind)
        if most is None:
            raise AssertionError(f"the run goes round in a circle: {self.stops.passed[-40:]}")
        return self.mutation

    def _step(self, kind: StepKind) -> Step | None:
        """One step, and the one that follows where its result knows better than the row."""
        if kind is StepKind.WRITE:
            done = self.submit()
            if done.result is Result.WAITS:
                return Step(kind=StepKind.WAITS)
            if done.result in {Result.AGAIN, Result.PARKED}:
                return Step(kind=StepKind.WRITE, at=done.at)
            return Step(kind=StepKind.LOOK, at=done.at) if done.result is Result.LOOK_FIRST else None
        looked = self.look()
        if looked.next is Next.SEND_AGAIN:
            return Step(kind=StepKind.WRITE, at=looked.at)
        if looked.mutation.status in {Status.SUBMITTED, Status.UNCERTAIN} and looked.at is not None:
            return Step(kind=StepKind.LOOK, at=looked.at)
        return None

    def ask(self, key: str) -> None:
        """Put to a person what the row of a mutation says that it waits for."""
        due = self.clock.now() + timedelta(hours=1)
        self.ledger.open_review(key, Question(reason=Reason.NEEDS_APPROVAL, queue="default", due_at=due))

    def stopped(self, at: int | str, *, most: int | None = None) -> str | None:
        """Run until a point, by its number or name, and stop there; its name, `None` where the run ended before it."""
        self.stops.passed.clear()
        self.stops.at = at
        try:
            self.run(most=most)
        except Stop as stop:
            return str(stop)
        finally:
            self.stops.at = None
        return None


class _Now:
    """The clock of whichever world there is."""

    def __init__(self) -> None:
        self.hand = HandClock()

    def now(self) -> datetime:
        return self.hand.now()

    def monotonic(self) -> float:
        return self.hand.monotonic()


class Worlds:
    """Makes one world after another, each with an empty ledger; a new one ends the one before.

    They share the ledger's engine, which builds its statements once: that takes longer than everything they do.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ledger.db"
        self._clock = _Now()
        self._ledger = sqlite_ledger(self._path, self._clock)
        self._empty = self._path.read_bytes()

    def __call__(self) -> World:
        self.close()
        for path in self._path.parent.iterdir():
            path.unlink()
        self._path.write_bytes(self._empty)
        self._clock.hand = HandClock()
        return World(self._ledger, self._clock.hand)

    def close(self) -> None:
        self._ledger.close()
