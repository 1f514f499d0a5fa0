"""The queue as people see it: due first, narrowed by its address, and live."""

from __future__ import annotations

import time
from typing import Any

import pytest

from leadproof.domain import keys
from leadproof.domain.review import Decision, ReviewItem
from leadproof.domain.steps import Arrival
from tests.ledger.steps import decide
from tests.ledger.test_review_queue import counted, many
from tests.starter.door import Door
from tests.starter.review.people import Person
from tests.starter.review.questions import approval, asked, edited, refused, unplanned
from tests.support.ledgers import a_lead_event


@pytest.fixture
def four(door: Door) -> dict[str, ReviewItem]:
    """Opened an hour apart; the first is due in half an hour, the others four hours after they were opened."""
    items = {"approval": approval(door, "101", hours=0.5)}
    for name, make, record in (("edit", edited, "102"), ("refusal", refused, "103"), ("form", unplanned, "form-4")):
        door.clock.forward(3600)
        items[name] = make(door, record)
    return items


async def test_what_waits_is_listed_due_first_with_what_tells_it_apart(
    door: Door, dana: Person, four: dict[str, ReviewItem]
) -> None:
    page = await dana.reads("/review")
    assert page.rows == [four[name].review_id for name in ("approval", "edit", "refusal", "form")]
    assert "4 open questions: default 3 enterprise 1" in page.text
    assert "1 to 4 shown, due first; 1 overdue" in page.text
    assert "Mira Novak, Acme needs approval the policy wants a person to approve it" in page.text
    assert "⚠ overdue by 2 h" in page.text
    assert "due in 4 h" in page.text
    assert "qualify hubspot contact 9102 differs in owner" in page.text
    assert "hubspot refused this write, and the record is unchanged: INVALID_OPTION, hs_lead_status" in page.text
    assert "a@example.com no plan there is no plan" in page.text
    moments = [one["datetime"] for one in page.all("time")]
    assert moments[:2] == ["2026-03-02T09:30:00Z", "2026-03-02T09:00:00Z"]


async def test_questions_of_one_contact_are_told_apart_by_what_happened(door: Door, dana: Person) -> None:
    for kind, field in (("contact.creation", None), ("contact.propertyChange", "company")):
        occurrence = keys.occurrence([kind, field, str(field)])
        event = a_lead_event("101", event_kind=kind, occurrence=occurrence, event_key=keys.digest([kind]))
        door.ledger.admit([Arrival(event=event)])
        door.ledger.open_event_review(event.event_key, asked(door, "planner"))
    page = await dana.reads("/review")
    assert len(page.rows) == 2
    assert "hubspot 101 contact created" in page.text
    assert "hubspot 101 company set" in page.text
    for review_id, other in zip(page.rows, reversed(page.rows), strict=True):
        question = await dana.opens(review_id)
        assert "1 more open question about hubspot 101:" in question.text
        assert f"/review/{other}" in [one["href"] for one in question.all("a")]
    assert "more open question" not in (await dana.opens(approval(door, "102").review_id)).text


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ({"queue": "enterprise"}, ["approval"]),
        ({"queue": "nobody"}, []),
        ({"source": "website"}, ["form"]),
        ({"target": "hubspot"}, ["approval", "edit", "refusal"]),
        ({"reason": "refuses_this"}, ["refusal"]),
        ({"age": "1h"}, ["approval", "edit", "refusal"]),
        ({"age": "4h"}, []),
        ({"queue": "default", "source": "hubspot", "age": "", "page": "1"}, ["edit", "refusal"]),
        ({"page": "2"}, []),
        ({"colour": "teal"}, ["approval", "edit", "refusal", "form"]),
    ],
)
async def test_the_address_narrows_the_queue(
    dana: Person, four: dict[str, ReviewItem], asked: dict[str, str], shown: list[str]
) -> None:
    page = await dana.reads("/review", **asked)
    assert page.rows == [four[name].review_id for name in shown]
    for name in ("queue", "source", "target", "reason", "age"):
        chosen = [one["value"] for one in page.all("option") if "selected" in one]
        assert asked.get(name, "") == "" or asked[name] in chosen
    assert "4 open questions" in page.text


@pytest.mark.parametrize(
    "asked",
    [
        {"age": "2h"},
        {"page": "0"},
        {"page": "-1"},
        {"page": "x"},
        {"page": "²"},
        {"page": "9999999"},
        {"queue": "x" * 201},
        {"reason": "\x00"},
        {"source": "a\u202eb"},
    ],
)
async def test_an_address_that_is_none_is_a_page_that_says_so(dana: Person, asked: dict[str, str]) -> None:
    for path in ("/review", "/review/live"):
        answer = await dana.get(path, **asked)
        assert answer.status_code == 422
        assert answer.headers["content-type"].startswith("text/html")
        assert "<h1>The request cannot be used</h1>" in answer.text


