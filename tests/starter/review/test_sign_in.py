"""Signing in by a one-time link, staying signed in, and signing out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI

from leadproof.domain.errors import ConfigurationRefused
from starter.review.sign_in import COOKIE
from tests.starter.door import TOKENS
from tests.starter.review.entrance import (
    Visitor,
    a_browser,
    an_app,
    an_entrance,
    hidden,
    review_settings,
    seals,
    text_of,
)
from tests.support.ledgers import START, HandClock, sqlite_ledger


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def app(tmp_path: Path, clock: HandClock) -> AsyncIterator[FastAPI]:
    async with an_entrance(tmp_path, clock) as opened:
        yield opened


@pytest.fixture
async def visitor(app: FastAPI, clock: HandClock) -> AsyncIterator[Visitor]:
    with a_browser(app, clock) as browser:
        yield browser


def last_bits_flipped(text: str) -> str:
    """The same signature written otherwise: the last letter of 32 bytes in base64 has two bits that say nothing."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return text[:-1] + letters[letters.index(text[-1]) ^ 1]


# ---- links -----------------------------------------------------------------------------------------------------------
async def test_a_link_signs_in_once_and_the_session_lasts(visitor: Visitor) -> None:
    made = await visitor.http.post("/v1/reviews/links", headers={"authorization": f"Bearer {TOKENS['decide']}"})
    assert list(made.json()) == ["url", "expires_at"]
    assert made.json()["url"].startswith("https://leads.example.com/review/sign-in?link=")
    assert made.json()["expires_at"] == "2026-03-02T09:10:00+00:00"
    assert made.headers["cache-control"] == "no-store"

    page = await visitor.http.get(made.json()["url"])
    assert page.status_code == 200
    assert hidden(page.text, "link") == text_of(made.json()["url"])
    assert ">Sign in</button>" in page.text
    assert (await visitor.looks()).status_code == 401
    answer = await visitor.signs_in(hidden(page.text, "link"))
    assert (answer.status_code, answer.headers["location"]) == (303, "../review")
    seen = (await visitor.looks()).json()
    assert (seen["name"], seen["role"], seen["queues"]) == ("api:decide", "admin", None)
    visitor.clock.forward(timedelta(hours=12).total_seconds() - 1)
    assert (await visitor.looks()).status_code == 200
    visitor.clock.forward(1)
    over = await visitor.looks()
    assert over.status_code == 401
    assert over.json()["detail"].startswith("the sign-in is over; ask whoever runs Leadproof for a sign-in link")


async def test_looking_at_a_link_spends_nothing_and_the_second_sign_in_is_refused(
    app: FastAPI, visitor: Visitor
) -> None:
    link = await visitor.link()
    for _ in range(3):
        assert (await visitor.opens(link)).status_code == 200
    assert (await visitor.signs_in(link)).status_code == 303
    with a_browser(app, visitor.clock) as thief:
        again = await thief.signs_in(link)
        assert again.status_code == 403
        assert again.json()["detail"].startswith(
            "it was used before, is older than ten minutes, or was not copied whole"
        )
        assert thief.cookie is None


async def test_a_link_that_is_written_otherwise_is_the_same_link(app: FastAPI, visitor: Visitor) -> None:
    link = await visitor.link()
    other = last_bits_flipped(link)
    assert other != link
    assert (await visitor.opens(other)).status_code == 200
    assert (await visitor.signs_in(link)).status_code == 303
    with a_browser(app, visitor.clock) as thief:
        assert (await thief.signs_in(other)).status_code == 403


async def test_of_two_starters_that_are_asked_at_once_one_signs_in(tmp_path: Path, clock: HandClock) -> None:
    async with an_entrance(tmp_path, clock) as one, an_entrance(tmp_path, clock) as two:
        with a_browser(one, clock) as first, a_browser(two, clock) as second:
            for _ in range(5):
                link = await first.link()
                answers = await asyncio.gather(*(who.signs_in(link) for who in (first, second) for _ in range(4)))
                assert sorted(answer.status_code for answer in answers) == [303, *[403] * 7]


