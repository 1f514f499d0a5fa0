"""Applying a decision: its verdict, its item closed and its mutation's row, in one transaction."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import select, update

from leadproof.domain.derivation import PolicyOf, why_not
from leadproof.domain.errors import NotFound
from leadproof.domain.events import Lead, Outcome
from leadproof.domain.keys import DERIVED_OPERATIONS, derived_key, instant
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.review import (
    BY_TIMER,
    GIVES_UP_HOLD,
    Decision,
    DecisionRow,
    DecisionVerdict,
    ReviewItem,
    ReviewState,
    allowed_decisions,
    possible,
)
from leadproof.domain.shown import shown_digest
from leadproof.domain.steps import Applied
from leadproof.domain.unanswered import may_attempt_again, open_until
from leadproof.ledger.derived import derive
from leadproof.ledger.events import locked, recompute, set_outcome
from leadproof.ledger.plans import insert_mutations
from leadproof.ledger.questions import close_pending, decide
from leadproof.ledger.records import answered_by_newer
from leadproof.ledger.rows import attempts_of, find_mutation, mutations_of, observations_of, to_decision, to_item
from leadproof.ledger.settling import found, leave
from leadproof.ledger.tables import REVIEW_DECISION, REVIEW_ITEM
from leadproof.ledger.transaction import Transaction
from leadproof.ledger.transitions import move, touch

_YIELDS = frozenset({Status.RESERVED, Status.REJECTED})
_CLOSED_BY_ONE = frozenset({ReviewState.DECIDED, ReviewState.EXPIRED})
_ANSWERED = "a newer event has set the same already, so nothing is written"
_WHY = {
    DecisionVerdict.STALE: "the question has moved on since it was shown",
    DecisionVerdict.REPEATED: "the question was already decided",
    DecisionVerdict.IMPOSSIBLE: "the question does not allow this decision as it stands now",
    DecisionVerdict.MALFORMED: "it is no decision about a question that stands here",
}


class _Case(NamedTuple):
    """A pending decision with what it is about, all of it locked."""

    row: DecisionRow
    decision: Decision
    item: ReviewItem
    lead: Lead
    mutation: Mutation | None
    quiescence: timedelta
    policy_of: PolicyOf


class _Effect(NamedTuple):
    mutation: Mutation | None = None
    derived: Mutation | None = None
    wakes: tuple[str, ...] = ()


def apply_decision(tx: Transaction, decision_id: str, quiescence: timedelta, policy_of: PolicyOf) -> Applied:
    """Apply a recorded decision; see `leadproof.ports.Ledger.apply_decision`.

    Args:
        policy_of: asked where a derived mutation would move a stage.

    Raises:
        NotFound: nothing was recorded under this id.
    """
    row = find_decision(tx, decision_id)
    if row is None:
        raise NotFound("no decision stands under this id")
    item = _item(tx, row)
    if item is None:
        return _answer(tx, row, DecisionVerdict.IMPOSSIBLE, None)
    lead = locked(tx, item.event_key)
    mutation = found(tx, item.mutation_key) if item.mutation_key is not None else None
    item = _item(tx, row) or item  # as it is now that nobody else can change it
    row = find_decision(tx, decision_id) or row
    if row.verdict is not DecisionVerdict.PENDING:
        return _as_it_was(tx, row, item)
    case = _Case(row, Decision(row.decision or ""), item, lead, mutation, quiescence, policy_of)
    refused = _refusal(tx, case)
    if refused is not None:
        return _told_what_is_possible(tx, case, _answer(tx, row, refused, item))
    hindrance = _hindrance(case, case.decision)
    if hindrance is not None:
        answer = _answer(tx, row, DecisionVerdict.IMPOSSIBLE, item)
        return _told_what_is_possible(tx, case, answer.model_copy(update={"why": hindrance}))
    until = _not_before(tx, case)
    if until is not None:
        why = f"an earlier request can still change the record until {instant(until)}"
        return Applied(decision_id=decision_id, verdict=DecisionVerdict.PENDING, why=why, until=until, review=item)
    return _apply(tx, case)


def find_decision(tx: Transaction, decision_id: str) -> DecisionRow | None:
    row = tx.row(select(REVIEW_DECISION).where(REVIEW_DECISION.c.decision_id == decision_id))
    return to_decision(row) if row is not None else None


def give_verdict(tx: Transaction, decision_id: str, verdict: DecisionVerdict) -> DecisionRow:
    """Complete a decision that is pending; one that has its verdict keeps it.

    Raises:
        NotFound: nothing was recorded under this id.
    """
    tx.run(
        update(REVIEW_DECISION)
        .where(REVIEW_DECISION.c.decision_id == decision_id, REVIEW_DECISION.c.verdict == DecisionVerdict.PENDING)
        .values(verdict=verdict)
    )
    row = find_decision(tx, decision_id)
    if row is None:
        raise NotFound("no decision stands under this id")
    return row


def _item(tx: Transaction, row: DecisionRow) -> ReviewItem | None:
    standing = tx.row(select(REVIEW_ITEM).where(REVIEW_ITEM.c.review_id == row.review_id))
    return to_item(standing) if standing is not None else None


def _answer(tx: Transaction, row: DecisionRow, verdict: DecisionVerdict, item: ReviewItem | None) -> Applied:
    return _as_it_was(tx, give_verdict(tx, row.decision_id, verdict), item)


def _as_it_was(tx: Transaction, row: DecisionRow, item: ReviewItem | None) -> Applied:
    """The answer to a decision that has its verdict, however often it is asked for."""
    mutation = find_mutation(tx, item.mutation_key) if item is not None and item.mutation_key is not None else None
    derived = None
    applied = row.verdict is DecisionVerdict.APPLIED
    if applied and mutation is not None and row.decision in DERIVED_OPERATIONS:
        derived = find_mutation(tx, derived_key(mutation.mutation_key, str(row.decision)))
    return Applied(
        decision_id=row.decision_id,
        verdict=row.verdict,
        why=_why(tx, row),
        mutation=mutation,
        derived=derived,
        review=item,
    )


def _why(tx: Transaction, row: DecisionRow) -> str | None:
    """Why a decision was not applied; of one that came second, who decided what before it."""
    why = _WHY.get(row.verdict)
    if row.verdict is not DecisionVerdict.REPEATED:
        return why
    applied = tx.row(
        select(REVIEW_DECISION).where(
            REVIEW_DECISION.c.review_id == row.review_id, REVIEW_DECISION.c.verdict == DecisionVerdict.APPLIED
        )
    )
    if applied is None:
        return why
    first = to_decision(applied)
    return f"{why}: {first.reviewer} decided {first.decision} at {instant(first.decided_at.replace(microsecond=0))}"


def _refusal(tx: Transaction, case: _Case) -> DecisionVerdict | None:
    if case.item.state is not ReviewState.OPEN:
        return DecisionVerdict.REPEATED if case.item.state in _CLOSED_BY_ONE else DecisionVerdict.STALE
    if case.row.review_version != case.item.version:
        return DecisionVerdict.STALE
    shown = case.row.shown_digest
    if shown is not None and shown != shown_digest(case.item, case.mutation):
        return DecisionVerdict.STALE
    if case.decision not in _allowed(tx, case):
        return DecisionVerdict.IMPOSSIBLE
    return None


def _allowed(tx: Transaction, case: _Case) -> frozenset[Decision]:
    mutation = case.mutation
    if mutation is None:
        return allowed_decisions(status=None, reason=None)
    absent = mutation.status is Status.UNCERTAIN and may_attempt_again(
        attempts_of(tx, mutation.mutation_key),
        observations_of(tx, mutation.mutation_key),
        status=mutation.status,
        creates=mutation.intent.creates,
        quiescence=case.quiescence,
        now=tx.now,
    )
    return allowed_decisions(status=mutation.status, reason=mutation.reason, absence_established=absent)


def _hindrance(case: _Case, decision: Decision) -> str | None:
    return why_not(case.mutation, decision, case.policy_of) if case.mutation is not None else None


def _told_what_is_possible(tx: Transaction, case: _Case, answer: Applied) -> Applied:
    if answer.verdict is not DecisionVerdict.IMPOSSIBLE:
        return answer
    allowed = [one for one in _allowed(tx, case) if _hindrance(case, one) is None]
    return answer.model_copy(update={"why": f"{answer.why}; {possible(allowed)}"})


def _not_before(tx: Transaction, case: _Case) -> datetime | None:
    """Until when a request of ours can still change a record that the decision would give up or pass on."""
    if case.decision not in GIVES_UP_HOLD:
        return None
    mutations = [case.mutation] if case.mutation is not None else mutations_of(tx, case.lead.event_key)
    moments = [
        open_until(
            attempts_of(tx, mutation.mutation_key),
            observations_of(tx, mutation.mutation_key),
            mutation_key=mutation.mutation_key,
            quiescence=case.quiescence,
            now=tx.now,
        )
        for mutation in mutations
        if mutation.status.holds
    ]
    return max((moment for moment in moments if moment is not None), default=None)


def _apply(tx: Transaction, case: _Case) -> Applied:
    state = ReviewState.EXPIRED if case.row.via == BY_TIMER else ReviewState.DECIDED
    closed = decide(tx, case.item, state)
    if closed is None:
        return _answer(tx, case.row, DecisionVerdict.STALE, case.item)
    row = give_verdict(tx, case.row.decision_id, DecisionVerdict.APPLIED)
    close_pending(tx, closed.review_id, DecisionVerdict.REPEATED)
    effect = _on_event(tx, case) if case.mutation is None else _on_mutation(tx, case, case.mutation)
    return Applied(
        decision_id=row.decision_id,
        verdict=row.verdict,
        why=_ANSWERED if effect.mutation is not None and _is_answered(tx, case, effect.mutation) else None,
        mutation=effect.mutation,
        derived=effect.derived,
        review=closed,
        wakes=effect.wakes,
    )


def _is_answered(tx: Transaction, case: _Case, after: Mutation) -> bool:
    """Whether the write that was allowed will give way to a newer event's; the claim looks again, and decides."""
    allowed = case.decision in {Decision.APPROVE, Decision.RETRY} and after.status in _YIELDS
    return allowed and answered_by_newer(tx, after, case.lead.occurred_at)


