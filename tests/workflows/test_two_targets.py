"""A lead of HubSpot that goes to Salesforce: two effects of one plan, through both real clients and both sandboxes."""

from __future__ import annotations

import uuid
from typing import Any

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Mutation, Reason, Status
from tests.support.house import House

INBOUND, PERSON = "00Gxx000000Qu1AEAS", "005xx000001Sv6BAAS"


async def british(house: House, email: str) -> tuple[str, str]:
    """A contact whom the embedded policy sends to Salesforce: record id and event key."""
    return await house.lead(email=email, firstname="Ada", lastname="Bo", company="Acme", country="GB")


def address() -> str:
    return f"{uuid.uuid4().hex}@lead.example"


def leads(house: House, email: str) -> list[dict[str, Any]]:
    rows = house.control.get("/records", provider="salesforce", object="leads")
    return [row for row in rows if row["properties"].get("Email") == email]


def effects(house: House, key: str) -> dict[str, Mutation]:
    return {mutation.target_system: mutation for mutation in house.mutations(key)}


async def test_a_lead_is_made_in_salesforce_and_hubspot_is_told_its_id(house: House) -> None:
    email = address()
    record, key = await british(house, email)
    await house.outcome(key, Outcome.DONE)
    made = effects(house, key)
    assert {name: (one.status, one.depends_on) for name, one in made.items()} == {
        "salesforce": (Status.OBSERVED, ()),
        "hubspot": (Status.OBSERVED, (made["salesforce"].mutation_key,)),
    }
    (lead,) = leads(house, email)
    fields = lead["properties"]
    assert (fields["OwnerId"], fields["LastName"], fields["CountryCode"]) == (INBOUND, "Bo", "GB")
    assert fields["Leadproof_External_Id__c"] == made["salesforce"].target_record
    assert fields["Leadproof_Effect__c"] == made["salesforce"].mutation_key
    assert made["salesforce"].provider_record_id == lead["id"]
    assert house.properties(record)["salesforce_lead_id"] == lead["id"]


async def test_an_answer_that_is_lost_makes_no_second_lead(house: House) -> None:
    email = address()
    lost = {"provider": "salesforce", "operation": "leads.write", "kind": "drop_after_apply", "match": email}
    house.control.post("/faults", lost)
    record, key = await british(house, email)
    await house.outcome(key, Outcome.DONE)
    (lead,) = leads(house, email)
    assert house.properties(record)["salesforce_lead_id"] == lead["id"]
    (attempt,) = house.ledger.attempts_of(effects(house, key)["salesforce"].mutation_key)
    assert attempt.outcome == "uncertain"


async def test_what_a_duplicate_rule_stops_is_a_persons_question_and_hubspot_is_told_nothing(house: House) -> None:
    email = address()
    twin = {"LastName": "Bo", "Email": email}
    asked = {"provider": "salesforce", "object": "contacts", "id": None, "user": PERSON, "properties": twin}
    there = house.control.put("/records", asked)["id"]
    record, key = await british(house, email)
    await house.outcome(key, Outcome.REVIEW)
    made = effects(house, key)
    assert (made["salesforce"].status, made["salesforce"].reason) == (Status.REJECTED, Reason.REFUSES_THIS)
    assert made["hubspot"].status is Status.RESERVED
    assert there in str(made["salesforce"].acceptance_receipt)
    assert leads(house, email) == []
    assert not house.properties(record).get("salesforce_lead_id")
