"""Trying again all that is asked for one reason: what is offered, refused and kept where nobody works."""

from __future__ import annotations

import pytest

from leadproof.domain.mutation import Reason
from tests.ledger.steps import claim
from tests.starter.door import Door
from tests.starter.review.entrance import form_token
from tests.starter.review.people import Person, Read, clicked
from tests.starter.review.questions import approval, edited, refused
from tests.starter.test_bulk import held
from tests.starter.test_bulk import planned as a_lead_with_a_plan
from tests.starter.test_bulk import refused as with_a_run

pytestmark = pytest.mark.usefixtures("impatient")

RETRIES = "/review/retries"


def offered(page: Read) -> list[str | None]:
    return [one.get("value") for one in page.all("input", name="reason_of")]


async def test_what_came_to_wait_since_the_page_was_shown_is_not_given_up_with_it(door: Door, dana: Person) -> None:
    item, _, shown = await held(door)
    form = clicked(await dana.opens(item.review_id), "accept", behind="yes")
    later = await a_lead_with_a_plan(door, 103, target_record="same")
    assert claim(door.ledger, later).mutation.reason is Reason.WAITS
    await dana.follows(await dana.sends(item.review_id, form))
    assert len(door.ledger.decisions_of(shown.event_key)) == 1
    assert door.ledger.decisions_of(later.event_key) == ()
    assert door.ledger.review_of(later.mutation_key) is None


async def test_it_is_offered_for_a_reason_that_trying_again_can_answer(door: Door, dana: Person) -> None:
    refused(door, "101")
    approval(door, "102")
    for query, there in (
        ({"reason": "refuses_this"}, ["refuses_this"]),
        ({"reason": "refuses_this", "queue": "default", "target": "hubspot"}, ["refuses_this"]),
        ({"reason": "refuses_this", "queue": "enterprise"}, []),
        ({"reason": "refuses_this", "source": "hubspot"}, []),
        ({"reason": "refuses_this", "age": "1h"}, []),
        ({"reason": "needs_approval"}, []),
        ({}, []),
    ):
        assert offered(await dana.reads("/review", **query)) == there, query
    assert offered(await Person(door, "mira").reads("/review", reason="refuses_this")) == []
    assert offered(await Person(door, "kofi").reads("/review", reason="refuses_this")) == []


async def test_what_no_worker_answers_is_kept_and_the_same_click_keeps_no_more(door: Door, dana: Person) -> None:
    items = [await with_a_run(door, record) for record in (101, 102)]
    page = await dana.reads("/review", reason="target_refuses_us")
    assert "Retry all 2" in page.text
    fields = {**page.fields(), "reason": "the key is new"}
    for _ in range(2):
        answer = await dana.posts(RETRIES, fields)
        assert answer.status_code == 200
        told = Read(answer.text)
        assert "0 tried again, 2 kept to be applied, 0 not applied." in told.text
        assert set(told.rows) == {item.review_id for item in items}
    for item in items:
        (row,) = door.ledger.decisions_of(item.event_key)
        assert (row.decision, row.reviewer, row.via, row.reason) == ("retry", "person:dana", "page", "the key is new")


@pytest.mark.parametrize(
    ("who", "changes", "status"),
    [
        ("dana", {"form": "x"}, 422),
        ("dana", {"reason": "x" * 2001}, 422),
        ("dana", {"reason_of": ""}, 422),
        ("dana", {"reason_of": "no_such_reason"}, 422),
        ("dana", {"reason_of": "needs_approval"}, 200),
        ("dana", {"queue": "no-such-queue"}, 422),
        ("dana", {"queue": "\x00"}, 422),
        ("dana", {"csrf": "x"}, 403),
        ("mira", {}, 403),
        ("kofi", {"queue": "default"}, 403),
        ("kofi", {}, 200),
    ],
)
async def test_what_cannot_be_meant_is_a_page_and_keeps_nothing(
    door: Door, dana: Person, who: str, changes: dict[str, str], status: int
) -> None:
    item = await with_a_run(door, 101)
    page = await dana.reads("/review", reason="target_refuses_us")
    person = Person(door, who)
    own = form_token(door.settings, who)
    answer = await person.posts(RETRIES, {**page.fields(), "reason": "", "csrf": own, **changes})
    assert answer.status_code == status, answer.text
    assert Read(answer.text).all("h1")
    assert door.ledger.decisions_of(item.event_key) == ()


async def test_what_waits_behind_a_question_is_given_up_with_it_by_one_click(door: Door, dana: Person) -> None:
    item, _, waits = await held(door)
    page = await dana.opens(item.review_id)
    assert "also give up the 1 write that waits for this record" in page.text
    form = clicked(page, "accept", behind="yes")
    for _ in range(2):
        told = await dana.follows(await dana.sends(item.review_id, form))
        assert "Kept: accept waits, since no worker has answered yet." in told.text
        assert "What waited behind it:" in told.text
        assert "kept, and given up as soon as its run answers" in told.text
    mine, behind = door.ledger.decisions_of(item.event_key), door.ledger.decisions_of(waits.event_key)
    assert [(row.decision, row.reviewer, row.via) for row in (*mine, *behind)] == [
        ("accept", "person:dana", "page"),
        ("abandon", "person:dana", "page"),
    ]


async def test_nothing_else_is_taken_for_all_that_waits(door: Door, dana: Person) -> None:
    item, _, waits = await held(door)
    form = clicked(await dana.opens(item.review_id), "overwrite", behind="yes")
    await dana.follows(await dana.sends(item.review_id, form))
    assert door.ledger.decisions_of(waits.event_key) == ()
    wrong = await dana.sends(
        item.review_id, clicked(await dana.opens(item.review_id), "accept", behind="yes", version="x")
    )
    assert wrong.status_code == 422
    free = edited(door, "301")
    assert "also give up" not in (await dana.opens(free.review_id)).text
