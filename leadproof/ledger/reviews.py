"""The review queue: questions asked, decisions kept and applied."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import select

from leadproof.domain import keys
from leadproof.domain.mutation import Mutation
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import reread_policy
from leadproof.domain.review import (
    BY_TIMER,
    Decision,
    DecisionRow,
    DecisionVerdict,
    ReviewDecision,
    ReviewItem,
    ReviewState,
    allowed_decisions,
    expiry_of,
)
from leadproof.domain.steps import Applied, Question
from leadproof.ledger.decisions import apply_decision, find_decision
from leadproof.ledger.events import locked, locked_by_mutation, recompute
from leadproof.ledger.policies import stored_policy
from leadproof.ledger.questions import ask
from leadproof.ledger.rows import find_mutation, open_item, to_decision, to_item
from leadproof.ledger.settling import found
from leadproof.ledger.tables import REVIEW_DECISION, REVIEW_ITEM
from leadproof.ledger.transaction import Store, Transaction, insert_into


class Reviews(Store):
    """Questions for people, and their answers."""

    def review_of(self, subject: str) -> ReviewItem | None:
        """The open item of a subject."""
        return self._read_once(lambda tx: open_item(tx, subject))

    def review(self, review_id: str) -> ReviewItem | None:
        return self._read(lambda tx: _review(tx, review_id))

    def decision(self, decision_id: str) -> DecisionRow | None:
        return self._read(lambda tx: find_decision(tx, decision_id))

    def pending_decisions(self, event_key: str) -> tuple[DecisionRow, ...]:
        """Pending decisions on open items of an event, oldest first."""
        return self._read(lambda tx: _pending(tx, event_key))

    def decisions_left(self, *, older_than: timedelta, limit: int) -> tuple[DecisionRow, ...]:
        """Decisions of people that no run has taken for a while; see `leadproof.ports.Ledger.decisions_left`."""
        return self._read(lambda tx: _left(tx, older_than, limit))

    def expire(self, event_key: str) -> tuple[DecisionRow, ...]:
        """Record the policy's decision on questions whose window is over; see `leadproof.ports.Ledger.expire`."""
        if not self._read(lambda tx: _over(tx, event_key)):
            return ()
        return self._write(lambda tx: _expire(tx, event_key))

    def open_event_review(self, event_key: str, question: Question) -> ReviewItem:
        """Open the item of an event, or return the open one; of an event that is final meanwhile, see `open_review`.

        Raises:
            NotFound: no such event.
        """
        return self._write(lambda tx: _ask_about_event(tx, event_key, question))

    def open_review(self, mutation_key: str, question: Question) -> ReviewItem:
        """Open an item about a mutation, or return the open one.

        A question that the row answers by itself meanwhile, so that no decision is left to take, is kept as *resolved*
        from the start.

        Raises:
            NotFound: no such mutation.
        """
        return self._write(lambda tx: _ask_about_mutation(tx, mutation_key, question))

    def record_decision(
        self,
        decision: ReviewDecision,
        *,
        reviewer: str,
        via: str,
        verdict: DecisionVerdict = DecisionVerdict.PENDING,
    ) -> DecisionRow:
        """Keep a decision, or return the row that already stands under its id; see `leadproof.ports.Ledger`.

        Raises:
            ValueError: the verdict would say that it was applied.
        """
        if verdict is DecisionVerdict.APPLIED:
            raise ValueError("a decision is not recorded as applied")
        row = decision_row(decision, reviewer=reviewer, via=via, now=self._clock.now(), verdict=verdict)
        return self._write(lambda tx: keep(tx, row, typed=decision.typed))

    def record_malformed(
        self, decision_id: str, *, reviewer: str, via: str, why: str, review_id: str | None = None
    ) -> DecisionRow:
        """Keep what was sent as a decision and is none; `review_id` where it names a question."""
        row = DecisionRow(
            decision_id=decision_id,
            review_id=review_id,
            review_version=None,
            decision=None,
            reviewer=reviewer,
            via=via,
            reason=why,
            verdict=DecisionVerdict.MALFORMED,
            decided_at=self._clock.now(),
        )
        return self._write(lambda tx: _record(tx, row))

    def apply_decision(self, decision_id: str, *, quiescence: timedelta) -> Applied:
        """Apply a recorded decision; see `leadproof.ports.Ledger.apply_decision`.

        Raises:
            NotFound: nothing was recorded under this id.
        """
        return self._write(lambda tx: apply_decision(tx, decision_id, quiescence, partial(self._policy_of, tx)))

    def _policy_of(self, tx: Transaction, version: str) -> Policy | None:
        return stored_policy(tx, version, self._parse or reread_policy)


def _review(tx: Transaction, review_id: str) -> ReviewItem | None:
    row = tx.row(select(REVIEW_ITEM).where(REVIEW_ITEM.c.review_id == review_id))
    return to_item(row) if row is not None else None


def _pending(tx: Transaction, event_key: str) -> tuple[DecisionRow, ...]:
    rows = tx.rows(
        select(REVIEW_DECISION)
        .join(REVIEW_ITEM, REVIEW_ITEM.c.review_id == REVIEW_DECISION.c.review_id)
        .where(
            REVIEW_ITEM.c.event_key == event_key,
            REVIEW_ITEM.c.state == ReviewState.OPEN,
            REVIEW_DECISION.c.verdict == DecisionVerdict.PENDING,
        )
        .order_by(REVIEW_DECISION.c.decided_at, REVIEW_DECISION.c.decision_id)
    )
    return tuple(to_decision(row) for row in rows)


