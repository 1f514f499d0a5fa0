"""The raw bytes of a request, within bounds."""

from __future__ import annotations

from typing import Final

from fastapi import Request
from starlette.requests import ClientDisconnect

from starter import problems

MOST_BYTES: Final = 1024 * 1024


def check_json(request: Request) -> None:
    """Refuse what is no JSON by its headers.

    Raises:
        Problem: 415.
    """
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace(" ", "").replace('"', "")
    if (
        media_type.strip().lower() != "application/json"
        or charset not in ("", "charset=utf-8")
        or request.headers.get("content-encoding", "identity") != "identity"
    ):
        raise problems.unsupported_media_type()


async def raw_body(request: Request) -> bytes:
    """The body as it came; a longer one is not read to its end, whatever its headers say of its length.

    Raises:
        Problem: 413; 400 where the caller went away before the end.
    """
    announced = request.headers.get("content-length", "0")
    if announced.isascii() and announced.isdigit() and int(announced[:20]) > MOST_BYTES:
        raise problems.too_large(MOST_BYTES)
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                raise problems.too_large(MOST_BYTES)
    except ClientDisconnect:
        raise problems.Problem(400, "incomplete", "The body ended too early") from None
    return bytes(body)
