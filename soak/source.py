"""Carries a schedule out: people and forms, deliveries, faults, and processes that are killed."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import httpx

from bench.deployment import WEBHOOK, NotAsExpected
from console import hubspot_signature, recorded
from soak.fault_decks import Fault
from soak.schedule import Edit, Kill, Schedule, ScheduledLead
from soak.stack import Stack

_RECORDINGS = ("contact-creation", "contact-creation-retry", "contact-creation-other-event-id")
_PERSON = {"hubspot": "9001", "salesforce": "005xx000001Sv6BAAS"}
_OBJECT = {"hubspot": "contacts", "salesforce": "leads"}
_AGAIN_SECONDS = 0.4
_AT_ONCE = 20
"""Deliveries that wait for their answer at one time, as of a source that keeps few connections."""

_ACKNOWLEDGED = {HTTPStatus.OK, HTTPStatus.ACCEPTED}
_LATER = {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(slots=True)
class Told:
    """What the source has told, and was told.

    Attributes:
        record_ids: by the lead's number, the source's record; of a form the id that it gave itself.
        acknowledged: by the lead's number, how many deliveries were acknowledged; not the sandbox's own.
        put_off: deliveries that were made again.
        refused: edits that the CRM did not let a person make.
    """

    record_ids: dict[int, str] = field(default_factory=dict)
    acknowledged: Counter[int] = field(default_factory=Counter)
    put_off: int = 0
    refused: int = 0
    kills: Counter[str] = field(default_factory=Counter)


class Source:
    """The world around the house.

    Args:
        http: a client without an address of its own.
    """

    def __init__(self, stack: Stack, http: httpx.AsyncClient) -> None:
        self._stack = stack
        self._http = http
        self._lines = asyncio.Semaphore(_AT_ONCE)
        self.told = Told()

    async def carry_out(self, schedule: Schedule) -> None:
        """Do everything, each thing at its time; ends when the last delivery is acknowledged.

        Raises:
            NotAsExpected: the starter refused one, or the sandbox what a person did.
        """
        began = time.monotonic()
        await self._switch_on()
        try:
            async with asyncio.TaskGroup() as tasks:
                for kill in schedule.kills:
                    tasks.create_task(self._kill(kill, began))
                for lead in schedule.leads:
                    tasks.create_task(self._live(lead, began))
        except* (NotAsExpected, httpx.HTTPError) as errors:
            raise NotAsExpected(_first(errors)) from None

    async def _switch_on(self) -> None:
        """What changes in the CRMs is told by the sandbox itself, twice and in any order. A contact's creation is told
        by us: its faults are armed before."""
        starter = self._stack.starter
        told_twice = {"on": True, "copies": 2, "reorder": True}
        changes = {"subscriptions": ["contact.propertyChange"], "properties": ["country"]}
        path = f"{starter}/webhooks/salesforce/outbound-message/{self._stack.salesforce_path}"
        for asked in (
            {"provider": "hubspot", "target": starter + WEBHOOK, "secret": self._stack.hubspot_secret, **changes},
            {"provider": "salesforce", "target": path, "object": "leads"},
        ):
            await self._sandbox("POST", "webhooks", {**asked, **told_twice})

    async def _kill(self, kill: Kill, began: float) -> None:
        await asyncio.sleep(began + kill.at_seconds - time.monotonic())
        self.told.kills[kill.process] += self._stack.kill(kill.process)

    async def _live(self, lead: ScheduledLead, began: float) -> None:
        await asyncio.sleep(began + lead.at_seconds - time.monotonic())
        born = time.monotonic()
        if lead.kind == "form":
            await self._submit(lead, born)
            return
        system = "salesforce" if lead.kind == "salesforce" else "hubspot"
        record_id = await self._save(system, lead.properties)
        self.told.record_ids[lead.number] = record_id
        for fault in lead.faults:
            await self._arm(fault, record_id if fault.by == "record" else lead.email)
        async with asyncio.TaskGroup() as tasks:
            for edit in lead.edits:
                tasks.create_task(self._edit(system, record_id, edit, born))
            if system == "hubspot":
                for copy, after in enumerate(lead.copies):
                    tasks.create_task(self._deliver(lead.number, record_id, copy, born + after))

    async def _save(self, system: str, properties: Mapping[str, str], record_id: str | None = None) -> str:
        asked = {"provider": system, "object": _OBJECT[system], "user": _PERSON[system], "properties": dict(properties)}
        answer = await self._sandbox("PUT", "records", asked | ({"id": record_id} if record_id else {}))
        return str(answer.json()["id"])

    async def _arm(self, fault: Fault, match: str) -> None:
        asked = {
            "provider": fault.provider,
            "operation": fault.operation,
            "kind": fault.kind,
            "times": fault.times,
            "after": fault.after,
            "match": match,
            "args": dict(fault.args),
        }
        await self._sandbox("POST", "faults", asked)

    async def edit(self, system: str, record_id: str, fields: Mapping[str, str]) -> None:
        """Save fields of a record as a person does, where the CRM lets a person do it."""
        try:
            await self._save(system, fields, record_id)
        except httpx.HTTPStatusError:
            self.told.refused += 1

    async def _edit(self, system: str, record_id: str, edit: Edit, born: float) -> None:
        await asyncio.sleep(born + edit.after_seconds - time.monotonic())
        await self.edit(system, record_id, edit.fields)

    async def _submit(self, lead: ScheduledLead, born: float) -> None:
        """A form's submission; the website sends it again as often as the schedule says."""
        submission = f"form-{lead.number}"
        self.told.record_ids[lead.number] = submission
        for fault in lead.faults:
            await self._arm(fault, lead.email)
        body = {
            "source_record_id": submission,
            "event_kind": "form.submitted",
            "occurrence": submission,
            "occurred_at": datetime.now(UTC).isoformat(),
            "lead": {**lead.properties, "employees": int(lead.properties["employees"])},
        }
        headers = {"authorization": f"Bearer {self._stack.api_token}"}
        async with asyncio.TaskGroup() as tasks:
            for after in lead.copies:
                tasks.create_task(self._until_taken(lead.number, "/v1/leads", born + after, json=body, headers=headers))

    async def _deliver(self, number: int, record_id: str, copy: int, at: float) -> None:
        body = recorded.delivery(_RECORDINGS[copy % len(_RECORDINGS)], record_id)
        await self._until_taken(number, WEBHOOK, at, content=body)

    async def _until_taken(self, number: int, path: str, at: float, **request: Any) -> None:
        """Post, and again as a source does, until it is acknowledged."""
        await asyncio.sleep(at - time.monotonic())
        url = self._stack.starter + path
        while True:
            sent = dict(request)
            try:
                async with self._lines:
                    if "content" in sent:  # signed when it leaves: a signature grows old
                        sent["headers"] = hubspot_signature.headers(self._stack.hubspot_secret, url, sent["content"])
                    answer = await self._http.post(url, **sent)
            except httpx.TransportError:  # it is being started again
                answer = httpx.Response(HTTPStatus.SERVICE_UNAVAILABLE)
            if answer.status_code in _ACKNOWLEDGED:
                self.told.acknowledged[number] += 1
                return
            if answer.status_code not in _LATER:
                raise NotAsExpected(f"lead {number}: the starter answered {answer.status_code}: {answer.text[:300]}")
            self.told.put_off += 1
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _sandbox(self, method: str, path: str, body: Mapping[str, Any]) -> httpx.Response:
        answer = await self._http.request(method, f"{self._stack.sandbox}/_sandbox/{path}", json=dict(body))
        return answer.raise_for_status()


def _first(errors: BaseException) -> str:
    """What the first of several errors is and says."""
    while isinstance(errors, BaseExceptionGroup):
        errors = errors.exceptions[0]
    return f"{type(errors).__name__}: {errors}"