async def test_a_spent_link_and_a_session_stay_what_they_are_over_a_restart(tmp_path: Path, clock: HandClock) -> None:
    async with an_entrance(tmp_path, clock) as before:
        with a_browser(before, clock) as visitor:
            link, unspent = await visitor.link(), await visitor.link()
            await visitor.signs_in(link)
            cookie = visitor.cookie
    async with an_entrance(tmp_path, clock) as after:
        with a_browser(after, clock) as visitor:
            assert (await visitor.signs_in(link)).status_code == 403
            assert (await visitor.looks(cookie=f"{COOKIE}={cookie}")).status_code == 200
            assert (await visitor.signs_in(unspent)).status_code == 303


@pytest.mark.parametrize("after", [600, 601, 86_400])
async def test_a_link_is_over_after_ten_minutes(visitor: Visitor, after: float) -> None:
    link, other = await visitor.link(), await visitor.link()
    visitor.clock.forward(599)
    assert (await visitor.signs_in(other)).status_code == 303
    visitor.clock.forward(after - 599)
    assert (await visitor.opens(link)).status_code == 403
    assert (await visitor.signs_in(link)).status_code == 403


async def test_what_is_no_link_of_ours_opens_nothing(visitor: Visitor) -> None:
    link = await visitor.link()
    body, _, signature = link.partition(".")
    until = START + timedelta(minutes=5)
    foreign = [one.link("decide", until=until) for one in (seals("the-key-of-another"), seals(deployment="acme/live"))]
    session = seals().session("decide", now=START)
    for text in (body, f"{body}.", f".{signature}", f"A{link}", link[:-3], *foreign, session, "ü", "\x00", "x" * 5000):
        assert (await visitor.opens(text)).status_code == 403, text
        assert (await visitor.signs_in(text)).status_code == 403, text
    assert (await visitor.signs_in("")).status_code == 403
    assert visitor.cookie is None


async def test_links_are_made_for_tokens_that_may_decide_and_where_there_is_a_key(
    visitor: Visitor, tmp_path: Path, clock: HandClock
) -> None:
    for token, status in (("read", 403), ("events", 403), ("decide", 200), ("all", 200)):
        headers = {"authorization": f"Bearer {TOKENS[token]}"}
        assert (await visitor.http.post("/v1/reviews/links", headers=headers)).status_code == status
    assert (await visitor.http.post("/v1/reviews/links")).status_code == 401
    async with an_entrance(tmp_path, clock, LEADPROOF_REVIEW_KEY="") as keyless:
        with a_browser(keyless, clock) as other:
            headers = {"authorization": f"Bearer {TOKENS['decide']}"}
            refused = await other.http.post("/v1/reviews/links", headers=headers)
            assert (refused.status_code, refused.json()["type"]) == (409, "urn:leadproof:problem:no-review-key")
            assert "LEADPROOF_REVIEW_KEY" in refused.json()["detail"]
            assert (await other.signs_in(await visitor.link())).status_code == 403
            nobody = await other.looks()
            assert (nobody.status_code, nobody.json()["detail"]) == (
                401,
                "nobody can sign in here: LEADPROOF_REVIEW_KEY is not set",
            )


async def test_without_a_link_the_page_says_how_to_sign_in(visitor: Visitor) -> None:
    page = await visitor.http.get("/review/sign-in")
    assert page.status_code == 200
    assert "leadproof review open" in page.text
    assert "<form" not in page.text


