"""Pages from templates: everything is escaped, and what cannot be seen is made visible."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from leadproof.domain.review import ReviewItem, ReviewState
from leadproof.domain.wording import lasting
from starter import problems
from starter.problems import Problem
from starter.review.security import PATH
from starter.review.viewer import NotSignedIn, Viewer
from starter.review.wanted import remember

_HERE: Final = Path(__file__).parent
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_NO_PAGE: Final = "This page does not exist"
_A_YEAR: Final = "public, max-age=31536000, immutable"

_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that change how others are shown, or are not shown: a lead's text must look like what it is."""


def visible(value: Any) -> Any:
    """A text with every character that hides or turns others written out."""
    if type(value) is not str:  # what is marked as safe is ours
        return value
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", value.replace("\r\n", "\n"))


def moment(at: datetime) -> str:
    """A moment for people, to the second."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _machine(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def due_in_words(due_at: datetime, now: datetime) -> str:
    """When something is due, seen from now."""
    left = due_at - now
    return f"overdue by {lasting(left)}" if left < timedelta(0) else f"due in {lasting(left)}"


def ends_in_words(item: ReviewItem, now: datetime) -> str | None:
    """What happens to an open question that nobody decides, where the policy says so."""
    if item.expires_at is None or item.state is not ReviewState.OPEN:
        return None
    left = item.expires_at - now
    return f"given up in {lasting(left)}" if left > timedelta(0) else "is being given up"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=visible,
        auto_reload=False,
    )
    made.filters |= {"moment": moment, "machine": _machine, "sentence": _sentence}
    return made


_TEMPLATES: Final = _environment()


class _File(NamedTuple):
    body: bytes
    media_type: str
    digest: str


class Pages:
    """Renders the pages of one application.

    Args:
        public_url: where people find the starter; its path stands before every address of a page.
    """

    def __init__(self, public_url: str) -> None:
        self._public_url = public_url
        self.root = urlsplit(public_url).path.rstrip("/") + PATH
        self._files = dict(_files())

    def page(self, name: str, *, viewer: Viewer | None, status: int = 200, **values: Any) -> HTMLResponse:
        """A whole page, or a part of one, from its template."""
        static = {name: f"{self.root}/static/{file.digest}/{name}" for name, file in self._files.items()}
        rendered = _TEMPLATES.get_template(name).render(viewer=viewer, root=self.root, static=static, **values)
        return HTMLResponse(rendered, status)

    def answer(self, request: Request, problem: Problem) -> Response:
        """A problem as whoever asked can read it: a page where people look, else problem+json."""
        path = request.url.path
        if not (path == PATH or path.startswith(f"{PATH}/")):
            return problem.response()
        answer = self.problem(problem)
        if isinstance(problem, NotSignedIn):
            remember(request, answer, self._public_url)
        return answer

    def problem(self, problem: Problem) -> HTMLResponse:
        """An error, for people."""
        answer = self.page(
            "problem.html",
            viewer=None,
            status=problem.status,
            title=_NO_PAGE if problem.slug == "not-found" else problem.title,
            sentence=problem.detail or problem.title,
            named=problem.members.get("named"),
            typed=problem.members.get("typed"),
            nobody=isinstance(problem, NotSignedIn),
        )
        answer.headers.update({name: value for name, value in problem.headers.items() if name != "WWW-Authenticate"})
        return answer

    def static(self, digest: str, name: str) -> Response:
        """A file of the pages, kept for a year: its address says what is in it.

        Raises:
            Problem: 404.
        """
        file = self._files.get(name)
        if file is None or file.digest != digest:
            raise problems.not_found("no such file is part of the page")
        return Response(file.body, media_type=file.media_type, headers={"Cache-Control": _A_YEAR})


def _files() -> Iterator[tuple[str, _File]]:
    for path in sorted((_HERE / "static").iterdir()):
        if path.suffix in _TYPES:
            body = path.read_bytes()
            yield path.name, _File(body, _TYPES[path.suffix], hashlib.sha256(body).hexdigest()[:16])
