"""A lead of HubSpot that goes to Salesforce: two effects of one plan, through both real clients and both sandboxes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.testing import WorkflowEnvironment

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Mutation, Reason, Status
from sandbox.server import running
from tests.sandbox.control import AUTHORIZED
from tests.support.house import House, a_house

ORG, INBOUND, PERSON = "00Dxx0000001gPLEAY", "00Gxx000000Qu1AEAS", "005xx000001Sv6BAAS"
TARGET = """\
[target.hubspot.fields]
salesforce_id = { property = "salesforce_lead_id", spec = { type = "record_id" } }

[target.salesforce]
apply_lag_seconds = 0.4
apply_lag_source = "the local sandbox applies what it receives at once"
connect_timeout_seconds = 0.4
call_timeout_seconds = 2.5
send_within_seconds = 1
clock_margin_seconds = 0.1
observation_window_seconds = 4
read_spacing_seconds = 0.1
patience_seconds = 4
probe_seconds = 0.3

[owners.salesforce]
inbound = "00Gxx000000Qu1AEAS"

[[action]]
kind = "create"
target = "salesforce"
object = "lead"
fields = ["email", "first_name", "last_name", "company", "country", "owner", "lead_status"]

[[action]]
kind = "update"
target = "hubspot"
object = "contact"
fields = ["salesforce_id"]

[owners.hubspot]
"""
RULE = """\
[[rule]]
name = "partners"
when = { source = "hubspot", email_domain = "partners.example" }
action = "create"
target = "salesforce"
object = "lead"
fields = { owner = "inbound", lead_status = "Open - Not Contacted" }
reason = "Leads of partners are worked on in Salesforce"

[[rule.then]]
action = "update"
target = "hubspot"
object = "contact"
fields = { salesforce_id = { record_id_of = "salesforce lead" } }

