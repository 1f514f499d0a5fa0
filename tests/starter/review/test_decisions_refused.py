"""What is no decision, or not theirs, is answered with a page that says so, and nothing is kept of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from leadproof.domain.review import Decision
from tests.ledger import steps
from tests.starter.door import Door
from tests.starter.review.entrance import form_token
from tests.starter.review.people import HEADER, Person, Read, a_review_door, clicked
from tests.starter.review.questions import approval, edited

pytestmark = pytest.mark.usefixtures("impatient")


def refused(answer: Any, status: int, sentence: str) -> Read:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Read(answer.text)
    assert sentence in page.text
    return page


@pytest.mark.parametrize(
    ("changes", "status", "sentence"),
    [
        ({"decision": ""}, 422, "Choose one of the decisions."),
        ({"decision": "fly"}, 422, "Choose one of the decisions."),
        ({"decision": "Approve"}, 422, "Choose one of the decisions."),
        ({"reason": "x" * 2001}, 422, "The reason has 2001 characters, and at most 2000 are kept."),
        ({"reason": "\x00"}, 422, "missing or wrong: reason"),
        ({"form": ""}, 422, "The form does not say which one it is"),
        ({"form": "0" * 31}, 422, "The form does not say which one it is"),
        ({"version": "one"}, 422, "missing or wrong: version"),
        ({"version": "0"}, 422, "missing or wrong: version"),
        ({"version": "²"}, 422, "missing or wrong: version"),
        ({"version": "9" * 4000}, 422, "missing or wrong: version"),
        ({"shown_digest": "x" * 201}, 422, "missing or wrong: shown_digest"),
        ({"csrf": "x"}, 403, "Nothing was done: it was shown to another sign-in"),
        ({"reason": "x" * 70_000}, 413, "a body has at most 65536 bytes"),
    ],
)
async def test_what_is_no_decision_is_not_kept(
    door: Door, dana: Person, changes: dict[str, str], status: int, sentence: str
) -> None:
    item = approval(door)
    form = clicked(await dana.opens(item.review_id), "approve") | changes
    refused(await dana.sends(item.review_id, form), status, sentence[:1].upper() + sentence[1:])
    assert door.ledger.decisions_of(item.event_key) == ()


@pytest.mark.parametrize("missing", ["csrf", "form", "version", "decision"])
async def test_a_form_that_lacks_a_field(door: Door, dana: Person, missing: str) -> None:
    item = approval(door)
    form = clicked(await dana.opens(item.review_id), "approve")
    del form[missing]
    refused(await dana.sends(item.review_id, form), 403 if missing == "csrf" else 422, "")
    assert door.ledger.decisions_of(item.event_key) == ()


async def test_what_is_no_form(door: Door, dana: Person) -> None:
    item = approval(door)
    address, name = f"/review/{item.review_id}/decisions", {HEADER: "dana"}
    csrf = (await dana.opens(item.review_id)).fields()["csrf"]
    for content, kind, status in (
        (b"{}", "application/json", 415),
        (b"--x--", "multipart/form-data; boundary=x", 415),
        (f"csrf={csrf}&csrf={csrf}".encode(), "application/x-www-form-urlencoded", 422),
        (b"csrf", "application/x-www-form-urlencoded", 422),
        (b"csrf=\xff", "application/x-www-form-urlencoded", 422),
        (b"", "application/x-www-form-urlencoded", 403),
    ):
        answer = await door.http.post(address, content=content, headers=name | {"content-type": kind})
        refused(answer, status, "")
    assert door.ledger.decisions_of(item.event_key) == ()


async def test_questions_that_there_are_not(door: Door, dana: Person) -> None:
    item = approval(door)
    form = clicked(await dana.opens(item.review_id), "approve")
    for unknown in ("0" * 64, "x", "%00", item.review_id.upper(), item.event_key):
        for answer in (await dana.get(f"/review/{unknown}"), await dana.sends(unknown, form)):
            refused(answer, 404, "")
        refused(await dana.get(f"/review/{unknown}/live"), 404, "")
    for below in ("decision", "history", "live/again"):
        refused(await dana.get(f"/review/{item.review_id}/{below}"), 404, "Nothing is at this address")


async def test_who_may_look_and_not_decide_is_told_why(door: Door, dana: Person) -> None:
    item = approval(door)
    mira = Person(door, "mira")
    page = await mira.opens(item.review_id)
    assert page.offered() == []
    why = "your role is viewer, and the queue enterprise needs a reviewer"
    assert f"You can look at this question, and not decide it: {why}." in page.text
    form = clicked(await dana.opens(item.review_id), "approve") | {"csrf": form_token(door.settings, "mira")}
    refused(await mira.sends(item.review_id, form), 403, "Your role is viewer")
    assert door.ledger.decisions_of(item.event_key) == ()


async def test_a_question_of_another_queue_is_neither_shown_nor_decided(door: Door, dana: Person) -> None:
    item = edited(door)
    kofi = Person(door, "kofi")
    sentence = "It belongs to the queue default, which is not one of yours."
    refused(await kofi.get(f"/review/{item.review_id}"), 403, sentence)
    refused(await kofi.get(f"/review/{item.review_id}/live"), 403, sentence)
    own = form_token(door.settings, "kofi")
    form = clicked(await dana.opens(item.review_id), "accept") | {"csrf": own}
    refused(await kofi.sends(item.review_id, form), 403, sentence)
    assert door.ledger.decisions_of(item.event_key) == ()
    his = approval(door, "102")
    assert (await kofi.opens(his.review_id)).offered() == ["approve", "abandon"]


async def test_who_is_not_signed_in_sees_and_decides_nothing(door: Door, dana: Person) -> None:
    item = approval(door)
    form = clicked(await dana.opens(item.review_id), "approve")
    paths = ("/review", "/review/live", f"/review/{item.review_id}", f"/review/{item.review_id}/live", "/review/x/y")
    for path in paths:
        page = refused(await door.http.get(path), 401, "Nobody is signed in")
        assert item.review_id not in str(page.elements)
    refused(await door.http.post(f"/review/{item.review_id}/decisions", data=form), 401, "Nobody is signed in")
    refused(await Person(door, "eve").sends(item.review_id, form), 403, "")
    assert door.ledger.decisions_of(item.event_key) == ()


async def test_a_closed_question_takes_no_decision_more(door: Door, dana: Person) -> None:
    item = approval(door)
    form = clicked(await dana.opens(item.review_id), "approve")
    steps.decide(door.ledger, item, Decision.ABANDON)
    page = refused(await dana.sends(item.review_id, form), 409, "The question was closed before your decision came.")
    assert "ann decided decline" in page.text
    assert len(door.ledger.decisions_of(item.event_key)) == 1


def broken(door: Door) -> None:
    """The ledger's file is one of another kind from here on."""
    path = door.ledger._engine.url.database
    assert path is not None
    door.ledger.close()
    Path(path).write_bytes(b"no database at all" * 1000)


