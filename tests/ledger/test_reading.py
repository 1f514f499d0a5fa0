"""What is read of a mutation: its receipts, and what it explains."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from leadproof.domain.events import Lead, LeadEvent
from leadproof.domain.mutation import Difference, Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.references import reference
from leadproof.domain.review import Decision
from leadproof.domain.steps import Arrival
from tests.ledger.steps import answered, decide, divergent, done, now, observed, settled, won
from tests.support.ledgers import START, HandClock, OwnedLedger, a_lead_event, a_mutation, an_observation, planned

RECORD = "9" * 64


def of(ledger: OwnedLedger, minute: int, **changes: Any) -> Mutation:
    event = a_lead_event(str(minute), occurred_at=START + timedelta(minutes=minute))
    return planned(ledger, event, a_mutation(event, **({"target_record": RECORD} | changes)))[0]


def test_all_receipts_of_a_mutation(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation = of(ledger, 1)
    item = divergent(ledger, clock, mutation)
    decide(ledger, item, Decision.ACCEPT)
    receipts = ledger.receipts(mutation.mutation_key)
    assert receipts is not None
    assert receipts.mutation == now(ledger, mutation)
    assert [a.number for a in receipts.attempts] == [1]
    assert receipts.attempts == ledger.attempts_of(mutation.mutation_key)
    assert [o.number for o in receipts.observations] == [1]
    assert receipts.review == ledger.review(item.review_id)
    assert [d.decision_id for d in receipts.decisions] == ["d1"]
    assert ledger.receipts("unknown") is None
    assert ledger.mutation("unknown") is None
    assert ledger.plan_of(mutation.event_key, "unknown") is None
    assert ledger.waiting("unknown") == ()


def test_every_decision_about_an_event_and_its_mutations(ledger: OwnedLedger, clock: HandClock) -> None:
    mutation = of(ledger, 1)
    item = divergent(ledger, clock, mutation)
    ledger.record_malformed("d0", reviewer="r", via="signal", why="no decision", review_id=item.review_id)
    ledger.record_malformed("elsewhere", reviewer="r", via="signal", why="no decision")
    clock.forward(1)
    decide(ledger, item, Decision.ACCEPT)
    assert [d.decision_id for d in ledger.decisions_of(mutation.event_key)] == ["d0", "d1"]
    assert ledger.decisions_of("unknown") == ()


def test_whether_a_record_was_told_of_since_counts_first_deliveries_of_its_kind(
    ledger: OwnedLedger, clock: HandClock
) -> None:
    def saved(record: str = "00Q1", occurrence: str = "1", **more: Any) -> LeadEvent:
        named = {"source_system": "salesforce", "event_kind": "lead.saved", "occurrence": occurrence}
        return a_lead_event(record, **(named | more))

    def admit(*events: LeadEvent) -> None:
        for event in events:
            ledger.admit([Arrival(event=event)])

    admit(saved(occurrence="0"))
    moved = clock.forward(60)
    admit(saved(occurrence="0"))  # delivered again, which reads nothing again
    admit(saved("00Q2"), saved(event_kind="lead.routed"), saved(source_system="other"))
    admit(saved(tenant="other", event_key="1" * 64), saved(environment="other", event_key="2" * 64))
    assert not ledger.seen_since(saved(occurrence="of a catch-up"), moved)
    admit(saved())
    assert ledger.seen_since(saved(occurrence="of a catch-up"), moved)
    assert not ledger.seen_since(saved(), clock.forward(1))


def test_whether_a_record_was_told_of_before_an_event_counts_what_came_earlier(
    ledger: OwnedLedger, clock: HandClock
) -> None:
    def saved(record: str = "00Q1", occurrence: str = "1", **more: Any) -> LeadEvent:
        named = {"source_system": "salesforce", "event_kind": "lead.saved", "occurrence": occurrence}
        return a_lead_event(record, **(named | more))

    def lead(event: LeadEvent) -> Lead:
        found = ledger.lead(event.event_key)
        assert found is not None
        return found

    ledger.admit([Arrival(event=saved(occurrence="0")), Arrival(event=saved("00Q2"))])
    moved = clock.forward(60)
    one, other = sorted((saved(occurrence="1"), saved(occurrence="2")), key=lambda event: event.event_key)
    ledger.admit([Arrival(event=one), Arrival(event=other)])
    later = clock.forward(1)
    ledger.admit([Arrival(event=saved(occurrence="3"))])
    assert not ledger.told_since(lead(one), moved), "of two that come at once one is the first"
    assert ledger.told_since(lead(other), moved)
    assert ledger.told_since(lead(saved(occurrence="3")), moved)
    assert not ledger.told_since(lead(saved(occurrence="3")), later)
    assert not ledger.told_since(lead(saved("00Q2")), START)


def test_a_key_is_found_by_how_it_begins(ledger: OwnedLedger) -> None:
    mutations = [of(ledger, minute) for minute in range(1, 4)]
    for mutation in mutations:
        assert ledger.mutation_keys_like(mutation.mutation_key[:12]) == (mutation.mutation_key,)
        assert ledger.event_keys_like(mutation.event_key) == (mutation.event_key,)
    assert len(ledger.mutation_keys_like("")) == 2
    for nothing in ("f" * 63, "%", "_", "g"):
        assert ledger.mutation_keys_like(nothing) == ()


class TestExplains:
    """An effect explains what stands on the record only if it is ours, observed, of this record, and earlier."""

    def test_an_older_events_observed_mutation(self, ledger: OwnedLedger, clock: HandClock) -> None:
        older = of(ledger, 1, fields={"lead_status": "new"})
        assert ledger.explains(of(ledger, 2), older.mutation_key) is None  # not observed yet
        done(ledger, clock, older)
        assert ledger.explains(of(ledger, 3), older.mutation_key) == {"lead_status": "new"}

    def test_by_the_targets_own_id_too(self, ledger: OwnedLedger, clock: HandClock) -> None:
        older = of(ledger, 1, target_record="a" * 64, provider_record_id="501")
        done(ledger, clock, older)
        newer = of(ledger, 2, target_record="b" * 64, provider_record_id="501")
        assert ledger.explains(newer, older.mutation_key) == {"lead_status": "qualified"}

    def test_no_newer_event_and_no_other_record(self, ledger: OwnedLedger, clock: HandClock) -> None:
        newer, elsewhere = of(ledger, 9), of(ledger, 1, target_record="b" * 64)
        company = of(ledger, 2, target_object="company")
        for mutation in (newer, elsewhere, company):
            done(ledger, clock, mutation)
        mine = of(ledger, 5)
        for other in (newer, elsewhere, company):
            assert ledger.explains(mine, other.mutation_key) is None
        assert ledger.explains(mine, mine.mutation_key) is None
        assert ledger.explains(mine, "unknown") is None

    def test_an_earlier_one_of_the_same_plan_but_no_later_one(self, ledger: OwnedLedger, clock: HandClock) -> None:
        event = a_lead_event("1")
        first = a_mutation(event, action=ActionKind.CLEAR_STAGE, fields={"stage": None})
        second = a_mutation(event, action=ActionKind.SET_STAGE, ordinal=1, fields={"stage": "lead"})
        planned(ledger, event, first, second)
        done(ledger, clock, first)
        assert ledger.explains(second, first.mutation_key) == {"stage": None}
        done(ledger, clock, second)
        assert ledger.explains(first, second.mutation_key) is None

    def test_a_superseded_parent_explains_nothing_to_its_heir(self, ledger: OwnedLedger, clock: HandClock) -> None:
        parent = of(ledger, 1)
        heir = decide(ledger, divergent(ledger, clock, parent), Decision.OVERWRITE).derived
        assert heir is not None
        assert ledger.explains(heir, parent.mutation_key) is None

    @pytest.mark.parametrize("kind", [Decision.ACCEPT, Decision.ABANDON])
    def test_one_that_landed_and_was_answered_for_but_not_in_what_differs(
        self, ledger: OwnedLedger, clock: HandClock, kind: Decision
    ) -> None:
        older = of(ledger, 1, fields={"lead_status": "qualified", "stage": "lead"})
        fields = {"lead_status": "open", "stage": "lead"}
        asked = divergent(ledger, clock, older, fields=fields, marker=older.mutation_key, ours=True)
        newer = of(ledger, 2)
        assert ledger.explains(newer, older.mutation_key) is None  # nobody has answered for it yet
        decide(ledger, asked, kind)
        assert ledger.explains(newer, older.mutation_key) == {"stage": "lead"}

    def test_one_that_never_landed_explains_nothing(self, ledger: OwnedLedger, clock: HandClock) -> None:
        older = of(ledger, 1)
        decide(ledger, divergent(ledger, clock, older), Decision.ACCEPT)
        assert ledger.explains(of(ledger, 2), older.mutation_key) is None

    def test_what_a_restore_put_back_is_somebodys_value(self, ledger: OwnedLedger, clock: HandClock) -> None:
        lost = Difference(field="lead_status", intended="qualified", observed="qualified", lost="open")
        asked = divergent(ledger, clock, of(ledger, 1), Reason.OVERWROTE_UNSEEN_EDIT, (lost,), ours=True)
        heir = decide(ledger, asked, Decision.RESTORE).derived
        assert heir is not None
        done(ledger, clock, heir)
        assert ledger.explains(of(ledger, 2), heir.mutation_key) is None

    def test_of_what_it_set_what_was_observed_counts_and_not_what_was_intended(
        self, ledger: OwnedLedger, clock: HandClock
    ) -> None:
        older = of(ledger, 1)
        won(ledger, older)
        seen = an_observation(older, clock.now(), fields={"lead_status": "QUALIFIED", "owner": "7"})
        settled(ledger, older, Status.OBSERVED, observation=seen)
        assert ledger.explains(of(ledger, 2), older.mutation_key) == {"lead_status": "QUALIFIED"}


def test_the_creator_of_a_record_is_the_first_create_that_names_it(ledger: OwnedLedger, clock: HandClock) -> None:
    of(ledger, 1)
    assert ledger.creator_of(RECORD) is None
    create = of(ledger, 2, action=ActionKind.CREATE)
    clock.forward(1)
    of(ledger, 3, action=ActionKind.CREATE)
    assert ledger.creator_of(RECORD) == create.mutation_key
    assert ledger.creator_of("a" * 64) is None


def test_a_mutation_is_asked_what_it_wrote(ledger: OwnedLedger) -> None:
    key = of(ledger, 1, fields={"lead_status": "qualified", "stage": None}).mutation_key
    assert ledger.wrote(key, "lead_status", "qualified")
    assert ledger.wrote(key, "stage", None)
    assert not ledger.wrote(key, "lead_status", "open")
    assert not ledger.wrote(key, "owner", None)
    assert not ledger.wrote("unknown", "lead_status", "qualified")


def test_a_reference_was_written_as_the_id_of_the_record(ledger: OwnedLedger) -> None:
    event = a_lead_event("1")
    create = a_mutation(event, action=ActionKind.CREATE, provider_record_id="00Q1")
    mark = a_mutation(event, fields={"twin": reference(create.mutation_key), "stage": None})
    planned(ledger, event, create, mark)
    key = mark.mutation_key
    assert ledger.wrote(key, "twin", "00Q1")
    assert ledger.wrote(key, "stage", None)
    assert not ledger.wrote(key, "twin", "00Q2")


def test_a_derived_mutation_stands_after_its_parent(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("1")
    first, second = a_mutation(event), a_mutation(event, action=ActionKind.UPDATE, ordinal=1, target_record="a" * 64)
    planned(ledger, event, first, second)
    heir = decide(ledger, divergent(ledger, clock, first), Decision.OVERWRITE, "d1").derived
    assert heir is not None
    grandchild = decide(ledger, divergent(ledger, clock, heir), Decision.OVERWRITE, "d2").derived
    assert grandchild is not None
    expected = [m.mutation_key for m in (first, heir, grandchild, second)]
    assert [m.mutation_key for m in ledger.mutations_of(event.event_key)] == expected
    answered(ledger, won(ledger, grandchild))
    observed(ledger, clock, grandchild)