[[rule]]
name = "already-owned"
"""
QUICK = {
    "apply_lag_seconds = 120": "apply_lag_seconds = 0.4",
    "connect_timeout_seconds = 5": "connect_timeout_seconds = 0.4",
    "call_timeout_seconds = 15": "call_timeout_seconds = 2.5",
    "send_within_seconds = 10": "send_within_seconds = 1",
    "clock_margin_seconds = 2": "clock_margin_seconds = 0.1",
    "observation_window_seconds = 300": "observation_window_seconds = 4",
    "read_spacing_seconds = 2": "read_spacing_seconds = 0.1",
    "patience_seconds = 3600": "patience_seconds = 4",
    "probe_seconds = 30": "probe_seconds = 0.3",
}
BOTH = {
    "[owners.hubspot]\n": TARGET,
    '[[rule]]\nname = "already-owned"\n': RULE,
    "set_stage = 400\n": "set_stage = 400\nupdate = 400\n",
}


def two_targets() -> str:
    """The shipped policy with its times shortened, and with Salesforce as a second target."""
    text = Path("leadproof/default_policy.toml").read_text(encoding="utf-8")
    for old, new in {**QUICK, **BOTH}.items():
        assert old in text
        text = text.replace(old, new)
    return text


class TwoTargets:
    """A house with an org beside its HubSpot account."""

    def __init__(self, house: House) -> None:
        self.house = house
        self._people = iter(range(1_000_000))

    async def lead(self) -> tuple[str, str, str]:
        """A contact whom the policy sends to Salesforce: record id, event key, e-mail address."""
        email = f"p{next(self._people)}@partners.example"
        record, key = await self.house.lead(email=email, firstname="Ada", lastname="Bo", company="Acme")
        return record, key, email

    def leads(self, email: str) -> list[dict[str, Any]]:
        rows = self.house.control.get("/records", provider="salesforce", object="leads")
        return [row for row in rows if row["properties"].get("Email") == email]

    def effects(self, key: str) -> dict[str, Mutation]:
        return {mutation.target_system: mutation for mutation in self.house.mutations(key)}

    def fault(self, kind: str, **fault: Any) -> None:
        self.house.control.post("/faults", {"provider": "salesforce", "kind": kind, **fault})


def _define_property(address: str, name: str) -> None:
    """A line of text in HubSpot, if it is not there."""
    definition = {"name": name, "label": name, "type": "string", "fieldType": "text", "groupName": "contactinformation"}
    made = httpx.post(
        f"{address}/hubspot/crm/v3/properties/contacts", json=definition, headers=AUTHORIZED, trust_env=False
    )
    assert made.status_code in {201, 409}


@pytest.fixture(scope="module")
async def _two(temporal: WorkflowEnvironment, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TwoTargets]:
    with running() as address:
        more = {
            "LEADPROOF_ENVIRONMENT": "two-targets",
            "LEADPROOF_SALESFORCE_URL": address,
            "LEADPROOF_SALESFORCE_ORG_ID": ORG,
            "LEADPROOF_SALESFORCE_CLIENT_ID": "leadproof-of-the-tests",
            "LEADPROOF_SALESFORCE_CLIENT_SECRET": "a-client-secret-of-the-tests",
        }
        folder = tmp_path_factory.mktemp("two")
        _define_property(address, "salesforce_lead_id")
        async with a_house(temporal.client, folder, policy=two_targets(), sandbox=address, more=more) as house:
            yield TwoTargets(house)


@pytest.fixture
def two(_two: TwoTargets) -> TwoTargets:
    _two.house.control.delete("/faults")
    return _two


async def test_a_lead_is_made_in_salesforce_and_hubspot_is_told_its_id(two: TwoTargets) -> None:
    record, key, email = await two.lead()
    await two.house.outcome(key, Outcome.DONE)
    effects = two.effects(key)
    assert {name: (one.status, one.depends_on) for name, one in effects.items()} == {
        "salesforce": (Status.OBSERVED, ()),
        "hubspot": (Status.OBSERVED, (effects["salesforce"].mutation_key,)),
    }
    (made,) = two.leads(email)
    fields = made["properties"]
    assert (fields["OwnerId"], fields["Status"], fields["LastName"]) == (INBOUND, "Open - Not Contacted", "Bo")
    assert fields["Leadproof_External_Id__c"] == effects["salesforce"].target_record
    assert fields["Leadproof_Effect__c"] == effects["salesforce"].mutation_key
    assert effects["salesforce"].provider_record_id == made["id"]
    assert two.house.properties(record)["salesforce_lead_id"] == made["id"]


async def test_an_answer_that_is_lost_makes_no_second_lead(two: TwoTargets) -> None:
    two.fault("drop_after_apply", operation="leads.write")
    record, key, email = await two.lead()
    await two.house.outcome(key, Outcome.DONE)
    (made,) = two.leads(email)
    assert two.house.properties(record)["salesforce_lead_id"] == made["id"]
    (attempt,) = two.house.ledger.attempts_of(two.effects(key)["salesforce"].mutation_key)
    assert attempt.outcome == "uncertain"


async def test_what_a_duplicate_rule_stops_is_a_persons_question_and_hubspot_is_told_nothing(two: TwoTargets) -> None:
    twin = {"LastName": "Bo", "Email": "twin@partners.example"}
    asked = {"provider": "salesforce", "object": "contacts", "id": None, "user": PERSON, "properties": twin}
    there = two.house.control.put("/records", asked)["id"]
    record, key = await two.house.lead(email=twin["Email"], firstname="Ada", lastname="Bo", company="Acme")
    await two.house.outcome(key, Outcome.REVIEW)
    effects = two.effects(key)
    assert (effects["salesforce"].status, effects["salesforce"].reason) == (Status.REJECTED, Reason.REFUSES_THIS)
    assert effects["hubspot"].status is Status.RESERVED
    assert there in str(effects["salesforce"].acceptance_receipt)
    assert two.leads(twin["Email"]) == []
    assert not two.house.properties(record).get("salesforce_lead_id")
