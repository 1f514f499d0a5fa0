"""A reverse proxy says who is signed in: it counts from the proxy's address only, over real sockets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.starter.review.entrance import ROOM, Visitor, a_browser, an_entrance, on_a_socket
from tests.support.ledgers import HandClock

HEADER = "X-Forwarded-User"
PROXY = {
    "LEADPROOF_REVIEW_PROXY_HEADER": HEADER,
    "LEADPROOF_REVIEW_PROXY_ADDRESSES": "127.0.0.2, 127.0.7.0/24, ::1",
    "LEADPROOF_REVIEWERS": "dana@example.com:reviewer:default,kofi:viewer,mira:admin",
}


def _speaks_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as found:
            found.bind(("::1", 0))
    except OSError:
        return False
    return True


@dataclass(frozen=True)
class Street:
    """The entrance on every address of this machine."""

    port: int

    async def looks(self, *headers: tuple[str, str], at: str, to: str = "127.0.0.1") -> httpx.Response:
        """Look at the page from an address of one's own."""
        there = f"[{to}]" if ":" in to else to
        transport = httpx.AsyncHTTPTransport(local_address=at, verify=False)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{there}:{self.port}") as http:
            return await http.get(ROOM, headers=[(name.encode(), value.encode("latin-1")) for name, value in headers])


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def street(tmp_path: Path, clock: HandClock) -> AsyncIterator[Street]:
    async with an_entrance(tmp_path, clock, **PROXY) as app, on_a_socket(app, "0.0.0.0") as port:  # noqa: S104
        yield Street(port)


@pytest.mark.parametrize("at", ["127.0.0.2", "127.0.7.9"])
async def test_the_proxy_says_who_looks_and_the_configuration_what_they_may(street: Street, at: str) -> None:
    for name, role, queues in (
        ("dana@example.com", "reviewer", ["default"]),
        ("kofi", "viewer", None),
        ("mira", "admin", None),
    ):
        seen = (await street.looks((HEADER, name), at=at)).json()
        assert (seen["name"], seen["role"], seen["queues"]) == (f"person:{name}", role, queues)


@pytest.mark.parametrize("at", ["127.0.0.1", "127.0.0.3", "127.0.8.9"])
async def test_whoever_else_sends_the_header_is_refused(street: Street, at: str) -> None:
    for header in (HEADER, HEADER.lower(), HEADER.upper()):
        for name in ("mira", "nobody", ""):
            refused = await street.looks((header, name), at=at)
            assert refused.status_code == 403
            assert refused.json()["detail"] == (
                "it says who is signed in, and does not come from the proxy that may say so"
            )
    # what would make a server believe in another caller's address
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP"):
        believed = (name, "127.0.0.2" if name != "Forwarded" else "for=127.0.0.2")
        assert (await street.looks((HEADER, "mira"), believed, at=at)).status_code == 403
    assert (await street.looks(at=at)).status_code == 401


async def test_a_header_that_is_there_twice_is_refused(street: Street) -> None:
    for names in (("kofi", "mira"), ("mira", "mira"), ("mira", "")):
        refused = await street.looks(*((HEADER, name) for name in names), at="127.0.0.2")
        assert refused.status_code == 403
        assert refused.json()["detail"] == "it says twice who is signed in, so that one of the two is not the proxy's"
    assert (await street.looks((HEADER, "kofi"), (HEADER.lower(), "mira"), at="127.0.0.2")).status_code == 403


@pytest.mark.parametrize(
    "name", ["stranger", "Mira", "mira,kofi", "kofi, mira", "mira:admin", "person:mira", "m\xedra"]
)
async def test_a_person_that_the_configuration_does_not_name_may_not_look(street: Street, name: str) -> None:
    refused = await street.looks((HEADER, name), at="127.0.0.2")
    assert refused.status_code == 403
    assert refused.json()["type"] == "urn:leadproof:problem:not-a-reviewer"
    assert "is not in LEADPROOF_REVIEWERS" in refused.json()["detail"]
    assert refused.json()["named"] == name
    assert name not in refused.json()["detail"]


