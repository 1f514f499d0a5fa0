"""Without JavaScript, without a mouse, on a phone, in the dark, and for a screen reader."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect

from leadproof.domain.events import Outcome
from leadproof.domain.review import ReviewItem
from tests.browser.desk import Desk, decide

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

NARROW = 320
PHONE: dict[str, Any] = {"viewport": {"width": NARROW, "height": 640}, "is_mobile": True, "has_touch": True}
DARK, LIGHT = 200, 600
"""Of the 765 that red, green and blue of a background make together."""


@pytest.fixture(scope="module")
async def items(_desk: Desk) -> dict[str, ReviewItem]:
    """An open question with differences, and one that is decided."""
    _, _, edited = await _desk.edited(lastname="Nakamura")
    _, key, decided = await _desk.approval(lastname="Lindqvist")
    await _desk.house.decide(decided.review_id, "approve")
    await _desk.house.outcome(key, Outcome.DONE)
    return {"open": edited, "decided": decided}


def pages(items: dict[str, ReviewItem]) -> dict[str, str]:
    """Every page that there is, by its address."""
    return {
        "queue": "/review",
        "open": f"/review/{items['open'].review_id}",
        "decided": f"/review/{items['decided'].review_id}",
        "why": "/review/why",
        "unknown": f"/review/{'0' * 64}",
    }


async def test_without_javascript_a_question_is_found_and_answered(desk: Desk) -> None:
    record_id, key, _ = await desk.approval(lastname="Haddad")
    async with desk.person(java_script_enabled=False) as page:
        await page.goto("/review")
        await expect(page.get_by_text("This page does not update itself.")).to_be_visible()
        await page.get_by_role("link", name="Refresh").click()
        await page.get_by_role("link", name="Haddad").click()
        await decide(page, "Approve")
        await expect(page.get_by_text("Applied: approve.")).to_be_visible()
        await desk.house.outcome(key, Outcome.DONE)
    assert len(desk.house.writes(record_id)) == 1


async def test_focus_stays_where_it_is_when_the_queue_renews_itself(desk: Desk) -> None:
    _, _, first = await desk.approval(lastname="Bergstrom")
    async with desk.person() as page:
        await page.goto("/review")
        await page.get_by_role("link", name="Bergstrom").focus()
        _, _, second = await desk.approval(lastname="Castellano")
        await expect(page.get_by_role("link", name="Castellano")).to_be_visible()
        await expect(page.get_by_role("link", name="Bergstrom")).to_be_focused()
    for item in (first, second):
        await desk.house.decide(item.review_id, "abandon")


async def test_on_a_narrow_screen_nothing_runs_off_to_the_side(desk: Desk, items: dict[str, ReviewItem]) -> None:
    async with desk.person(**PHONE) as page:
        for name, address in pages(items).items():
            await page.goto(address)
            wide = await page.evaluate("document.documentElement.scrollWidth")
            assert wide <= NARROW, name
        await page.goto(pages(items)["open"])
        await expect(page.get_by_role("button", name="Accept")).to_be_visible()


async def test_dark_mode_is_dark(desk: Desk, items: dict[str, ReviewItem]) -> None:
    shades = {}
    for scheme in ("light", "dark"):
        async with desk.person(color_scheme=scheme) as page:
            await page.goto(pages(items)["open"])
            color = await page.evaluate("getComputedStyle(document.body).backgroundColor")
            shades[scheme] = sum(int(part) for part in color.removeprefix("rgb(").removesuffix(")").split(","))
    assert shades["dark"] < DARK
    assert shades["light"] > LIGHT


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_no_page_has_a_serious_fault_for_who_cannot_see_it(
    desk: Desk, items: dict[str, ReviewItem], scheme: str
) -> None:
    found: dict[str, list[str]] = {}
    async with desk.person(color_scheme=scheme) as page:
        for name, address in pages(items).items():
            await page.goto(address)
            found[name] = await _serious(page)
        await page.goto(pages(items)["open"])
        await page.get_by_role("button", name="Overwrite").click()
        await expect(page.get_by_role("alert")).to_be_visible()
        found["fault"] = await _serious(page)
    async with desk.stranger(color_scheme=scheme) as page:
        await page.goto("/review")
        found["nobody"] = await _serious(page)
        await page.goto(await desk.link("dana"))
        found["sign-in"] = await _serious(page)
    assert {name: faults for name, faults in found.items() if faults} == {}


async def _serious(page: Page) -> list[str]:
    """What axe finds that is serious or worse."""
    results: Any = await Axe().run(page)
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in results.response["violations"]
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]
