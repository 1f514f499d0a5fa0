"""What the end of a mutation means for those that depend on it."""

from __future__ import annotations

import pytest

from leadproof.domain.events import LeadEvent, Outcome
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.review import Decision
from tests.ledger.steps import QUESTION, answered, claim, decide, divergent, done, now, observed, settled, won
from tests.support.ledgers import HandClock, OwnedLedger, a_lead_event, a_mutation, planned


def chain(ledger: OwnedLedger, kinds: tuple[ActionKind, ...]) -> tuple[LeadEvent, tuple[Mutation, ...]]:
    """Mutations of one event, each of which depends on the one before, each of a record of its own."""
    event = a_lead_event("1")
    mutations: list[Mutation] = []
    for ordinal, kind in enumerate(kinds):
        needs = (mutations[-1].mutation_key,) if mutations else ()
        reason = Reason.DEPENDS if mutations else None
        record = f"{ordinal}" * 64
        mutations.append(
            a_mutation(event, action=kind, ordinal=ordinal, depends_on=needs, reason=reason, target_record=record)
        )
    return event, planned(ledger, event, *mutations)


THREE = (ActionKind.QUALIFY, ActionKind.CLEAR_STAGE, ActionKind.SET_STAGE)


def test_what_was_observed_frees_those_that_waited_for_it_alone(ledger: OwnedLedger, clock: HandClock) -> None:
    _, (first, second, third) = chain(ledger, THREE)
    done(ledger, clock, first)
    assert (now(ledger, second).reason, now(ledger, third).reason) == (None, Reason.DEPENDS)
    assert now(ledger, second).depends_on == (first.mutation_key,)  # kept: it says why the row came second
    done(ledger, clock, now(ledger, second))
    assert now(ledger, third).reason is None