def _left(tx: Transaction, older_than: timedelta, limit: int) -> tuple[DecisionRow, ...]:
    rows = tx.rows(
        select(REVIEW_DECISION)
        .join(REVIEW_ITEM, REVIEW_ITEM.c.review_id == REVIEW_DECISION.c.review_id)
        .where(
            REVIEW_ITEM.c.state == ReviewState.OPEN,
            REVIEW_DECISION.c.verdict == DecisionVerdict.PENDING,
            REVIEW_DECISION.c.via != BY_TIMER,
            REVIEW_DECISION.c.decided_at <= tx.now - older_than,
        )
        .order_by(REVIEW_DECISION.c.decided_at, REVIEW_DECISION.c.decision_id)
        .limit(limit)
    )
    return tuple(to_decision(row) for row in rows)


def _over(tx: Transaction, event_key: str) -> tuple[ReviewItem, ...]:
    """Open questions of an event whose window is over."""
    rows = tx.rows(
        select(REVIEW_ITEM)
        .where(
            REVIEW_ITEM.c.event_key == event_key,
            REVIEW_ITEM.c.state == ReviewState.OPEN,
            REVIEW_ITEM.c.expires_at <= tx.now,
        )
        .order_by(REVIEW_ITEM.c.expires_at, REVIEW_ITEM.c.review_id)
    )
    return tuple(to_item(row) for row in rows)


def _expire(tx: Transaction, event_key: str) -> tuple[DecisionRow, ...]:
    lead = locked(tx, event_key)
    rows = []
    for item in _over(tx, event_key):
        mutation = found(tx, item.mutation_key) if item.mutation_key is not None else None
        status, reason = (mutation.status, mutation.reason) if mutation is not None else (None, None)
        if Decision.ABANDON in allowed_decisions(status=status, reason=reason):
            rows.append(_record_own(tx, expiry_of(item, lead.policy_version, tx.now)))
    return tuple(rows)


def _record_own(tx: Transaction, row: DecisionRow) -> DecisionRow:
    """Keep the policy's decision. Its id can be worked out, and what somebody sent under it keeps nobody from it."""
    standing = _record(tx, row)
    while standing.via != row.via:
        row = row.model_copy(update={"decision_id": keys.digest(["expiry-again/1", row.decision_id])})
        standing = _record(tx, row)
    return standing


def _ask_about_event(tx: Transaction, event_key: str, question: Question) -> ReviewItem:
    lead = locked(tx, event_key)
    item = ask(
        tx,
        subject=event_key,
        event_key=event_key,
        mutation_key=None,
        question=question,
        answered=lead.outcome.final,
    )
    recompute(tx, lead)
    return item


def _ask_about_mutation(tx: Transaction, mutation_key: str, question: Question) -> ReviewItem:
    lead = locked_by_mutation(tx, mutation_key)
    mutation = found(tx, mutation_key)
    item = ask(
        tx,
        subject=mutation_key,
        event_key=lead.event_key,
        mutation_key=mutation_key,
        question=question,
        answered=not _leaves_a_choice(mutation),
    )
    recompute(tx, lead)
    return item


def _leaves_a_choice(mutation: Mutation) -> bool:
    return bool(allowed_decisions(status=mutation.status, reason=mutation.reason, absence_established=True))


def decision_row(
    decision: ReviewDecision,
    *,
    reviewer: str,
    via: str,
    now: datetime,
    verdict: DecisionVerdict = DecisionVerdict.PENDING,
) -> DecisionRow:
    """The row of a decision as it was sent."""
    return DecisionRow(
        decision_id=decision.decision_id,
        review_id=decision.review_id,
        review_version=decision.version,
        decision=decision.decision.value,
        reviewer=reviewer,
        via=via,
        reason=decision.reason,
        shown_digest=decision.shown_digest,
        verdict=verdict,
        decided_at=now,
    )


def keep(tx: Transaction, row: DecisionRow, *, typed: bool) -> DecisionRow:
    """Keep a decision, or answer the row that already stands under its id; see `leadproof.ports.Ledger`."""
    return _record_again(tx, row) if typed else _record(tx, row)


def _record(tx: Transaction, row: DecisionRow) -> DecisionRow:
    tx.run(insert_into(REVIEW_DECISION, tx.dialect).on_conflict_do_nothing(), row.model_dump())
    standing = find_decision(tx, row.decision_id)
    if standing is None:
        raise AssertionError("an inserted row is not there")
    return standing


def _record_again(tx: Transaction, row: DecisionRow) -> DecisionRow:
    """Keep what a person typed. The same words of somebody else are another decision. The same words were impossible
    before: what they are about may have moved since, and then they are a decision of their own, once for each state of
    it."""
    standing = _record(tx, row)
    if standing.reviewer != row.reviewer:
        row = row.model_copy(update={"decision_id": keys.digest(["decision-of/1", row.decision_id, row.reviewer])})
        standing = _record(tx, row)
    if standing.verdict is not DecisionVerdict.IMPOSSIBLE or row.verdict is not DecisionVerdict.PENDING:
        return standing
    item = _review(tx, row.review_id) if row.review_id is not None else None
    mutation = find_mutation(tx, item.mutation_key) if item is not None and item.mutation_key is not None else None
    if mutation is None:
        return standing
    again = keys.digest(["decision-again/1", row.decision_id, str(mutation.version)])
    return _record(tx, row.model_copy(update={"decision_id": again}))
