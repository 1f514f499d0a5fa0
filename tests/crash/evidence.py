"""What a lead must leave behind, whatever was killed: asked of the witness first, and then of the receipts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Attempt, Mutation, Status
from leadproof.domain.review import ReviewState
from leadproof.domain.steps import Receipts
from tests.support.house import House

MARKERS = {"hubspot": "leadproof_effect", "salesforce": "Leadproof_Effect__c"}
WRITES = {"hubspot": "contacts.write", "salesforce": "leads.write"}
OBJECTS = {"hubspot": "contacts", "salesforce": "leads"}


def requests_of(house: House, mutation: Mutation) -> list[dict[str, Any]]:
    """The requests that carried an effect, as the witness received them, applied or not."""
    system = mutation.target_system
    rows = house.control.get("/requests", provider=system, operation=WRITES[system])
    return [row for row in rows if mutation.mutation_key in json.dumps(row["body"])]


def landed(house: House, mutation: Mutation) -> list[str]:
    """The records on which the witness's own history has this effect, once for each time that it landed."""
    system = mutation.target_system
    rows = house.control.get("/records", provider=system, object=OBJECTS[system])
    return [
        row["id"]
        for row in rows
        for version in row["history"].get(MARKERS[system], ())
        if version["value"] == mutation.mutation_key
    ]


def holds(house: House, key: str, *, sent: Sequence[int] = (1,)) -> None:
    """One effect at the witness for each mutation of a lead, the right word for it, and complete evidence.

    Args:
        sent: how many requests each mutation's effect may have taken, in the plan's order; one of them landed.
    """
    lead = house.ledger.lead(key)
    assert lead is not None
    mutations = house.mutations(key)
    for mutation, requests in zip(mutations, sent, strict=True):
        rows = requests_of(house, mutation)
        assert sum(row["applied"] for row in rows) == 1, [(row["status"], row["applied"]) for row in rows]
        assert len(rows) == requests, [(row["status"], row["applied"]) for row in rows]
        (record,) = landed(house, mutation)
        assert (mutation.status, mutation.reason) == (Status.OBSERVED, None)
        assert mutation.provider_record_id in {None, record}
        receipts = house.ledger.receipts(mutation.mutation_key)
        assert receipts is not None
        _is_complete(receipts, record)
    assert lead.outcome is Outcome.DONE


def _is_complete(receipts: Receipts, record: str) -> None:
    """Intent, acceptance and state: each attempt has its answer, or is one whose answer nobody can have heard."""
    intent, attempts, last = receipts.mutation.intent, receipts.attempts, receipts.observations[-1]
    assert intent.fields
    assert intent.reason
    assert [attempt.number for attempt in attempts] == list(range(1, len(attempts) + 1))
    for attempt in attempts:
        assert (attempt.outcome is None) == (attempt.ended_at is None) == (attempt.answer is None)
    assert last.verdict == "one"
    assert last.state is not None
    assert (last.state["record_id"], last.state["ours"]) == (record, True)
    assert last.read_at >= attempts[-1].started_at
    assert receipts.review is None or receipts.review.state is ReviewState.DECIDED


def attempts_of(house: House, key: str) -> list[Attempt]:
    """All attempts of a lead, in the plan's order."""
    return [attempt for mutation in house.mutations(key) for attempt in house.ledger.attempts_of(mutation.mutation_key)]
