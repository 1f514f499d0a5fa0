"""What a lead must leave behind, whatever was killed: asked of the witness first, and then of the receipts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Attempt, Mutation, Status
from leadproof.domain.review import ReviewState
from leadproof.domain.steps import Receipts
from tests.support.house import House

MARKERS: Final = {"hubspot": "leadproof_effect", "salesforce": "Leadproof_Effect__c"}
EXTERNAL_IDS: Final = {"hubspot": "leadproof_external_id", "salesforce": "Leadproof_External_Id__c"}
WRITES: Final = {"hubspot": "contacts.write", "salesforce": "leads.write"}
OBJECTS: Final = {"hubspot": "contacts", "salesforce": "leads"}
NAMES: Final = {
    "hubspot": {
        "owner": "hubspot_owner_id",
        "lifecycle_stage": "lifecyclestage",
        "lead_status": "hs_lead_status",
        "company": "company",
        "salesforce_id": "salesforce_lead_id",
    },
    "salesforce": {
        "owner": "OwnerId",
        "lead_status": "Status",
        "disqualification_reason": "Disqualification_Reason__c",
        "company": "Company",
    },
}
"""What the suite's effects set, by the CRM's own names; by hand, so that a mistake in a map of fields is found."""


def requests_of(house: House, mutation: Mutation) -> list[dict[str, Any]]:
    """The requests that carried an effect, as the witness received them, applied or not."""
    system = mutation.target_system
    rows = house.control.get("/requests", provider=system, operation=WRITES[system])
    return [row for row in rows if mutation.mutation_key in json.dumps(row["body"])]


def records_of(house: House, mutation: Mutation) -> list[dict[str, Any]]:
    """The records that carry the external id of an effect's record."""
    return [
        row
        for row in _records(house, mutation)
        if row["properties"].get(EXTERNAL_IDS[mutation.target_system]) == mutation.target_record
    ]


def landed(house: House, mutation: Mutation) -> list[dict[str, Any]]:
    """The records on which the witness's own history has this effect, once for each time that it landed."""
    return [
        row
        for row in _records(house, mutation)
        for version in row["history"].get(MARKERS[mutation.target_system], ())
        if version["value"] == mutation.mutation_key
    ]


def _records(house: House, mutation: Mutation) -> list[dict[str, Any]]:
    system = mutation.target_system
    rows: list[dict[str, Any]] = house.control.get("/records", provider=system, object=OBJECTS[system])
    return rows


def holds(house: House, key: str, *, sent: Sequence[int] = (1,), answered: bool = False) -> None:
    """One effect at the witness for each mutation of a lead, the right word for it, and complete evidence.

    Args:
        sent: how many requests each mutation's effect may have taken, in the plan's order; one of them landed.
        answered: the last effect is a person's answer to the one before it.
    """
    lead = house.ledger.lead(key)
    assert lead is not None
    mutations = house.mutations(key)
    for mutation, requests in zip(mutations, sent, strict=True):
        replaced = answered and mutation is not mutations[-1]
        rows = requests_of(house, mutation)
        assert sum(row["applied"] for row in rows) == 1, [(row["status"], row["applied"]) for row in rows]
        assert len(rows) == requests, [(row["status"], row["applied"]) for row in rows]
        (record,) = landed(house, mutation)
        assert len(records_of(house, mutation)) == 1
        assert mutation.status is (Status.SUPERSEDED if replaced else Status.OBSERVED)
        if not replaced:
            assert mutation.reason is None
            stands(mutation, record)
        assert mutation.provider_record_id in {None, record["id"]}
        receipts = house.ledger.receipts(mutation.mutation_key)
        assert receipts is not None
        _is_complete(receipts, record["id"], requests)
    assert lead.outcome is Outcome.DONE


def stands(mutation: Mutation, record: dict[str, Any]) -> None:
    """What was intended is what the witness's record says."""
    names, intended = NAMES[mutation.target_system], mutation.intent.fields
    compared = {names[name]: value for name, value in intended.items() if name in names and isinstance(value, str)}
    assert {name: record["properties"][name] for name in compared} == compared
    referred = [names[name] for name, value in intended.items() if isinstance(value, dict)]
    assert all(record["properties"][name] for name in referred)
    assert compared or referred


def _is_complete(receipts: Receipts, record: str, requests: int) -> None:
    """Intent, acceptance and state: each attempt has its answer, or is one whose answer nobody can have heard."""
    intent, attempts, last = receipts.mutation.intent, receipts.attempts, receipts.observations[-1]
    assert intent.fields
    assert intent.reason
    assert receipts.mutation.policy_version
    assert len(attempts) >= requests, "a request left for which no attempt was claimed"
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
