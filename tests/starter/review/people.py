"""People at the review page: each comes through a proxy that knows their name, and uses what the page shows them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Protocol

import httpx
from temporalio.client import Client

from tests.starter.door import Door, a_door, settings_of

HEADER = "X-Forwarded-User"
PAGE = {
    "LEADPROOF_REVIEW_KEY": "the-key-of-the-review-page",
    "LEADPROOF_REVIEW_PROXY_HEADER": HEADER,
    "LEADPROOF_REVIEW_PROXY_ADDRESSES": "127.0.0.1",
    "LEADPROOF_REVIEWERS": "dana:reviewer,kofi:reviewer:enterprise,mira:viewer,tom:viewer:enterprise,ada:admin",
    "LEADPROOF_TEMPORAL_UI_URL": "http://temporal.example/",
}
_APART = frozenset({"button", "caption", "dd", "div", "dt", "h1", "h2", "li", "p", "q", "td", "th", "tr"})
"""What a browser shows apart from what stands before it."""

_VOID = frozenset({"meta", "link", "input"})


class Read(HTMLParser):
    """A page as a browser takes it apart; every element that was opened must have been closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == [], self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in _APART:
            self.texts.append(" ")
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"<{tag}/> is no HTML")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.texts))

    def all(self, tag: str, **having: str) -> list[dict[str, str | None]]:
        return [
            attrs
            for name, attrs in self.elements
            if name == tag and all(attrs.get(one) == value for one, value in having.items())
        ]

    @property
    def links(self) -> list[str]:
        return [str(one["href"]) for one in self.all("a")]

    @property
    def rows(self) -> list[str]:
        """Ids of the questions that are listed, in their order."""
        return [link.removeprefix("/review/") for link in self.links if re.fullmatch(r"/review/[0-9a-f]{64}", link)]

    def offered(self) -> list[str | None]:
        """The decisions that there is a button for."""
        return [one.get("value") for one in self.all("button", name="decision")]

    def looks(self) -> str:
        """The address that this page asks for what is new."""
        (address,) = [str(attrs["hx-get"]) for _, attrs in self.elements if "hx-get" in attrs]
        return address

    def fields(self) -> dict[str, str]:
        """What its forms carry unseen."""
        return {str(one["name"]): one.get("value") or "" for one in self.all("input", type="hidden")}


def clicked(page: Read, decision: str, reason: str = "looks right", **more: str) -> dict[str, str]:
    """The form of a page as it goes out when a decision's button is pressed, everything read."""
    read = {f"read_{decision}": "yes"} if page.all("input", name=f"read_{decision}") else {}
    return {**page.fields(), "decision": decision, "reason": reason, **read, **more}


class Place(Protocol):
    """Where there is a starter."""

    http: httpx.AsyncClient


class Person:
    """Somebody whom the proxy names."""

    def __init__(self, place: Place, name: str) -> None:
        self._http = place.http
        self._headers = {HEADER: name}

    async def get(self, path: str, **query: Any) -> httpx.Response:
        return await self._http.get(path, params=query or None, headers=self._headers)

    async def reads(self, path: str, **query: Any) -> Read:
        answer = await self.get(path, **query)
        assert answer.status_code == 200, answer.text
        return Read(answer.text)

    async def opens(self, review_id: str) -> Read:
        return await self.reads(f"/review/{review_id}")

    async def posts(self, path: str, fields: dict[str, str]) -> httpx.Response:
        return await self._http.post(path, data=fields, headers=self._headers)

    async def sends(self, review_id: str, fields: dict[str, str]) -> httpx.Response:
        return await self.posts(f"/review/{review_id}/decisions", fields)

    async def decides(self, review_id: str, decision: str, reason: str = "looks right", **more: str) -> httpx.Response:
        """Open the question, and click."""
        return await self.sends(review_id, clicked(await self.opens(review_id), decision, reason, **more))

    async def decided(self, review_id: str, decision: str, reason: str = "looks right", **more: str) -> Read:
        """Open the question, click, and go where the browser is sent."""
        return await self.follows(await self.decides(review_id, decision, reason, **more))

    async def follows(self, answer: httpx.Response) -> Read:
        """Where the browser is sent after a decision."""
        assert answer.status_code == 303, answer.text
        return await self.reads(answer.headers["location"])

    async def looks_again(self, page: Read) -> Read | None:
        """What an open page asks for by itself; `None` where it shows that already."""
        answer = await self.get(page.looks())
        assert answer.status_code in {200, 204}, answer.text
        return Read(answer.text) if answer.status_code == 200 else None


@asynccontextmanager
async def a_review_door(client: Client, folder: Path, **changes: Any) -> AsyncIterator[Door]:
    """The starter with its review page, behind a proxy at 127.0.0.1."""
    async with a_door(client, folder, settings=settings_of(**{**PAGE, **changes})) as door:
        yield door
