"""Each decision as a person takes it on the page; what came of it is read at the witness."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import NamedTuple

import pytest
from playwright.async_api import Page, expect

from leadproof.domain.events import Outcome
from leadproof.domain.review import ReviewItem
from tests.browser.desk import REFUSAL, UNSEEN, Desk, decide
from tests.support.house import eventually
from workflows import options

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

Asked = tuple[str, str, ReviewItem]


class Way(NamedTuple):
    """A decision: how its question comes to be, what the page says of it, and what the witness sees at the end."""

    decision: str
    question: Callable[[Desk], Awaitable[Asked]]
    says: str
    outcome: Outcome
    owner: str | None
    writes: int


async def _unreadable(desk: Desk) -> Asked:
    """A question about the event itself: its source record could not be read for as long as a run is patient."""
    record_id = desk.house.contact()
    desk.house.control.fault("status", operation="contacts.read", match=record_id, times=1000, args={"status": 503})
    await desk.house.deliver(desk.house.creation(record_id))
    key = desk.house.key_of(record_id)
    await desk.house.outcome(key, Outcome.REVIEW)
    item = await eventually(lambda: desk.house.ledger.review_of(key))
    desk.house.control.delete("/faults")
    return record_id, key, item


WAYS = [
    Way("Approve", Desk.approval, "after one more look", Outcome.DONE, "502", 1),
    Way("Retry", lambda desk: desk.faulty("status", REFUSAL), "send once more", Outcome.DONE, "505", 2),
    Way("Accept", Desk.edited, "nothing is written", Outcome.SUPERSEDED, "503", 1),
    Way("Overwrite", Desk.edited, "over what stands", Outcome.DONE, "505", 2),
    Way("Restore", lambda desk: desk.faulty("human_edit", UNSEEN), "Put back", Outcome.DONE, "503", 2),
    Way("Decline", Desk.approval, "nothing is written", Outcome.ABANDONED, None, 0),
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.decision)
async def test_a_decision_does_what_the_page_says(desk: Desk, way: Way) -> None:
    await _decided(desk, way)


async def test_a_lead_without_a_plan_is_planned_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(options.READ_SOURCE, "schedule_to_close_timeout", timedelta(seconds=1.5))
    await _decided(desk, Way("Plan again", _unreadable, "plan it from the beginning", Outcome.DONE, "505", 1))


async def _decided(desk: Desk, way: Way) -> None:
    record_id, key, item = await way.question(desk)
    async with desk.person() as page:
        await page.goto(f"/review/{item.review_id}")
        button = page.get_by_role("button", name=way.decision, exact=True)
        describes = await button.get_attribute("aria-describedby")
        await expect(page.locator(f"#{describes}")).to_contain_text(way.says)
        await decide(page, way.decision, "spoke to them")
        await expect(page.get_by_role("heading", name="Your decision")).to_be_visible()
        await expect(page.get_by_text(f"Applied: {way.decision.lower()}.")).to_be_visible()
        await desk.house.outcome(key, way.outcome)
        await _comes_to_rest(page)
        if way.decision in {"Overwrite", "Restore"}:  # the table follows by itself what was written
            await expect(page.get_by_role("table").first).to_contain_text("as decided")
    assert desk.house.properties(record_id).get("hubspot_owner_id") == way.owner
    assert len(desk.house.writes(record_id)) == way.writes
    (row,) = [one for one in desk.house.ledger.decisions_of(key) if one.review_id == item.review_id]
    decided = {"Decline": "abandon"}.get(way.decision, way.decision.lower().replace(" ", "_"))
    assert (row.decision, row.reviewer) == (decided, "api:dana")
    assert (row.reason, row.verdict) == ("spoke to them", "applied")


async def _comes_to_rest(page: Page) -> None:
    """The page tells by itself that the question is closed and who closed it."""
    closed = page.get_by_role("heading", name="Closed")
    await expect(closed).to_be_visible()
    await expect(page.get_by_text("api:dana decided")).to_be_visible()


async def test_an_overwrite_shows_what_it_writes_and_needs_a_reason_and_a_reader(desk: Desk) -> None:
    record_id, _, item = await desk.edited()
    async with desk.person() as page:
        await page.goto(f"/review/{item.review_id}")
        row = (
            page.get_by_role("table", name="Exactly what overwrite writes").get_by_role("row").filter(has_text="owner")
        )
        await expect(row).to_contain_text("mira")
        await expect(row.get_by_text("differs")).to_be_visible()
        await page.get_by_role("button", name="Overwrite").click()
        await expect(page.get_by_role("alert")).to_contain_text("overwrite needs a reason")
        await page.get_by_label("Reason").fill("the queue owns it")
        await page.get_by_role("button", name="Overwrite").click()
        await expect(page.get_by_role("alert")).to_contain_text("I have read what overwrite writes")
        await expect(page.get_by_label("Reason")).to_have_value("the queue owns it")
    assert desk.house.ledger.decisions_of(item.event_key) == ()
    assert len(desk.house.writes(record_id)) == 1
    await desk.house.decide(item.review_id, "abandon")
