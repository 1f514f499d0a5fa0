from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from leadproof.domain import keys
from leadproof.domain.errors import ConfigurationRefused
from tests.starter.door import POLICY, STANDARD_SECRET, TOKENS, Door, a_door, a_lead, authorized, creation, settings_of


@pytest.fixture(scope="module")
async def empty(unworked: Client, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    """One for all the tests that leave nothing behind."""
    async with a_door(unworked, tmp_path_factory.mktemp("door")) as opened:
        yield opened


def key_of(door: Door, lead: dict[str, Any], source: str = "website") -> str:
    return keys.event_key(
        tenant=door.settings.tenant,
        environment=door.settings.environment,
        source_system=source,
        source_record_id=lead["source_record_id"],
        event_kind=lead["event_kind"],
        occurrence=lead["occurrence"],
    )


async def test_a_lead_is_started_and_found_again(door: Door) -> None:
    key = key_of(door, a_lead())
    answer = await door.post("/v1/leads", a_lead(), by="events")
    assert answer.status_code == 202
    assert answer.json() == {"event_key": key, "workflow_id": f"lead:{key}", "result": "started"}
    assert await door.run(f"lead:{key}") is not None

    spelled = a_lead(lead={"email": " Mira@Example.COM", "company": "Sample", "message": "hello?"}, extra={"page": "/"})
    again = await door.post("/v1/leads", spelled, by="events")
    assert (again.status_code, again.json()["result"]) == (202, "duplicate")

    shown = (await door.get(f"/v1/leads/{key}", by="read")).json()
    assert shown["event_key"] == key
    assert shown["source_system"] == "website"
    assert shown["occurred_at"] == "2026-03-02T09:00:00Z"
    assert shown["lead"] == {"lead": {"email": "mira@example.com", "company": "Sample"}, "extra": {}}
    assert (shown["outcome"], shown["deliveries"], shown["mutations"]) == ("working", 2, [])
    assert shown["plan"] is None
    assert shown["decisions"] == []
    listed = (await door.get("/v1/leads", source_record_id="form-17", outcome="working")).json()
    assert listed["next"] is None
    assert listed["items"] == [{n: v for n, v in shown.items() if n not in {"mutations", "plan", "decisions"}}]
    for other in ({"source_record_id": "form-18"}, {"outcome": "done"}):
        assert (await door.get("/v1/leads", by="read", **other)).json() == {"items": [], "next": None}


async def test_another_payload_under_the_same_key_is_a_conflict(door: Door) -> None:
    await door.post("/v1/leads", a_lead())
    answer = await door.post("/v1/leads", a_lead(lead={"email": "other@example.com"}))
    assert answer.status_code == 409
    assert answer.json()["type"] == "urn:leadproof:problem:key-conflict"
    assert answer.json()["event_key"] == key_of(door, a_lead())
    assert "example.com" not in answer.text
    row = door.ledger.lead(key_of(door, a_lead()))
    assert row is not None
    assert (row.deliveries, row.conflicts) == (1, 1)


async def test_the_same_lead_by_webhook_and_by_token_is_one(door: Door) -> None:
    answer = await door.send_standard(json.dumps(a_lead()).encode())
    assert answer.status_code == 200
    assert answer.json() == {
        "received": 1,
        "started": 1,
        "duplicate": 0,
        "conflict": 0,
        "ignored": 0,
        "echo": 0,
        "quarantined": 0,
    }
    assert (await door.post("/v1/leads", a_lead())).json()["result"] == "duplicate"
    conflict = await door.send_standard(json.dumps(a_lead(lead={"phone": "+32470000011"})).encode())
    assert conflict.json()["conflict"] == 1
    ignored = await door.send_standard(json.dumps(a_lead(event_kind="form.viewed")).encode())
    assert ignored.json()["ignored"] == 1


async def test_a_generic_source_signs_by_standard_webhooks(door: Door) -> None:
    body = json.dumps(a_lead()).encode()
    for age in (301, -301):
        assert (await door.send_standard(body, age=age)).status_code == 401
    assert (await door.send_standard(body, secret="whsec_b3RoZXI=")).status_code == 401
    assert door.ledger.lead(key_of(door, a_lead())) is None
    assert await door.metric('leadproof_deliveries_total{source="website",status="401"}') == 3
    assert (await door.send_standard(body)).status_code == 200


async def test_an_event_kind_that_counts_once_per_event_needs_an_occurrence(empty: Door) -> None:
    without = a_lead(occurrence=None)
    for answer in (
        await empty.post("/v1/leads", without),
        await empty.send_standard(json.dumps(without).encode()),
    ):
        assert answer.status_code == 422
        assert "occurrence" in answer.json()["detail"]


async def test_with_scope_record_an_occurrence_is_evidence_only(unworked: Client, tmp_path: Path) -> None:
    once = 'kind = "form.submitted"\nscopes = [{ from = 2026-01-01T00:00:00Z, scope = "event" }]'
    text = POLICY.read_text(encoding="utf-8")
    assert once in text
    async with a_door(unworked, tmp_path, policy=text.replace(once, once.replace('"event"', '"record"'))) as door:
        first = (await door.post("/v1/leads", a_lead())).json()
        second = (await door.post("/v1/leads", a_lead(occurrence="submission-2"))).json()
        third = (await door.post("/v1/leads", a_lead(occurrence=None))).json()
        assert (first["result"], second["result"], third["result"]) == ("started", "duplicate", "duplicate")
        assert first["event_key"] == second["event_key"] == third["event_key"]
        row = door.ledger.lead(first["event_key"])
        assert row is not None
        assert row.occurrence is None
        assert row.lead is not None
        assert row.lead["extra"] == {"sent_occurrence": "submission-1"}


async def test_a_kind_that_no_source_of_ours_has_is_refused(empty: Door) -> None:
    for kind in ("form.viewed", "contact.creation"):  # the latter is HubSpot's, which signs its own
        answer = await empty.post("/v1/leads", a_lead(event_kind=kind))
        assert answer.status_code == 422
        assert "event_kind" in answer.json()["detail"]


async def test_a_kind_of_two_sources_needs_the_name_of_one(unworked: Client, tmp_path: Path) -> None:
    text = POLICY.read_text(encoding="utf-8")
    shop = (
        '[[event]]\nsource = "shop"\nkind = "form.submitted"\n'
        'scopes = [{ from = 2026-01-01T00:00:00Z, scope = "event" }]\n\n[[event]]\nsource = "website"'
    )
    text = text.replace('[[event]]\nsource = "website"', shop).replace("[sources]", "[sources]\nshop = 75")
    async with a_door(unworked, tmp_path, policy=text) as door:
        answer = await door.post("/v1/leads", a_lead())
        assert answer.status_code == 422
        assert "?source=" in answer.json()["detail"]
        answer = await door.post("/v1/leads?source=shop", a_lead())
        assert answer.json()["event_key"] == key_of(door, a_lead(), "shop")
        assert (await door.post("/v1/leads?source=hubspot", a_lead())).status_code == 422


CALLS = [
    ("POST", "/v1/leads", "events"),
    ("GET", f"/v1/leads/{'0' * 64}", "read"),
    ("GET", "/v1/leads", "read"),
    ("GET", f"/v1/mutations/{'0' * 64}", "read"),
    ("GET", "/v1/mutations", "read"),
    ("GET", "/v1/reviews", "read"),
    ("GET", f"/v1/reviews/{'0' * 64}", "read"),
    ("POST", f"/v1/reviews/{'0' * 64}/decisions", "decide"),
    ("GET", "/v1/quarantine", "read"),
    ("GET", f"/v1/quarantine/{'0' * 64}/0", "read"),
    ("POST", f"/v1/quarantine/{'0' * 64}/0/retry", "decide"),
    ("POST", f"/v1/quarantine/{'0' * 64}/0/drop", "decide"),
]


@pytest.mark.parametrize(("method", "path", "right"), CALLS)
async def test_every_call_needs_a_token_with_its_right(empty: Door, method: str, path: str, right: str) -> None:
    for headers in ({}, *({"authorization": text} for text in ("Bearer", "Bearer wrong", "Basic YTpi", "Bearer ☂"))):
        given = [(name.encode(), value.encode()) for name, value in headers.items()]
        answer = await empty.http.request(method, path, headers=given)
        assert answer.status_code == 401, headers
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.headers["content-type"] == "application/problem+json"
    for name, token in TOKENS.items():
        answer = await empty.http.request(method, path, headers={"authorization": f"Bearer {token}"})
        assert (answer.status_code == 403) == (name not in (right, "all")), name
        assert answer.status_code != 401


async def test_a_token_is_asked_for_before_a_body_is_read(empty: Door) -> None:
    answer = await empty.http.post("/v1/leads", content=b"x" * 2_000_000)
    assert answer.status_code == 401


@pytest.mark.parametrize("key", ["0" * 64, "x", "0" * 63, "A" * 64, "%00", "..", "☂"])
async def test_nothing_stands_under_a_key_that_is_none(empty: Door, key: str) -> None:
    for kind in ("leads", "mutations", "reviews"):
        answer = await empty.get(f"/v1/{kind}/{key}")
        assert answer.status_code in {404} if "." not in key else {200, 404}


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=201",
        "limit=x",
        "status=lost",
        "outcome=lost",
        "source_record_id=%00",
        "source_record_id=" + "x" * 201,
    ],
)
async def test_a_list_is_asked_for_within_bounds(empty: Door, query: str) -> None:
    kind = "leads" if query.startswith("outcome") else "mutations"
    answer = await empty.http.get(f"/v1/{kind}?{query}", headers=authorized("read"))
    assert answer.status_code == 422
    assert query.partition("=")[0] in answer.json()["detail"]


