"""A source that delivers over connections which it keeps, and costs the measurement next to nothing."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from types import TracebackType
from urllib.parse import urlsplit

from bench.deployment import WEBHOOK, Delivery

_IDLE_SECONDS = 3.0
"""A kept connection that was idle for longer is not used again: the starter closes it after some seconds."""


class NotAcknowledged(Exception):
    """The starter answered something else than 200."""


class PutOff(NotAcknowledged):
    """The starter answered 503: deliver again."""


@dataclass(slots=True)
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    idle_since: float = 0.0


class Source:
    """Posts deliveries to a starter, HTTP/1.1 by hand: a client library would take as long as what is measured."""

    def __init__(self, starter: str) -> None:
        address = urlsplit(starter)
        self._host, self._port = address.hostname or "", address.port or 80
        self._idle: list[_Connection] = []

    async def __aenter__(self) -> Source:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._idle:
            connection.writer.close()
        await asyncio.gather(*(one.writer.wait_closed() for one in self._idle), return_exceptions=True)

    async def deliver(self, delivery: Delivery) -> dict[str, int]:
        """Post one delivery; the starter's counts.

        Raises:
            PutOff: the starter cannot take it in now.
            NotAcknowledged: by any other answer than 200.
        """
        connection = await self._connection()
        lines = [
            f"POST {WEBHOOK} HTTP/1.1",
            f"host: {self._host}:{self._port}",
            f"content-length: {len(delivery.body)}",
        ]
        lines += [f"{name}: {value}" for name, value in delivery.headers.items()]
        connection.writer.write("\r\n".join([*lines, "", ""]).encode() + delivery.body)
        head = (await connection.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        status = head.split(" ", 2)[1]
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        body = await connection.reader.readexactly(length)
        connection.idle_since = time.monotonic()
        self._idle.append(connection)
        if status != "200":
            refused = PutOff if status == "503" else NotAcknowledged
            raise refused(f"{status}: {body.decode('utf-8', 'replace')}")
        counts: dict[str, int] = json.loads(body)
        return counts

    async def _connection(self) -> _Connection:
        while self._idle:
            kept = self._idle.pop()
            if not kept.reader.at_eof() and time.monotonic() - kept.idle_since < _IDLE_SECONDS:
                return kept
            kept.writer.close()
        return _Connection(*await asyncio.open_connection(self._host, self._port))
