"""Contacts that changed: none is passed over, however pages are cut and whatever changes meanwhile."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from leadproof.crm.hubspot_candidates import HubSpotCandidates
from leadproof.crm.hubspot_client import HubSpotClient
from leadproof.crm.hubspot_patience import PatientQuestions
from leadproof.domain.errors import ConfigurationRefused
from tests.crm.hostile import Hostile, Line, Script, says
from tests.sandbox.control import Control

Make = Callable[..., HubSpotCandidates]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
ACCOUNT = {"portalId": 62515}


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[HubSpotCandidates] = []

    def candidates(base_url: str, *, page: int = 200, call_timeout: float = 5.0, **patience: Any) -> HubSpotCandidates:
        client = HubSpotClient(token=lambda: "any", base_url=base_url, connect_timeout=2.0)
        asked: dict[str, Any] = {"pauses": (0.01, 0.01), "search_spacing": 0.0} | patience
        made.append(HubSpotCandidates(PatientQuestions(client, call_timeout=call_timeout, **asked), page=page))
        return made[-1]

    yield candidates
    for one in made:
        one.close()


@pytest.fixture
def found(address: str, sandbox: Control, make: Make) -> HubSpotCandidates:
    """Pages of three, so that a few contacts need several."""
    assert sandbox.records() == []
    return make(f"{address}/hubspot", page=3)


def people(sandbox: Control, number: int) -> list[str]:
    return [str(sandbox.person(email=f"p{index}@lead.example")["id"]) for index in range(number)]


# -- searching ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("number", [0, 2, 3, 4, 8])
def test_every_contact_is_found_once_by_the_time_of_its_change(
    number: int, found: HubSpotCandidates, sandbox: Control
) -> None:
    made = people(sandbox, number)
    if made:
        sandbox.person(record=made[0], company="Later")
    sandbox.advance(5)
    assert list(found.changed_since(LONG_AGO)) == [*made[1:], *made[:1]]
    asked = [request["body"] for request in sandbox.requests("contacts.search")]
    assert all("after" not in body for body in asked)
    bounds = [int(body["filterGroups"][0]["filters"][0]["value"]) for body in asked]
    assert bounds == sorted(set(bounds))


def test_what_changed_before_is_not_found(found: HubSpotCandidates, sandbox: Control) -> None:
    _, second, third = people(sandbox, 3)
    sandbox.advance(5)
    since = datetime.fromisoformat(sandbox.record(second)["createdAt"])
    assert list(found.changed_since(since)) == [second, third]
    assert list(found.changed_since(since + timedelta(milliseconds=1))) == [third]


def test_what_the_index_does_not_know_yet_is_found_later(found: HubSpotCandidates, sandbox: Control) -> None:
    made = people(sandbox, 1)
    assert list(found.changed_since(LONG_AGO)) == []
    sandbox.advance(5)
    assert list(found.changed_since(LONG_AGO)) == made


def test_a_change_between_two_pages_passes_over_nobody(found: HubSpotCandidates, sandbox: Control) -> None:
    made = people(sandbox, 9)
    sandbox.advance(5)
    ids = found.changed_since(LONG_AGO)
    first = [next(ids) for _ in range(3)]
    for record in first:  # they move behind all the others
        sandbox.person(record=record, company="Edited")
    sandbox.advance(5)
    assert [*first, *ids] == made


def index(rows: Sequence[tuple[int, int]]) -> Script:
    """A search over these ids and times of change, in milliseconds, with HubSpot's limits."""

    def holds(row: tuple[int, int], condition: dict[str, str]) -> bool:
        value = row[1] if condition["propertyName"] == "lastmodifieddate" else row[0]
        wanted = int(condition["value"])
        return {"GTE": value >= wanted, "GT": value > wanted, "EQ": value == wanted}[condition["operator"]]

    def answer(line: Line) -> None:
        asked = line.request.json()
        (group,), (sort,) = asked["filterGroups"], asked["sorts"]
        assert "after" not in asked
        by = 1 if sort["propertyName"] == "lastmodifieddate" else 0
        hits = sorted(
            (row for row in rows if all(holds(row, one) for one in group["filters"])), key=lambda row: row[by]
        )
        results = [
            {
                "id": str(record),
                "properties": {
                    "hs_object_id": str(record),
                    "lastmodifieddate": (EPOCH + timedelta(milliseconds=at)).isoformat(),
                },
            }
            for record, at in hits[: asked["limit"]]
        ]
        line.respond(200, {"total": len(hits), "results": results})

    return answer


