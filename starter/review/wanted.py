"""Where somebody wanted to go who was not signed in: kept in their browser, until they are."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import Response

from starter.review.security import PATH

COOKIE: Final = "leadproof_review_wanted"
_LASTS_SECONDS: Final = 3600
_MOST_TEXT: Final = 1000
_DECISIONS: Final = "/decisions"
_OURS: Final = re.compile(r"(/[0-9a-f]{64}|/why)?(\?[A-Za-z0-9._~%&=+-]*)?")
"""What may stand behind `/review`: a question, the page of reasons, or the queue. Nothing that leads elsewhere."""


def cookie_of(public_url: str) -> dict[str, Any]:
    """How a cookie is kept: from scripts, from other sites' forms, and from the rest of our addresses."""
    parts = urlsplit(public_url)
    return {
        "path": parts.path.rstrip("/") + PATH,
        "secure": parts.scheme == "https",
        "httponly": True,
        "samesite": "lax",
    }


def remember(request: Request, answer: Response, public_url: str) -> None:
    """Keep which page was asked for, where it is one to come back to."""
    # a form that was sent is lost, and the page that it stood on is the one to come back to
    path = request.url.path.removeprefix(PATH).removesuffix(_DECISIONS)
    asked = path + (f"?{request.url.query}" if request.method == "GET" and request.url.query else "")
    if asked and _ours(asked):
        answer.set_cookie(COOKIE, asked, max_age=_LASTS_SECONDS, **cookie_of(public_url))


def wanted(request: Request) -> str:
    """What is to stand behind `/review` once somebody is signed in; nothing, for the queue."""
    asked = request.cookies.get(COOKIE, "")
    return asked if _ours(asked) else ""


def forget(request: Request, answer: Response, public_url: str) -> None:
    """Somebody is where they wanted to go."""
    if COOKIE in request.cookies:
        answer.delete_cookie(COOKIE, **cookie_of(public_url))


def _ours(asked: str) -> bool:
    return len(asked) <= _MOST_TEXT and _OURS.fullmatch(asked) is not None
