"""Every request that a provider received, in order of arrival."""

from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import parse_qsl

from sandbox.wire import Call

SIGN_IN = "token.create"


@dataclass(slots=True)
class Entry:
    """`status` is null until the answer left, and stays so where it was dropped. Headers and tokens are never kept."""

    at: str
    provider: str
    operation: str | None
    method: str
    path: str
    body: Any
    status: int | None = None
    applied: bool = False


class RequestLog:
    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def received(self, at: str, provider: str, operation: str | None, call: Call) -> Entry:
        path, body = _without_secrets(operation, call)
        entry = Entry(at, provider, operation, call.method, path, body)
        self._entries.append(entry)
        return entry

    def entries(self, provider: str | None = None, operation: str | None = None) -> list[dict[str, Any]]:
        return [
            asdict(entry)
            for entry in self._entries
            if provider in {None, entry.provider} and operation in {None, entry.operation}
        ]

    def clear(self) -> None:
        self._entries.clear()


def _without_secrets(operation: str | None, call: Call) -> tuple[str, Any]:
    """The path and the body to keep: of a sign-in only what it asks for, and no token that is asked about."""
    body = call.body
    if operation == SIGN_IN:
        asked = dict(parse_qsl(body)).get("grant_type") if isinstance(body, str) else None
        return call.target.partition("?")[0], {"grant_type": asked}
    if isinstance(body, dict) and "tokenKey" in body:
        body = {**body, "tokenKey": "(hidden)"}
    return call.target, body