@pytest.mark.parametrize("page", [1, 2, 3, 200])
def test_more_contacts_of_one_millisecond_than_a_page_holds(page: int, server: Hostile, make: Make) -> None:
    moment = 1_790_000_000_000
    rows = [(1, moment - 1), *((record, moment) for record in (9, 4, 7, 3, 8, 2)), (5, moment + 1), (6, moment + 1)]
    server.answers(index(rows))
    ids = list(make(server.url, page=page).changed_since(LONG_AGO))
    assert sorted(ids, key=int) == [str(record) for record in range(1, 10)]


# -- reading -----------------------------------------------------------------------------------------------------------
def test_a_contact_is_read_with_its_makers_and_the_history_that_is_asked_for(
    found: HubSpotCandidates, sandbox: Control
) -> None:
    made = sandbox.person(user="9003", email="ana@lead.example", company="Acme")
    edited = sandbox.person(record=made["id"], user="9001", company="")
    contact = found.read(made["id"], ("company", "email", "no_such_property"))
    assert contact is not None
    assert contact.created.at == datetime.fromisoformat(made["createdAt"])
    assert (contact.created.source, contact.created.source_id) == ("CRM_UI", "userId:9003")
    assert [(v.value, v.source_id) for v in contact.history["company"]] == [
        ("", "userId:9001"),
        ("Acme", "userId:9003"),
    ]
    assert contact.history["company"][0].at == datetime.fromisoformat(edited["updatedAt"])
    assert [v.value for v in contact.history["email"]] == ["ana@lead.example"]
    assert set(contact.history) <= {"company", "email", "no_such_property"}
    assert contact.concealed == {"no_such_property"}


def test_what_is_gone_is_none(found: HubSpotCandidates, sandbox: Control) -> None:
    archived, loser, winner = people(sandbox, 3)
    sandbox.delete("/records", {"provider": "hubspot", "object": "contacts", "id": archived, "user": "9001"})
    merged = {"provider": "hubspot", "object": "contacts", "winner": winner, "loser": loser, "user": "9001"}
    sandbox.post("/merge", merged)
    assert [found.read(record, ("email",)) for record in (archived, loser, "999")] == [None, None, None]
    assert found.read(winner, ()) is not None


def test_a_property_that_is_sensitive_or_not_listed_is_concealed(server: Hostile, make: Make) -> None:
    contact = {
        "id": "101",
        "properties": {},
        "createdAt": "2026-11-30T08:00:00Z",
        "updatedAt": "2026-11-30T08:00:00Z",
        "archived": False,
    }
    definitions = [
        {"name": "plain"},
        {"name": "said", "dataSensitivity": "non_sensitive"},
        {"name": "health", "dataSensitivity": "highly_sensitive"},
    ]
    server.answers(says(200, contact), says(200, {"results": definitions}))
    found = make(server.url).read("101", ("plain", "said", "health", "hidden"))
    assert found is not None
    assert found.concealed == {"health", "hidden"}


def test_an_archived_contact_that_answers_all_the_same_is_gone(server: Hostile, make: Make) -> None:
    body = {"id": "101", "properties": {}, "createdAt": "2026-11-30T08:00:00Z", "archived": True}
    server.answers(says(200, body))
    assert make(server.url).read("101", ()) is None


# -- waiting, and giving up --------------------------------------------------------------------------------------------
LIMIT = {"status": "error", "errorType": "RATE_LIMIT", "policyName": "SECONDLY"}


def test_hubspot_is_waited_for_as_long_as_it_says(server: Hostile, make: Make) -> None:
    server.answers(says(429, LIMIT, **{"Retry-After": "0.4"}), says(200, ACCOUNT))
    began = time.monotonic()
    assert make(server.url).account() == "62515"
    assert time.monotonic() - began >= 0.4


