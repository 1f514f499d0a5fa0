"""Forms of the review page: bounded, readable, and sent from a page of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from fastapi import Request

from starter import problems
from starter.bodies import check_form, raw_body
from starter.problems import Problem

MOST_BYTES: Final = 64 * 1024
_MOST_FIELDS: Final = 100
_MOST_TYPED: Final = 2000
_OURS: Final = frozenset({"same-origin", "none"})
"""What a browser says of a form of ours; `none` is one that a person sends again by reloading."""


def check_origin(request: Request, public_url: str) -> None:
    """Refuse a form that another site's page sent, as far as the browser says where it comes from.

    Raises:
        Problem: 403.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in _OURS:
        raise not_ours("another site's page sent this form")
    origin = request.headers.get("origin")
    host = request.headers.get("host", "")
    # under another name than the public one as well; HTTPS ends in front of us
    ours = {origin_of(public_url), f"{request.url.scheme}://{host}", f"https://{host}"}
    if origin is not None and origin not in ours:
        raise not_ours(f"another site's page sent this form; the review page is at {public_url.rstrip('/')}/review")


async def fields_of(request: Request) -> Mapping[str, str]:
    """The fields of a form, one value each.

    Raises:
        Problem: 413, 415, or 422 where it is no form or a field is there twice.
    """
    check_form(request)
    body = await raw_body(request, most=MOST_BYTES)
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), errors="strict",
            max_num_fields=_MOST_FIELDS,
        )  # fmt: skip
    except ValueError:
        raise problems.malformed("it cannot be read as a form") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise problems.malformed("a field of the form is there twice")
    return fields


async def typed(request: Request, public_url: str) -> str:
    """The reason that stands in a form of ours which cannot be taken, so that it can be shown again; empty where it
    cannot be read."""
    try:
        check_origin(request, public_url)
        return (await fields_of(request)).get("reason", "").strip()[:_MOST_TYPED]
    except Problem:
        return ""


def not_ours(why: str) -> Problem:
    return Problem(403, "form", "The form was not taken", f"nothing was done: {why}")


def origin_of(url: str) -> str:
    """Scheme, host and port of an address, as a browser writes them."""
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}[parts.scheme]
    host = parts.hostname or ""
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}" + (f":{parts.port}" if parts.port not in {None, default} else "")
