"""The queue as people see it."""

from __future__ import annotations

from tests.starter.door import Door
from tests.starter.review.people import Person
from tests.starter.test_reviews import a_question


async def test_the_queue_shows_what_waits(door: Door, dana: Person) -> None:
    item, _ = await a_question(door)
    page = await dana.reads("/review")
    assert "1 open question" in page.text
    (link,) = [one for one in page.all("a") if one.get("href") == f"/review/{item.review_id}"]
    assert link


async def test_a_question(door: Door, dana: Person) -> None:
    item, _ = await a_question(door)
    page = await dana.opens(item.review_id)
    assert page.offered() == ["approve", "abandon"]
    print(page.text)
    shown = await dana.follows(await dana.decides(item.review_id, "approve"))
    print(shown.text)
