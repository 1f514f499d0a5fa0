from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from leadproof.domain import keys
from leadproof.domain.events import Outcome, workflow_id
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.plan import ActionKind
from leadproof.domain.policy_text import parse_policy
from leadproof.domain.steps import Arrival
from starter import off_loop
from tests.starter.door import FIXTURES, OLD_SECRET, POLICY, PUBLIC, Door, a_door, change, creation, milliseconds
from tests.starter.wire import a_wire
from tests.support.ledgers import START, a_lead_event, a_mutation, a_plan, an_answer
from workers.plugin import leads_plugin
from workflows.contract import OUTCOME, SOURCE, TENANT


async def test_an_event_is_stored_and_its_run_started_before_it_is_acknowledged(door: Door) -> None:
    assert await door.deliver(creation()) == {"started": 1}
    key = door.key()
    lead = door.ledger.lead(key)
    assert lead is not None
    assert (lead.outcome, lead.run, lead.workflow_id, lead.deliveries) == (Outcome.WORKING, 0, f"lead:{key}", 1)
    assert lead.policy_version == parse_policy(POLICY.read_text(encoding="utf-8")).version
    assert lead.lead is not None
    assert lead.lead["extra"]["eventId"] == 1
    assert lead.lead["extra"]["sent_occurrence"] == f'["contact.creation",null,"{milliseconds(START) - 1000}"]'
    run = await door.run(f"lead:{key}")
    assert run is not None
    assert (run.workflow_type, run.task_queue) == ("LeadWorkflow", "leads")
    attributes = run.typed_search_attributes
    assert attributes[TENANT] == door.settings.tenant
    assert attributes[SOURCE] == "hubspot"
    assert attributes[OUTCOME] == "working"
    assert await run.static_summary() == "A lead from hubspot: contact.creation"
    assert key in (await run.static_details() or "")
    history = await door.client.get_workflow_handle(f"lead:{key}").fetch_history()
    sent = history.events[0].workflow_execution_started_event_attributes.input.payloads
    assert [json.loads(payload.data) for payload in sent] == [key]


async def test_a_redelivery_is_counted_and_starts_nothing(door: Door) -> None:
    assert await door.deliver(creation()) == {"started": 1}
    first = await door.run(f"lead:{door.key()}")
    assert await door.deliver(creation(eventId=7, attemptNumber=1, subscriptionId=9)) == {"duplicate": 1}
    assert await door.deliver(creation(occurredAt=milliseconds(START))) == {"duplicate": 1}
    again = await door.run(f"lead:{door.key()}")
    assert first is not None
    assert again is not None
    assert again.run_id == first.run_id
    lead = door.ledger.lead(door.key())
    assert lead is not None
    assert (lead.deliveries, lead.conflicts) == (3, 0)


async def test_the_same_event_twice_in_one_delivery_is_started_once(door: Door) -> None:
    assert await door.deliver(creation(), creation(102), creation(eventId=2)) == {"started": 2, "duplicate": 1}
    lead = door.ledger.lead(door.key())
    assert lead is not None
    assert lead.deliveries == 2


async def test_at_once_from_two_sides_is_started_once(door: Door) -> None:
    counts = await asyncio.gather(*(door.deliver(creation()) for _ in range(8)))
    assert sorted(json.dumps(count) for count in counts) == ['{"duplicate": 1}'] * 7 + ['{"started": 1}']


async def test_a_batch_is_counted_event_by_event(door: Door) -> None:
    occurrence = f'["contact.propertyChange","email","{milliseconds(START) - 1000}"]'
    counts = await door.deliver(
        change(),  # started
        change(name="phone", value="1"),  # a property that the policy does not name
        creation(),  # started
        creation(subscriptionType="contact.deletion"),  # a kind that the policy does not name
        creation(subscriptionType="deal.creation"),  # another object
        creation(103, portalId=999),  # another account
        creation(None),  # type: ignore[arg-type]  # no record
        change(),  # the same again
        "rubbish",
    )
    assert counts == {"started": 2, "duplicate": 1, "ignored": 3, "quarantined": 3}
    assert door.ledger.lead(door.key(kind="contact.propertyChange", occurrence=occurrence)) is not None
    assert await door.metric('leadproof_events_total{result="quarantined",source="hubspot"}') == 3
    assert await door.metric('leadproof_deliveries_total{source="hubspot",status="200"}') == 1


