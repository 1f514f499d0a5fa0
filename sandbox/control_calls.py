"""How a call of the control plane is read, and how it is told why it cannot be done."""

import json
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.provider import Refused, UnknownRecord

Handler = Callable[[Request], Awaitable[Response]]


async def asked_of(request: Request, *names: str) -> dict[str, Any]:
    """The JSON object of a call, which has no other members than these."""
    raw = await request.body()
    asked = json.loads(raw) if raw else {}
    if not isinstance(asked, dict):
        raise ValueError("an object is expected")  # noqa: TRY004
    unknown = sorted(set(asked) - set(names))
    if unknown:
        raise ValueError(f"unknown: {', '.join(unknown)}")
    return asked


def explained(handler: Handler) -> Handler:
    """Answer what cannot be done with 404 or 422 and why."""

    @wraps(handler)
    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except UnknownRecord as missing:
            return JSONResponse({"error": f"not found: {missing}"}, status_code=404)
        except Refused as refused:
            return JSONResponse({"error": "refused", "body": refused.body}, status_code=422)
        except (ValueError, TypeError, KeyError) as error:
            return JSONResponse({"error": str(error)}, status_code=422)

    return answered
