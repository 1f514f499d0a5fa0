"""The raw bytes of a request, within bounds."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from fastapi import Request
from starlette.requests import ClientDisconnect

from starter import problems

MOST_BYTES: Final = 1024 * 1024


JSON: Final = "application/json"
XML: Final = "text/xml"
FORM: Final = "application/x-www-form-urlencoded"


def check_json(request: Request) -> None:
    """Refuse what is no JSON by its headers.

    Raises:
        Problem: 415.
    """
    _check(request, JSON, ("", "charset=utf-8"))


def check_xml(request: Request) -> None:
    """Refuse what is no XML by its headers, in one of the encodings that every parser of it knows.

    Raises:
        Problem: 415.
    """
    _check(request, XML, ("", "charset=utf-8", "charset=utf-16"))


def check_form(request: Request) -> None:
    """Refuse what is no form by its headers.

    Raises:
        Problem: 415.
    """
    _check(request, FORM, ("", "charset=utf-8"))


def _check(request: Request, wanted: str, charsets: Collection[str]) -> None:
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace(" ", "").replace('"', "")
    if (
        media_type.strip().lower() != wanted
        or charset not in charsets
        or request.headers.get("content-encoding", "identity") != "identity"
    ):
        raise problems.unsupported_media_type(wanted)


async def raw_body(request: Request, *, most: int = MOST_BYTES) -> bytes:
    """The body as it came; a longer one is not read to its end, whatever its headers say of its length.

    Args:
        most: how many bytes it has at most.

    Raises:
        Problem: 413; 400 where the caller went away before the end.
    """
    announced = request.headers.get("content-length", "0")
    if announced.isascii() and announced.isdigit() and int(announced[:20]) > most:
        raise problems.too_large(most)
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise problems.too_large(most)
    except ClientDisconnect:
        raise problems.Problem(400, "incomplete", "The body ended too early") from None
    return bytes(body)
