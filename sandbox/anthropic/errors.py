"""The envelope with which the Messages API says no."""

from typing import Any

from sandbox.anthropic.identifiers import request_id
from sandbox.wire import Answer

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
MESSAGES = {
    401: "Authentication error",
    402: "Billing error",
    403: "Permission denied",
    404: "Not found",
    429: "Rate limited",
    500: "Internal server error",
    503: "Service unavailable",
    504: "Request timeout",
    529: "Overloaded",
}


class ApiError(Exception):
    """A request that the API refuses."""

    def __init__(self, status: int, message: str | None = None, *, retry_after: float | None = None) -> None:
        super().__init__(message or MESSAGES.get(status, f"The request was answered {status}"))
        self.status = status
        self.retry_after = retry_after

    def answer(self) -> Answer:
        headers = {} if self.retry_after is None else {"retry-after": f"{self.retry_after:g}"}
        return Answer(self.status, envelope(self.status, str(self)), headers)


def invalid(message: str) -> ApiError:
    return ApiError(400, message)


def envelope(status: int, message: str) -> dict[str, Any]:
    kind = TYPES.get(status) or ("invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id()}
