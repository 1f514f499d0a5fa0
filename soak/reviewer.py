"""A person who answers the questions of a soak by the API, at random among the decisions that are allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from random import Random
from typing import Any

import httpx

from soak.stack import Stack

_LEFT_OPEN = 0.25
_SAID_TWICE = 0.2
_EDITED = 0.4
_EDITS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "hubspot": ({"hs_lead_status": "CONNECTED"}, {"hubspot_owner_id": "501"}, {"jobtitle": "Director"}),
    "salesforce": ({"Status": "Working - Contacted"}, {"Title": "Director"}),
}
_MOST_ROUNDS = 3
_LOOK_SECONDS = 0.5
_PAGE = 100
_AT_ONCE = 6

Edits = Callable[[str, str, Mapping[str, str]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision that was sent.

    Attributes:
        status: of the last answer; `None` where none came.
    """

    decision_id: str
    review_id: str
    decision: str
    status: int | None


def chosen(seed: int, lead: str, question: Mapping[str, Any]) -> str | None:
    """Which decision a question is answered with; `None` leaves it open. A pure function of the seed, the lead and the
    question: nothing that another run would name otherwise."""
    chance = Random(f"review:{seed}:{lead}:{question['reason']}:{question['round']}")  # noqa: S311
    allowed = sorted(question["allowed"])
    leaves = chance.random() < _LEFT_OPEN or question["round"] > _MOST_ROUNDS
    return None if leaves or not allowed else chance.choice(allowed)


def edited(seed: int, lead: str, question: Mapping[str, Any]) -> tuple[str, str, Mapping[str, str]] | None:
    """What somebody saves right before the answer, after the question was shown: the system, the record, the fields."""
    mutation = question["mutation"]
    if mutation is None:
        return None
    record = mutation["provider_record_id"] or mutation["intended_state"]["record"]["provider_record_id"]
    chance = Random(f"edit:{seed}:{lead}:{question['reason']}:{question['round']}")  # noqa: S311
    if record is None or chance.random() >= _EDITED:
        return None
    system = mutation["target_system"]
    return system, record, chance.choice(_EDITS[system])


class Reviewer:
    """Answers what can be answered, until told to stop.

    Args:
        names: what the schedule calls the lead of a source record, by the record's id; filled by and by.
        edit: saves fields of a record as a person does.
    """

    def __init__(self, stack: Stack, http: httpx.AsyncClient, seed: int, names: Mapping[int, str], edit: Edits) -> None:
        self._url = f"{stack.starter}/v1/reviews"
        self._headers = {"authorization": f"Bearer {stack.api_token}"}
        self._http = http
        self._seed = seed
        self._names = names
        self._edit = edit
        self.left_open: set[str] = set()
        self.sent: dict[str, Decision] = {}
        self._edited: set[str] = set()
        self._hands = asyncio.Semaphore(_AT_ONCE)

    async def answer(self) -> None:
        """Look again and again; never returns by itself."""
        while True:
            try:
                waiting = [review_id for review_id in await self._open() if review_id not in self.left_open]
                await asyncio.gather(*(self._decide(review_id) for review_id in waiting))
            except httpx.TransportError:  # the starter is being started again
                pass
            await asyncio.sleep(_LOOK_SECONDS)

    async def _open(self) -> list[str]:
        found: list[str] = []
        query: dict[str, str] = {"state": "open", "limit": str(_PAGE)}
        while True:
            answer = await self._http.get(self._url, params=query, headers=self._headers)
            if answer.status_code != HTTPStatus.OK:
                return found
            page = answer.json()
            found += [item["review_id"] for item in page["items"]]
            if page["next"] is None:
                return found
            query["cursor"] = page["next"]

    async def _decide(self, review_id: str) -> None:
        async with self._hands:
            await self._look_and_decide(review_id)

    async def _look_and_decide(self, review_id: str) -> None:
        answer = await self._http.get(f"{self._url}/{review_id}", headers=self._headers)
        if answer.status_code != HTTPStatus.OK:
            return
        question = answer.json()
        if question["state"] != "open":
            return
        numbers = {record_id: number for number, record_id in self._names.items()}
        lead = str(numbers.get(question["lead"]["source_record_id"], ""))
        decision = chosen(self._seed, lead, question)
        if decision is None:
            if question["allowed"]:  # what allows nothing yet is looked at again
                self.left_open.add(review_id)
            return
        about = edited(self._seed, lead, question)
        if about is not None and review_id not in self._edited:
            self._edited.add(review_id)
            await self._edit(*about)
        await self._send(question, decision)
        if Random(review_id).random() < _SAID_TWICE:  # noqa: S311
            await self._send(question, decision)

    async def _send(self, question: Mapping[str, Any], decision: str) -> None:
        review_id, version = question["review_id"], question["version"]
        body = {
            "decision_id": f"soak-{review_id[:24]}-{version}-{decision}",
            "review_id": review_id,
            "version": version,
            "decision": decision,
            "reason": "as the soak's schedule has it",
            "shown_digest": question["shown_digest"],
        }
        sent = Decision(body["decision_id"], review_id, decision, None)
        self.sent.setdefault(sent.decision_id, sent)
        answer = await self._http.post(f"{self._url}/{review_id}/decisions", json=body, headers=self._headers)
        self.sent[sent.decision_id] = Decision(sent.decision_id, review_id, decision, answer.status_code)
