"""Every request that a provider received, in order of arrival."""

from dataclasses import asdict, dataclass
from typing import Any

from sandbox.wire import Call


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
        entry = Entry(at, provider, operation, call.method, call.target, _without_token(call.body))
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


def _without_token(body: Any) -> Any:
    return {**body, "tokenKey": "(hidden)"} if isinstance(body, dict) and "tokenKey" in body else body
