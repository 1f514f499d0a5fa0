"""A provider call as it came in and the answer that goes out."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from starlette.types import Receive, Scope, Send

JSON_TYPE = "application/json;charset=utf-8"


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request to a provider, read completely.

    `segments` are the path's parts behind the provider's prefix, split on `/` first and percent-decoded after.
    `headers` have lower-case names.
    """

    method: str
    target: str
    segments: tuple[str, ...]
    query: dict[str, list[str]]
    body: Any
    token: str
    headers: dict[str, str] = field(default_factory=dict, repr=False)

    def one(self, name: str) -> str | None:
        values = self.query.get(name)
        return values[-1] if values else None

    def many(self, name: str) -> list[str]:
        """A list parameter, whether repeated or separated by commas."""
        return [part for value in self.query.get(name, ()) for part in value.split(",") if part]

    def flag(self, name: str) -> bool:
        return (self.one(name) or "").lower() == "true"

    def number(self, name: str, default: int) -> int:
        value = self.one(name)
        return int(value) if value and value.isdigit() else default


@dataclass(slots=True)
class Answer:
    """What a provider replies.

    `applied` says that it carried out a write, to the records in `ids`; `hold` is for how many seconds the provider
    lets the client wait for it.
    """

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    applied: bool = False
    ids: tuple[str, ...] = ()
    hold: float = 0.0

    def encode(self) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self.body is None:
            payload = b""
        elif isinstance(self.body, bytes):
            payload = self.body
        elif isinstance(self.body, str):
            payload = self.body.encode()
            headers.setdefault("content-type", "text/html;charset=utf-8")
        else:
            payload = json.dumps(self.body, separators=(",", ":"), ensure_ascii=False).encode()
            headers.setdefault("content-type", JSON_TYPE)
        if self.status != 204:
            headers["content-length"] = str(len(payload))
        return payload, [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


@dataclass(frozen=True, slots=True)
class Line:
    """The connection that a call came in on."""

    scope: Scope
    receive: Receive
    send: Send

    async def call(self, prefix: str) -> Call:
        """Read the request completely."""
        scope, chunks, more = self.scope, [], True
        while more:
            message = await self.receive()
            chunks.append(message.get("body", b""))
            more = message.get("more_body", False)
        path = scope["raw_path"].decode("latin-1")
        query = scope["query_string"].decode("latin-1")
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        parameters: dict[str, list[str]] = {}
        for name, value in parse_qsl(query, keep_blank_values=True):
            parameters.setdefault(name, []).append(value)
        return Call(
            method=scope["method"],
            target=f"{path}?{query}" if query else path,
            segments=tuple(unquote(part) for part in path.removeprefix(prefix).strip("/").split("/")),
            query=parameters,
            body=_parsed(b"".join(chunks)),
            token=_bearer(headers),
            headers=headers,
        )

    async def respond(self, answer: Answer) -> None:
        payload, headers = answer.encode()
        await self.send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": payload})

    async def trickle(self, answer: Answer, interval: float) -> bool:
        """Respond a byte at a time, so that no time-out per read ever fires; false if the client gave up."""
        payload, headers = answer.encode()
        await self.send({"type": "http.response.start", "status": answer.status, "headers": headers})
        for index in range(len(payload)):
            if not await self.stays(interval):
                return False
            await self.send({"type": "http.response.body", "body": payload[index : index + 1], "more_body": True})
        await self.send({"type": "http.response.body", "body": b""})
        return True

    async def hang_up(self) -> None:
        """Close the TCP connection without an answer."""
        self.scope["state"]["transport"].close()
        await self._gone()

    async def stays(self, seconds: float) -> bool:
        """Whether the client is still connected after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._gone()
        except TimeoutError:
            return True
        return False

    async def _gone(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass


def _parsed(raw: bytes) -> Any:
    if not raw:
        return None
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")


def _bearer(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
