"""Finding a question: filters, and the page that is live."""

from __future__ import annotations

import sys
import time

import pytest
from playwright.async_api import expect

from leadproof.domain.mutation import Status
from tests.browser.desk import EDIT, Desk

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

SOON = 4.0
"""Seconds from the moment a mutation turns divergent to its item on an open page: 2 are promised, on a machine that
does nothing else; what it took is printed."""


async def test_a_question_is_found_by_its_filters_and_leads_to_its_page(desk: Desk) -> None:
    _, _, big = await desk.approval(lastname="Okonkwo")
    _, _, edited = await desk.edited(lastname="Ferreira")
    async with desk.person() as page:
        await page.goto("/review")
        await page.get_by_label("Queue", exact=True).select_option("enterprise")
        await page.get_by_role("button", name="Show").click()
        assert "queue=enterprise" in page.url
        await expect(page.get_by_role("link", name="Okonkwo")).to_be_visible()
        await expect(page.get_by_role("link", name="Ferreira")).to_have_count(0)
        await page.get_by_role("link", name="Show all").click()
        await page.get_by_role("link", name="Ferreira").click()
        await expect(page.get_by_role("heading", level=1)).to_contain_text("Ferreira")
        row = page.get_by_role("table").first.get_by_role("row").filter(has_text="owner")
        await expect(row).to_contain_text("differs")
        await expect(row.locator("time")).to_be_visible()
        run = page.get_by_role("link", name="Open the run in Temporal")
        assert (await run.get_attribute("href") or "").startswith(f"{desk.ui}/namespaces/default/workflows/lead")
    for item in (big, edited):
        await desk.house.decide(item.review_id, "abandon")


async def test_what_turns_divergent_stands_on_an_open_page_soon(desk: Desk) -> None:
    record_id = desk.house.contact(lastname="Adeyemi")
    desk.house.control.fault("human_edit", match=record_id, args=EDIT)
    async with desk.person() as page:
        await page.goto("/review")
        await expect(page.get_by_text("Live: this page updates itself.")).to_be_visible()
        await desk.house.deliver(desk.house.creation(record_id))
        await page.get_by_role("link", name="Adeyemi").wait_for()
        shown = time.time()
        await expect(page.get_by_role("status")).to_contain_text("1 new question")
    mutation = desk.house.mutation(desk.house.key_of(record_id))
    assert mutation.status is Status.DIVERGENT
    lasted = shown - mutation.updated_at.timestamp()
    sys.stdout.write(f"from divergent to its item on an open page: {lasted:.2f} s\n")
    assert lasted < SOON
    item = desk.open_item(desk.house.key_of(record_id))
    assert item is not None
    await desk.house.decide(item.review_id, "abandon")
