"""The sandbox as a witness: what HubSpot, Salesforce and Claude really received, without going through our code."""

from __future__ import annotations

import json
from typing import Any

import httpx

_PROVIDER = "hubspot"
_SALESFORCE = "salesforce"
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
        """Let the next write of this contact meet a fault."""
        await self._arm(_PROVIDER, "contacts.write", kind, record_id, args)

    async def arm_salesforce(self, kind: str, email: str, **args: Any) -> None:
        """Let the next write of the lead with this address meet a fault."""
        await self._arm(_SALESFORCE, "leads.write", kind, email, args)

    async def _arm(self, provider: str, operation: str, kind: str, match: str, args: dict[str, Any]) -> None:
        fault = {"provider": provider, "operation": operation, "kind": kind, "times": 1, "match": match, "args": args}
        (await self._client.post("/faults", json=fault)).raise_for_status()

    async def writes(self, record_id: str, email: str | None = None) -> list[dict[str, Any]]:
        """Every write that HubSpot received for this record and carried out; with `email`, those that name it too."""
        answer = await self._client.get("/requests", params={"provider": _PROVIDER, "operation": "contacts.write"})
        path = f"/contacts/{record_id}"
        return [
            request
            for request in answer.raise_for_status().json()
            if request["applied"]
            and (
                request["path"].partition("?")[0].endswith(path)
                or (email is not None and email in json.dumps(request["body"]))
            )
        ]

    async def salesforce_leads(self, email: str) -> list[dict[str, Any]]:
        """The leads with this address that Salesforce holds: their fields."""
        answer = await self._client.get("/records", params={"provider": _SALESFORCE, "object": "leads"})
        held = [dict(one["properties"]) for one in answer.raise_for_status().json()]
        return [fields for fields in held if fields.get("Email") == email]

    async def salesforce_writes(self, email: str) -> list[dict[str, Any]]:
        """Every write that Salesforce received for the lead with this address and carried out."""
        answer = await self._client.get("/requests", params={"provider": _SALESFORCE, "operation": "leads.write"})
        return [
            request
            for request in answer.raise_for_status().json()
            if request["applied"] and email in json.dumps(request["body"])
        ]

    async def claude_paraphrases(self, **values: Any) -> None:
        """From now on Claude's stand-in proposes the same values in other words and another order each time."""
        script = {"script": "paraphrase", "args": {"sets": values}}
        (await self._client.post("/anthropic", json=script)).raise_for_status()

    async def claude_as_usual(self) -> None:
        """Claude's stand-in answers as it does when nobody told it anything."""
        (await self._client.delete("/anthropic")).raise_for_status()

    async def claude_calls(self, words: str) -> list[dict[str, Any]]:
        """Every call that Claude's stand-in received in which these words stand."""
        answer = await self._client.get("/requests", params={"provider": "anthropic", "operation": "messages.create"})
        return [request for request in answer.raise_for_status().json() if words in json.dumps(request["body"])]

    async def record(self, record_id: str) -> dict[str, Any]:
        """The properties that HubSpot holds for this record."""
        answer = await self._client.get("/records", params={"provider": _PROVIDER, "object": "contacts"})
        found = next(one for one in answer.raise_for_status().json() if str(one["id"]) == record_id)
        return dict(found["properties"])