# ---- sessions --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("public", "base", "kept"),
    [
        ("https://leads.example.com", "https://leads.example.com", ["HttpOnly", "Path=/review", "Secure"]),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", ["HttpOnly", "Path=/review"]),
        ("https://example.com/leads/", "https://example.com", ["HttpOnly", "Path=/leads/review", "Secure"]),
    ],
)
async def test_the_cookie_is_kept_from_scripts_and_other_sites(
    tmp_path: Path, clock: HandClock, public: str, base: str, kept: list[str]
) -> None:
    async with an_entrance(tmp_path, clock, LEADPROOF_PUBLIC_URL=public, LEADPROOF_REVIEW_SESSION_HOURS="2") as app:
        with a_browser(app, clock, base=base) as visitor:
            said = (await visitor.signs_in()).headers["set-cookie"].split("; ")
            assert said[0].startswith(f"{COOKIE}=")
            assert sorted(said[1:]) == sorted([*kept, "Max-Age=7200", "SameSite=lax"])


async def test_a_cookie_that_is_none_of_ours_signs_nobody_in(visitor: Visitor) -> None:
    await visitor.signs_in()
    good = visitor.cookie or ""
    link = await visitor.link()
    foreign = [one.session("decide", now=START) for one in (seals("the-key-of-another"), seals(deployment="acme/live"))]
    visitor.http.cookies.clear()
    for cookie in (good[:-2], f"A{good}", good.partition(".")[0], link, *foreign, "", "x" * 3000):
        assert (await visitor.looks(cookie=f"{COOKIE}={cookie}")).status_code == 401, cookie
    assert (await visitor.looks(cookie=f"{COOKIE}={good}")).status_code == 200


async def test_a_changed_configuration_counts_at_once(tmp_path: Path, clock: HandClock) -> None:
    """The cookie says who and how; what they may is looked up at each request."""
    cookie = {"cookie": f"{COOKIE}={seals().session('ops', now=clock.now())}"}
    clock.forward(3600)
    for changes, status, role in (
        ({"LEADPROOF_API_TOKENS": "ops:read+decide:a-token"}, 200, "admin"),
        ({"LEADPROOF_API_TOKENS": "ops:read:a-token"}, 200, "viewer"),
        ({"LEADPROOF_API_TOKENS": "ops:events:a-token"}, 401, None),
        ({"LEADPROOF_API_TOKENS": "other:read+decide:a-token"}, 401, None),
        ({"LEADPROOF_API_TOKENS": "ops:decide:a-token", "LEADPROOF_REVIEW_SESSION_HOURS": "1"}, 401, None),
        ({"LEADPROOF_API_TOKENS": "ops:decide:a-token", "LEADPROOF_REVIEW_KEY": "a-new-key-of-the-page"}, 401, None),
    ):
        async with an_entrance(tmp_path, clock, **changes) as app:
            with a_browser(app, clock) as visitor:
                seen = await visitor.looks(**cookie)
                assert (seen.status_code, seen.json().get("role")) == (status, role), changes


async def test_signing_out_forgets_the_session_and_needs_its_form(visitor: Visitor) -> None:
    await visitor.signs_in()
    refused = await visitor.http.post("/review/sign-out", data={"csrf": ""})
    assert refused.status_code == 403
    assert (await visitor.looks()).status_code == 200
    csrf = (await visitor.looks()).json()["csrf"]
    answer = await visitor.http.post("/review/sign-out", data={"csrf": csrf})
    assert (answer.status_code, answer.headers["location"]) == (303, "sign-in")
    assert visitor.cookie is None
    assert (await visitor.looks()).status_code == 401


# ---- people of the configuration -------------------------------------------------------------------------------------
def test_a_queue_that_the_policy_does_not_have_is_refused_at_start(tmp_path: Path, clock: HandClock) -> None:
    people = "dana:reviewer:default+west,kofi:viewer:east"
    with (
        sqlite_ledger(tmp_path / "ledger.db", clock) as ledger,
        pytest.raises(ConfigurationRefused, match="does not have: east, west; it has default"),
    ):
        an_app(review_settings(LEADPROOF_REVIEWERS=people), ledger, clock)
