"""What every answer under `/review` says to the browser: errors, static files and redirects too."""

from __future__ import annotations

from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATH: Final = "/review"

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # with no-referrer a browser hides where a form comes from, from us as well
    "X-Content-Type-Options": "nosniff",
}

_KEPT_NOWHERE: Final = "no-store"


def secure(app: Starlette) -> None:
    """Put the headers around everything of an application, the answer to a fault of ours included."""
    build = app.build_middleware_stack  # what is added as a middleware stands inside of where faults are answered
    app.build_middleware_stack = lambda: ReviewHeaders(build())  # type: ignore[method-assign]


class ReviewHeaders:
    """Puts the headers on what an application answers under `/review`, and leaves the rest alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or not (path == PATH or path.startswith(f"{PATH}/")):
            await self._app(scope, receive, send)
            return

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", _KEPT_NOWHERE)  # a static file says for itself how long it is kept
            await send(message)

        await self._app(scope, receive, answered)
