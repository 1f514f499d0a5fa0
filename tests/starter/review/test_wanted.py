"""Who is not signed in comes, once they are, to the page that a link named; and to no page of anybody else's."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from starter.review.wanted import COOKIE
from tests.starter.door import TOKENS, Door
from tests.starter.review.entrance import text_of
from tests.starter.review.people import Read

QUESTION = "ab" * 32


@pytest.fixture
async def browser(door: Door) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody's browser, which keeps cookies as they are set."""
    base = "https://leads.example.com"
    async with httpx.AsyncClient(transport=door.http._transport, base_url=base) as opened:
        yield opened


async def _signs_in(browser: httpx.AsyncClient) -> str:
    made = await browser.post("/v1/reviews/links", headers={"authorization": f"Bearer {TOKENS['decide']}"})
    answer = await browser.post("/review/sign-in", data={"link": text_of(made.json()["url"])})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


@pytest.mark.parametrize("asked", [f"/{QUESTION}", "/why?record=601&field=owner", "?queue=enterprise&page=2", ""])
async def test_after_signing_in_one_is_where_one_wanted_to_go(browser: httpx.AsyncClient, asked: str) -> None:
    nobody = await browser.get(f"/review{asked}")
    assert nobody.status_code == 401
    said = Read(nobody.text)
    how = "sk whoever runs Leadproof for a sign-in link (they get one with leadproof review open)."
    assert how in said.text
    assert "Once you are signed in, in this browser, you come back to the page that you asked for." in said.text
    assert "To the review queue" not in said.text
    assert await _signs_in(browser) == f"../review{asked}"
    assert COOKIE not in browser.cookies
    assert await _signs_in(browser) == "../review"


async def test_who_sent_a_decision_and_is_no_longer_signed_in_comes_back_to_its_question(
    browser: httpx.AsyncClient,
) -> None:
    form = {"reason": "spoke to <b>Ana</b>", "decision": "approve"}
    answer = await browser.post(f"/review/{QUESTION}/decisions", data=form)
    assert answer.status_code == 401
    assert "Nothing was decided. Keep the reason that you typed: spoke to <b>Ana</b>" in Read(answer.text).text
    assert not Read(answer.text).all("b")
    elsewhere = {"origin": "https://evil.example"}
    answer = await browser.post(f"/review/{QUESTION}/decisions", data=form, headers=elsewhere)
    assert (answer.status_code, "spoke to" in answer.text) == (401, False)
    assert await _signs_in(browser) == f"../review/{QUESTION}"


@pytest.mark.parametrize("asked", [f"/{QUESTION}/live", "/live", "/sign-out", "/nowhere", f"/why?record={'9' * 1100}"])
async def test_what_is_no_page_is_not_come_back_to(browser: httpx.AsyncClient, asked: str) -> None:
    assert (await browser.get(f"/review{asked}")).status_code in {401, 405}
    assert COOKIE not in browser.cookies


@pytest.mark.parametrize(
    "forged", ["//evil.example", "/../../evil", ".evil.example", "@evil.example", "/why?a=//x", "/%2f%2fevil", "\\evil"]
)
async def test_a_cookie_that_somebody_forged_leads_nowhere_else(browser: httpx.AsyncClient, forged: str) -> None:
    browser.cookies.set(COOKIE, forged, domain="leads.example.com", path="/review")
    assert await _signs_in(browser) == "../review"
