"""One way from end to end, with the keyboard alone: the browser test that `make test` runs."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from leadproof.domain.events import Outcome
from tests.browser.desk import Desk

pytestmark = pytest.mark.timeout(120)


async def test_with_the_keyboard_alone_a_question_is_found_and_answered(desk: Desk) -> None:
    record_id, key, _ = await desk.edited(lastname="Oyelaran")
    async with desk.person() as page:
        await page.goto("/review")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        await page.keyboard.press("Enter")
        await _tab_to(page, "Oyelaran")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_contain_text("Oyelaran")
        await _tab_to(page, "reason")
        await page.keyboard.type("spoke to them")
        await _tab_to(page, "Accept")
        outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none"
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("Applied: accept.")).to_be_visible()
        await desk.house.outcome(key, Outcome.SUPERSEDED)
    assert len(desk.house.writes(record_id)) == 1


async def _tab_to(page: Page, name: str) -> None:
    """Go on with the tab key until what has this text, or this id, has the focus."""
    for _ in range(60):
        await page.keyboard.press("Tab")
        at = await page.evaluate("[document.activeElement.id, document.activeElement.textContent].join(' ')")
        if name in at:
            return
    raise AssertionError(f"the tab key does not come to {name}")
