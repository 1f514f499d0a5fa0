"""Review items: opened with a question, closed by a decision or by evidence."""

from __future__ import annotations

from sqlalchemy import bindparam, func, insert, select, update

from leadproof.domain import keys
from leadproof.domain.review import DecisionVerdict, ReviewItem, ReviewState
from leadproof.domain.steps import Question
from leadproof.ledger.rows import open_item, to_item
from leadproof.ledger.tables import REVIEW_DECISION, REVIEW_ITEM
from leadproof.ledger.transaction import Transaction

_ROUNDS = select(func.count()).select_from(REVIEW_ITEM).where(REVIEW_ITEM.c.subject == bindparam("subject"))
_RESOLVE = (
    update(REVIEW_ITEM)
    .where(REVIEW_ITEM.c.subject == bindparam("known_subject"), REVIEW_ITEM.c.state == ReviewState.OPEN)
    .values(state=ReviewState.RESOLVED, closed_at=bindparam("now"), version=REVIEW_ITEM.c.version + 1)
    .returning(*REVIEW_ITEM.c)
)


def ask(
    tx: Transaction,
    *,
    subject: str,
    event_key: str,
    mutation_key: str | None,
    question: Question,
    answered: bool = False,
) -> ReviewItem:
    """Open an item, or return the one that is open; a later question about the same subject is a new round.

    Args:
        answered: there is no decision left to take: the item is kept as *resolved*.
    """
    standing = open_item(tx, subject)
    if standing is not None:
        return standing
    rounds = tx.value(_ROUNDS, {"subject": subject})
    item = ReviewItem(
        review_id=keys.review_id(subject, rounds + 1),
        subject=subject,
        event_key=event_key,
        mutation_key=mutation_key,
        round=rounds + 1,
        reason=question.reason,
        queue=question.queue,
        state=ReviewState.RESOLVED if answered else ReviewState.OPEN,
        opened_at=tx.now,
        due_at=question.due_at,
        expires_at=question.expires_at,
        closed_at=tx.now if answered else None,
        why=question.why,
    )
    tx.run(insert(REVIEW_ITEM), item.model_dump())
    return item


def resolve(tx: Transaction, subject: str) -> ReviewItem | None:
    """Close a subject's open item because evidence answered it; decisions that were on their way are stale."""
    row = tx.row(_RESOLVE, {"known_subject": subject, "now": tx.now})
    if row is None:
        return None
    close_pending(tx, row["review_id"], DecisionVerdict.STALE)
    return to_item(row)


def decide(tx: Transaction, item: ReviewItem, state: ReviewState) -> ReviewItem | None:
    """Close an open item because a decision was applied, by compare-and-set on its version.

    Args:
        state: *decided*, or *expired* where the policy decided at the end of the window.
    """
    row = tx.row(
        update(REVIEW_ITEM)
        .where(
            REVIEW_ITEM.c.review_id == item.review_id,
            REVIEW_ITEM.c.state == ReviewState.OPEN,
            REVIEW_ITEM.c.version == item.version,
        )
        .values(state=state, closed_at=tx.now, version=item.version + 1)
        .returning(*REVIEW_ITEM.c)
    )
    return to_item(row) if row is not None else None


def close_pending(tx: Transaction, review_id: str, verdict: DecisionVerdict) -> None:
    """Give the decisions that are still pending on a closed item their verdict."""
    tx.run(
        update(REVIEW_DECISION)
        .where(REVIEW_DECISION.c.review_id == review_id, REVIEW_DECISION.c.verdict == DecisionVerdict.PENDING)
        .values(verdict=verdict)
    )
