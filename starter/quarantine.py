"""`/v1/quarantine`: what was received and could not be used, shown, taken in again, or dropped."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path
from fastapi.responses import JSONResponse

from leadproof import strict_json
from leadproof.domain.errors import MalformedDelivery
from leadproof.domain.steps import QuarantineEntry
from leadproof.inbound import hubspot, salesforce, standard
from leadproof.inbound.reading import Reading
from leadproof.ports import Ledger
from starter import problems
from starter.api import Limit, Text, check_key
from starter.auth import Tokens
from starter.intake import Intake, Result
from starter.metrics import Metrics
from starter.off_loop import off_loop
from starter.rows import page, row

State = Literal["held", "retried", "dropped"]
Position = Annotated[int, Path(ge=0, le=10_000)]

_STILL_UNUSABLE = frozenset({Result.QUARANTINED, Result.CONFLICT})


class Quarantine:
    """The routes of the quarantine."""

    def __init__(self, *, ledger: Ledger, intake: Intake, tokens: Tokens, metrics: Metrics) -> None:
        self._ledger = ledger
        self._intake = intake
        self._tokens = tokens
        self._metrics = metrics

    def router(self) -> APIRouter:
        """The routes, for the application."""
        router = APIRouter(prefix="/v1/quarantine", tags=["quarantine"])
        reader = [Depends(self._tokens.require("read"))]
        decider = [Depends(self._tokens.require("decide"))]
        one = "/{delivery_digest}/{position}"
        router.add_api_route("", self.items, methods=["GET"], dependencies=reader, response_model=None)
        router.add_api_route(one, self.item, methods=["GET"], dependencies=reader, response_model=None)
        router.add_api_route(f"{one}/retry", self.retry, methods=["POST"], dependencies=decider, response_model=None)
        router.add_api_route(f"{one}/drop", self.drop, methods=["POST"], dependencies=decider, response_model=None)
        return router

    async def items(self, state: State | None = None, limit: Limit = 50, cursor: Text = None) -> JSONResponse:
        """Entries without their bodies, newest first."""
        items, following = await off_loop(lambda: self._ledger.quarantined(state=state, limit=limit, cursor=cursor))
        return JSONResponse(page([item.model_copy(update={"body": None}) for item in items], following))

    async def item(self, delivery_digest: str, position: Position) -> JSONResponse:
        """One entry with its body."""
        return JSONResponse(row(await self._entry(delivery_digest, position)))

    async def retry(self, delivery_digest: str, position: Position) -> JSONResponse:
        """Take one event in again, as if it arrived now; it stays where it is if it still can't be used."""
        entry = await self._entry(delivery_digest, position)
        if entry.state != "held" or entry.body is None:
            raise problems.still_unusable(f"the entry is {entry.state} and its body is empty")
        (taken,) = await self._intake.take(
            [_reading(entry)],
            source=entry.source_system,
            digest=delivery_digest,
            keep=(),
        )
        self._metrics.events(entry.source_system, {taken.result.value: 1})
        if taken.result in _STILL_UNUSABLE:
            raise problems.still_unusable(taken.why or "it stands with another payload")
        await off_loop(lambda: self._ledger.close_quarantined(delivery_digest, position, state="retried"))
        return JSONResponse(
            {"result": taken.result.value, "event_key": taken.event_key, "workflow_id": taken.workflow_id}
        )

    async def drop(self, delivery_digest: str, position: Position) -> JSONResponse:
        """Give one entry up; its body is emptied."""
        await self._entry(delivery_digest, position)
        await off_loop(lambda: self._ledger.close_quarantined(delivery_digest, position, state="dropped"))
        return JSONResponse(row(await self._entry(delivery_digest, position)))

    async def _entry(self, delivery_digest: str, position: int) -> QuarantineEntry:
        check_key(delivery_digest)
        entry = await off_loop(lambda: self._ledger.quarantined_entry(delivery_digest, position))
        if entry is None:
            raise problems.not_found("no quarantined event stands here")
        return entry


def _reading(entry: QuarantineEntry) -> Reading:
    """The event of an entry, read by the parser of its source."""
    try:
        event = strict_json.read((entry.body or "").encode("utf-8"))
        if entry.source_system == hubspot.SOURCE:
            return hubspot.parse_event(event)
        if entry.source_system == salesforce.SOURCE:
            return salesforce.parse_event(event)
        return standard.parse_event(event, source=entry.source_system)
    except MalformedDelivery as error:
        raise problems.still_unusable(str(error)) from None
