"""Errors as `application/problem+json` (RFC 9457) with a type that stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from leadproof.domain.errors import LedgerOutdated, LedgerUnavailable, NotFound
from starter.start import TemporalUnavailable

RETRY_AFTER_SECONDS = 5

OUT_OF_REACH = (LedgerUnavailable, LedgerOutdated, TemporalUnavailable)
"""What a caller can only wait out; the same request again completes whatever was begun."""


class Problem(Exception):
    """An answer that is an error.

    Args:
        status: HTTP status.
        slug: last part of the type, which stays as it is.
        title: the same for every problem of this type.
        detail: what is wrong this time, one sentence, no personal data.
        members: further members of the problem.
    """

    def __init__(
        self,
        status: int,
        slug: str,
        title: str,
        detail: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        **members: Any,
    ) -> None:
        super().__init__(detail or title)
        self.status = status
        self.slug = slug
        self.title = title
        self.detail = detail
        self.headers = dict(headers or {})
        self.members = members

    def response(self) -> JSONResponse:
        body: dict[str, Any] = {
            "type": f"urn:leadproof:problem:{self.slug}",
            "title": self.title,
            "status": self.status,
            **({"detail": self.detail} if self.detail is not None else {}),
            **jsonable_encoder(self.members),
        }
        return JSONResponse(body, self.status, self.headers, media_type="application/problem+json")


def unauthenticated() -> Problem:
    return Problem(401, "unauthenticated", "No valid API token", headers={"WWW-Authenticate": "Bearer"})


def forbidden(right: str) -> Problem:
    return Problem(403, "forbidden", "The API token lacks the right", f"this call needs the right {right!r}")


def not_your_queue() -> Problem:
    return Problem(403, "forbidden", "This queue is not yours", "questions of this queue are decided by others")


def bad_signature() -> Problem:
    return Problem(401, "signature", "The signature is missing, wrong, stale or from the future")


def too_large(most: int) -> Problem:
    return Problem(413, "too-large", "The body is too large", f"a body has at most {most} bytes")


def unsupported_media_type(wanted: str) -> Problem:
    return Problem(415, "media-type", "The body is another kind by its headers", f"send {wanted}, not encoded")


def malformed(detail: str) -> Problem:
    return Problem(422, "malformed", "The request cannot be used", detail)


def key_conflict(event_key: str) -> Problem:
    detail = "this event stands with another payload; neither the old nor the new one was used"
    return Problem(409, "key-conflict", "The same event with another payload", detail, event_key=event_key)


def decision_refused(verdict: str, why: str | None, answer: Mapping[str, Any]) -> Problem:
    members = {name: value for name, value in answer.items() if name != "why"}
    return Problem(409, f"decision-{verdict}", "The decision was not applied", why, **members)


def decision_id_taken() -> Problem:
    return Problem(409, "decision-id-taken", "The decision_id stands for another decision")


def still_unusable(why: str) -> Problem:
    return Problem(409, "still-unusable", "The event still cannot be used", why)


def not_found(what: str) -> Problem:
    return Problem(404, "not-found", "Nothing stands here", what)


def no_route() -> Problem:
    """What an address answers that is none; for an address that only its caller knows."""
    return Problem(404, "not-found", "Not Found")


def unavailable(detail: str) -> Problem:
    return Problem(503, "unavailable", "Try again", detail, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


Shown = Callable[[Request, Problem], Response]
"""How a problem is answered to a request."""


def _as_json(_: Request, problem: Problem) -> Response:
    return problem.response()


def install(app: FastAPI, shown: Shown = _as_json) -> None:
    """Answer every error of an application as a problem.

    Args:
        shown: where some addresses are for people, who are answered with a page.
    """

    @app.exception_handler(Problem)
    async def _problem(request: Request, error: Problem) -> Response:
        return shown(request, error)

    async def _unavailable(request: Request, error: Exception) -> Response:
        return shown(request, unavailable(str(error)))

    for out_of_reach in OUT_OF_REACH:
        app.add_exception_handler(out_of_reach, _unavailable)

    @app.exception_handler(NotFound)
    async def _not_found(request: Request, error: Exception) -> Response:
        return shown(request, not_found(str(error)))

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        places = sorted({".".join(str(part) for part in item["loc"])[:100] for item in error.errors()})
        return shown(request, malformed(f"these are missing or wrong: {', '.join(places)}"))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        slug = {404: "not-found", 405: "method"}.get(error.status_code, "http")
        return shown(request, Problem(error.status_code, slug, str(error.detail), headers=error.headers))

    @app.exception_handler(Exception)
    async def _internal(request: Request, __: Exception) -> Response:
        return shown(request, Problem(500, "internal", "A fault of the starter"))
