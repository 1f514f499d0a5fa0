"""Planning one lead event: once, recorded with its mutations in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import NamedTuple

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.messages import Book, PlanCommand
from activities.names import LONGEST_PAUSE, PLANNER_FAILED, PLANNER_UNAVAILABLE, TARGET_UNREADABLE
from activities.paid import PaidPlans
from activities.views import Views
from leadproof.adapters import Adapters
from leadproof.domain import looping
from leadproof.domain.errors import MalformedPlan, PlannerRefused, PlannerUnavailable
from leadproof.domain.escalation import asks_stronger, begins_stronger
from leadproof.domain.events import Lead, LeadSnapshot, Outcome
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.guard import guard
from leadproof.domain.mutation import FOR_A_PERSON_ALONE, Reason, RecordRef
from leadproof.domain.plan import GuardedAction, Plan, PlannerInfo, RecordedPlan
from leadproof.domain.planning import UNIQUE_FIELDS, TargetState, mutations_from, settle_verdicts
from leadproof.domain.policy import Policy
from leadproof.domain.records import LookUp, Presence
from leadproof.domain.steps import Reservation
from leadproof.ports import Clock, Crm, Ledger, Planner
from leadproof.rulebook import Rulebook

_LONGEST_TOLD = 300.0
"""Most seconds that a planner may make us wait before it is asked again."""


def _pause(told: float | None) -> timedelta | None:
    """How long until the next try, where the planner says so: never shorter than our own growing pause."""
    if not told:
        return None
    own = min(2.0 ** (activity.info().attempt - 1), LONGEST_PAUSE.total_seconds())
    return timedelta(seconds=max(own, min(told, _LONGEST_TOLD)))


class _Proposed(NamedTuple):
    """A plan as it came, with the records that it is about and the guard's verdicts."""

    snapshot: LeadSnapshot
    plan: Plan
    info: PlannerInfo
    targets: dict[tuple[str, str], TargetState]
    guarded: tuple[GuardedAction, ...]
    from_model: bool


