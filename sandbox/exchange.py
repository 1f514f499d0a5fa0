"""One request and its answer, with whatever fault stands between them."""

import asyncio

from starlette.types import Receive, Scope, Send

from sandbox.clock import Clock, rfc3339
from sandbox.faults import NOTHING, Fault, Faults, Met
from sandbox.provider import Influence, Provider, Route
from sandbox.request_log import Entry, RequestLog
from sandbox.wire import Answer, Call, Line

HTML_PAGE = "<!DOCTYPE html><html><head><title>One moment</title></head><body>Please wait.</body></html>"
REFUSING_KINDS = frozenset({"status", "rate_limit", "lock", "reject_auth"})


class Exchange:
    """A provider as an ASGI application."""

    def __init__(self, provider: Provider, clock: Clock, log: RequestLog, faults: Faults, prefix: str) -> None:
        self._provider = provider
        self._clock = clock
        self._log = log
        self._faults = faults
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        line = Line(scope, receive, send)
        try:
            await self._serve(line)
        except asyncio.CancelledError:  # the server stops and waits for nobody
            await line.hang_up()

    async def _serve(self, line: Line) -> None:
        provider = self._provider
        call = await line.call(self._prefix)
        route = provider.route(call)
        entry = self._log.received(rfc3339(self._clock.now()), provider.name, route.operation, call)
        refusal = provider.authenticate(call)
        if refusal:
            await self._send(line, entry, route, refusal)
            return
        met = self._faults.take(
            provider.name, route.operation, lambda: self._words(call), token=call.token, batch=route.batch
        )

        def apply() -> Answer:
            answer = self._apply(call, route, met)
            entry.applied = answer.applied
            return answer

        if met.answer is None:
            await self._send(line, entry, route, apply())
        elif met.answer.kind in REFUSING_KINDS:
            await self._send(line, entry, route, provider.refusal(met.answer))
        elif met.answer.kind == "drop_before_apply":
            await line.hang_up()
        elif met.answer.kind == "apply_later":
            self._clock.call_in(met.answer.seconds, lambda: _ignore(apply()))
            await self._answer_early(line, entry, route, met.answer)
        else:
            await self._answer_badly(line, entry, route, met.answer, apply())

    async def _answer_early(self, line: Line, entry: Entry, route: Route, fault: Fault) -> None:
        if "status" in fault.args:
            await self._send(line, entry, route, self._provider.refusal(fault))
        else:
            await line.hang_up()

    async def _answer_badly(self, line: Line, entry: Entry, route: Route, fault: Fault, answer: Answer) -> None:
        if fault.kind == "drop_after_apply":
            await line.hang_up()
        elif fault.kind == "delay":
            with self._provider.unanswered(answer.ids):
                stays = await line.stays(fault.seconds)
            if stays:
                await self._send(line, entry, route, answer)
        elif fault.kind == "trickle":
            if await line.trickle(self._provider.dress(answer, route.operation), fault.seconds):
                entry.status = answer.status
        elif fault.kind == "status_after_apply":
            await self._send(line, entry, route, self._provider.refusal(fault))
        else:
            await self._send(line, entry, route, _garbage(fault))

    def _apply(self, call: Call, route: Route, met: Met) -> Answer:
        if met is NOTHING:
            return route.handle(call, Influence())
        edit = met.companions.get("human_edit")
        before = edit is not None and edit.args.get("moment", "before_write") == "before_write"
        if edit and before:
            self._edit(edit, self._means(call, edit) or [None])
        answer = route.handle(
            call,
            Influence(
                stale="stale_read" in met.companions,
                rewrite=met.companions.get("rewrite"),
                failing=met.companions.get("partial_batch"),
            ),
        )
        if edit and not before and answer.applied:
            self._edit(edit, self._means(call, edit) or list(answer.ids))
        return answer

    def _edit(self, edit: Fault, records: list[str | None]) -> None:
        user, fields = str(edit.args.get("user", "")), edit.args["fields"]
        kind = edit.operation.partition(".")[0]
        creates = any(name.lower() == "email" for name in fields)
        for record in records:
            if record is not None or creates:
                self._provider.put_record(kind, record, user, fields)

    def _means(self, call: Call, fault: Fault) -> list[str | None]:
        return [named.record for named in self._provider.named(call) if named.record and fault.meets(named.words)]

    def _words(self, call: Call) -> frozenset[str]:
        return frozenset[str]().union(*(named.words for named in self._provider.named(call)))

    async def _send(self, line: Line, entry: Entry, route: Route, answer: Answer) -> None:
        if answer.hold and not await line.stays(answer.hold):
            return
        entry.status = answer.status
        await line.respond(self._provider.dress(answer, route.operation))


def _garbage(fault: Fault) -> Answer:
    headers = {"content-type": fault.args["content_type"]} if "content_type" in fault.args else {}
    return Answer(200, fault.args.get("body", HTML_PAGE), headers)


def _ignore(_: Answer) -> None:
    return None
