"""Questions for people and their decisions. What a person decides is in the ledger before it is applied."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, Protocol

from temporalio import activity

from activities.foreign import unknown
from activities.messages import Answered, AskCommand, Book, DecideCommand, Decided
from activities.views import Views
from leadproof.domain import keys
from leadproof.domain.errors import MalformedDecision
from leadproof.domain.mutation import Reason
from leadproof.domain.proofs import verify_decision
from leadproof.domain.review import (
    Decision,
    DecisionVerdict,
    ReviewDecision,
    ReviewItem,
    ReviewState,
    allowed_decisions,
    parse_decision,
    possible,
)
from leadproof.domain.steps import Applied, Question
from leadproof.ports import Clock, Ledger
from leadproof.rulebook import Rulebook

_REVIEW_ID = re.compile(r"[0-9a-f]{64}")


def _says(decision: ReviewDecision) -> tuple[str, int, str]:
    """What a decision decides, as its row keeps it."""
    return decision.review_id, decision.version, decision.decision.value


class Senders(Protocol):
    """Tells whose a signal or an update was; Temporal's history knows, the handler does not."""

    async def identity(self, workflow_id: str, run_id: str, *, via: str, place: str) -> str: ...


class ReviewActivities:
    """Args:
    decision_key: key of the proof on decisions that came through the starter; `None` accepts no proof.
    review_page: as `Views` has it.
    """

    def __init__(
        self,
        ledger: Ledger,
        rulebook: Rulebook,
        clock: Clock,
        senders: Senders,
        decision_key: str | None,
        *,
        review_page: str | None = None,
    ) -> None:
        self._ledger = ledger
        self._rulebook = rulebook
        self._clock = clock
        self._senders = senders
        self._decision_key = decision_key
        self._views = Views(ledger, rulebook, review_page)

    @activity.defn(no_thread_cancel_exception=True)
    def open_review(self, command: AskCommand) -> Book:
        """Open the item of a question, or find the open one."""
        lead = self._views.lead(command.event_key)
        policy = self._rulebook.asking(lead.policy_version)
        if command.mutation_key is None:
            asked = Question.asked(command.reason, policy.queue(None), self._clock.now(), command.why)
            self._ledger.open_event_review(command.event_key, asked)
            return self._views.book(command.event_key)
        mutation = self._ledger.mutation(command.mutation_key)
        if mutation is None:
            raise unknown("effect")
        plan = self._ledger.plan_of(command.event_key, lead.policy_version)
        wanted = None
        if plan is not None and command.reason is Reason.NEEDS_APPROVAL and mutation.parent_key is None:
            wanted = plan.guarded[mutation.ordinal].queue
        asked = Question.asked(command.reason, policy.queue(wanted), self._clock.now())
        self._ledger.open_review(mutation.mutation_key, asked)
        return self._views.book(command.event_key)

    @activity.defn
    async def sender_of(self, command: DecideCommand) -> str:
        """The identity that Temporal recorded for a signal or an update of the calling run."""
        info = activity.info()
        if info.workflow_id is None or info.workflow_run_id is None:
            return "unknown"
        return await self._senders.identity(
            info.workflow_id, info.workflow_run_id, via=command.via, place=command.place
        )

    @activity.defn(no_thread_cancel_exception=True)
    def apply_decision(self, command: DecideCommand) -> Decided:
        """Record what was sent, then apply it; or, with nothing sent, apply all that is pending in the ledger, and what
        the policy decides where the window of a question is over."""
        if command.sent is None:
            self._expire(command.event_key)
            rows = self._ledger.pending_decisions(command.event_key)
            applied = [self._apply(row.decision_id, row.review_id) for row in rows]
        else:
            applied = [self._receive(command, command.sent)]
        wakes = tuple(dict.fromkeys(event_key for one in applied for event_key in one.wakes))
        return Decided(
            answers=tuple(
                Answered(decision_id=one.decision_id, verdict=one.verdict, why=one.why, until=one.until)
                for one in applied
            ),
            book=self._views.book(command.event_key, wake=wakes[0] if wakes else None, also_wake=wakes[1:]),
            plan_again=any(self._replans(one) for one in applied),
        )

    def _receive(self, command: DecideCommand, sent: Sequence[Any]) -> Applied:
        reviewer = f"temporal:{command.sender or 'unknown'}"
        try:
            decision = parse_decision(sent)
        except MalformedDecision as error:
            item = self._named(sent, command.event_key)
            why = (
                f"{error}; {self._possible(item)}"
                if item is not None and item.state is ReviewState.OPEN
                else str(error)
            )
            return self._malformed(sent, reviewer, command.via, why, item)
        proof = sent[0].get("proof")
        proved = False
        if proof is not None:
            proved = self._decision_key is not None and verify_decision(sent[0], self._decision_key)
            if not proved:
                item = self._named(sent, command.event_key)
                return self._malformed(sent, reviewer, command.via, "its proof does not fit", item)
            reviewer = decision.reviewer
        item = self._ledger.review(decision.review_id)
        if item is None or item.event_key != command.event_key:
            return self._malformed(sent, reviewer, command.via, "it answers no question of this lead")
        if not proved and not self._raw_counts(item):
            return self._not_by_signal(decision, reviewer, command.via, item)
        row = self._ledger.record_decision(decision, reviewer=reviewer, via=command.via)
        if (row.review_id, row.review_version, row.decision) != _says(decision):
            return self._malformed(sent, reviewer, command.via, "its decision_id stands for another decision", item)
        return self._apply(row.decision_id, row.review_id)

    def _not_by_signal(self, decision: ReviewDecision, reviewer: str, via: str, item: ReviewItem) -> Applied:
        """Keep what a bare signal decides where that does not count, under an identity of its own: the same decision
        through the review is another one, whichever comes first."""
        bare = decision.model_copy(
            update={"decision_id": keys.digest(["bare-decision/1", via, reviewer, decision.decision_id])}
        )
        # never pending, not even for a moment: a run that begins there would apply it
        row = self._ledger.record_decision(bare, reviewer=reviewer, via=via, verdict=DecisionVerdict.IMPOSSIBLE)
        why = f"the queue {item.queue!r} takes decisions through the review only, not as a bare signal"
        return Applied(decision_id=row.decision_id, verdict=DecisionVerdict.IMPOSSIBLE, why=why)

    def _apply(self, decision_id: str, review_id: str | None) -> Applied:
        item = self._ledger.review(review_id) if review_id is not None else None
        return self._ledger.apply_decision(decision_id, quiescence=self._views.quiescence(item))

    def _expire(self, event_key: str) -> None:
        """Let the policy decide what nobody has; under one that can no longer be read, questions stay open."""
        if self._rulebook.readable(self._views.lead(event_key).policy_version):
            self._ledger.expire(event_key)

    def _replans(self, applied: Applied) -> bool:
        if applied.verdict is not DecisionVerdict.APPLIED:
            return False
        row = self._ledger.decision(applied.decision_id)
        return row is not None and row.decision == Decision.PLAN_AGAIN

    def _raw_counts(self, item: ReviewItem) -> bool:
        policy = self._rulebook.asking(self._views.lead(item.event_key).policy_version)
        return policy.queue(item.queue)[1].raw_signals_count

    def _named(self, sent: Sequence[Any], event_key: str) -> ReviewItem | None:
        """The question of this lead that something names which is no decision."""
        named = sent[0].get("review_id") if len(sent) == 1 and isinstance(sent[0], dict) else None
        if not isinstance(named, str) or _REVIEW_ID.fullmatch(named) is None:
            return None
        item = self._ledger.review(named)
        return item if item is not None and item.event_key == event_key else None

    def _possible(self, item: ReviewItem) -> str:
        mutation = self._ledger.mutation(item.mutation_key) if item.mutation_key is not None else None
        status, reason = (mutation.status, mutation.reason) if mutation is not None else (None, None)
        return possible(allowed_decisions(status=status, reason=reason))

    def _malformed(
        self, sent: Sequence[Any], reviewer: str, via: str, why: str, item: ReviewItem | None = None
    ) -> Applied:
        text = json.dumps(list(sent), sort_keys=True, default=str)
        decision_id = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        review_id = item.review_id if item is not None else None
        self._ledger.record_malformed(decision_id, reviewer=reviewer, via=via, why=why, review_id=review_id)
        return Applied(decision_id=decision_id, verdict=DecisionVerdict.MALFORMED, why=why)
