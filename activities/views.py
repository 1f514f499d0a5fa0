"""The views of an event's mutations, read from the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from activities.foreign import unknown
from activities.messages import ActionView, Book, PlanView
from leadproof.boundary import Rules
from leadproof.domain.derivation import why_not
from leadproof.domain.events import Lead, Outcome
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.mutation import Mutation
from leadproof.domain.plan import GuardedAction, RecordedPlan, Verdict
from leadproof.domain.progress import MutationView, Step, StepKind, view_of
from leadproof.domain.review import Decision, ReviewItem, ReviewState, allowed_decisions
from leadproof.domain.steps import Receipts
from leadproof.domain.unanswered import may_attempt_again
from leadproof.ports import Ledger
from leadproof.rulebook import Rulebook


class Views:
    """Reads an event's mutations as a run needs them.

    Args:
        review_page: where people find questions; a run knows no settings.
    """

    def __init__(self, ledger: Ledger, rulebook: Rulebook, review_page: str | None = None) -> None:
        self._ledger = ledger
        self._rulebook = rulebook
        self.review_page = review_page

    def lead(self, event_key: str) -> Lead:
        lead = self._ledger.lead(event_key)
        if lead is None:
            raise unknown("lead")
        return lead

    def book(
        self,
        event_key: str,
        *,
        steps: Mapping[str, Step] | None = None,
        wake: str | None = None,
        also_wake: Sequence[str] = (),
    ) -> Book:
        """All mutations of an event; `steps` where the caller knows better than the row when to go on."""
        lead = self.lead(event_key)
        views = tuple(
            self.view(m.mutation_key, (steps or {}).get(m.mutation_key)) for m in self._ledger.mutations_of(event_key)
        )
        return Book(
            outcome=lead.outcome,
            views=views,
            event_review=self._ledger.review_of(event_key),
            wake=self.workflow_of(wake),
            also_wake=tuple(self.lead(key).workflow_id for key in also_wake),
            review_page=self.review_page,
        )

    def one(
        self, event_key: str, view: MutationView, *, wake: str | None = None, outcome: Outcome | None = None
    ) -> Book:
        """The book after a step of an event's only mutation; `outcome` where the step's transaction told it."""
        told = outcome or self.lead(event_key).outcome
        return Book(outcome=told, views=(view,), whole=False, wake=self.workflow_of(wake))

    def view(self, mutation_key: str, step: Step | None = None) -> MutationView:
        receipts = self._ledger.receipts(mutation_key)
        if receipts is None:
            raise unknown("effect")
        review = receipts.review
        if review is not None and review.state is not ReviewState.OPEN:
            review = None  # an answered question is evidence, and nothing that anybody waits for
        mutation, attempts = receipts.mutation, receipts.attempts
        if not self._rulebook.readable(mutation.policy_version):
            return _unruled(receipts, review)
        rules = self._rulebook.rules(mutation.policy_version, mutation.target_system)
        view = view_of(mutation, attempts, rules.target, review, step, shadow_after=rules.shadow_after)
        return view if review is None else view.model_copy(update={"allowed": _allowed(receipts, rules)})

    def fresh(self, mutation: Mutation) -> MutationView:
        """The view of a row that was just inserted."""
        rules = self._rulebook.rules(mutation.policy_version, mutation.target_system)
        return view_of(mutation, (), rules.target, None, shadow_after=rules.shadow_after)

    def plan(self, plan: RecordedPlan | None) -> PlanView | None:
        """A plan without its values; what a model wrote is left out, the texts of rules are the policy's."""
        if plan is None:
            return None
        by_rules = plan.planner.kind == "rules"
        snapshot = plan.snapshot or {}
        from_crm = snapshot.get("record") is not None
        where = (snapshot.get(name) for name in ("source_system", "source_object", "source_record_id"))
        return PlanView(
            planner=" ".join(filter(None, (plan.planner.kind, plan.planner.model))),
            because=(plan.summary or None) if by_rules else None,
            record=" ".join(map(str, where)) if from_crm else None,
            actions=tuple(self._action(guarded, plan.policy_version) for guarded in plan.guarded),
        )

    def _action(self, guarded: GuardedAction, version: str) -> ActionView:
        known = specs_for(self._rulebook.asking(version), guarded.action.target_system)
        evidence = guarded.action.evidence
        # rules say "country is ..." of a record, a model names the field behind the record; neither is taken unknown
        named = (name for one in evidence for name in (one.says.partition(" ")[0], one.source.rpartition(", ")[2]))
        why = guarded.why if guarded.verdict is Verdict.FOR_A_PERSON else None  # a refusal may say what was proposed
        return ActionView(why=why, evidence=tuple(dict.fromkeys(name for name in named if name in known)))

    def quiescence(self, item: ReviewItem | None) -> timedelta:
        """How long a request of ours can still change what a question is about: a mutation, or all of an event."""
        if item is None:
            return timedelta(0)
        asked = [self._ledger.mutation(item.mutation_key)] if item.mutation_key is not None else []
        mutations = asked or self._ledger.mutations_of(item.event_key)
        longest = [self._rulebook.quiescence(m.policy_version, m.target_system) for m in mutations if m is not None]
        return max(longest, default=timedelta(0))

    def workflow_of(self, event_key: str | None) -> str | None:
        return self.lead(event_key).workflow_id if event_key is not None else None


def _unruled(receipts: Receipts, review: ReviewItem | None) -> MutationView:
    """A mutation whose policy can no longer be read: nothing is done about it but by a person, who can let it be."""
    mutation = receipts.mutation
    step = Step(kind=StepKind.DONE if mutation.status.final else StepKind.PERSON)
    view = view_of(mutation, receipts.attempts, None, review, step)
    allowed = allowed_decisions(status=mutation.status, reason=mutation.reason) if review is not None else frozenset()
    possible = tuple(one for one in (Decision.ACCEPT, Decision.ABANDON) if one in allowed)
    return view.model_copy(update={"allowed": possible})


def _allowed(receipts: Receipts, rules: Rules) -> tuple[Decision, ...]:
    """What the open question allows, in the order in which decisions are always told."""
    mutation, observations = receipts.mutation, receipts.observations
    absent = may_attempt_again(
        receipts.attempts,
        observations,
        status=mutation.status,
        creates=mutation.creates,
        quiescence=rules.target.quiescence,
        # what no look has shown by then, no later moment shows without another one
        now=observations[-1].read_at if observations else mutation.updated_at,
    )
    allowed = allowed_decisions(status=mutation.status, reason=mutation.reason, absence_established=absent)
    return tuple(one for one in Decision if one in allowed and why_not(mutation, one, lambda _: rules.policy) is None)