async def test_a_proxy_that_names_nobody_has_nobody_signed_in(street: Street) -> None:
    for headers in ((), ((HEADER, ""),), (("X_Forwarded_User", "mira"),)):
        nobody = await street.looks(*headers, at="127.0.0.2")
        assert nobody.status_code == 401
        assert nobody.json()["detail"].startswith(
            "come through the proxy that knows you, or ask whoever runs Leadproof"
        )


@pytest.mark.skipif(not _speaks_ipv6(), reason="this machine has no IPv6 address")
async def test_addresses_of_both_kinds_at_one_socket(tmp_path: Path, clock: HandClock) -> None:
    """A socket for both shows an IPv4 caller as `::ffff:127.0.0.2`."""
    async with an_entrance(tmp_path, clock, **PROXY) as app, on_a_socket(app, "::") as port:
        street = Street(port)
        assert (await street.looks((HEADER, "mira"), at="::1", to="::1")).json()["name"] == "person:mira"
        assert (await street.looks((HEADER, "mira"), at="127.0.0.2")).json()["name"] == "person:mira"
        assert (await street.looks((HEADER, "mira"), at="127.0.0.1")).status_code == 403


async def test_a_header_of_a_proxy_that_is_not_configured_is_nobody(tmp_path: Path, clock: HandClock) -> None:
    async with (
        an_entrance(tmp_path, clock, LEADPROOF_REVIEWERS="mira:admin") as app,
        on_a_socket(app, "127.0.0.1") as port,
    ):
        assert (await Street(port).looks((HEADER, "mira"), at="127.0.0.1")).status_code == 401


# ---- beside a link ---------------------------------------------------------------------------------------------------
async def test_who_the_proxy_names_counts_before_a_session_and_a_spoofed_name_ends_it(
    tmp_path: Path, clock: HandClock
) -> None:
    async with an_entrance(tmp_path, clock, **PROXY) as app:
        with a_browser(app, clock, at="127.0.0.2") as visitor:
            await visitor.signs_in()
            assert (await visitor.looks()).json()["name"] == "api:decide"
            assert (await visitor.looks(**{HEADER: "kofi"})).json()["name"] == "person:kofi"
            assert (await visitor.looks(**{HEADER: "stranger"})).status_code == 403
            cookie = {"cookie": f"leadproof_review={visitor.cookie}"}
        with a_browser(app, clock, at="127.0.0.1") as outside:
            assert (await outside.looks(**cookie)).json()["name"] == "api:decide"
            assert (await outside.looks(**cookie, **{HEADER: "kofi"})).status_code == 403
            assert (await outside.http.get("/review/sign-in", headers={HEADER: "kofi"})).status_code == 403


async def test_the_form_of_one_person_is_not_taken_from_another(tmp_path: Path, clock: HandClock) -> None:
    async with an_entrance(tmp_path, clock, **PROXY) as app:
        with a_browser(app, clock, at="127.0.0.2") as browser:
            kofi, mira = {HEADER: "kofi"}, {HEADER: "mira"}
            shown = {name: (await browser.looks(**{HEADER: name})).json()["csrf"] for name in ("kofi", "mira")}
            assert shown["kofi"] != shown["mira"]
            assert (await browser.acts(shown["kofi"], **kofi)).status_code == 200
            assert (await browser.acts(shown["kofi"], **mira)).status_code == 403
            assert (await browser.acts(**mira)).status_code == 200
            answers = await asyncio.gather(*(_signs_in_and_shows(browser) for _ in range(2)))
            assert (await browser.acts(answers[0], **mira)).status_code == 403


async def _signs_in_and_shows(browser: Visitor) -> str:
    await browser.signs_in()
    csrf: str = (await browser.looks()).json()["csrf"]
    return csrf