def test_two_needs_are_met_together(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("1")
    first = a_mutation(event, target_record="a" * 64)
    second = a_mutation(event, action=ActionKind.UPDATE, ordinal=1, target_record="b" * 64)
    both = (first.mutation_key, second.mutation_key)
    third = a_mutation(
        event, action=ActionKind.LINK, ordinal=2, depends_on=both, reason=Reason.DEPENDS, target_record="c" * 64
    )
    planned(ledger, event, first, second, third)
    done(ledger, clock, second)
    assert now(ledger, third).reason is Reason.DEPENDS
    assert claim(ledger, third).result == "not_yet"
    done(ledger, clock, first)
    assert now(ledger, third).reason is None
    assert claim(ledger, now(ledger, third)).result == "won"


@pytest.mark.parametrize("reason", [Reason.NEEDS_APPROVAL, Reason.APPROVED])
def test_a_dependent_that_waits_for_a_person_still_does(ledger: OwnedLedger, clock: HandClock, reason: Reason) -> None:
    event = a_lead_event("1")
    first = a_mutation(event, target_record="a" * 64)
    second = a_mutation(event, action=ActionKind.UPDATE, ordinal=1, depends_on=(first.mutation_key,), reason=reason)
    planned(ledger, event, first, second)
    done(ledger, clock, first)
    assert now(ledger, second) == second.model_copy(
        update={"created_at": now(ledger, second).created_at, "updated_at": now(ledger, second).created_at}
    )


def test_what_falls_with_a_superseded_effect_was_given_up_by_nobody(ledger: OwnedLedger, clock: HandClock) -> None:
    event, (first, second, third) = chain(ledger, THREE)
    decide(ledger, divergent(ledger, clock, first), Decision.ACCEPT)
    for mutation in (second, third):
        standing = now(ledger, mutation)
        assert (standing.status, standing.reason) == (Status.ABANDONED, Reason.DEPENDENCY)
    lead = ledger.lead(event.event_key)
    assert lead is not None
    assert lead.outcome is Outcome.SUPERSEDED


def test_what_was_abandoned_takes_its_dependents_and_theirs(ledger: OwnedLedger, clock: HandClock) -> None:
    event, (first, second, third) = chain(ledger, THREE)
    item = divergent(ledger, clock, first)
    asked = ledger.open_review(second.mutation_key, QUESTION)
    assert asked.state == "resolved"  # a row that only waits leaves nothing to decide
    decide(ledger, item, Decision.ABANDON)
    for mutation in (second, third):
        standing = now(ledger, mutation)
        assert (standing.status, standing.reason) == (Status.ABANDONED, Reason.DEPENDENCY)
    lead = ledger.lead(event.event_key)
    assert lead is not None
    assert lead.outcome is Outcome.ABANDONED


def test_a_dependents_open_question_is_answered_by_its_end(ledger: OwnedLedger) -> None:
    event = a_lead_event("1")
    first = a_mutation(event, reason=Reason.NEEDS_APPROVAL)
    second = a_mutation(
        event,
        action=ActionKind.UPDATE,
        ordinal=1,
        depends_on=(first.mutation_key,),
        reason=Reason.NEEDS_APPROVAL,
    )
    planned(ledger, event, first, second)
    item = ledger.open_review(second.mutation_key, QUESTION)
    decide(ledger, ledger.open_review(first.mutation_key, QUESTION), Decision.ABANDON)
    closed = ledger.review(item.review_id)
    assert closed is not None
    assert closed.state == "resolved"
    assert (now(ledger, first).reason, now(ledger, second).reason) == (Reason.DECLINED, Reason.DEPENDENCY)


def test_what_a_person_accepted_has_no_effect_to_depend_on(ledger: OwnedLedger, clock: HandClock) -> None:
    _, (first, second, _) = chain(ledger, THREE)
    decide(ledger, divergent(ledger, clock, first), Decision.ACCEPT)
    assert now(ledger, second).status is Status.ABANDONED


def test_a_dependency_passes_to_the_derived_mutation(ledger: OwnedLedger, clock: HandClock) -> None:
    event, (first, second, third) = chain(ledger, THREE)
    derived = decide(ledger, divergent(ledger, clock, first), Decision.OVERWRITE).derived
    assert derived is not None
    standing = now(ledger, second)
    assert (standing.status, standing.depends_on) == (Status.RESERVED, (derived.mutation_key,))
    assert now(ledger, third).depends_on == (second.mutation_key,)
    assert claim(ledger, standing).result == "not_yet"
    answered(ledger, won(ledger, derived))
    observed(ledger, clock, derived)
    for mutation in (second, third):
        done(ledger, clock, now(ledger, mutation))
    lead = ledger.lead(event.event_key)
    assert lead is not None
    assert lead.outcome is Outcome.DONE
    ordered = ledger.mutations_of(event.event_key)
    assert [m.mutation_key for m in ordered] == [m.mutation_key for m in (first, derived, second, third)]


def test_when_the_derived_one_is_abandoned_so_are_the_dependents(ledger: OwnedLedger, clock: HandClock) -> None:
    _, (first, second, _) = chain(ledger, THREE)
    derived = decide(ledger, divergent(ledger, clock, first), Decision.OVERWRITE).derived
    assert derived is not None
    decide(ledger, divergent(ledger, clock, derived), Decision.ABANDON, "d2")
    assert now(ledger, second).status is Status.ABANDONED


def test_a_refused_dependent_is_given_up_too(ledger: OwnedLedger, clock: HandClock) -> None:
    _, (first, second, _) = chain(ledger, THREE)
    settled(ledger, second, Status.REJECTED, Reason.REFUSES_THIS)
    decide(ledger, divergent(ledger, clock, first), Decision.ABANDON)
    standing = now(ledger, second)
    assert (standing.status, standing.reason) == (Status.ABANDONED, Reason.DEPENDENCY)


def test_what_is_only_rejected_keeps_its_dependents_waiting(ledger: OwnedLedger) -> None:
    _, (first, second, _) = chain(ledger, THREE)
    won(ledger, first)
    settled(ledger, first, Status.REJECTED, Reason.REFUSES_THIS)
    assert now(ledger, second).status is Status.RESERVED
