"""The two activities around an effect: the one that claims and sends, and the one that reads back."""

from __future__ import annotations

from temporalio import activity

from activities.foreign import unknown
from activities.messages import Book, LookCommand, WriteCommand
from activities.views import Views
from leadproof import boundary, shadow
from leadproof.adapters import Adapters
from leadproof.boundary import Ports, Result, Rules, Submission
from leadproof.domain.errors import PolicyRefused
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Mutation, Status
from leadproof.domain.observing import LONGEST_WAIT
from leadproof.domain.progress import Step, StepKind, Unstored, view_of
from leadproof.domain.reconciliation import Next
from leadproof.ports import Clock, Ledger
from leadproof.rulebook import Rulebook


class EffectActivities:
    def __init__(self, ledger: Ledger, crms: Adapters, rulebook: Rulebook, clock: Clock) -> None:
        self._ledger = ledger
        self._crms = crms
        self._rulebook = rulebook
        self._clock = clock
        self._views = Views(ledger, rulebook)

    @activity.defn(no_thread_cancel_exception=True)
    def write(self, command: WriteCommand) -> Book:
        """Claim, check, send and store one attempt; at most one request leaves."""
        mutation, ports, rules = self._around(self._ledger.mutation(command.mutation_key))
        if mutation.shadow:  # no run is told to; whoever asks all the same is told what is due instead
            return self._views.book(mutation.event_key)
        done = boundary.submit(ports, rules, command.mutation_key, version=command.version, number=command.number)
        if done.unstored is not None:
            return self._unstored(done, done.unstored, rules)
        step = None
        if done.result in {Result.AGAIN, Result.PARKED}:
            step = Step(kind=StepKind.WRITE, at=done.at)
        elif done.result is Result.WAITS:
            step = Step(kind=StepKind.WAITS)
        elif done.result is Result.SENT:
            step = Step(kind=StepKind.LOOK)
        elif done.result is Result.LOOK_FIRST:
            open_ = done.mutation.status in {Status.SUBMITTED, Status.UNCERTAIN}
            step = Step(kind=StepKind.LOOK if open_ else StepKind.WRITE, at=done.at)
        if command.alone and done.result is Result.SENT:
            view = view_of(done.mutation, done.attempts, rules.target, None, step)
            return Book(outcome=Outcome.WORKING, views=(view,), whole=False)
        steps = {command.mutation_key: step} if step is not None else {}
        return self._views.book(mutation.event_key, steps=steps, wake=done.wake)

    @activity.defn(no_thread_cancel_exception=True)
    def reconcile(self, command: LookCommand) -> Book:
        """Read the record back, store the observation, and settle what it answers."""
        if command.unstored is not None:
            late = command.unstored
            self._ledger.store_answer(
                command.mutation_key, late.number, late.answer, request_digest=late.request_digest
            )
        receipts = self._ledger.receipts(command.mutation_key)
        mutation, ports, rules = self._around(receipts.mutation if receipts is not None else None)
        if mutation.shadow:
            again = shadow.look(ports, rules, command.mutation_key, receipts=receipts)
            later = {} if again is None else {command.mutation_key: Step(kind=StepKind.LOOK, at=again)}
            return self._views.book(mutation.event_key, steps=later)
        looked = boundary.look(ports, rules, command.mutation_key, receipts=receipts)
        step = None
        if looked.next is Next.SEND_AGAIN:
            step = Step(kind=StepKind.WRITE, at=looked.at)
        elif looked.mutation.status in {Status.SUBMITTED, Status.UNCERTAIN}:
            step = Step(kind=StepKind.LOOK, at=looked.at or self._clock.now() + LONGEST_WAIT)
        if command.alone and looked.next is Next.SETTLED:
            view = view_of(looked.mutation, looked.attempts, rules.target, None, step)
            return self._views.one(mutation.event_key, view, wake=looked.wake, outcome=looked.outcome)
        steps = {command.mutation_key: step} if step is not None else {}
        return self._views.book(mutation.event_key, steps=steps, wake=looked.wake)

    @staticmethod
    def _unstored(done: Submission, unstored: Unstored, rules: Rules) -> Book:
        """What can be told without the ledger: the answer goes back to the run, which brings it with its next look."""
        step = Step(kind=StepKind.LOOK, unstored=unstored)
        view = view_of(done.mutation, done.attempts, rules.target, None, step)
        told = view.model_copy(update={"attempts": unstored.number})
        return Book(outcome=Outcome.WORKING, views=(told,), whole=False)

    def _around(self, mutation: Mutation | None) -> tuple[Mutation, Ports, Rules]:
        if mutation is None:
            raise unknown("effect")
        rules = self._rulebook.rules(mutation.policy_version, mutation.target_system)
        crm = self._crms.of(mutation.target_system, rules.policy)
        if crm is None:
            raise PolicyRefused(f"this worker has no adapter for the target {mutation.target_system}")
        return mutation, Ports(ledger=self._ledger, crm=crm, clock=self._clock), rules