async def test_what_is_held_back_is_kept_with_its_reason_and_starts_nothing(door: Door) -> None:
    events = [creation(1, portalId=999), creation(2, objectId=10**17), creation(3, note="a\x00b\ud800"), creation(4)]
    assert await door.deliver(*events) == {"quarantined": 3, "started": 1}
    assert await door.deliver(*events) == {"quarantined": 3, "duplicate": 1}
    answer = await door.get("/v1/quarantine", state="held")
    entries = {entry["position"]: entry for entry in answer.json()["items"]}
    assert {position: entry["reason"] for position, entry in entries.items()} == {
        0: "foreign_account",
        1: "malformed: an integer is beyond 2^53",
        2: "malformed: a text contains a NUL character",
    }
    for position, entry in entries.items():
        shown = await door.get(f"/v1/quarantine/{entry['delivery_digest']}/{position}")
        assert json.loads(shown.json()["body"]) == events[position]


async def test_another_payload_under_the_same_key_is_a_conflict(door: Door) -> None:
    assert await door.deliver(change(), change(value="other@example.com"), creation()) == {"started": 2, "conflict": 1}
    assert await door.deliver(change(value="third@example.com")) == {"conflict": 1}
    assert await door.deliver(change(value="Mira@Example.com")) == {"conflict": 1}
    occurrence = f'["contact.propertyChange","email","{milliseconds(START) - 1000}"]'
    lead = door.ledger.lead(door.key(kind="contact.propertyChange", occurrence=occurrence))
    assert lead is not None
    assert (lead.deliveries, lead.conflicts) == (1, 3)
    assert lead.lead is not None
    assert lead.lead["lead"] == {"email": "mira@example.com"}
    reasons = [entry["reason"] for entry in (await door.get("/v1/quarantine")).json()["items"]]
    assert reasons == ["conflict"] * 3


async def test_a_lead_that_is_final_or_was_resumed_starts_nothing(door: Door) -> None:
    for record in (101, 102):
        door.ledger.admit([Arrival(event=a_lead_event(str(record), event_key=door.key(record), **admitted(door)))])
    door.ledger.close_event(door.key(101), Outcome.GONE)
    assert door.ledger.elect_run(door.key(102), run=0)
    assert await door.deliver(creation(101), creation(102)) == {"duplicate": 2}
    for record in (101, 102):
        assert await door.run(workflow_id(door.key(record), 0)) is None


def admitted(door: Door) -> dict[str, Any]:
    """What the starter gives a creation's row."""
    fingerprint = keys.event_fingerprint(event_kind="contact.creation", occurrence=None, lead={}, specs={})
    return {"tenant": door.settings.tenant, "environment": door.settings.environment, "fingerprint": fingerprint}


