"""What a fault may be told to answer: only what can be sent."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

STATUSES = range(200, 600)
WITHOUT_BODY = frozenset({204, 304})
"""Answers with these, and those below 200, have no body and no end of their own (RFC 9110, 6.4.1 and 15.2)."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LINE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_FRAMING = frozenset({"content-length", "transfer-encoding"})


def check(args: Any) -> None:
    """Refuse what no answer can be made of.

    Raises:
        TypeError, ValueError: saying what is wrong.
    """
    if not isinstance(args, dict):
        raise TypeError("args is an object")
    if "status" in args and not _can_answer(args["status"]):
        raise ValueError("args.status is a whole number from 200 to 599, but 204 and 304, which have no body")
    seconds = args.get("seconds", 1)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError("args.seconds is a number")
    if not (math.isfinite(seconds) and seconds >= 0):
        raise ValueError("args.seconds is at least 0 and not without end")
    headers = args.get("headers", {})
    if not isinstance(headers, dict):
        raise TypeError("args.headers is an object")
    further = {name: args[name] for name in ("retry_after", "content_type") if name in args}
    _check_headers(headers | {name.replace("_", "-"): value for name, value in further.items()})
    try:
        json.dumps(args.get("body"), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("args.body has a character that cannot be sent") from None


def _can_answer(status: Any) -> bool:
    return type(status) is int and status in STATUSES and status not in WITHOUT_BODY


def _check_headers(headers: Mapping[str, Any]) -> None:
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _LINE.fullmatch(str(value)):
            raise ValueError(f"{name!r} is no header that can be sent")
        if name.lower() in _FRAMING:
            raise ValueError(f"{name} is the sandbox's own to set")