async def test_a_ledger_that_does_not_answer_is_said_on_a_page(unworked: Client, tmp_path: Path) -> None:
    async with a_review_door(unworked, tmp_path) as door:
        dana = Person(door, "dana")
        item = approval(door)
        form = clicked(await dana.opens(item.review_id), "approve")
        broken(door)
        for answer in (await dana.get("/review"), await dana.sends(item.review_id, form)):
            refused(answer, 503, "")
            assert answer.headers["retry-after"]


async def test_a_decision_id_of_a_page_is_nobody_elses(door: Door, dana: Person) -> None:
    """A `decision_id` that came through the API is never taken for a click."""
    item = approval(door)
    page = await dana.opens(item.review_id)
    await door.post(
        f"/v1/reviews/{item.review_id}/decisions",
        {"version": 1, "decision": "approve", "decision_id": page.fields()["form"]},
        by="decide",
    )
    await dana.sends(item.review_id, clicked(page, "approve"))
    rows = door.ledger.decisions_of(item.event_key)
    assert {row.reviewer for row in rows} == {"api:decide", "person:dana"}
    for row in rows:
        door.ledger.apply_decision(row.decision_id, quiescence=timedelta(0))
    told = await dana.reads(f"/review/{item.review_id}")
    assert "Closed" in told.text


async def test_who_comes_back_to_where_the_form_was_sent_is_shown_the_question(door: Door, dana: Person) -> None:
    item = approval(door)
    back = await dana.get(f"/review/{item.review_id}/decisions")
    assert (back.status_code, back.headers["location"]) == (303, f"/review/{item.review_id}")
    assert (await dana.get("/review/none/decisions")).status_code == 404
