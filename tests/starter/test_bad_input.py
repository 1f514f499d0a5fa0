"""What nobody should send: refused with its own status, nothing stored, never a 500."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from temporalio.client import Client

from tests.starter.door import FIXTURES, SECRET, Door, a_door, a_lead, creation, milliseconds
from tests.support.ledgers import START

BODY = json.dumps([creation()]).encode()
"""A good body; nothing in this file ever delivers it as it is."""

MEBIBYTE = 1024 * 1024
_others = itertools.count(1000)


@pytest.fixture(scope="module")
async def door(unworked: Client, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    """One for the whole file: what is refused leaves nothing behind."""
    async with a_door(unworked, tmp_path_factory.mktemp("door")) as opened:
        yield opened


async def refused(door: Door, answer: httpx.Response, status: int) -> dict[str, Any]:
    """The problem, after checking that nothing was stored for it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == status
    assert problem["type"].startswith("urn:leadproof:problem:")
    assert SECRET not in answer.text
    assert door.ledger.lead(door.key()) is None
    assert await door.run(f"lead:{door.key()}") is None
    return problem


FORGED: dict[str, Any] = {
    "no headers": lambda door: {"content-type": "application/json"},
    "another secret": lambda door: door.signed(BODY, secret="another secret"),
    "no secret": lambda door: door.signed(BODY, secret=""),
    "stale": lambda door: door.signed(BODY, age=301),
    "from the future": lambda door: door.signed(BODY, age=-301),
    "signed as if for another address": lambda door: door.signed(BODY, url="http://inside"),
    "another body": lambda door: door.signed(BODY + b" "),
    "a truncated signature": lambda door: {
        **door.signed(BODY),
        "x-hubspot-signature-v3": door.signed(BODY)["x-hubspot-signature-v3"][:-4],
    },
    "no signature": lambda door: {**door.signed(BODY), "x-hubspot-signature-v3": ""},
    "a garbled signature": lambda door: {**door.signed(BODY), "x-hubspot-signature-v3": "\xff\xfe☂".encode()},
    "no time": lambda door: {**door.signed(BODY), "x-hubspot-request-timestamp": ""},
    "a garbled time": lambda door: {**door.signed(BODY), "x-hubspot-request-timestamp": "1e12"},
    "a huge time": lambda door: {**door.signed(BODY), "x-hubspot-request-timestamp": "9" * 400},
    "a time that was not signed": lambda door: {
        **door.signed(BODY),
        "x-hubspot-request-timestamp": str(milliseconds(START) + 1),
    },
    "v1 only": lambda door: {
        "content-type": "application/json",
        "x-hubspot-signature": "232db2615f3d666fe21a8ec971ac7b5402d33b9a925784df3ca654d05f4817de",
        "x-hubspot-signature-version": "v1",
    },
}


@pytest.mark.parametrize("how", FORGED)
async def test_a_forged_delivery_is_counted_and_nothing_else(door: Door, how: str) -> None:
    counter = 'leadproof_deliveries_total{source="hubspot",status="401"}'
    before = await door.metric(counter)
    problem = await refused(door, await door.send(BODY, FORGED[how](door)), 401)
    assert problem["type"] == "urn:leadproof:problem:signature"
    assert await door.metric(counter) == before + 1


@pytest.mark.parametrize("body", [b"not json", b"[" * 100_000, b"", b"\x00\xff"])
async def test_an_unsigned_body_is_not_parsed(door: Door, body: bytes) -> None:
    await refused(door, await door.send(body, {"content-type": "application/json"}), 401)


async def test_a_body_that_was_written_anew_does_not_match(door: Door) -> None:
    for again in (json.dumps([creation()], separators=(",", ":")), json.dumps([creation()], indent=1)):
        await refused(door, await door.send(again.encode(), door.signed(BODY)), 401)