async def test_without_temporal_the_row_stands_and_the_redelivery_starts_it(
    unworked: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("starter.start.PATIENCE_SECONDS", 0.5)
    async with a_wire(unworked.service_client.config.target_host) as wire:
        client = await Client.connect(wire.address, namespace=unworked.namespace, plugins=[leads_plugin()])
        async with a_door(client, tmp_path) as door:
            assert await door.deliver(creation(100)) == {"started": 1}
            wire.cut()
            refused = await door.send(json.dumps([creation(), creation(102)]).encode())
            assert refused.status_code == 503
            assert int(refused.headers["retry-after"]) > 0
            assert refused.headers["content-type"] == "application/problem+json"
            assert refused.json()["type"] == "urn:leadproof:problem:unavailable"
            assert (await door.http.get("/readyz")).status_code == 503
            assert (await door.http.get("/healthz")).status_code == 200
            for record in (101, 102):
                lead = door.ledger.lead(door.key(record))
                assert lead is not None
                assert lead.outcome is Outcome.WORKING
            monkeypatch.undo()
            wire.mend()
            assert await door.deliver(creation(), creation(102)) == {"started": 2}
            assert (await door.http.get("/readyz")).status_code == 200


async def test_a_temporal_that_stalls_holds_a_delivery_of_a_hundred_no_longer_than_one_start(
    unworked: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("starter.start.PATIENCE_SECONDS", 0.5)
    async with a_wire(unworked.service_client.config.target_host) as wire:
        client = await Client.connect(wire.address, namespace=unworked.namespace, plugins=[leads_plugin()])
        async with a_door(client, tmp_path) as door:
            events = [creation(record) for record in range(1, 101)]
            wire.stall()
            began = time.monotonic()
            assert (await door.send(json.dumps(events).encode())).status_code == 503
            assert time.monotonic() - began < 2  # five rounds of starts would take 2.5 s
            monkeypatch.undo()
            wire.mend()
            await delivered_in_the_end(door, events)


async def test_starts_that_are_slow_together_end_with_the_delivery_and_redeliveries_complete_it(
    unworked: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("starter.intake.DELIVERY_SECONDS", 0.6)
    async with a_wire(unworked.service_client.config.target_host) as wire:
        client = await Client.connect(wire.address, namespace=unworked.namespace, plugins=[leads_plugin()])
        async with a_door(client, tmp_path) as door:
            events = [creation(record) for record in range(1, 61)]
            wire.delay = 0.25  # each start is answered well within its own time
            assert (await door.send(json.dumps(events).encode())).status_code == 503
            monkeypatch.undo()
            wire.mend()
            await delivered_in_the_end(door, events)


async def delivered_in_the_end(door: Door, events: list[dict[str, Any]]) -> None:
    """Deliver again until it is acknowledged, as a source does; every event has its run then."""
    answer = await door.send(json.dumps(events).encode())
    while answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE:  # a busy machine
        answer = await door.send(json.dumps(events).encode())
    counts = answer.json()
    assert counts["received"] == counts["started"] + counts["duplicate"] == len(events)


async def test_without_the_ledger_nothing_is_started(unworked: Client, tmp_path: Path) -> None:
    async with a_door(unworked, tmp_path, busy_seconds=0.2) as door:
        other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        refused = await door.send(json.dumps([creation()]).encode())
        assert refused.status_code == 503
        assert "retry-after" in refused.headers
        other.execute("ROLLBACK")
        other.close()
        assert await door.run(f"lead:{door.key()}") is None
        assert await door.deliver(creation()) == {"started": 1}


async def test_a_ledger_that_hangs_is_waited_for_only_so_long(
    unworked: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(off_loop.off_loop, "__kwdefaults__", {"patience_seconds": 0.2})
    async with a_door(unworked, tmp_path, busy_seconds=3) as door:
        other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        refused = await door.send(json.dumps([creation()]).encode())
        assert refused.status_code == 503
        other.execute("ROLLBACK")
        other.close()
        counts = await door.deliver(creation())
        assert sum(counts.values()) == 1


async def test_our_own_write_is_dropped_at_the_door_once(door: Door) -> None:
    assert await door.deliver(creation()) == {"started": 1}
    lead = door.ledger.lead(door.key())
    assert lead is not None
    mutation = a_mutation(
        lead, action=ActionKind.QUALIFY, fields={"email": "new@example.com"}, provider_record_id="101"
    )
    (mutation,) = door.ledger.record_plan(a_plan(lead, [mutation]), [mutation]).mutations
    sent = door.clock.forward(1)
    claim = door.ledger.claim(
        mutation.mutation_key,
        version=mutation.version,
        number=1,
        send_within=timedelta(seconds=5),
        quiescence=timedelta(seconds=5),
    )
    door.ledger.store_answer(
        claim.mutation.mutation_key, 1, an_answer(AnswerClass.ACCEPTED, provider_record_id="101"), request_digest=None
    )
    ours: dict[str, Any] = {"value": "New@example.com", "changeSource": "INTEGRATION", "sourceId": "54321"}
    at = milliseconds(sent)

    assert await door.deliver(change(**{**ours, "changeSource": "CRM_UI", "sourceId": "userId:1"}, occurredAt=at)) == {
        "started": 1
    }
    assert await door.deliver(change(**{**ours, "value": "x@example.com"}, occurredAt=at + 1)) == {"started": 1}
    assert await door.deliver(change(102, **ours, occurredAt=at + 2)) == {"started": 1}
    assert await door.deliver(change(**ours, occurredAt=at + 60_000)) == {"started": 1}
    assert await door.deliver(change(**ours, occurredAt=at + 3)) == {"echo": 1}
    assert await door.deliver(change(**ours, occurredAt=at + 3)) == {"duplicate": 1}
    assert await door.deliver(change(**ours, occurredAt=at + 4)) == {"started": 1}

    key = door.key(kind="contact.propertyChange", occurrence=f'["contact.propertyChange","email","{at + 3}"]')
    dropped = door.ledger.lead(key)
    assert dropped is not None
    assert (dropped.outcome, dropped.echo_of) == (Outcome.ECHO, mutation.mutation_key)
    assert await door.run(f"lead:{key}") is None


async def test_the_scope_of_a_key_is_the_one_at_the_events_own_time(unworked: Client, tmp_path: Path) -> None:
    once = 'kind = "contact.creation"\nscopes = [{ from = 2026-01-01T00:00:00Z, scope = "record" }]'
    text = POLICY.read_text(encoding="utf-8")
    assert text.count(once) == 1
    later = START + timedelta(days=1)
    both = once.replace("}]", '}, { from = 2026-03-03T00:00:00Z, scope = "event" }]')
    async with a_door(unworked, tmp_path, policy=text.replace(once, both)) as door:
        old = [creation(occurredAt=milliseconds(START)), creation(occurredAt=milliseconds(START) + 1)]
        new = [creation(occurredAt=milliseconds(later)), creation(occurredAt=milliseconds(later) + 1)]
        assert await door.deliver(*old) == {"started": 1, "duplicate": 1}
        door.clock.forward(86_401)
        assert await door.deliver(*new) == {"started": 2}
        assert await door.deliver(*old, *new) == {"duplicate": 4}


async def test_a_hundred_events_at_once(door: Door) -> None:
    events = [creation(record) for record in range(1, 101)]
    await delivered_in_the_end(door, events)
    assert await door.deliver(*events[::10]) == {"duplicate": 10}
    run = await door.run(f"lead:{door.key(100)}")
    assert run is not None
    assert run.status is WorkflowExecutionStatus.RUNNING


async def test_either_secret_signs_while_one_replaces_the_other(door: Door) -> None:
    body = json.dumps([creation()]).encode()
    for secret in (OLD_SECRET, "an-example-client-secret"):
        assert (await door.send(body, door.signed(body, secret=secret))).status_code == 200


async def test_the_signed_address_is_the_configured_one_whatever_the_host_says(door: Door) -> None:
    body = json.dumps([creation()]).encode()
    headers = {**door.signed(body), "host": "elsewhere.example", "x-forwarded-host": "other.example"}
    assert (await door.send(body, headers)).status_code == 200
    forged = {**door.signed(body, url="https://elsewhere.example"), "host": "elsewhere.example"}
    assert (await door.send(body, forged)).status_code == 401


async def test_a_query_is_signed_with_its_listed_sequences_decoded(door: Door) -> None:
    body = json.dumps([creation()]).encode()
    headers = door.signed(body, query="?src=hs:app/v3&x=a%20b")
    answer = await door.http.post("/webhooks/hubspot?src=hs%3Aapp%2Fv3&x=a%20b", content=body, headers=headers)
    assert answer.status_code == 200
    answer = await door.http.post("/webhooks/hubspot?src=hs%3Aapp%2Fv3&x=b", content=body, headers=headers)
    assert answer.status_code == 401


async def test_a_published_delivery_with_its_published_signature(unworked: Client, tmp_path: Path) -> None:
    body = (FIXTURES / "49-signed-two-creations-form-and-ui.json").read_bytes()
    headers = {
        "content-type": "application/json",
        "x-hubspot-signature-v3": "WMKdNRYrt2TlBqmswy10R7E9+Br77XeN+CUwKAdRp1A=",
        "x-hubspot-request-timestamp": "1791000001000",
    }
    assert PUBLIC == "https://leads.example.com"
    async with a_door(unworked, tmp_path) as door:
        door.clock.forward(1791000001 - START.timestamp())
        answer = await door.send(body, headers)
        # of another account than ours
        assert answer.json() == {
            "received": 2,
            "started": 0,
            "duplicate": 0,
            "conflict": 0,
            "ignored": 0,
            "echo": 0,
            "quarantined": 2,
        }
