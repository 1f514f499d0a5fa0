"""The control plane: what tests and demonstrations do to the sandbox and learn from it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.clock import Clock, rfc3339
from sandbox.control_calls import asked_of, explained
from sandbox.faults import Fault, Faults
from sandbox.outbox import Outbox
from sandbox.provider import Provider
from sandbox.request_log import RequestLog


class ControlPlane:
    def __init__(
        self,
        providers: Mapping[str, Provider],
        clock: Clock,
        log: RequestLog,
        faults: Faults,
        outboxes: Mapping[str, Outbox[Any]],
    ) -> None:
        self._providers = providers
        self._clock = clock
        self._log = log
        self._faults = faults
        self._outboxes = outboxes

    def routes(self) -> list[Route]:
        return [
            Route("/health", self.health, methods=["GET"]),
            Route("/reset", self.reset, methods=["POST"]),
            Route("/faults", explained(self.add_fault), methods=["POST"]),
            Route("/faults", self.list_faults, methods=["GET"]),
            Route("/faults", self.clear_faults, methods=["DELETE"]),
            Route("/requests", self.requests, methods=["GET"]),
            Route("/records", explained(self.records), methods=["GET"]),
            Route("/records", explained(self.put_record), methods=["PUT"]),
            Route("/records", explained(self.archive_record), methods=["DELETE"]),
            Route("/merge", explained(self.merge), methods=["POST"]),
            Route("/convert", explained(self.convert), methods=["POST"]),
            Route("/webhooks", explained(self.set_webhooks), methods=["POST"]),
            Route("/webhooks", explained(self.show_webhooks), methods=["GET"]),
            Route("/clock", explained(self.set_clock), methods=["PUT"]),
            Route("/side_effects", self.side_effects, methods=["GET"]),
        ]

    async def health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def reset(self, _: Request) -> Response:
        self._faults.clear()
        self._log.clear()
        for outbox in self._outboxes.values():
            await outbox.reset()
        self._clock.reset()
        for provider in self._providers.values():
            provider.reset()
        return Response(status_code=204)

    async def add_fault(self, request: Request) -> Response:
        asked = await asked_of(request, "provider", "operation", "kind", "times", "after", "match", "args")
        provider = self._provider(asked.get("provider"))
        if asked.get("operation") not in provider.operations:
            raise ValueError(f"operation {asked.get('operation')!r} is none of {', '.join(provider.operations)}")
        fault = Fault(**asked)
        if fault.kind not in provider.fault_kinds:
            raise ValueError(f"{fault.kind} makes no sense for {provider.name}")
        self._faults.add(fault)
        return JSONResponse(asked, status_code=201)

    async def list_faults(self, _: Request) -> Response:
        return JSONResponse(self._faults.armed())

    async def clear_faults(self, _: Request) -> Response:
        self._faults.clear()
        return Response(status_code=204)

    async def requests(self, request: Request) -> Response:
        wanted = request.query_params
        return JSONResponse(self._log.entries(wanted.get("provider"), wanted.get("operation")))

    async def records(self, request: Request) -> Response:
        wanted = request.query_params
        return JSONResponse(self._provider(wanted.get("provider")).records(wanted.get("object", "contacts")))

    async def put_record(self, request: Request) -> Response:
        asked = await asked_of(request, "provider", "object", "id", "user", "properties", "archived")
        provider, kind, user = self._provider(asked.get("provider")), asked.get("object", "contacts"), _user(asked)
        record = str(asked["id"]) if asked.get("id") is not None else None
        if record and asked.get("archived") is False:
            return JSONResponse(provider.restore_record(kind, record, user))
        return JSONResponse(provider.put_record(kind, record, user, asked.get("properties") or {}))

    async def archive_record(self, request: Request) -> Response:
        asked = await asked_of(request, "provider", "object", "id", "user") or dict(request.query_params)
        provider = self._provider(asked.get("provider"))
        provider.archive_record(asked.get("object", "contacts"), str(asked.get("id", "")), _user(asked))
        return Response(status_code=204)

    async def merge(self, request: Request) -> Response:
        asked = await asked_of(request, "provider", "object", "winner", "loser", "user")
        provider = self._provider(asked.get("provider"))
        winner, loser = str(asked.get("winner", "")), str(asked.get("loser", ""))
        return JSONResponse(provider.merge_records(asked.get("object", "contacts"), winner, loser, _user(asked)))

    async def convert(self, request: Request) -> Response:
        asked = await asked_of(request, "provider", "object", "id", "user")
        provider = self._provider(asked.get("provider"))
        return JSONResponse(provider.convert_record(asked.get("object", ""), str(asked.get("id", "")), _user(asked)))

    async def set_webhooks(self, request: Request) -> Response:
        every = {name for outbox in self._outboxes.values() for name in outbox.names}
        asked = await asked_of(request, "provider", *every)
        outbox = self._outbox(asked.pop("provider", "hubspot"))
        unknown = sorted(set(asked) - set(outbox.names))
        if unknown:
            raise ValueError(f"unknown: {', '.join(unknown)}")
        outbox.set(asked)
        return JSONResponse(outbox.shown())

    async def show_webhooks(self, request: Request) -> Response:
        return JSONResponse(self._outbox(request.query_params.get("provider", "hubspot")).shown())

    async def set_clock(self, request: Request) -> Response:
        asked = await asked_of(request, "now", "advance_seconds")
        if "now" in asked:
            at = datetime.fromisoformat(asked["now"])
            self._clock.set(at if at.tzinfo else at.replace(tzinfo=UTC))
        else:
            self._clock.advance(float(asked["advance_seconds"]))
        return JSONResponse({"now": rfc3339(self._clock.now())})

    async def side_effects(self, _: Request) -> Response:
        return JSONResponse([fired for provider in self._providers.values() for fired in provider.side_effects()])

    def _provider(self, name: Any) -> Provider:
        if name not in self._providers:
            raise ValueError(f"provider {name!r} is none of {', '.join(self._providers)}")
        return self._providers[name]

    def _outbox(self, name: Any) -> Outbox[Any]:
        if name not in self._outboxes:
            raise ValueError(f"provider {name!r} is none of {', '.join(self._outboxes)}")
        return self._outboxes[name]


def _user(asked: Mapping[str, Any]) -> str:
    return str(asked.get("user", ""))