BAD = creation()
UNUSABLE: dict[str, bytes] = {
    "empty": b"",
    "truncated": BODY[:-3],
    "one event, no array": json.dumps(BAD).encode(),
    "an association change, no array": (FIXTURES / "37-deal-associationchange-line-item.json").read_bytes(),
    "a text": b'"[]"',
    "null": b"null",
    "no event": b"[]",
    "101 events": json.dumps([creation(n) for n in range(1, 102)]).encode(),
    "the same name twice": BODY.replace(b'"objectId": 101', b'"objectId": 101, "objectId": 102'),
    "the same name twice, escaped": BODY.replace(b'"objectId": 101', b'"objectId": 101, "object\\u0049d": 102'),
    "deep": b"[" * 500_000,
    "deep inside an event": json.dumps([{**BAD, "a": 0}]).encode().replace(b'"a": 0', b'"a": ' + b"[" * 99 + b"]" * 99),
    "a byte order mark": b"\xef\xbb\xbf" + BODY,
    "UTF-16": BODY.decode().encode("utf-16"),
    "Latin-1": BODY.replace(b"CRM_UI", b"CRM_\xfcI"),
    "a raw lone surrogate": BODY.replace(b"CRM_UI", b"CRM_\xed\xa0\x80"),
    "NaN": BODY.replace(b'"objectId": 101', b'"objectId": NaN'),
    "a number out of range": BODY.replace(b'"objectId": 101', b'"objectId": 1e999'),
    "a number of 5000 digits": BODY.replace(b'"objectId": 101', b'"objectId": ' + b"9" * 5000),
    "a raw NUL": BODY.replace(b"CRM_UI", b"CRM_\x00"),
    "more after it": BODY + b"[]",
}


@pytest.mark.parametrize("what", UNUSABLE)
async def test_a_signed_body_that_is_unusable_as_a_whole(door: Door, what: str) -> None:
    problem = await refused(door, await door.send(UNUSABLE[what]), 422)
    assert problem["type"] == "urn:leadproof:problem:malformed"
    assert problem["detail"]


@pytest.mark.parametrize(
    "spoiled",
    [
        {"objectId": 2**53},
        {"objectId": 10**900},
        {"note": "\ud800"},
        {"note": "\x00"},
        {"subscriptionType": "x" * 300},
        {"occurredAt": -1},
        {"occurredAt": 10**15},
    ],
)
async def test_one_spoiled_event_is_kept_and_its_neighbour_proceeds(door: Door, spoiled: dict[str, Any]) -> None:
    neighbour = next(_others)
    assert await door.deliver(creation(102, **spoiled), creation(neighbour)) == {"quarantined": 1, "started": 1}
    assert await door.run(f"lead:{door.key(neighbour)}") is not None


async def test_a_body_of_more_than_a_mebibyte(door: Door) -> None:
    fits = json.dumps([creation(next(_others), note="x" * (MEBIBYTE - len(BODY) - 20))]).encode().ljust(MEBIBYTE)
    assert len(fits) == MEBIBYTE
    await refused(door, await door.send(fits + b" "), 413)

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(fits) + 1, 65_536):
            yield (fits + b" ")[start : start + 65_536]

    headers = door.signed(fits + b" ")
    answer = await door.http.post("/webhooks/hubspot", content=chunks(), headers=headers)
    assert "content-length" not in answer.request.headers
    await refused(door, answer, 413)
    await refused(door, await door.send(BODY, {**door.signed(BODY), "content-length": "9" * 30}), 413)
    assert (await door.send(fits)).json()["started"] == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": ""},
        {"content-type": "application/json; charset=latin-1"},
        {"content-type": "application/jsonx"},
        {"content-encoding": "gzip"},
    ],
)
async def test_what_is_no_json_by_its_headers(door: Door, headers: dict[str, str]) -> None:
    await refused(door, await door.send(BODY, {**door.signed(BODY), **headers}), 415)


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON", "application/json; charset=UTF-8"])
async def test_json_by_its_headers(door: Door, content_type: str) -> None:
    body = json.dumps([creation(next(_others))]).encode()
    answer = await door.send(body, {**door.signed(body), "content-type": content_type})
    assert answer.status_code == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_a_wrong_method(door: Door, method: str) -> None:
    answer = await door.http.request(method, "/webhooks/hubspot", headers=door.signed(BODY))
    assert answer.status_code == 405
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("body", [*UNUSABLE.values(), b"{}", json.dumps([a_lead()]).encode()])
async def test_a_lead_that_is_none(door: Door, body: bytes) -> None:
    answer = await door.http.post(
        "/v1/leads",
        content=body,
        headers={"authorization": "Bearer token-for-events", "content-type": "application/json"},
    )
    assert answer.status_code == 422
    assert (await door.send_standard(body)).status_code == 422


@pytest.mark.parametrize("path", ["/nowhere", "/webhooks/standard/nobody", "/webhooks/standard/hubspot"])
async def test_what_is_not_there(door: Door, path: str) -> None:
    answer = await door.http.post(path, content=b"{}", headers={"content-type": "application/json"})
    assert answer.status_code == 404
    assert answer.json()["type"] == "urn:leadproof:problem:not-found"
