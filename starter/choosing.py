"""Which questions and decisions one request that decides many means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from leadproof.domain.errors import MalformedDecision, NotFound
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.policy import Policy
from leadproof.domain.review import Decision, ReviewDecision, ReviewItem, ReviewState, allowed_decisions, parse_decision
from leadproof.domain.shown import shown_digest
from leadproof.domain.steps import Question
from leadproof.ports import Ledger
from starter import problems
from starter.cases import Cases
from starter.many import MOST, AllOf, Front, ManyDecisions

_LOOKED_AT: Final = 2000
"""Among so many, due first, those are looked for that can be decided."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One question and the decision about it."""

    item: ReviewItem
    decision: ReviewDecision


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a request means.

    Attributes:
        stages: in their order; what stands in one is decided at once.
        refused: review id to why it is not decided at all, and nothing is kept of it.
        more: there are further questions of the kind.
    """

    stages: tuple[tuple[Choice, ...], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    more: bool = False


class Choosing:
    """Finds the questions that a request means; its calls block, as the ledger's do."""

    def __init__(self, *, ledger: Ledger, cases: Cases, policy: Policy) -> None:
        self._ledger = ledger
        self._cases = cases
        self._policy = policy

    def chosen(self, asked: ManyDecisions, reviewer: str, may: Callable[[str], bool]) -> Chosen:
        """The questions and decisions that a request means.

        Args:
            reviewer: whose request it is; the same id in another's is another one.
            may: whether the reviewer decides in a queue.

        Raises:
            NotFound: the question to stand in front is none.
            Problem: 403 for another's queue; 422 for a queue that is none, and for what is no decision.
        """
        base = asked.base(reviewer)
        known = self._known(base) if base is not None else ()
        if asked.all_of is not None:
            return self._all(asked, asked.all_of, base, known, may)
        if asked.behind is not None:
            return self._behind(asked, asked.behind, base, known, may)
        return self._listed(asked.decisions or [], base, may)

    def _known(self, base: str) -> tuple[Choice, ...]:
        """What this very request has decided before, due first, as it was answered then."""
        found = [(row, self._ledger.review(row.review_id or "")) for row in self._ledger.decisions_like(base)]
        rows = sorted(
            ((row, item) for row, item in found if item is not None),
            key=lambda one: (one[1].due_at, one[1].review_id),
        )
        return tuple(
            Choice(
                item,
                ReviewDecision(
                    decision_id=row.decision_id,
                    review_id=item.review_id,
                    version=row.review_version or 1,
                    decision=Decision(row.decision or ""),
                    reason=row.reason or "",
                    shown_digest=row.shown_digest,
                ),
            )
            for row, item in rows
        )

    def _all(
        self, asked: ManyDecisions, of: AllOf, base: str | None, known: Sequence[Choice], may: Callable[[str], bool]
    ) -> Chosen:
        if of.queue is not None:
            self._check_queue(of.queue, may)
        found = self._ledger.questions_of(of.reason, queue=of.queue, target_system=of.target_system, limit=_LOOKED_AT)
        able = (item for item, mutation in found if may(item.queue) and self._may_retry(mutation))
        some = tuple(islice(able, MOST + 1))
        if known:  # the same request again takes no further question
            return Chosen((tuple(one for one in known if may(one.item.queue)),), more=len(some) > MOST)
        choices = tuple(_choice(item, Decision.RETRY, asked.reason, base) for item in some[:MOST])
        return Chosen((choices,), more=len(some) > MOST)

    def _check_queue(self, queue: str, may: Callable[[str], bool]) -> None:
        if queue not in self._policy.queues:
            asked, _ = self._ledger.reviews(queue=queue, state=None, limit=1, cursor=None)
            if not asked:
                raise problems.malformed("all_of.queue: there is no such queue")
        if not may(queue):
            raise problems.not_your_queue()

    def _may_retry(self, mutation: Mutation) -> bool:
        absent = False
        if mutation.status is Status.UNCERTAIN:
            receipts = self._ledger.receipts(mutation.mutation_key)
            absent = receipts is not None and self._cases.absence_established(receipts)
        allowed = allowed_decisions(status=mutation.status, reason=mutation.reason, absence_established=absent)
        return Decision.RETRY in allowed

    def _behind(
        self, asked: ManyDecisions, front: Front, base: str | None, known: Sequence[Choice], may: Callable[[str], bool]
    ) -> Chosen:
        item = self._ledger.review(front.review_id)
        if item is None:
            raise NotFound("no review item stands under this id")
        if not may(item.queue):
            raise problems.not_your_queue()
        if known:
            first = tuple(one for one in known if one.item.review_id != item.review_id)
            return Chosen((first, tuple(one for one in known if one.item.review_id == item.review_id)))
        decision = asked.decision or Decision.ABANDON
        own = _choice(item, decision, asked.reason, base, version=front.version, shown=front.shown_digest)
        shown = front.waiting
        waiting = [one for one in self._waiting(item, own.decision) if shown is None or one.mutation_key in shown]
        behind = tuple(
            _choice(one, Decision.ABANDON, asked.reason, base) for one in self._asked(item, waiting[: MOST - 1])
        )
        return Chosen((behind, (own,)), more=len(waiting) > MOST - 1)

    def _waiting(self, item: ReviewItem, decision: ReviewDecision) -> tuple[Mutation, ...]:
        """What is given up with a question: nothing where the decision about it will not be taken as things stand."""
        mutation = self._ledger.mutation(item.mutation_key) if item.mutation_key is not None else None
        if mutation is None or not mutation.status.holds:
            return ()
        shown = decision.shown_digest
        moved = item.state is not ReviewState.OPEN or decision.version != item.version
        if moved or (shown is not None and shown != shown_digest(item, mutation)):
            return ()
        if decision.decision not in allowed_decisions(status=mutation.status, reason=mutation.reason):
            return ()
        return self._ledger.waiting(mutation.mutation_key)

    def _asked(self, front: ReviewItem, waiting: Sequence[Mutation]) -> Iterator[ReviewItem]:
        """A question for each, since a decision answers one; due with what it waits behind."""
        for mutation in waiting:
            question = Question(reason=Reason.WAITS, queue=front.queue, due_at=front.due_at)
            yield self._ledger.open_review(mutation.mutation_key, question)

    def _listed(self, sent: Sequence[dict[str, Any]], base: str | None, may: Callable[[str], bool]) -> Chosen:
        decisions = [_parsed(place, one, base) for place, one in enumerate(sent)]
        if len({decision.review_id for decision in decisions}) < len(decisions):
            raise problems.malformed("decisions: a question is there twice")
        choices, refused = [], []
        for decision in decisions:
            item = self._ledger.review(decision.review_id)
            if item is None:
                refused.append((decision.review_id, "no review item stands under this id"))
            elif not may(item.queue):
                refused.append((decision.review_id, f"the queue {item.queue!r} is not yours to decide in"))
            else:
                choices.append(Choice(item, decision))
        return Chosen((tuple(choices),), tuple(refused))


def _parsed(place: int, sent: dict[str, Any], base: str | None) -> ReviewDecision:
    named = sent.get("review_id")
    own = base is not None and not sent.get("decision_id") and isinstance(named, str)
    try:
        return parse_decision([{**sent, "decision_id": f"{base}.{named}"} if own else sent])
    except MalformedDecision as error:
        raise problems.malformed(f"decisions.{place}: {error}") from None


def _choice(
    item: ReviewItem,
    decision: Decision,
    reason: str,
    base: str | None,
    *,
    version: int | None = None,
    shown: str | None = None,
) -> Choice:
    sent = {
        "review_id": item.review_id,
        "version": version or item.version,
        "decision": decision.value,
        "reason": reason,
        **({"shown_digest": shown} if shown is not None else {}),
        **({"decision_id": f"{base}.{item.review_id}"} if base is not None else {}),
    }
    return Choice(item, parse_decision([sent]))
