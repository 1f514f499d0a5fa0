"""The sandbox's control plane, as tests call it."""

import time
from collections.abc import Callable
from typing import Any

import httpx

AUTHORIZED = {"authorization": "Bearer any"}
CONTACTS = "/hubspot/crm/v3/objects/contacts"


class Control:
    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def get(self, path: str, **query: str) -> Any:
        return self._answer(self._client.get(f"/_sandbox{path}", params=query))

    def post(self, path: str, body: Any = None) -> Any:
        return self._answer(self._client.post(f"/_sandbox{path}", json=body))

    def put(self, path: str, body: Any) -> Any:
        return self._answer(self._client.put(f"/_sandbox{path}", json=body))

    def delete(self, path: str, body: Any = None) -> Any:
        return self._answer(self._client.request("DELETE", f"/_sandbox{path}", json=body))

    def fault(self, kind: str, operation: str = "contacts.write", **fault: Any) -> None:
        self.post("/faults", {"provider": "hubspot", "operation": operation, "kind": kind, **fault})

    def person(self, user: str = "9002", record: str | None = None, **properties: str) -> dict[str, Any]:
        asked = {"provider": "hubspot", "object": "contacts", "id": record, "user": user, "properties": properties}
        answer: dict[str, Any] = self.put("/records", asked)
        return answer

    def records(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.get("/records", provider="hubspot", object="contacts")
        return rows

    def record(self, record: str) -> dict[str, Any]:
        return next(row for row in self.records() if row["id"] == record)

    def requests(self, operation: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.get("/requests", provider="hubspot", operation=operation)
        return rows

    def advance(self, seconds: float) -> None:
        self.put("/clock", {"advance_seconds": seconds})

    @staticmethod
    def _answer(response: httpx.Response) -> Any:
        response.raise_for_status()
        return response.json() if response.content else None


def eventually(condition: Callable[[], Any], within: float = 5.0) -> Any:
    """What `condition` gives, as soon as that is true."""
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("did not come true in time")
        time.sleep(0.01)
