from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from temporalio.client import Client

from tests.starter.door import Door, a_door, a_lead, change, creation, milliseconds, settings_of


async def entries(door: Door, **query: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await door.get("/v1/quarantine", by="read", **query)).json()["items"]
    return items


def at(entry: dict[str, Any]) -> str:
    return f"/v1/quarantine/{entry['delivery_digest']}/{entry['position']}"


async def test_an_event_of_another_account_is_taken_in_once_the_account_is_ours(
    unworked: Client, tmp_path: Path
) -> None:
    ours = settings_of()
    async with a_door(unworked, tmp_path, settings=ours) as door:
        await door.deliver(creation(7), creation(portalId=999))
        (entry,) = await entries(door, state="held")
        assert (entry["position"], entry["reason"], entry["body"]) == (1, "foreign_account", None)
        assert json.loads((await door.get(at(entry))).json()["body"]) == creation(portalId=999)
        refused = await door.post(f"{at(entry)}/retry", by="decide")
        assert refused.status_code == 409
        assert refused.json()["type"] == "urn:leadproof:problem:still-unusable"
        assert [one["state"] for one in await entries(door)] == ["held"]
    theirs = ours.model_copy(update={"hubspot_portal_id": "999"})
    async with a_door(unworked, tmp_path, settings=theirs) as door:
        answer = await door.post(f"{at(entry)}/retry", by="decide")
        key = door.key()
        assert answer.json() == {"result": "started", "event_key": key, "workflow_id": f"lead:{key}"}
        assert await door.run(f"lead:{key}") is not None
        shown = (await door.get(at(entry))).json()
        assert (shown["state"], shown["body"]) == ("retried", None)
        assert (await door.post(f"{at(entry)}/retry")).status_code == 409
        assert await door.deliver(creation(portalId=999)) == {"duplicate": 1}


async def test_a_conflict_stays_a_conflict(door: Door) -> None:
    await door.deliver(change())
    await door.deliver(change(value="other@example.com"))
    (entry,) = await entries(door)
    assert entry["reason"] == "conflict"
    for _ in range(2):
        assert (await door.post(f"{at(entry)}/retry")).status_code == 409
    assert [one["state"] for one in await entries(door)] == ["held"]


async def test_a_conflict_of_a_generic_source_is_read_by_its_own_parser(door: Door) -> None:
    await door.post("/v1/leads", a_lead())
    await door.send_standard(json.dumps(a_lead(lead={"phone": "+32470000011"})).encode())
    (entry,) = await entries(door)
    assert (entry["source_system"], entry["reason"]) == ("website", "conflict")
    assert (await door.post(f"{at(entry)}/retry")).status_code == 409
    assert json.loads((await door.get(at(entry))).json()["body"])["lead"] == {"phone": "+32470000011"}


async def test_what_was_kept_though_no_store_can_hold_it_is_still_read(door: Door) -> None:
    await door.deliver(creation(1, note="\ud800"), creation(2, objectId=10**900), "rubbish")
    for entry in await entries(door):
        assert (await door.post(f"{at(entry)}/retry")).status_code == 409
        assert (await door.get(at(entry))).json()["body"]


async def test_a_dropped_entry_is_emptied_for_good(door: Door) -> None:
    await door.deliver(creation(portalId=999))
    (entry,) = await entries(door)
    dropped = await door.post(f"{at(entry)}/drop", by="decide")
    assert (dropped.status_code, dropped.json()["state"], dropped.json()["body"]) == (200, "dropped", None)
    assert (await door.post(f"{at(entry)}/retry")).status_code == 409
    assert await door.deliver(creation(portalId=999)) == {"quarantined": 1}
    assert [one["state"] for one in await entries(door)] == ["dropped"]
    assert await entries(door, state="held") == []


async def test_pages(door: Door) -> None:
    await door.deliver(*[creation(n, portalId=999) for n in range(1, 6)])
    first = (await door.get("/v1/quarantine", limit=3)).json()
    rest = (await door.get("/v1/quarantine", limit=3, cursor=first["next"])).json()
    assert len(first["items"]) == 3
    assert rest["next"] is None
    assert sorted(entry["position"] for entry in first["items"] + rest["items"]) == [0, 1, 2, 3, 4]
    assert (await door.get("/v1/quarantine", cursor="rubbish")).json() == {"items": [], "next": None}


async def test_an_entry_that_is_not_there(door: Door) -> None:
    for path in (f"/v1/quarantine/{'0' * 64}/0", "/v1/quarantine/x/0"):
        assert (await door.get(path)).status_code == 404
        assert (await door.post(f"{path}/retry")).status_code == 404
        assert (await door.post(f"{path}/drop")).status_code == 404
    for position in ("-1", "x", "99999999999999999999"):
        assert (await door.get(f"/v1/quarantine/{'0' * 64}/{position}")).status_code == 422


async def test_an_event_of_the_future_is_kept_and_taken_in_when_its_time_has_come(door: Door) -> None:
    ahead = milliseconds(door.clock.now()) + 3600_000
    assert await door.deliver(creation(7), creation(occurredAt=ahead)) == {"started": 1, "quarantined": 1}
    (entry,) = await entries(door)
    assert (entry["position"], entry["reason"]) == (1, "future")
    assert await door.run(f"lead:{door.key()}") is None
    assert (await door.post(f"{at(entry)}/retry")).status_code == 409
    door.clock.forward(3600)
    assert (await door.post(f"{at(entry)}/retry")).json()["result"] == "started"


async def test_an_event_of_the_future_is_kept_for_a_source_and_refused_to_a_caller(door: Door) -> None:
    body = a_lead(occurred_at="2999-01-01T00:00:00Z")
    refused = await door.post("/v1/leads", body)
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:leadproof:problem:malformed")
    assert "ahead of the clock" in refused.json()["detail"]
    assert await entries(door) == []
    kept = await door.send_standard(json.dumps(body).encode())
    assert (kept.status_code, kept.json()["quarantined"]) == (200, 1)
    assert [(entry["source_system"], entry["reason"]) for entry in await entries(door)] == [("website", "future")]
