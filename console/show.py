"""What the scenes of the demonstration have in common: deliver, wait, look at API, Temporal and witness."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from console import hubspot_signature, recorded
from console.sending import HUBSPOT_PATH
from console.stack import Stack, StoppedEarly
from console.tables import say
from console.witness import Witness
from leadproof.domain.field_catalog import ABOUT_THE_LEAD
from leadproof.domain.wording import reason_in_words

if TYPE_CHECKING:
    from temporalio.client import Client

T = TypeVar("T")

_PATIENCE_SECONDS = 30.0
_LOOK_SECONDS = 0.1
_FINAL = frozenset({"observed", "superseded", "abandoned"})


class NotAsAnnounced(Exception):
    """Something did not turn out as the demonstration said it would."""


@dataclass
class Row:
    """One line of the final table.

    Attributes:
        wrong: what was not as announced.
    """

    lead: str
    asked: str = ""
    delivered: str = ""
    written: str = ""
    observed: str = ""
    waits: str = ""
    wrong: list[str] = field(default_factory=list)


class Show:
    """One scene's hands: what it does is said as it happens, under the lead's name."""

    def __init__(self, stack: Stack, api: httpx.AsyncClient, temporal: Client, witness: Witness, row: Row) -> None:
        self.stack = stack
        self.witness = witness
        self.temporal = temporal
        self.row = row
        self._api = api
        self._counts: dict[str, int] = {}

    def say(self, line: str) -> None:
        say(f"  {self.row.lead:<18} {line}")

    def expect(self, holds: bool, announced: str) -> None:
        """Note it when something is not as announced."""
        if not holds:
            self.row.wrong.append(announced)
            self.say(f"NOT AS ANNOUNCED: {announced}")

    async def deliver(self, recording: str, *record_ids: str, counted: bool = True) -> dict[str, int]:
        """Deliver a recording, signed as HubSpot signs; the starter's counts."""
        body = recorded.delivery(recording, *record_ids)
        url = self.stack.addresses.starter + HUBSPOT_PATH
        headers = hubspot_signature.headers(self.stack.secrets.hubspot, url, body)
        answer = await self._api.post(HUBSPOT_PATH, content=body, headers=headers)
        if answer.status_code != 200:
            raise NotAsAnnounced(f"the starter answered {answer.status_code} to a delivery")
        counts: dict[str, int] = answer.json()
        if counted:
            self.count(counts)
        return counts

    async def submit(self, lead: dict[str, Any]) -> dict[str, Any]:
        """Send a lead as the website's form would; the starter's answer."""
        answer = await self._api.post("/v1/leads", json=lead)
        if answer.status_code != 202:
            raise NotAsAnnounced(f"the starter answered {answer.status_code} to a lead")
        taken: dict[str, Any] = answer.json()
        self.count({taken["result"]: 1})
        return taken

    def count(self, counts: dict[str, int]) -> None:
        """Add a delivery's counts to the row."""
        for name in ("started", "duplicate"):
            self._counts[name] = self._counts.get(name, 0) + counts.get(name, 0)
        self.row.delivered = ", ".join(f"{number} {name}" for name, number in self._counts.items() if number)

    async def mutation(self, record_id: str) -> dict[str, Any] | None:
        """The mutation for a contact, with attempts, observations and review, as the API has it."""
        listed = await self._get("/v1/mutations", source_record_id=record_id)
        if not listed["items"]:
            return None
        found: dict[str, Any] = await self._get(f"/v1/mutations/{listed['items'][0]['mutation_key']}")
        return found

    async def until_mutation(
        self, record_id: str, holds: Callable[[dict[str, Any]], bool], what: str
    ) -> dict[str, Any]:
        """Wait until a contact's mutation stands where it is announced to stand.

        Raises:
            NotAsAnnounced: it ended elsewhere, or did not get there in time.
        """

        async def look() -> dict[str, Any] | None:
            found = await self.mutation(record_id)
            if found is None or holds(found):
                return found
            if found["status"] in _FINAL:
                raise NotAsAnnounced(f"{what}: it is {found['status']} ({found['reason']})")
            return None

        return await self.until(look, what)

    async def until_mutations(
        self, record_id: str, holds: Callable[[list[dict[str, Any]]], bool], what: str
    ) -> list[dict[str, Any]]:
        """Wait until all mutations of a contact's event, in order, stand where they are announced to stand.

        Raises:
            NotAsAnnounced: they did not get there in time.
        """

        async def look() -> list[dict[str, Any]] | None:
            listed = (await self._get("/v1/mutations", source_record_id=record_id))["items"]
            found = [await self._get(f"/v1/mutations/{one['mutation_key']}") for one in listed]
            ordered = sorted(found, key=lambda one: int(one["ordinal"]))
            return ordered if holds(ordered) else None

        return await self.until(look, what)

    async def lead(self, event_key: str) -> dict[str, Any]:
        found: dict[str, Any] = await self._get(f"/v1/leads/{event_key}")
        return found

    async def until(self, look: Callable[[], Awaitable[T | None]], what: str) -> T:
        """Look again and again until there is an answer that is not empty.

        Raises:
            NotAsAnnounced: there was none in time.
            StoppedEarly: told to stop.
        """
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            answer = await look()
            if answer:
                return answer
            if self.stack.stopping:
                raise StoppedEarly
            if time.monotonic() > deadline:
                raise NotAsAnnounced(f"{what} did not happen within {_PATIENCE_SECONDS:.0f} s")
            await asyncio.sleep(_LOOK_SECONDS)

    async def approve_by_signal(self, workflow_id: str, review: dict[str, Any]) -> None:
        """Decide a review item with nothing but a Temporal signal, and say how anybody could."""
        decision = {
            "review_id": review["review_id"],
            "version": review["version"],
            "decision": "approve",
            "reason": "shown in the demonstration",
        }
        addresses = self.stack.addresses
        self.say("approved by a Temporal signal; the same by hand:")
        say(
            f"      temporal workflow signal --address {addresses.temporal} --namespace {addresses.namespace} "
            f"--workflow-id {workflow_id} --name decide --input '{json.dumps(decision)}'"
        )
        await self.temporal.get_workflow_handle(workflow_id).signal("decide", decision)

    async def witnessed(
        self, record_id: str, mutation: dict[str, Any], *, writes: int, email: str | None = None
    ) -> None:
        """Ask the witness what was written, whatever the ledger says, and note it in the row.

        Args:
            email: of a contact that did not exist before.
        """
        seen = await self.witness.writes(record_id, email)
        self.row.written = str(len(seen))
        self.expect(len(seen) == writes, f"HubSpot carried out {writes} write(s) of this contact, not {len(seen)}")
        intended = mutation["intended_state"]["fields"]
        decided = {name: value for name, value in intended.items() if name not in ABOUT_THE_LEAD}
        self.row.asked = ", ".join(f"{name}={value}" for name, value in decided.items())
        self.row.observed = mutation["status"] + (f" ({mutation['reason']})" if mutation["reason"] else "")
        review = mutation["review"]
        self.row.waits = (
            f"{review['queue']}: {reason_in_words(review['reason'])}"
            if review and review["state"] == "open"
            else "nobody"
        )

    async def _get(self, path: str, **query: str) -> Any:
        answer = await self._api.get(path, params=query)
        if answer.status_code != 200:
            raise NotAsAnnounced(f"the starter answered {answer.status_code} to a question")
        return answer.json()
