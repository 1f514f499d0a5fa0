"""A form counts where this person, in this sign-in, was shown it by a page of ours; anything else does nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from starter.review.forms import MOST_BYTES, origin_of
from tests.starter.review.entrance import ROOM, Visitor, a_browser, an_entrance
from tests.support.ledgers import HandClock

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[FastAPI]:
    async with an_entrance(tmp_path) as opened:
        yield opened


@pytest.fixture
async def visitor(app: FastAPI) -> AsyncIterator[Visitor]:
    with a_browser(app, HandClock()) as browser:
        await browser.signs_in()
        yield browser


async def test_a_form_is_read_as_it_was_filled_in(visitor: Visitor) -> None:
    answer = await visitor.acts()
    assert (answer.status_code, answer.json()) == (200, {"reason": "größer & <b>"})


async def test_a_form_of_another_sign_in_or_of_none_is_not_taken(app: FastAPI, visitor: Visitor) -> None:
    own = (await visitor.looks()).json()["csrf"]
    with a_browser(app, visitor.clock) as other:
        await other.signs_in()
        of_another = (await other.looks()).json()["csrf"]
    for csrf in (of_another, "", own[:-1], f"{own} ", own.swapcase(), "ü", "\x00"):
        refused = await visitor.acts(csrf)
        assert refused.status_code == 403, csrf
        assert refused.json()["detail"].startswith("nothing was done: it was shown to another sign-in")
    missing = await visitor.http.post(ROOM, data={"reason": "x"})
    assert missing.status_code == 403
    await visitor.signs_in()  # the same person anew
    assert (await visitor.acts(own)).status_code == 403
    visitor.http.cookies.clear()
    assert (await visitor.acts(own)).status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": ""}, 403),
        ({"origin": "https://leads.example.com"}, 200),
        ({"origin": "https://leads.example.com", "sec-fetch-site": "same-origin"}, 200),
        ({"origin": "https://leads.example.com", "sec-fetch-site": "cross-site"}, 403),
        ({"origin": "https://evil.example.com"}, 403),
        ({"origin": "https://evil.example.com", "sec-fetch-site": "same-origin"}, 403),
        ({"origin": "http://leads.example.com"}, 403),
        ({"origin": "https://leads.example.com:8443"}, 403),
        ({"origin": "https://leads.example.com.evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "https://inside:8080", "host": "inside:8080"}, 200),
        ({"origin": "http://inside:8080", "host": "inside:8080"}, 403),
    ],
)
async def test_a_form_that_another_sites_page_sent_is_not_taken(
    visitor: Visitor, headers: dict[str, str], status: int
) -> None:
    csrf = (await visitor.looks()).json()["csrf"]
    answer = await visitor.acts(csrf, **headers)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["detail"].startswith("nothing was done: another site's page sent this form")
    link = await visitor.link()
    assert (await visitor.signs_in(link, **headers)).status_code == (303 if status == 200 else 403)
    if status == 403:  # and a refused form has not spent the link
        assert (await visitor.signs_in(link)).status_code == 303


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        (b"csrf=x&csrf=y", FORM, 422),
        (b"csrf", FORM, 422),
        (b"csrf=%ff", FORM, 422),
        (b"csrf=\xff", FORM, 422),
        (b"&".join(b"f%d=x" % number for number in range(101)), FORM, 422),
        (b"reason=" + b"x" * MOST_BYTES, FORM, 413),
        (b'{"csrf": "x"}', "application/json", 415),
        (b"csrf=x", "text/plain", 415),
        (b"csrf=x", "multipart/form-data; boundary=x", 415),
        (b"csrf=x", f"{FORM}; charset=latin-1", 415),
        (b"", FORM, 403),
    ],
)
async def test_what_is_no_form_is_refused_and_is_no_fault_of_ours(
    visitor: Visitor, body: bytes, media_type: str, status: int
) -> None:
    for path in (ROOM, "/review/sign-out", "/review/sign-in"):
        answer = await visitor.http.post(path, content=body, headers={"content-type": media_type})
        assert answer.status_code == status, path
    assert (await visitor.looks()).status_code == 200


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://leads.example.com/", "https://leads.example.com"),
        ("https://Leads.Example.com:443/leads", "https://leads.example.com"),
        ("http://leads.example.com:80", "http://leads.example.com"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/x", "http://[::1]:8080"),
        ("https://leads.example.com:80", "https://leads.example.com:80"),
    ],
)
def test_an_origin_is_as_browsers_write_it(url: str, origin: str) -> None:
    assert origin_of(url) == origin
