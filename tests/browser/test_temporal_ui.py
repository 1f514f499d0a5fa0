"""Temporal's own UI, served by the development server, as a person reads and uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.async_api import FrameLocator, Page, expect

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Status
from tests.browser.desk import Desk

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

SLOW = 60_000
"""Milliseconds that the UI, some megabytes of script, may take on a busy machine."""


async def _details(page: Page, desk: Desk, key: str) -> FrameLocator:
    """The current details of a lead's run, which the UI renders in a frame of its own."""
    lead = desk.house.ledger.lead(key)
    assert lead is not None
    described = await desk.house.client.get_workflow_handle(lead.workflow_id).describe()
    run = f"{desk.ui}/namespaces/default/workflows/{lead.workflow_id}/{described.run_id}"
    await page.goto(f"{run}/user-metadata", wait_until="commit")
    return page.frame_locator("iframe").nth(2)


async def test_a_question_is_read_and_answered_in_temporals_ui(desk: Desk, tmp_path: Path) -> None:
    record_id, key, item = await desk.edited(lastname="Okonkwo")
    async with desk.stranger(viewport={"width": 1440, "height": 1250}) as page:
        page.set_default_timeout(SLOW)
        told = await _details(page, desk, key)
        await expect(told.get_by_text("Outcome: review")).to_be_visible(timeout=SLOW)
        frames = page.frame_locator("iframe")
        await expect(frames.nth(0).get_by_text("A lead from hubspot: contact.creation")).to_be_visible()
        await expect(frames.nth(1).get_by_text(f"leadproof lead show {key}")).to_be_visible()
        difference = told.get_by_role("row").filter(has_text="owner").last
        for says in ("changed by a person", "person 9003", "UTC"):
            await expect(difference).to_contain_text(says)
        for decision in ("accept: what stands", "overwrite: what we intended", "abandon: it is given up"):
            await expect(told.get_by_role("listitem").filter(has_text=decision)).to_be_visible()
        link = told.get_by_role("link", name="Answer it on the review page")
        assert await link.get_attribute("href") == f"{desk.address}/review/{item.review_id}"
        assert not {"503", "505", "Okonkwo"} & set((await told.locator("main").inner_text()).split())
        shown = await page.screenshot(path=tmp_path / "temporal-ui.png")
        assert len(shown) > 10_000

        example = (await told.locator("pre").inner_text()).strip()
        assert json.loads(example)["decision"] == "CHOOSE ONE"
        await page.get_by_role("button", name="More Actions").click()
        await page.get_by_role("menuitem", name="Send a Signal").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Select a signal").click()
        option = dialog.get_by_role("option", name="decide")
        await expect(option).to_contain_text('"decision": "approve"')
        await option.click()
        await expect(option).to_be_hidden()  # before that, what is typed is lost
        await dialog.get_by_role("textbox", name="Data").fill(
            example.replace("CHOOSE ONE", "accept").replace('"reason": ""', '"reason": "spoke to them"')
        )
        await dialog.get_by_role("button", name="Submit").click()
        await desk.house.outcome(key, Outcome.SUPERSEDED)
    receipts = desk.house.ledger.receipts(desk.house.mutation(key).mutation_key)
    assert receipts is not None
    (decided,) = receipts.decisions
    assert (decided.decision, decided.reason, decided.via) == ("accept", "spoke to them", "signal")
    assert decided.reviewer.startswith("temporal:")
    assert receipts.mutation.status is Status.SUPERSEDED
    assert len(desk.house.writes(record_id)) == 1
    assert desk.house.properties(record_id)["hubspot_owner_id"] == "503"
