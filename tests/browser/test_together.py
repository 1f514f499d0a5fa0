"""Two people, an old page, a click that comes again."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import expect

from leadproof.domain.events import Outcome
from tests.browser.desk import Desk, decide

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


async def test_of_two_people_one_decides_and_the_other_is_told_who(desk: Desk) -> None:
    record_id, key, item = await desk.edited()
    async with desk.person("dana") as dana, desk.person("kofi") as kofi:
        for page in (dana, kofi):
            await page.goto(f"/review/{item.review_id}")
        await asyncio.gather(decide(dana, "Overwrite", "it is ours"), decide(kofi, "Overwrite", "it is ours"))
        await desk.house.outcome(key, Outcome.DONE)
        applied, *kept = sorted(desk.house.ledger.decisions_of(key), key=lambda row: row.verdict)
        won, lost = (dana, kofi) if applied.reviewer == "api:dana" else (kofi, dana)
        await expect(won.get_by_text("Applied: overwrite.")).to_be_visible()
        # as its own decision's verdict, or where the question was closed before it came, as how that was
        await expect(lost.get_by_text(f"{applied.reviewer} decided overwrite").first).to_be_visible()
        await expect(lost.get_by_text("Applied: overwrite.")).to_have_count(0)
    assert len(desk.house.writes(record_id)) == 2
    assert [row.verdict for row in (applied, *kept)] in (["applied"], ["applied", "repeated"])


async def test_a_decision_on_an_old_page_is_stale_and_shows_what_stands_now(desk: Desk) -> None:
    record_id, key, item = await desk.edited()
    async with desk.person(java_script_enabled=False) as page:  # with it the page says so before the click
        await page.goto(f"/review/{item.review_id}")
        desk.house.control.person("9002", record_id, hubspot_owner_id="502")
        await desk.house.decide(item.review_id, "overwrite", version=item.version)
        following = await desk.asked(key)
        while following.review_id == item.review_id:
            following = await desk.asked(key)
        await decide(page, "Overwrite", "it is ours")
        await expect(
            page.get_by_text("closed before your decision came").or_(page.get_by_text("Not applied"))
        ).to_be_visible()
        await page.get_by_role("link", name="A new question came of it").click()
        await expect(page.get_by_role("table").first).to_contain_text("kofi")
    assert desk.house.properties(record_id)["hubspot_owner_id"] == "502"
    assert len(desk.house.writes(record_id)) == 1
    await desk.house.decide(following.review_id, "abandon")


async def test_a_click_that_comes_again_and_a_reload_decide_once(desk: Desk) -> None:
    record_id, key, item = await desk.approval()
    async with desk.person() as page:
        await page.goto(f"/review/{item.review_id}")
        async with page.expect_request(lambda request: request.method == "POST") as clicked:
            await page.get_by_role("button", name="Approve").dblclick(no_wait_after=True)
        await expect(page.get_by_text("Applied: approve.")).to_be_visible()
        click = await clicked.value
        headers = {"content-type": "application/x-www-form-urlencoded", "origin": desk.address}
        for _ in range(2):  # as a browser, or what stands before the server, sends a request again
            again = await page.request.post(click.url, data=click.post_data_buffer, headers=headers)
            assert (again.status, "Applied: approve." in await again.text()) == (200, True)
        await page.reload()
        await expect(page.get_by_text("Applied: approve.")).to_be_visible()
        await page.go_back()
        await desk.house.outcome(key, Outcome.DONE)
    assert len(desk.house.writes(record_id)) == 1
    assert [row.verdict for row in desk.house.ledger.decisions_of(key)] == ["applied"]
