"""The sandbox as a witness: what HubSpot really received and holds, without going through our code."""

from __future__ import annotations

from typing import Any

import httpx

_PROVIDER = "hubspot"
PERSON = "9002"
"""The user who edits records in the demonstration."""


class Witness:
    """The sandbox's control plane."""

    def __init__(self, sandbox_url: str) -> None:
        self._client = httpx.AsyncClient(base_url=f"{sandbox_url}/_sandbox", timeout=5, trust_env=False)

    async def close(self) -> None:
        await self._client.aclose()

    async def person_saves(self, properties: dict[str, str], record_id: str | None = None) -> str:
        """A person creates or edits a contact; its id."""
        body = {"provider": _PROVIDER, "object": "contacts", "user": PERSON, "properties": properties}
        if record_id is not None:
            body["id"] = record_id
        answer = await self._client.put("/records", json=body)
        return str(answer.raise_for_status().json()["id"])

    async def arm(self, kind: str, record_id: str, **args: Any) -> None:
        """Let the next write of this record meet a fault."""
        fault = {"provider": _PROVIDER, "operation": "contacts.write", "kind": kind, "times": 1, "match": record_id}
        (await self._client.post("/faults", json={**fault, "args": args})).raise_for_status()

    async def writes(self, record_id: str) -> list[dict[str, Any]]:
        """Every write that HubSpot received for this record and carried out."""
        answer = await self._client.get("/requests", params={"provider": _PROVIDER, "operation": "contacts.write"})
        path = f"/contacts/{record_id}"
        return [
            request
            for request in answer.raise_for_status().json()
            if request["applied"] and request["path"].partition("?")[0].endswith(path)
        ]

    async def record(self, record_id: str) -> dict[str, Any]:
        """The properties that HubSpot holds for this record."""
        answer = await self._client.get("/records", params={"provider": _PROVIDER, "object": "contacts"})
        found = next(one for one in answer.raise_for_status().json() if str(one["id"]) == record_id)
        return dict(found["properties"])
