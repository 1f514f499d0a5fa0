"""What a soak reads from the sandbox: whose versions stand on a record, and what each request was to do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from sandbox.server import running
from soak import witness
from soak.fault_decks import DECKS
from soak.schedule import scheduled

CONTACTS, LEADS = "/hubspot/crm/v3/objects/contacts", "/services/data/v62.0/sobjects/Lead"
BEARER = {"authorization": "Bearer any"}
EMAIL = "b@lead.example"
SALESPERSON = "005xx000001Sv6BAAS"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running() as served:
        yield served


@pytest.fixture
async def http(address: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=address, trust_env=False) as client:
        (await client.post("/_sandbox/reset")).raise_for_status()
        yield client


async def saved(http: httpx.AsyncClient, system: str, properties: dict[str, str], record_id: str | None = None) -> str:
    """By a person; the record's id."""
    kind, user = ("contacts", "9001") if system == "hubspot" else ("leads", SALESPERSON)
    asked: dict[str, Any] = {"provider": system, "object": kind, "user": user, "properties": properties}
    answer = await http.put("/_sandbox/records", json=asked | ({"id": record_id} if record_id else {}))
    return str(answer.raise_for_status().json()["id"])


async def test_versions_say_whose_they_are_and_when_all_stood_together(http: httpx.AsyncClient, address: str) -> None:
    record_id = await saved(http, "hubspot", {"email": "A@lead.example", "hs_lead_status": "CONNECTED"})
    ours = {"hs_lead_status": "NEW", "hubspot_owner_id": "502", "leadproof_effect": "k1"}
    (await http.patch(f"{CONTACTS}/{record_id}", json={"properties": ours}, headers=BEARER)).raise_for_status()
    await saved(http, "hubspot", {"hs_lead_status": "OPEN"}, record_id)
    seen = await witness.look(address, http)
    (record,) = seen.of_address("hubspot", "a@lead.example")
    assert seen.record("hubspot", record_id) is record
    assert [(one.value, one.ours) for one in record.versions["lead_status"]] == [
        ("connected", False),
        ("new", True),
        ("open", False),
    ]
    (effect,) = record.effects("k1")
    assert record.stood({"lead_status": "new", "owner": "502"}, effect.at)
    assert not record.stood({"lead_status": "connected", "owner": "502"}, None)
    assert not record.stood({"lead_status": "connected"}, effect.at)
    (write,) = seen.writes_of("k1")
    assert write.applied
    assert write.values == {"lead_status": "new", "owner": "502"}


async def test_a_row_of_a_batch_is_a_write_of_its_own_and_not_applied_where_it_was_dropped(
    http: httpx.AsyncClient, address: str
) -> None:
    fault = {
        "provider": "hubspot",
        "operation": "contacts.write",
        "kind": "drop_before_apply",
        "match": "b@lead.example",
    }
    (await http.post("/_sandbox/faults", json={**fault, "times": 2})).raise_for_status()
    properties = {
        "email": "b@lead.example",
        "country": "Germany",
        "leadproof_effect": "k2",
        "leadproof_external_id": "x",
    }
    row = {"id": "x", "idProperty": "leadproof_external_id", "properties": properties}
    with pytest.raises(httpx.TransportError):
        await http.post(f"{CONTACTS}/batch/upsert", json={"inputs": [row]}, headers=BEARER)
    seen = await witness.look(address, http)
    (write,) = seen.writes_of("k2")
    assert (write.applied, write.values) == (False, {"email": EMAIL, "country": "de"})
    assert seen.records == []
    assert seen.armed == {"drop_before_apply": 1}


async def test_salesforce_is_read_in_the_same_names(http: httpx.AsyncClient, address: str) -> None:
    record_id = await saved(http, "salesforce", {"LastName": "Quill", "Company": "Rival", "Email": "q@rival.example"})
    ours = {"Status": "Working - Contacted", "Leadproof_Effect__c": "k3"}
    refused = await http.patch(f"{LEADS}/{record_id}", json=ours, headers=BEARER)
    sign_in = {"grant_type": "client_credentials", "client_id": "any", "client_secret": "any"}
    token = (await http.post("/services/oauth2/token", data=sign_in)).json()["access_token"]
    await http.patch(f"{LEADS}/{record_id}", json=ours, headers={"authorization": f"Bearer {token}"})
    seen = await witness.look(address, http)
    assert refused.status_code == 401
    assert [(write.applied, write.refused_session) for write in seen.writes_of("k3")] == [(False, True), (True, False)]
    (record,) = seen.of_address("salesforce", "q@rival.example")
    (effect,) = record.effects("k3")
    assert effect.ours
    assert record.stood({"lead_status": "working - contacted"}, effect.at)


async def test_the_sandbox_takes_all_that_a_schedule_has(http: httpx.AsyncClient) -> None:
    for lead in scheduled(1, 40).leads:
        if lead.kind == "form":
            continue
        system = "salesforce" if lead.kind == "salesforce" else "hubspot"
        record_id = await saved(http, system, dict(lead.properties))
        for edit in lead.edits:
            await saved(http, system, dict(edit.fields), record_id)
    for fault in (fault for deck in DECKS.values() for fault in deck):
        asked = {"provider": fault.provider, "operation": fault.operation, "kind": fault.kind, "match": "nobody"}
        rest = {"times": fault.times, "after": fault.after, "args": dict(fault.args)}
        assert (await http.post("/_sandbox/faults", json=asked | rest)).status_code == 201, fault
