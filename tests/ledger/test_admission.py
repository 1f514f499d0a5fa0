"""The door: insert or count, conflicts, echoes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event as hook

from leadproof.domain.events import LeadEvent, Outcome, workflow_id
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.steps import AdmissionKind, Arrival, EchoQuestion
from tests.ledger.steps import QUIESCENCE, SEND_WITHIN, answered, won
from tests.support.ledgers import START, HandClock, OwnedLedger, a_lead_event, a_mutation, planned


def test_a_new_event_stands_as_it_came(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("1", lead={"lead": {"first_name": "Zoë"}, "extra": {"n": 3, "deep": [None, {"x": 1.5}]}})
    admitted = ledger.admit([Arrival(event=event, deliveries=2)])[event.event_key]
    lead = ledger.lead(event.event_key)
    assert admitted.kind is AdmissionKind.NEW
    assert admitted.workflow_id == workflow_id(event.event_key, 0)
    assert lead is not None
    assert lead.model_dump(include=set(type(event).model_fields)) == event.model_dump()
    assert (lead.outcome, lead.run, lead.deliveries, lead.conflicts) == (Outcome.WORKING, 0, 2, 0)
    assert lead.first_seen_at == lead.last_seen_at == clock.now()


def test_a_redelivery_is_counted_and_known(ledger: OwnedLedger, clock: HandClock) -> None:
    event = a_lead_event("1")
    ledger.admit([Arrival(event=event)])
    later = clock.forward(5)
    again = ledger.admit([Arrival(event=event.model_copy(update={"policy_version": "next"}), deliveries=3)])
    lead = ledger.lead(event.event_key)
    assert again[event.event_key].kind is AdmissionKind.KNOWN
    assert lead is not None
    assert (lead.deliveries, lead.conflicts, lead.last_seen_at) == (4, 0, later)
    assert lead.first_seen_at == START
    assert lead.policy_version == event.policy_version  # pinned by the insert


def test_another_payload_under_a_key_is_a_conflict_and_changes_nothing_else(ledger: OwnedLedger) -> None:
    event = a_lead_event("1")
    ledger.admit([Arrival(event=event)])
    other = event.model_copy(update={"fingerprint": "f" * 64, "lead": {"lead": {"email": "other@example.com"}}})
    assert ledger.admit([Arrival(event=other, deliveries=2)])[event.event_key].kind is AdmissionKind.CONFLICT
    lead = ledger.lead(event.event_key)
    assert lead is not None
    assert (lead.deliveries, lead.conflicts, lead.fingerprint, lead.lead) == (1, 2, event.fingerprint, event.lead)


def test_a_batch_is_one_statement_and_each_event_has_its_own_answer(ledger: OwnedLedger) -> None:
    known, new = a_lead_event("1"), [a_lead_event(str(n)) for n in range(2, 101)]
    ledger.admit([Arrival(event=known)])
    statements: list[str] = []
    writer = ledger._engine._writer

    def seen(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        statements.append(statement)

    hook.listen(writer, "before_cursor_execute", seen)
    try:
        admitted = ledger.admit([Arrival(event=event) for event in [known, *new]])
    finally:
        hook.remove(writer, "before_cursor_execute", seen)
    assert admitted[known.event_key].kind is AdmissionKind.KNOWN
    assert {admitted[event.event_key].kind for event in new} == {AdmissionKind.NEW}
    assert len([statement for statement in statements if "lead_event" in statement]) == 1


@pytest.mark.parametrize("outcome", [Outcome.GONE, Outcome.ECHO, Outcome.ABANDONED])
def test_a_final_event_is_closed(ledger: OwnedLedger, outcome: Outcome) -> None:
    event = a_lead_event("1")
    ledger.admit([Arrival(event=event)])
    ledger.close_event(event.event_key, outcome)
    assert ledger.admit([Arrival(event=event)])[event.event_key].kind is AdmissionKind.CLOSED


def test_a_resumed_event_is_closed_at_the_door(ledger: OwnedLedger) -> None:
    event = a_lead_event("1")
    ledger.admit([Arrival(event=event)])
    assert ledger.elect_run(event.event_key, run=0)
    admitted = ledger.admit([Arrival(event=event)])[event.event_key]
    assert (admitted.kind, admitted.workflow_id) == (AdmissionKind.CLOSED, workflow_id(event.event_key, 1))


def test_an_erased_event_is_no_conflict_with_any_payload(ledger: OwnedLedger) -> None:
    event = a_lead_event("1", fingerprint="")
    ledger.admit([Arrival(event=event)])
    ledger.close_event(event.event_key, Outcome.ABANDONED)
    again = event.model_copy(update={"fingerprint": "f" * 64})
    assert ledger.admit([Arrival(event=again)])[event.event_key].kind is AdmissionKind.CLOSED


def test_nothing_arrives(ledger: OwnedLedger) -> None:
    assert ledger.admit([]) == {}


def question(**changes: Any) -> EchoQuestion:
    given = {"record_id": "501", "field": "lead_status", "value": "qualified"} | changes
    return EchoQuestion(target_system="hubspot", quiescence=QUIESCENCE, **given)


def changed(number: str, field: str, value: str) -> LeadEvent:
    return a_lead_event(number, occurred_at=START + timedelta(seconds=1), lead={"lead": {field: value}})


def an_echo(number: str) -> Arrival:
    """What may be the echo of what `TestEchoes.written` wrote."""
    return Arrival(event=changed(number, "lead_status", "qualified"), echo=question())


class TestEchoes:
    """What the door may drop: exactly what an attempt of ours that left wrote, once, in its time."""

    def written(self, ledger: OwnedLedger, outcome: AnswerClass | None = AnswerClass.ACCEPTED, **intent: Any) -> str:
        event = a_lead_event("1")
        (mutation,) = planned(ledger, event, a_mutation(event, provider_record_id="501", **intent))
        won(ledger, mutation)
        if outcome is not None:
            answered(ledger, mutation, outcome)
        return mutation.mutation_key

    def asked(self, ledger: OwnedLedger, seconds: float = 1, **changes: Any) -> str | None:
        return ledger.echo_of(question(**changes), occurred_at=START + timedelta(seconds=seconds))

    def kinds(self, ledger: OwnedLedger, *arrivals: Arrival) -> list[AdmissionKind]:
        return [admission.kind for admission in ledger.admit(arrivals).values()]

    def test_an_echo_leaves_its_row_and_is_final(self, ledger: OwnedLedger) -> None:
        key, arrival = self.written(ledger), an_echo("2")
        assert self.kinds(ledger, arrival) == [AdmissionKind.ECHO]
        lead = ledger.lead(arrival.event.event_key)
        assert lead is not None
        assert (lead.outcome, lead.echo_of) == (Outcome.ECHO, key)
        assert self.kinds(ledger, arrival) == [AdmissionKind.CLOSED]

    @pytest.mark.parametrize("outcome", [AnswerClass.ACCEPTED, AnswerClass.UNCERTAIN, None])
    def test_an_attempt_that_left_is_echoed(self, ledger: OwnedLedger, outcome: AnswerClass | None) -> None:
        assert self.asked(ledger) is None
        key = self.written(ledger, outcome)
        assert self.asked(ledger) == key

    @pytest.mark.parametrize("outcome", [AnswerClass.NOT_SENT, AnswerClass.REFUSES_THIS])
    def test_one_that_did_not_is_not(self, ledger: OwnedLedger, outcome: AnswerClass) -> None:
        self.written(ledger, outcome)
        assert self.asked(ledger) is None

    @pytest.mark.parametrize("other", [{"record_id": "502"}, {"field": "stage"}, {"value": "open"}, {"value": None}])
    def test_only_this_record_field_and_value(self, ledger: OwnedLedger, other: dict[str, Any]) -> None:
        self.written(ledger)
        assert self.asked(ledger, **other) is None

    def test_only_between_its_start_and_its_quiescence(self, ledger: OwnedLedger) -> None:
        key = self.written(ledger)
        until = (SEND_WITHIN + QUIESCENCE).total_seconds()
        assert self.asked(ledger, 0) == self.asked(ledger, until) == key
        assert self.asked(ledger, -0.001) is None
        assert self.asked(ledger, until + 0.001) is None

    def test_an_attempt_absorbs_a_field_once(self, ledger: OwnedLedger) -> None:
        key = self.written(ledger, fields={"lead_status": "qualified", "stage": "lead"})
        stage = Arrival(event=changed("2", "stage", "lead"), echo=question(field="stage", value="lead"))
        assert self.kinds(ledger, stage) == [AdmissionKind.ECHO]
        assert self.asked(ledger) == key  # another field was absorbed
        assert self.kinds(ledger, an_echo("3")) == [AdmissionKind.ECHO]
        assert self.asked(ledger) is None
        assert self.kinds(ledger, an_echo("4")) == [AdmissionKind.NEW]

    def test_of_two_in_one_delivery_one_is_absorbed(self, ledger: OwnedLedger) -> None:
        self.written(ledger)
        assert sorted(self.kinds(ledger, an_echo("2"), an_echo("3"))) == [AdmissionKind.ECHO, AdmissionKind.NEW]

    def test_of_two_deliveries_at_once_one_is_absorbed(self, ledger: OwnedLedger) -> None:
        self.written(ledger)
        with ThreadPoolExecutor(8) as pool:
            kinds = list(pool.map(lambda n: self.kinds(ledger, an_echo(str(n)))[0], range(2, 10)))
        assert sorted(kinds) == [AdmissionKind.ECHO] + [AdmissionKind.NEW] * 7

    def test_an_absorbed_event_that_does_not_say_its_field_counts_for_all(self, ledger: OwnedLedger) -> None:
        self.written(ledger)
        silent = a_lead_event("2", occurred_at=START + timedelta(seconds=1), lead=None)
        assert self.kinds(ledger, Arrival(event=silent, echo=question())) == [AdmissionKind.ECHO]
        assert self.asked(ledger) is None
