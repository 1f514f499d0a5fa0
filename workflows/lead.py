"""The story of one lead: read it, plan it once, make each effect, read it back, ask a person where that is needed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.effects import EffectActivities
    from activities.handing_over import HandingOverActivities
    from activities.messages import (
        Answered,
        AskCommand,
        Book,
        DecideCommand,
        LeadView,
        LookCommand,
        PlanCommand,
        PlanView,
        Reading,
        ReadingKind,
        WriteCommand,
    )
    from activities.planning import PlanningActivities
    from activities.review import ReviewActivities
    from activities.source import SourceActivities
    from leadproof.domain.errors import MalformedDecision
    from leadproof.domain.events import Outcome
    from leadproof.domain.mutation import Reason, Status
    from leadproof.domain.progress import MutationView, StepKind
    from leadproof.domain.review import DecisionVerdict, ReviewItem, parse_decision
    from workflows import contract, failing, options, pacing, telling
    from workflows.finding import Told
    from workflows.freeing import Freeing

_FIRST_WAIT = timedelta(seconds=1)
_LONGEST_PAUSE = timedelta(minutes=5)
_LONGEST_WAIT = timedelta(hours=1)
_COUNTED = {"deliveries", "conflicts", "last_seen_at"}
"""What goes on counting in the ledger after the run has read its row."""


@workflow.defn(name=contract.LEAD_WORKFLOW)
class LeadWorkflow:
    """One inbound lead event. What the run remembers is never the last word: each step begins from the ledger's row."""

    @workflow.init
    def __init__(self, event_key: str = "") -> None:
        self._event_key = event_key  # here, and not in `run`: after a reset, handlers are called before it
        self._lead: LeadView | None = None
        self._outcome = Outcome.WORKING
        self._views: dict[str, MutationView] = {}
        self._question: ReviewItem | None = None
        self._problem: str | None = None
        self._plan: PlanView | None = None
        self._refused: Answered | None = None
        self._sent: list[DecideCommand] = []
        self._signals = 0
        self._answers: dict[str, Answered] = {}
        self._pending_until: datetime | None = None
        self._elsewhere: str | None = None
        self._freeing = Freeing()
        self._waits: dict[str, timedelta] = {}
        self._asked_to_expire: dict[str, datetime] = {}
        self._told = Told()
        self._review_page: str | None = None

    @workflow.run
    async def run(self, event_key: str = "") -> str:
        """Carry the lead event under `event_key` to its outcome."""
        prepares = True
        while prepares:
            prepares = await self._carry(prepares)
        self._tell()
        await self._answer_the_rest()
        return self._outcome

    async def _carry(self, prepares: bool) -> bool:
        """Prepare and follow; whether the event is to be planned again. What no waiting cures is put to a person."""
        while True:
            try:
                problem = await self._prepare() if prepares else None
                if problem is not None:
                    await self._ask(problem)
                return await self._follow()
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                self._problem, prepares = failing.told_by(error), False
                await self._ask(Reason.RUN_FAILED)

    # -- what is sent to the run: handlers only record ---------------------------------------------------------------
    @workflow.signal(
        name=contract.SIGNAL_DECIDE,
        description=telling.HOW_TO_DECIDE,
    )
    def decide(self, *sent: Any) -> None:
        place, self._signals = str(self._signals), self._signals + 1
        self._sent.append(DecideCommand(event_key=self._event_key, sent=list(sent), via="signal", place=place))

    @workflow.update(
        name=contract.UPDATE_SUBMIT_DECISION,
        description=f"{telling.HOW_TO_DECIDE} It is answered with what became of it.",
    )
    async def submit_decision(self, *sent: Any) -> Answered:
        info = workflow.current_update_info()
        place = info.id if info is not None else ""
        self._sent.append(DecideCommand(event_key=self._event_key, sent=list(sent), via="update", place=place))
        await workflow.wait_condition(lambda: place in self._answers)
        return self._answers[place]

    @submit_decision.validator
    def _submit_decision_is_one(self, *sent: Any) -> None:
        try:
            parse_decision(sent)
        except MalformedDecision as error:
            raise ApplicationError(str(error), type="MalformedDecision", non_retryable=True) from None

    @workflow.signal(name=contract.SIGNAL_RECORD_FREE, description=telling.NOT_FOR_PEOPLE)
    def record_free(self, *_: Any) -> None:
        self._freeing.freed()

    @workflow.query(name=contract.QUERY_STATUS, description="Where this lead stands; nothing personal")
    def status(self) -> dict[str, Any]:
        lead = (
            self._lead.model_dump(mode="json", exclude=_COUNTED)
            if self._lead is not None
            else {"event_key": self._event_key}
        )
        mutations = [view.model_dump(mode="json", exclude={"step"}) for view in self._ordered()]
        return lead | {"outcome": self._outcome.value, "problem": self._problem, "mutations": mutations}

    # -- the beginning: read the source, plan once ------------------------------------------------------------------
    async def _prepare(self) -> Reason | None:
        """Read and plan; what stands in the way, if anything does."""
        reading = await self._read()
        if reading is None:
            return Reason.SOURCE_DOWN
        if reading.lead is None:  # nobody who was asked knows the key; if another ledger does, its sweep begins anew
            self._outcome = Outcome.NOTHING_TO_DO
            return None
        self._lead, self._outcome, self._problem = reading.lead, reading.lead.outcome, None
        if reading.kind is ReadingKind.CLOSED:
            return None
        if reading.lead.workflow_id != workflow.info().workflow_id and workflow.patched("hand-over"):
            await self._hand_over()
            return None
        try:
            book = await self._planned(reading)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            self._problem = failing.told_by(error)
            return failing.without_plan(error)
        self._take(book, anew=True)
        self._plan = book.plan or self._plan
        if any(view.review is not None for view in book.views) or book.event_review is not None:
            await self._decide(DecideCommand(event_key=self._event_key))
        return book.problem

    async def _planned(self, reading: Reading) -> Book:
        """Plan on what was read; while our own side is out of reach, again."""
        while True:
            try:
                book: Book = await workflow.execute_activity_method(
                    PlanningActivities.plan,
                    PlanCommand(event_key=self._event_key, snapshot=reading.snapshot),
                    summary="plan once, reserve the effects",
                    **options.PLAN,
                )
            except ActivityError as error:
                if failing.of_ours(error) and workflow.patched("outages"):
                    continue
                raise
            return book

    async def _read(self) -> Reading | None:
        """The source's reading; a record that cannot be read yet is asked for again, `None` says that it stays down."""
        missed: tuple[datetime, ...] = ()
        while True:
            try:
                reading: Reading = await workflow.execute_activity_method(
                    SourceActivities.read_source,
                    args=[self._event_key, missed] if missed else [self._event_key],
                    summary="read the source record",
                    **options.READ_SOURCE,
                )
            except ActivityError as error:
                if is_cancelled_exception(error) or failing.hopeless(error):
                    raise
                if failing.unknown(error):
                    self._problem = failing.told_by(error)
                    return Reading(kind=ReadingKind.UNKNOWN)
                if failing.of_ours(error) and workflow.patched("outages"):
                    continue
                return None
            if reading.kind is not ReadingKind.LATER or reading.at is None:
                return reading
            missed = reading.missed
            await workflow.sleep(max(reading.at - workflow.now(), timedelta(0)), summary="not readable yet")

    async def _hand_over(self) -> None:
        """Leave the lead to its own run: this one has another ID, which a person gave it, or that of a run before."""
        own = await workflow.execute_activity_method(
            HandingOverActivities.hand_over,
            self._event_key,
            summary="leave the lead to its own run",
            **options.HAND_OVER,
        )
        self._problem, self._elsewhere = f"this lead is carried by `{own}`, so this run ends here", own

    # -- the middle: one step at a time, in the plan's order --------------------------------------------------------
    async def _follow(self) -> bool:
        """Take each mutation through its life until the outcome is final; whether the event is to be planned again."""
        while not self._outcome.final and not self._elsewhere:
            self._tell()
            if self._sent:
                if await self._decide(self._sent.pop(0)):
                    return True
            elif self._pending_until is not None and self._pending_until <= workflow.now():
                if await self._decide_pending():
                    return True
            elif self._over(workflow.now()):
                if await self._expire():
                    return True
            elif (view := self._due()) is not None:
                await self._advance(view)
            else:
                await self._wait()
            if workflow.info().is_continue_as_new_suggested() and not self._sent:
                await self._answer_the_rest()
                workflow.continue_as_new(self._event_key)
        return False

    def _ordered(self) -> list[MutationView]:
        return sorted(self._views.values(), key=lambda view: (view.ordinal, view.parent_key is not None))

    def _due(self) -> MutationView | None:
        """The first mutation, in the plan's order, whose next step is due now; while the event itself is in question,
        none."""
        if self._question is not None:
            return None
        for view in self._ordered():
            at = self._next_at(view)
            if at is not None and at <= workflow.now():
                return view
        return None

    def _next_at(self, view: MutationView) -> datetime | None:
        """When a mutation's next step is due; `None` where it waits for something else than time."""
        step = view.step
        if step.kind is StepKind.PERSON:
            return workflow.now() if step.asks is not None else None
        if step.kind is StepKind.DEPENDS:
            ready = all(self._observed(key) for key in view.depends_on)
            return workflow.now() if ready else None
        if step.kind is StepKind.WAITS:
            return workflow.now() if self._freeing.since(view.mutation_key) else step.at
        if step.kind is StepKind.DONE:
            return None
        return step.at or workflow.now()

    def _observed(self, key: str) -> bool:
        view = self._views.get(key)
        return view is not None and view.status is Status.OBSERVED

    async def _advance(self, view: MutationView) -> None:
        if view.step.kind is StepKind.PERSON:
            await self._ask(view.step.asks or Reason.NEEDS_APPROVAL, view.mutation_key)
            return
        if view.step.kind is StepKind.LOOK:
            book = await workflow.execute_activity_method(
                EffectActivities.reconcile,
                LookCommand(mutation_key=view.mutation_key, alone=len(self._views) == 1, unstored=view.step.unstored),
                summary=f"read back {view.action_kind}",
                **options.RECONCILE,
            )
        else:
            book = await self._write(view)
        self._take(self._paced(view, book), stepped=view.mutation_key)
        await self._wake(book)

    async def _write(self, view: MutationView) -> Book:
        """One attempt. A lost worker, a time-out and a shutdown all mean the same: what happened is in the row."""
        self._asks(view.mutation_key)
        number = view.attempts + 1
        command = WriteCommand(
            mutation_key=view.mutation_key, version=view.version, number=number, alone=len(self._views) == 1
        )
        try:
            return await workflow.execute_activity_method(
                EffectActivities.write,
                command,
                summary=f"{view.action_kind} {view.target_system} {view.target_object}, attempt {number}",
                **options.WRITE,
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return await workflow.execute_activity_method(
                PlanningActivities.plan,
                PlanCommand(event_key=self._event_key),
                summary="read the row: the answer of the write was lost",
                **options.LEDGER,
            )

    def _asks(self, mutation_key: str) -> None:
        self._freeing.asks(mutation_key)
        waiting = [view.mutation_key for view in self._views.values() if view.step.kind is StepKind.WAITS]
        if set(waiting) - {mutation_key} and not workflow.patched("freed-by-mutation"):
            self._freeing.asks(*waiting)  # as runs did that were begun before

    def _paced(self, before: MutationView, book: Book) -> Book:
        """Give a step that led nowhere a time: a record that is held is asked for again, a row that has not moved is
        tried again, each after a wait that doubles. Nothing may go round without a pause."""
        views = []
        for view in book.views:
            if view.mutation_key != before.mutation_key:
                views.append(view)
                continue
            held = view.step.kind is StepKind.WAITS
            due = view.step.at is None or view.step.at <= workflow.now()
            stuck = (view.version, view.step.kind) == (before.version, before.step.kind)
            if held or (stuck and due):
                longest = _LONGEST_WAIT if held else _LONGEST_PAUSE
                wait = self._waits.get(view.mutation_key, _FIRST_WAIT)
                self._waits[view.mutation_key] = min(wait * 2, longest)
                at = workflow.now() + wait
                views.append(view.model_copy(update={"step": view.step.model_copy(update={"at": at})}))
            else:
                self._waits.pop(view.mutation_key, None)
                views.append(view)
        return book.model_copy(update={"views": tuple(views)})

    async def _wake(self, book: Book) -> None:
        """Tell the first lead in each freed record's queue; its own timer asks again where this is lost."""
        for waiting in (book.wake, *book.also_wake):
            if waiting is None:
                continue
            if waiting == workflow.info().workflow_id:  # a mutation of this lead is next in line
                self._freeing.freed()
                continue
            try:
                await workflow.get_external_workflow_handle(waiting).signal(contract.SIGNAL_RECORD_FREE)
            except FailureError:
                workflow.logger.info("the lead that waits for this record has no open run; the sweep resumes it")

    def _woken(self) -> bool:
        """Whether a record was freed that a mutation waits for; a signal that nobody waits for wakes nobody."""
        waits = (view.mutation_key for view in self._views.values() if view.step.kind is StepKind.WAITS)
        return self._question is None and any(self._freeing.since(key) for key in waits)

    async def _wait(self) -> None:
        """Until something was sent, the record that a mutation waits for was freed, or the next step is due."""
        views = self._views.values() if self._question is None else ()
        times = [at for view in views if (at := self._next_at(view)) is not None]
        times += [self._pending_until] if self._pending_until is not None else self._windows().values()
        at = min(times, default=None)
        wait = max(at - workflow.now(), timedelta(0)) if at is not None else None
        told = telling.awaited(views, at, self._pending_until)
        try:
            await workflow.wait_condition(lambda: bool(self._sent) or self._woken(), timeout=wait, timeout_summary=told)
        except TimeoutError:
            return

    # -- people -----------------------------------------------------------------------------------------------------
    async def _ask(self, reason: Reason, mutation_key: str | None = None) -> None:
        """Put a question to a person: about a mutation, or about the event."""
        # of a source that stayed down nothing was told; what is left of an earlier problem is not about it
        known = mutation_key is None and reason is not Reason.SOURCE_DOWN
        why = self._problem if known else None
        book = await workflow.execute_activity_method(
            ReviewActivities.open_review,
            AskCommand(event_key=self._event_key, mutation_key=mutation_key, reason=reason, why=why),
            summary=f"ask a person: {reason}",
            **options.LEDGER,
        )
        self._take(book)

    async def _decide(self, command: DecideCommand) -> bool:
        """Apply one decision as it was sent, or all that are pending; whether the event is to be planned again."""
        if command.sent is not None and not telling.carries_proof(command.sent):
            command = command.model_copy(update={"sender": await self._sender(command)})
        try:
            decided = await workflow.execute_activity_method(
                ReviewActivities.apply_decision, command, summary="apply what a person decided", **options.LEDGER
            )
        except ActivityError:
            if command.via == "update":  # whoever sent it is told; it is kept where it could be read
                kept = "it could not be applied, and this lead is put to a person"
                self._answers[command.place] = Answered(
                    decision_id=command.place, verdict=DecisionVerdict.PENDING, why=kept
                )
            raise
        self._take(decided.book)
        for answer in decided.answers:
            self._answers[command.place if command.via == "update" else answer.decision_id] = answer
            if answer.verdict is not DecisionVerdict.PENDING:
                self._refused = answer if answer.verdict is not DecisionVerdict.APPLIED else None
            elif answer.until is not None:
                self._pending_until = min(self._pending_until or answer.until, answer.until)
        await self._wake(decided.book)
        await self._pass_on(command, decided.answers)
        return decided.plan_again

    async def _pass_on(self, command: DecideCommand, answers: Sequence[Answered]) -> None:
        """Tell the lead's own run what was decided here: it would never learn of it, and wait for good. It finds it in
        the ledger, under its identity, and decides nothing twice; one that is closed reads the ledger when resumed."""
        if self._elsewhere is None or command.sent is None:
            return
        for answer in answers:
            if answer.verdict not in {DecisionVerdict.APPLIED, DecisionVerdict.PENDING}:
                continue
            named = {**command.sent[0], "decision_id": answer.decision_id}
            try:
                own = workflow.get_external_workflow_handle(self._elsewhere)
                await own.signal(contract.SIGNAL_DECIDE, named)
            except FailureError:
                workflow.logger.info("the lead's own run is not open; the sweep resumes it")

    async def _decide_pending(self) -> bool:
        """Apply what is pending, now that it can be; where the ledger's clock says not yet, after a pause once more."""
        self._pending_until = None
        again = await self._decide(DecideCommand(event_key=self._event_key))
        early = self._pending_until is not None and self._pending_until <= workflow.now()
        if early and workflow.patched("pending-paced"):
            wait = self._waits.get(self._event_key, _FIRST_WAIT)
            self._waits[self._event_key] = min(wait * 2, _LONGEST_PAUSE)
            self._pending_until = workflow.now() + wait
        elif not early:
            self._waits.pop(self._event_key, None)
        return again

    def _windows(self) -> dict[str, datetime]:
        """Per open question the end of its window, where it has one; of one that is over, when the policy is asked
        again."""
        items = [self._question, *(view.review for view in self._views.values())]
        return {
            item.review_id: self._asked_to_expire.get(item.review_id, item.expires_at)
            for item in items
            if item is not None and item.expires_at is not None
        }

    def _over(self, now: datetime) -> list[str]:
        """The questions whose window is over; while a decision is pending, all are looked at when it can be applied."""
        ends = self._windows() if self._pending_until is None else {}
        return [review_id for review_id, at in ends.items() if at <= now]

    async def _expire(self) -> bool:
        """Have the policy decide what nobody has; where it can't, the question stays open and is looked at again."""
        for review_id in self._over(workflow.now()):
            wait = self._waits.get(review_id, _FIRST_WAIT)
            self._waits[review_id] = min(wait * 2, _LONGEST_WAIT)
            self._asked_to_expire[review_id] = workflow.now() + wait
        try:
            return await self._decide(DecideCommand(event_key=self._event_key))
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return False

    async def _sender(self, command: DecideCommand) -> str:
        try:
            return await workflow.execute_activity_method(
                ReviewActivities.sender_of, command, summary="whose decision is this", **options.SENDER
            )
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return "unknown"

    async def _answer_the_rest(self) -> None:
        """Answer what was sent too late, so that nobody who decided is left without a word."""
        while True:
            while self._sent:
                command = self._sent.pop(0)
                if self._lead is not None:
                    await self._decide(command)
                else:
                    why = "no lead event stands under this key"
                    malformed = Answered(decision_id=command.place, verdict=DecisionVerdict.MALFORMED, why=why)
                    self._answers[command.place] = malformed
            await workflow.wait_condition(lambda: bool(self._sent) or workflow.all_handlers_finished())
            if not self._sent:
                return

    # -- what the run knows and shows -------------------------------------------------------------------------------
    def _take(self, book: Book, *, stepped: str | None = None, anew: bool = False) -> None:
        """Take what the ledger says; what is not to begin anew, and has not moved, keeps its time."""
        self._outcome = book.outcome
        self._review_page = book.review_page or self._review_page
        views = {view.mutation_key: view for view in book.views}
        if book.whole:
            kept = {} if anew else pacing.at_their_own_pace(book.views, self._views, stepped)
            if kept and workflow.patched("own-pace"):
                views |= kept
            self._views, self._question = {}, book.event_review
        self._views.update(views)

    def _tell(self) -> None:
        """Show in Temporal's UI where the lead stands, and make it findable."""
        views = self._ordered()
        told = telling.details(
            self._lead,
            self._outcome,
            views,
            self._question,
            problem=self._problem,
            plan=self._plan,
            refused=self._refused,
            review_page=self._review_page,
        )
        workflow.set_current_details(told)
        changes = self._told.changes(self._outcome, views, self._question)
        if changes:
            workflow.upsert_search_attributes(changes)