def test_a_wait_that_is_too_long_is_said_and_not_begun(server: Hostile, make: Make) -> None:
    server.answers(says(200, ACCOUNT), says(429, LIMIT, **{"Retry-After": "7200"}))
    found = make(server.url)
    found.account()
    with pytest.raises(ConfigurationRefused, match=r"^HubSpot answered 429 SECONDLY and asks to wait 7200 s; run"):
        list(found.changed_since(LONG_AGO))


def test_searches_keep_their_distance(server: Hostile, make: Make) -> None:
    server.answers(index([(record, record) for record in range(1, 4)]))
    began = time.monotonic()
    assert len(list(make(server.url, page=1, search_spacing=0.05).changed_since(EPOCH))) == 3
    assert time.monotonic() - began >= 0.05 * (len(server.requests) - 1)


@pytest.mark.parametrize(
    "lost",
    [Line.reset, says(502), says(200, b"<html>"), says(200, {"portal": 1}), says(423, **{"Retry-After": "0"})],
    ids=["reset", "502", "a page", "another object", "locked"],
)
def test_a_lost_answer_is_asked_for_again(lost: Script, server: Hostile, make: Make) -> None:
    found = make(server.url)
    server.answers(says(200, ACCOUNT))
    found.account()
    server.answers(lost, says(200, ACCOUNT))
    assert found.account() == "62515"


def test_what_stays_lost_is_given_up_with_a_sentence(server: Hostile, make: Make) -> None:
    found = make(server.url, pauses=(0.01, 0.01))
    server.answers(says(200, ACCOUNT), says(503))
    found.account()
    with pytest.raises(ConfigurationRefused, match=r"^HubSpot answered 503 without a reason$"):
        found.account()
    assert len(server.requests) == 1 + 3


def test_a_hubspot_that_never_answered_is_not_waited_for(server: Hostile, make: Make) -> None:
    found = make(server.url, pauses=(30.0,))
    server.close_listener()
    with pytest.raises(ConfigurationRefused, match=r"^HubSpot cannot be reached: nothing was sent"):
        found.account()


def test_a_call_has_a_total_deadline(server: Hostile, make: Make) -> None:
    server.answers(lambda line: line.trickle(b"x" * 100, 0.05, after=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"))
    with pytest.raises(ConfigurationRefused, match="the deadline passed"):
        make(server.url, call_timeout=0.3).account()


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, {"status": "error", "category": "INVALID_AUTHENTICATION"}, "refuses us: 401 INVALID_AUTHENTICATION"),
        (403, {"status": "error", "category": "MISSING_SCOPES"}, "refuses us: 403 MISSING_SCOPES"),
        (429, {"status": "error", "policyName": "DAILY"}, "refuses us: 429 DAILY"),
        (400, {"status": "error", "category": "VALIDATION_ERROR"}, "could not be asked: 400 VALIDATION_ERROR"),
        (404, b"no such page", "refuses us: 404 without a reason"),
    ],
)
def test_a_refusal_ends_it_at_once(status: int, body: object, said: str, server: Hostile, make: Make) -> None:
    server.answers(says(status, body))
    with pytest.raises(ConfigurationRefused) as refused:
        make(server.url).read("101", ())
    assert str(refused.value) == f"HubSpot {said}"
    assert len(server.requests) == 1


def test_closing_ends_a_wait(server: Hostile, make: Make) -> None:
    server.answers(says(429, LIMIT, **{"Retry-After": "60"}))
    found = make(server.url)
    threading.Timer(0.2, found.close).start()
    began = time.monotonic()
    with pytest.raises(ConfigurationRefused, match="no longer waited for"):
        found.account()
    assert time.monotonic() - began < 30


def test_a_search_names_no_person(server: Hostile, make: Make) -> None:
    server.answers(index([]))
    list(make(server.url).changed_since(LONG_AGO))
    assert json.loads(server.requests[0].body)["properties"] == ["lastmodifieddate"]