def _on_mutation(tx: Transaction, case: _Case, before: Mutation) -> _Effect:
    derived: tuple[Mutation, ...] = ()
    if case.decision in {Decision.APPROVE, Decision.RETRY}:
        after = touch(tx, before, Reason.APPROVED if case.decision is Decision.APPROVE else Reason.RETRY)
    elif case.decision is Decision.ABANDON:
        after = move(tx, before, Status.ABANDONED, _declined(before))
    else:
        derived = derive(before, case.decision, review_id=case.item.review_id, now=tx.now, policy_of=case.policy_of)
        after = move(tx, before, Status.SUPERSEDED, before.reason)
    if after is None:
        raise AssertionError("a locked row was changed by someone else")
    if derived:
        insert_mutations(tx, derived)
    heir = derived[-1] if derived else None
    wake = leave(tx, before, after, heir)
    recompute(tx, case.lead)
    return _Effect(after, heir, (wake,) if wake is not None else ())


def _declined(mutation: Mutation) -> Reason | None:
    """Why it is abandoned: what was never sent was declined, anything else keeps what had happened to it."""
    return Reason.DECLINED if mutation.status is Status.RESERVED else mutation.reason


def _on_event(tx: Transaction, case: _Case) -> _Effect:
    """A decision about an event: it is worked on again, or given up with all of its mutations that are not final."""
    if case.decision is Decision.PLAN_AGAIN:
        recompute(tx, case.lead)
        return _Effect()
    named = [_give_up(tx, mutation) for mutation in mutations_of(tx, case.lead.event_key)]
    lead = recompute(tx, case.lead)
    if not lead.outcome.final:
        set_outcome(tx, lead, Outcome.ABANDONED)
    return _Effect(wakes=tuple(dict.fromkeys(event_key for event_key in named if event_key is not None)))


def _give_up(tx: Transaction, known: Mutation) -> str | None:
    before = found(tx, known.mutation_key)
    if before.status.final:
        return None
    if before.status is Status.SUBMITTED:  # nothing shows what became of it: it is uncertain before it is given up
        before = move(tx, before, Status.UNCERTAIN, before.reason) or before
    after = move(tx, before, Status.ABANDONED, _declined(before))
    if after is None:
        raise AssertionError("a locked row was changed by someone else")
    return leave(tx, before, after)