async def test_who_has_one_queue_sees_that_one(door: Door, four: dict[str, ReviewItem]) -> None:
    page = await Person(door, "kofi").reads("/review")
    assert page.rows == [four["approval"].review_id]
    assert "1 open question: enterprise 1" in page.text
    assert "default" not in page.text


async def test_where_nothing_waits_the_page_says_so(dana: Person) -> None:
    page = await dana.reads("/review")
    assert "0 open questions" in page.text
    assert "Nothing waits for a person." in page.text
    assert "No open question is like that" not in page.text


async def test_an_open_page_asks_for_what_is_new_and_is_told_it_once(
    door: Door, dana: Person, four: dict[str, ReviewItem]
) -> None:
    page = await dana.reads("/review", queue="default")
    assert await dana.looks_again(page) is None
    approval(door, "105")
    assert await dana.looks_again(page) is not None  # not in this list; but the numbers of the queues stand above it
    page = await dana.reads("/review", queue="default")
    door.clock.forward(1)
    new = refused(door, "106")
    told = await dana.looks_again(page)
    assert told is not None
    assert new.review_id in told.rows
    assert "1 new question" in told.text
    (news,) = told.all("p", id="news")
    assert news["hx-swap-oob"] == "innerHTML"
    assert await dana.looks_again(told) is None
    decide(door.ledger, four["edit"], Decision.ACCEPT)
    fewer = await dana.looks_again(told)
    assert fewer is not None
    assert four["edit"].review_id not in fewer.rows
    assert "new question" not in fewer.text


async def test_ages_move_with_the_minute(door: Door, dana: Person, four: dict[str, ReviewItem]) -> None:
    page = await dana.reads("/review")
    door.clock.forward(54)  # to the last second of this minute
    assert await dana.looks_again(page) is None
    door.clock.forward(2)
    assert await dana.looks_again(page) is not None


@pytest.mark.parametrize("since", ["", "yesterday", "2026-03-02T09:00:00", "0001-01-01T00:00:00+23:00"])
async def test_a_moment_that_is_none_counts_nothing_as_new(
    dana: Person, four: dict[str, ReviewItem], since: str
) -> None:
    told = await dana.reads("/review/live", since=since)
    assert "new question" not in told.text


@pytest.mark.parametrize("number", [10, 1000])
async def test_a_page_takes_two_statements_however_many_wait(door: Door, dana: Person, number: int) -> None:
    many(door.ledger, number)
    with counted() as statements:
        page = await dana.reads("/review")
    assert len(statements) == 2, statements
    assert len(page.rows) == min(number, 50)
    with counted() as statements:
        assert await dana.looks_again(page) is None
    assert len(statements) == 2, statements
    if number > 50:
        last = await dana.reads("/review", page="20", queue="")
        assert last.rows == [f"{one:064x}" for one in range(950, 1000)]
        assert "Page 20 of 20" in last.text
        assert "/review?page=19" in last.links
        begun = time.perf_counter()
        await dana.get("/review")
        print(f"a page of {number}: {time.perf_counter() - begun:.3f} s")  # noqa: T201 - said, not asserted


async def test_the_page_before_and_after_keep_what_was_chosen(door: Door, dana: Person) -> None:
    many(door.ledger, 400)
    page = await dana.reads("/review", queue="sales", page="2")
    assert {"/review?queue=sales&page=1", "/review?queue=sales&page=3"} <= set(page.links)
    assert "134 of them as chosen, 51 to 100 shown" in page.text
    beyond = await dana.reads("/review", queue="sales", page="9")
    assert beyond.rows == []
    assert "/review?queue=sales&page=3" in beyond.links


async def test_without_a_script_the_page_says_how_to_look_again(dana: Person) -> None:
    page = await dana.reads("/review", queue="sales")
    assert "This page does not update itself. Refresh" in page.text
    assert "/review?queue=sales" in page.links
    assert not page.all("meta", **{"http-equiv": "refresh"})


async def test_no_page_holds_a_style_or_a_script_of_its_own(dana: Person, four: dict[str, ReviewItem]) -> None:
    paths = ["/review", *(f"/review/{item.review_id}" for item in four.values())]
    for path in paths:
        page = await dana.reads(path)
        assert all(one.get("src", "").startswith("/review/static/") for one in page.all("script"))  # type: ignore[union-attr]
        for tag, attrs in page.elements:
            assert tag != "style"
            assert not [name for name in attrs if name == "style" or name.startswith("on")]


async def test_the_files_of_the_page_are_kept_by_browsers(door: Door, dana: Person) -> None:
    page = await dana.reads("/review")
    found: list[Any] = [one["src"] for one in page.all("script")] + [one["href"] for one in page.all("link")]
    assert len(found) == 4
    for address in found:
        answer = await door.http.get(str(address))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    old = str(found[0]).replace("/static/", "/static/0")
    assert (await door.http.get(old)).status_code == 404
    assert (await dana.get("/review/static/x/..%2Frendering.py")).status_code == 404
