"""A question with everything that belongs to it: what API, page and commands show of it, read in one way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from leadproof.domain.decision_words import what_it_does
from leadproof.domain.derivation import empties_the_stage_first, why_not
from leadproof.domain.errors import NotFound, PolicyRefused
from leadproof.domain.events import Lead
from leadproof.domain.field_catalog import CATALOG, specs_for
from leadproof.domain.fields import FieldSpec
from leadproof.domain.mutation import Mutation, Status
from leadproof.domain.plan import RecordedPlan
from leadproof.domain.policy import Policy, Target
from leadproof.domain.review import (
    About,
    Decision,
    DecisionRow,
    ReviewItem,
    ReviewState,
    allowed_decisions,
    possible,
)
from leadproof.domain.shown import shown_digest
from leadproof.domain.steps import Receipts
from leadproof.domain.unanswered import may_attempt_again, open_until
from leadproof.ports import Clock, Ledger
from leadproof.rulebook import Rulebook


@dataclass(frozen=True, slots=True)
class Case:
    """One question.

    Attributes:
        receipts: of the mutation that it is about; `None` of a question about an event.
        decisions: those about this question, oldest first.
        allowed: what can be decided as it stands now; the ledger looks again when it is.
        owners: the policy's names of the target's owners, by the target's id.
        specs: declared types of the target's fields.
        digest: of what is shown, for a decision to name.
    """

    item: ReviewItem
    about: About | None
    receipts: Receipts | None
    lead: Lead | None
    plan: RecordedPlan | None
    decisions: tuple[DecisionRow, ...]
    allowed: tuple[Decision, ...]
    owners: dict[str, str]
    specs: dict[str, FieldSpec]
    digest: str

    @property
    def mutation(self) -> Mutation | None:
        return self.receipts.mutation if self.receipts is not None else None


@dataclass(frozen=True, slots=True)
class Behind:
    """What waits for the answer of a question.

    Attributes:
        waiting: effects that wait for the same record, in their order.
        dependents: effects of the same lead that depend on this one and are skipped if it comes to nothing.
        written: the receipts of effects that decisions about this one have made, oldest first.
    """

    waiting: tuple[Mutation, ...] = ()
    dependents: tuple[Mutation, ...] = ()
    written: tuple[Receipts, ...] = ()

    @property
    def derived(self) -> tuple[Mutation, ...]:
        return tuple(one.mutation for one in self.written)


class Cases:
    """Reads questions; its calls block, as the ledger's do.

    Args:
        rulebook: a question is told by the policy that its lead is pinned to, as it is decided.
    """

    def __init__(self, *, ledger: Ledger, rulebook: Rulebook, clock: Clock) -> None:
        self._ledger = ledger
        self._rulebook = rulebook
        self._clock = clock

    def case(self, review_id: str) -> Case:
        """One question as it stands now.

        Raises:
            NotFound: there is none.
        """
        item = self._ledger.review(review_id)
        if item is None:
            raise NotFound("no review item stands under this id")
        receipts = self._ledger.receipts(item.mutation_key) if item.mutation_key is not None else None
        lead = self._ledger.lead(item.event_key)
        return Case(
            item=item,
            about=self._ledger.about([item]).get(review_id),
            receipts=receipts,
            lead=lead,
            plan=self._ledger.plan_of(lead.event_key, lead.policy_version) if lead is not None else None,
            decisions=tuple(one for one in self._ledger.decisions_of(item.event_key) if one.review_id == review_id),
            allowed=self._allowed(item, receipts),
            owners=self._owners(receipts),
            specs=self._specs(receipts),
            digest=shown_digest(item, receipts.mutation if receipts is not None else None),
        )

    def behind(self, case: Case) -> Behind:
        """What waits for the answer of a question."""
        mutation = case.mutation
        if mutation is None:
            return Behind()
        siblings = self._ledger.mutations_of(mutation.event_key)
        return Behind(
            waiting=self._ledger.waiting(mutation.mutation_key),
            dependents=_dependents(mutation, siblings),
            written=self._kept(one for one in siblings if one.parent_key == mutation.mutation_key),
        )

    def effects(self, case: Case, behind: Behind) -> dict[Decision, str]:
        """What each allowed decision will do in this case, in a sentence."""
        mutation = case.mutation
        stage_first = (
            [one for one in case.allowed if empties_the_stage_first(mutation, one, self._policy_of)]
            if mutation is not None and mutation.intended_state is not None
            else []
        )
        return what_it_does(
            mutation,
            case.allowed,
            owners=case.owners,
            dependents=len(behind.dependents),
            stage_first=stage_first,
            planned=case.plan is not None,
        )

    def withheld(self, case: Case) -> dict[Decision, str]:
        """What the question would allow and cannot be carried out now, each with why."""
        mutation = case.mutation
        if mutation is None or mutation.intended_state is None or case.item.state is not ReviewState.OPEN:
            return {}
        told = {
            one: why
            for one in allowed_decisions(status=mutation.status, reason=mutation.reason)
            if (why := why_not(mutation, one, self._policy_of)) is not None
        }
        if mutation.status is Status.UNCERTAIN and Decision.RETRY not in case.allowed:
            told[Decision.RETRY] = "no read-back has shown yet that the earlier request changed nothing"
        return told

    def open_until(self, case: Case) -> datetime | None:
        """Until when an earlier request can still change what a question is about, a record or all of an event;
        `None` where none can, or the policy does not say."""
        kept = [case.receipts] if case.receipts is not None else self._kept(self.effects_of(case))
        moments = [
            open_until(
                one.attempts,
                one.observations,
                mutation_key=one.mutation.mutation_key,
                quiescence=target.quiescence,
                now=self._clock.now(),
            )
            for one in kept
            if one.mutation.status.holds and (target := self._target(one.mutation)) is not None
        ]
        return max((moment for moment in moments if moment is not None), default=None)

    def effects_of(self, case: Case) -> tuple[Mutation, ...]:
        """All effects of the lead that a question belongs to, in their order."""
        return self._ledger.mutations_of(case.item.event_key)

    def _kept(self, mutations: Iterable[Mutation]) -> tuple[Receipts, ...]:
        found = (self._ledger.receipts(one.mutation_key) for one in mutations)
        return tuple(one for one in found if one is not None)

    def absence_established(self, receipts: Receipts) -> bool:
        """Whether every earlier attempt provably changed nothing, by the policy that the mutation is pinned to."""
        mutation = receipts.mutation
        target = self._target(mutation)
        return target is not None and may_attempt_again(
            receipts.attempts,
            receipts.observations,
            status=mutation.status,
            creates=mutation.creates,
            quiescence=target.quiescence,
            now=self._clock.now(),
        )

    def with_possible(self, why: str, review_id: str) -> str:
        """A sentence about what was wrong with a decision, with what can be decided where anything can."""
        item = self._ledger.review(review_id)
        if item is None or item.state is not ReviewState.OPEN:
            return why
        receipts = self._ledger.receipts(item.mutation_key) if item.mutation_key is not None else None
        return f"{why}; {possible(self._allowed(item, receipts))}"

    def _owners(self, receipts: Receipts | None) -> dict[str, str]:
        if receipts is None:
            return {}
        mutation = receipts.mutation
        return self._rulebook.asking(mutation.policy_version).owner_names(mutation.target_system)

    def _specs(self, receipts: Receipts | None) -> dict[str, FieldSpec]:
        if receipts is None:
            return dict(CATALOG)
        mutation = receipts.mutation
        return specs_for(self._rulebook.asking(mutation.policy_version), mutation.target_system)

    def _target(self, mutation: Mutation) -> Target | None:
        return self._rulebook.asking(mutation.policy_version).targets.get(mutation.target_system)

    def _policy_of(self, version: str) -> Policy | None:
        """The policy of a version; `None` where it can't be read any more, as for whoever decides."""
        try:
            return self._rulebook.policy(version)
        except PolicyRefused:
            return None

    def _allowed(self, item: ReviewItem, receipts: Receipts | None) -> tuple[Decision, ...]:
        if item.state is not ReviewState.OPEN:
            return ()
        if receipts is None:
            return tuple(sorted(allowed_decisions(status=None, reason=None)))
        mutation = receipts.mutation
        absent = self.absence_established(receipts)
        allowed = allowed_decisions(status=mutation.status, reason=mutation.reason, absence_established=absent)
        return tuple(sorted(one for one in allowed if why_not(mutation, one, self._policy_of) is None))


def _dependents(mutation: Mutation, siblings: tuple[Mutation, ...]) -> tuple[Mutation, ...]:
    """Those that nothing was sent for and that need this one, directly or by another such."""
    needed, found = {mutation.mutation_key}, []
    for one in siblings:  # in order: what is needed comes first
        if one.status is Status.RESERVED and needed.intersection(one.depends_on):
            needed.add(one.mutation_key)
            found.append(one)
    return tuple(found)
