"""The entrance of the review page alone, with one room behind it that says who is in and takes a form."""

from __future__ import annotations

import asyncio
import html
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.settings import Settings
from starter import problems
from starter.auth import Tokens
from starter.review.rendering import Pages
from starter.review.seals import Seals
from starter.review.security import secure
from starter.review.sign_in import COOKIE, ReviewSignIn
from tests.starter.door import POLICY, PUBLIC, TOKENS, settings_of
from tests.support.ledgers import HandClock, OwnedLedger, sqlite_ledger

KEY = "the-key-of-the-review-page"
ROOM = "/review/room"
PROXY_HEADER = "X-Forwarded-User"
PEOPLE = "dana:reviewer,kofi:reviewer:enterprise,mira:viewer,tom:viewer:enterprise,ada:admin"
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)"')


@cache
def policy() -> Policy:
    return parse_policy(POLICY.read_text(encoding="utf-8"))


def review_settings(**changes: Any) -> Settings:
    return settings_of(**{"LEADPROOF_REVIEW_KEY": KEY, "LEADPROOF_TENANT": "acme", **changes})


def seals(key: str = KEY, deployment: str = "acme/test") -> Seals:
    return Seals(key, deployment=deployment)


def an_app(settings: Settings, ledger: OwnedLedger, clock: HandClock) -> FastAPI:
    app = FastAPI()
    entrance = ReviewSignIn(
        settings=settings,
        ledger=ledger,
        policy=policy(),
        clock=clock,
        tokens=Tokens(settings.api_tokens),
        pages=Pages(settings.public_url),
    )

    async def who(request: Request) -> JSONResponse:
        viewer = entrance.viewer(request)
        return JSONResponse(
            {
                "name": viewer.name,
                "role": viewer.role,
                "queues": None if viewer.queues is None else sorted(viewer.queues),
                "csrf": viewer.csrf,
            }
        )

    async def act(request: Request) -> JSONResponse:
        return JSONResponse(dict(await entrance.form(request, entrance.viewer(request))))

    for part in (entrance, entrance.links):
        app.include_router(part.router())
    app.add_api_route(ROOM, who, methods=["GET"], response_model=None)
    app.add_api_route(ROOM, act, methods=["POST"], response_model=None)
    problems.install(app)
    secure(app)
    return app


class Visitor:
    """A browser, and whoever sits before it."""

    def __init__(self, http: httpx.AsyncClient, clock: HandClock) -> None:
        self.http = http
        self.clock = clock

    async def link(self, by: str = "decide") -> str:
        """The text of a new one-time link."""
        made = await self.http.post("/v1/reviews/links", headers={"authorization": f"Bearer {TOKENS[by]}"})
        assert made.status_code == 200, made.text
        return text_of(made.json()["url"])

    async def opens(self, link: str) -> httpx.Response:
        return await self.http.get("/review/sign-in", params={"link": link})

    async def signs_in(self, link: str | None = None, **headers: str) -> httpx.Response:
        data = {"link": await self.link() if link is None else link}
        return await self.http.post("/review/sign-in", data=data, headers=headers)

    async def looks(self, **headers: str) -> httpx.Response:
        return await self.http.get(ROOM, headers=headers)

    async def acts(self, csrf: str | None = None, **headers: str) -> httpx.Response:
        """Send the room's form, as it was shown to this visitor or with another token."""
        token = (await self.looks(**headers)).json()["csrf"] if csrf is None else csrf
        return await self.http.post(ROOM, data={"csrf": token, "reason": "größer & <b>"}, headers=headers)

    @property
    def cookie(self) -> str | None:
        return self.http.cookies.get(COOKIE)


class Named:
    """Somebody whom the proxy names, at the page itself."""

    def __init__(self, http: httpx.AsyncClient, name: str) -> None:
        self._http = http
        self._headers = {PROXY_HEADER: name}

    async def get(self, path: str) -> httpx.Response:
        return await self._http.get(path, headers=self._headers)

    async def sends(self, review_id: str, form: dict[str, str]) -> httpx.Response:
        return await self._http.post(f"/review/{review_id}/decisions", data=form, headers=self._headers)

    async def form(self, review_id: str, decision: str, **more: str) -> dict[str, str]:
        """The form of a question as this person is shown it, with a decision chosen."""
        page = (await self.get(f"/review/{review_id}")).text
        fields = {name: html.unescape(said) for name, said in _HIDDEN.findall(page)}
        return {**fields, "decision": decision, "reason": "we know them", **more}


def form_token(settings: Settings, name: str) -> str:
    """What stands in the forms of somebody whom the proxy names, were they shown one."""
    return seals(deployment=f"{settings.tenant}/{settings.environment}").csrf(f"person:{name}")


def text_of(url: str) -> str:
    (text,) = parse_qs(urlsplit(url).query)["link"]
    return text


def hidden(page: str, name: str) -> str:
    """A hidden field's value, as a browser reads it."""
    return html.unescape(dict(_HIDDEN.findall(page))[name])


@contextmanager
def a_browser(app: FastAPI, clock: HandClock, *, base: str = PUBLIC, at: str = "127.0.0.1") -> Iterator[Visitor]:
    """A browser of its own at an address of its own."""
    transport = httpx.ASGITransport(app=app, client=(at, 50_000))
    yield Visitor(httpx.AsyncClient(transport=transport, base_url=base), clock)


@asynccontextmanager
async def an_entrance(folder: Path, clock: HandClock | None = None, **changes: Any) -> AsyncIterator[FastAPI]:
    clock = clock or HandClock()
    with sqlite_ledger(folder / "ledger.db", clock) as ledger:
        yield an_app(review_settings(**changes), ledger, clock)


@asynccontextmanager
async def on_a_socket(app: FastAPI, host: str) -> AsyncIterator[int]:
    """Serve an application as the starter's process does; the port."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.bind((host, 0))
    server = _Server(uvicorn.Config(app, log_level="warning", lifespan="off", proxy_headers=False, server_header=False))
    with listener:
        listener.listen()
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await running


class _Server(uvicorn.Server):
    """Signals are for whoever runs the tests."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