class PlanningActivities:
    def __init__(
        self,
        ledger: Ledger,
        crms: Adapters,
        planners: Mapping[str, Planner],
        rulebook: Rulebook,
        clock: Clock,
        *,
        review_page: str | None = None,
    ) -> None:
        self._ledger = ledger
        self._crms = crms
        self._planners = planners
        self._rulebook = rulebook
        self._clock = clock
        self._views = Views(ledger, rulebook, review_page)

    @activity.defn(no_thread_cancel_exception=True)
    def plan(self, command: PlanCommand) -> Book:
        """Find the recorded plan, or ask the planner and record plan and mutations; whoever recorded first wins."""
        lead = self._views.lead(command.event_key)
        if not lead.outcome.final:
            self._rulebook.policy(lead.policy_version)  # what it can't be read for is a question about the event
        plan = self._ledger.plan_of(lead.event_key, lead.policy_version)
        if plan is not None or lead.outcome.final or command.snapshot is None:
            return self._views.book(command.event_key).model_copy(update={"plan": self._views.plan(plan)})
        asked = self._ledger.review_of(lead.event_key) if lead.outcome is Outcome.REVIEW else None
        if asked is not None and asked.reason in FOR_A_PERSON_ALONE:
            return self._views.book(command.event_key)  # a run that begins anew is no answer to an open question
        policy = self._rulebook.policy(lead.policy_version)
        try:
            return self._record(lead, self._proposed(lead, command.snapshot, policy), policy)
        except (MalformedPlan, PlannerRefused) as error:
            raise ApplicationError(str(error), type=PLANNER_FAILED, non_retryable=True) from None
        except PlannerUnavailable as error:
            raise ApplicationError(
                str(error), type=PLANNER_UNAVAILABLE, next_retry_delay=_pause(error.retry_after_seconds)
            ) from None

    def _proposed(self, lead: Lead, snapshot: LeadSnapshot, policy: Policy) -> _Proposed:
        """A plan with what the guard says of it; of the stronger model where the policy wants that."""
        stronger, paid = begins_stronger(policy, snapshot), PaidPlans()
        first = self._asked(lead, snapshot, policy, paid, stronger=stronger)
        if stronger or not first.from_model or not asks_stronger(policy, first.guarded):
            return first
        second = self._asked(lead, snapshot, policy, paid, stronger=True)
        usage = {**(second.info.usage or {}), "first": first.info.usage}  # what the plan cost is both
        return second._replace(info=second.info.model_copy(update={"usage": usage}))

    def _asked(
        self, lead: Lead, snapshot: LeadSnapshot, policy: Policy, paid: PaidPlans, *, stronger: bool
    ) -> _Proposed:
        kind = policy.planner_of(lead.source_system, lead.event_kind)
        planner = self._planners.get(kind)
        if planner is None:
            raise PlannerRefused(f"the policy has {kind} plan this event, and this worker was started without it")
        from_model = kind != "rules"
        answered = paid.of(stronger=stronger)
        plan, info = answered or planner.plan(lead, snapshot, policy, stronger=stronger)
        if from_model and answered is None:
            paid.keep(plan, info, stronger=stronger)
        targets = self._targets(lead, snapshot, plan, policy)
        records = {where: state.found.record for where, state in targets.items()}
        guarded = guard(plan, policy, snapshot=snapshot, records=records, from_model=from_model)
        return _Proposed(snapshot, plan, info, targets, guarded, from_model)

    def _record(self, lead: Lead, proposed: _Proposed, policy: Policy) -> Book:
        snapshot, plan, planner, targets, guarded, _ = proposed
        settled = settle_verdicts(guarded, targets, lead.external_id, policy)
        now = self._clock.now()
        if looping.by_software(lead, snapshot.record):
            settled = looping.held_back(settled, self._ledger.leads_that_wrote(lead, since=now - looping.WITHIN))
        mutations = mutations_from(lead, settled, policy, targets, now)
        recorded = self._ledger.record_plan(
            RecordedPlan(
                event_key=lead.event_key,
                policy_version=policy.version,
                snapshot=snapshot.model_dump(mode="json"),
                summary=plan.summary,
                guarded=settled,
                planner=planner,
                planned_at=now,
            ),
            mutations,
        )
        if recorded.conflict is not None:
            return self._views.book(lead.event_key).model_copy(update={"problem": Reason.KEY_CONFLICT})
        if recorded.reservations and all(r is Reservation.WON for r in recorded.reservations.values()):
            # just inserted: there is nothing in the ledger yet that these rows don't say
            views = tuple(self._views.fresh(mutation) for mutation in recorded.mutations)
            plan_view, page = self._views.plan(recorded.plan), self._views.review_page
            return Book(outcome=lead.outcome, views=views, plan=plan_view, review_page=page)
        return self._views.book(lead.event_key).model_copy(update={"plan": self._views.plan(recorded.plan)})

    def _targets(
        self, lead: Lead, snapshot: LeadSnapshot, plan: Plan, policy: Policy
    ) -> dict[tuple[str, str], TargetState]:
        """The present record per target that the plan names; the source record itself where that is the target's."""
        states: dict[tuple[str, str], TargetState] = {}
        source = (snapshot.source_system, snapshot.source_object)
        for action in plan.actions:
            where = (action.target_system, str(action.target_object))
            crm = self._crms.of(action.target_system, policy)
            if crm is None or action.target_system not in policy.targets:
                continue
            state = states.get(where)
            if state is None and where == source and snapshot.record is not None:
                found = LookUp(presence=Presence.ONE, record=snapshot.record)
                state = TargetState(found=found, read_at=snapshot.read_at, of_the_event=True)
            elif state is None:
                state = self._look_up(lead, snapshot, action.target_object, policy, crm=crm)
            blind = {name for name in action.fields if not crm.keeps_history(action.target_object, (name,))}
            states[where] = state.model_copy(update={"without_history": state.without_history | blind})
        return states

    def _look_up(
        self, lead: Lead, snapshot: LeadSnapshot, target_object: str, policy: Policy, *, crm: Crm
    ) -> TargetState:
        unique = {name: str(snapshot.fields[name]) for name in UNIQUE_FIELDS if snapshot.fields.get(name)}
        ref = RecordRef(
            target_system=crm.system, target_object=target_object, external_id=lead.external_id, unique_fields=unique
        )
        asked_at = self._clock.now()
        found = crm.find(ref, tuple(specs_for(policy, crm.system)), history=False)
        if found.presence is Presence.UNKNOWN:
            raise ApplicationError(
                "the target record could not be looked up",
                type=TARGET_UNREADABLE,
                next_retry_delay=timedelta(seconds=found.retry_after_seconds) if found.retry_after_seconds else None,
            )
        return TargetState(found=found, read_at=asked_at)
