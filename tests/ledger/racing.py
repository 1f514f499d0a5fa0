"""Fifty processes that ask one ledger for the same thing at the same moment; run as a program, answers as JSON.

The program imports the ledger once and forks: what a race needs is processes with connections of their own, and fifty
interpreters that import it would take a minute.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TextIO

from leadproof.domain import keys
from leadproof.domain.mutation import Mutation, Status
from leadproof.domain.steps import Arrival, Settlement
from leadproof.ledger.engine import Engine, connect
from tests.support.ledgers import (
    START,
    HandClock,
    OwnedLedger,
    a_lead_event,
    a_mutation,
    a_plan,
    an_observation,
    planned,
)

RECORD = "9" * 64
ONE = a_lead_event("one")


def wanted(number: int) -> Mutation:
    """The one mutation, as this process plans it: the same key, another intent."""
    return a_mutation(ONE, fields={"lead_status": f"planned by {number}"})


def derived(number: int) -> Mutation:
    """A derived one, the same from everyone."""
    return derived_of(wanted(number))


def derived_of(parent: Mutation) -> Mutation:
    key = keys.derived_key(parent.mutation_key, "reverse")
    changes = {"mutation_key": key, "parent_key": parent.mutation_key, "fingerprint": "f" * 64, "ordinal": 0}
    return parent.model_copy(update=changes)


def own(number: int) -> Mutation:
    """A mutation of an event of this process's own; all of one record."""
    event = a_lead_event(f"own {number}", occurred_at=START + timedelta(seconds=number))
    return a_mutation(event, target_record=RECORD)


def prepare(ledger: OwnedLedger, number: int) -> None:
    planned(ledger, a_lead_event(f"own {number}", occurred_at=START + timedelta(seconds=number)), own(number))


def admit(ledger: OwnedLedger, number: int) -> str:
    return ledger.admit([Arrival(event=ONE)])[ONE.event_key].kind


def plan(ledger: OwnedLedger, number: int) -> dict[str, Any]:
    mutation = wanted(number)
    recorded = ledger.record_plan(a_plan(ONE, [mutation], summary=f"by {number}"), [mutation])
    return {
        "mine": recorded.reservations == {mutation.mutation_key: "won"},
        "summary": recorded.plan.summary if recorded.plan else None,
        "fields": [row.intent.fields for row in recorded.mutations],
        "conflict": recorded.conflict,
    }


def reserve(ledger: OwnedLedger, number: int) -> list[Any]:
    result, row = ledger.reserve(derived(number))
    return [result, row.mutation_key, row.version]


def claim(ledger: OwnedLedger, number: int) -> str:
    return _claim(ledger, wanted(number))


def claim_record(ledger: OwnedLedger, number: int) -> str:
    return _claim(ledger, own(number))


def _claim(ledger: OwnedLedger, mutation: Mutation) -> str:
    times = {"send_within": timedelta(seconds=10), "quiescence": timedelta(seconds=130)}
    return ledger.claim(mutation.mutation_key, version=1, number=1, **times).result


def settle(ledger: OwnedLedger, number: int) -> bool:
    mutation = wanted(number)
    step = Settlement(status=Status.OBSERVED, observation=an_observation(mutation, START))
    return ledger.settle(mutation.mutation_key, version=2, step=step).won


RACES: tuple[Callable[[OwnedLedger, int], Any], ...] = (prepare, admit, plan, reserve, claim, claim_record, settle)


def main(url: str, processes: int) -> None:
    """Fork, start each race when everyone is ready for it, and print what everyone was answered."""
    engine = connect(url)
    warm_up(OwnedLedger(engine, HandClock()))
    engine.dispose()  # no connection is shared, only what was compiled
    gc.freeze()
    ready_out, ready_in = os.pipe()
    gates = [os.pipe() for _ in RACES]
    answers_out, answers_in = os.pipe()
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            with os.fdopen(answers_in, "w") as answers:
                compete(engine, number, ready_in, [gate[0] for gate in gates], answers)
            os._exit(0)
        children.append(child)
    os.close(answers_in)
    for _, gate in gates:
        for _ in range(processes):
            os.read(ready_out, 1)
        os.write(gate, b"g" * processes)
    with os.fdopen(answers_out) as lines:
        answered = [json.loads(line) for line in lines]
    for child in children:
        os.waitpid(child, 0)
    json.dump(answered, sys.stdout)


def warm_up(ledger: OwnedLedger) -> None:
    """Every statement of the races, once, for a lead that is in none of them."""
    event = a_lead_event("none")
    first, second = (
        a_mutation(event, target_record="0" * 64),
        a_mutation(a_lead_event("nobody"), target_record="0" * 64),
    )
    planned(ledger, event, first)
    planned(ledger, a_lead_event("nobody"), second)
    ledger.record_plan(a_plan(event, [first]), [first])
    _claim(ledger, first)
    _claim(ledger, second)
    step = Settlement(status=Status.OBSERVED, observation=an_observation(first, START))
    ledger.settle(first.mutation_key, version=2, step=step)
    ledger.reserve(derived_of(first))
    ledger.reserve(derived_of(first))


def compete(engine: Engine, number: int, ready: int, gates: list[int], answers: TextIO) -> None:
    """One process's part in every race."""
    answered: dict[str, Any] = {"number": number}
    with OwnedLedger(engine, HandClock()) as ledger:
        ledger.ping()
        for race, gate in zip(RACES, gates, strict=True):
            os.write(ready, b"r")
            os.read(gate, 1)
            try:
                answered[race.__name__] = race(ledger, number)
            except Exception:
                answered.setdefault("errors", []).append(traceback.format_exc(limit=-3))
    answers.write(json.dumps(answered) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