async def test_leads_are_listed_a_page_at_a_time_newest_first(door: Door) -> None:
    for number in range(3):
        await door.post("/v1/leads", a_lead(source_record_id=f"form-{number}"))
        door.clock.forward(1)
    first = (await door.get("/v1/leads", limit=2)).json()
    second = (await door.get("/v1/leads", limit=2, cursor=first["next"])).json()
    listed = [item["source_record_id"] for item in first["items"] + second["items"]]
    assert (listed, second["next"]) == (["form-2", "form-1", "form-0"], None)


@pytest.mark.parametrize("path", ["leads", "mutations", "reviews", "quarantine"])
async def test_a_cursor_that_no_list_gave_leads_to_an_empty_page(empty: Door, path: str) -> None:
    for place in (["9999-12-31T23:59:59-23:59", "abc"], ["2026-03-02T09:00:00Z", "\ud800"], "x"):
        cursor = base64.urlsafe_b64encode(json.dumps(place).encode()).decode()
        answer = await empty.get(f"/v1/{path}", cursor=cursor)
        assert (answer.status_code, answer.json()) == (200, {"items": [], "next": None})


async def test_no_page_tells_what_is_personal(door: Door) -> None:
    await door.deliver(creation(note="mira@example.com"))
    await door.post("/v1/leads", a_lead())
    for path in ("/metrics", "/healthz", "/readyz"):
        answer = await door.http.get(path)
        assert answer.status_code == 200
        assert "mira" not in answer.text
    text = (await door.http.get("/metrics")).text
    assert 'leadproof_events_total{result="started",source="website"} 1.0' in text
    assert "leadproof_acknowledgement_seconds_bucket" in text
    assert 'leadproof_leads{outcome="working"} 2.0' in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LEADPROOF_STANDARD_SECRETS", f"hubspot={STANDARD_SECRET}"),
        ("LEADPROOF_STANDARD_SECRETS", "website=not base64!"),
    ],
)
async def test_a_configuration_that_lets_others_in_is_refused(
    unworked: Client, tmp_path: Path, name: str, value: str
) -> None:
    with pytest.raises(ConfigurationRefused):
        async with a_door(unworked, tmp_path, settings=settings_of(**{name: value})):
            pass
