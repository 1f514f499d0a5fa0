"""Many questions by one click."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from leadproof.domain.events import Outcome
from tests.browser.desk import REFUSAL, Desk, decide
from tests.workflows.test_one_record import _held, _waiting

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


async def test_all_that_a_target_refused_is_tried_again(desk: Desk) -> None:
    refused = [await desk.faulty("status", REFUSAL) for _ in range(2)]
    async with desk.person() as page:
        await page.goto("/review")
        await page.get_by_label("Reason", exact=True).select_option("refuses_this")
        await page.get_by_role("button", name="Show").click()
        await page.get_by_label("Reason for trying all of them again").fill("the option is there now")
        await page.get_by_role("button", name="Retry all 2").click()
        await expect(page.get_by_text("2 tried again, 0 kept to be applied, 0 not applied.")).to_be_visible()
        for _, _, item in refused:
            row = page.get_by_role("row").filter(has=page.get_by_role("link", name=item.review_id[:12]))
            await expect(row).to_contain_text("tried again")
    for record_id, key, _ in refused:
        await desk.house.outcome(key, Outcome.DONE)
        assert [row["status"] for row in desk.house.writes(record_id)] == [400, 200]
        assert [row.reviewer for row in desk.house.ledger.decisions_of(key)] == ["api:dana"]


async def test_what_waits_behind_a_question_is_given_up_with_it(desk: Desk) -> None:
    record_id, key, item = await _held(desk.house)
    behind = await _waiting(desk.house, record_id, "One")
    async with desk.person() as page:
        await page.goto(f"/review/{item.review_id}")
        await expect(page.get_by_role("heading", name="Waits for the same record")).to_be_visible()
        await page.get_by_label("also give up the 1 write that waits").check()
        await decide(page, "Accept", "it is right")
        await expect(page.get_by_text("Applied: accept.")).to_be_visible()
        await expect(page.get_by_text("What waited behind it:")).to_be_visible()
        await expect(page.get_by_role("listitem").filter(has_text="given up").first).to_be_visible()
    await desk.house.outcome(key, Outcome.SUPERSEDED)
    await desk.house.outcome(behind, Outcome.ABANDONED)
    assert len(desk.house.writes(record_id)) == 1
