"""A wire between a client and its server that a test can cut, stall, slow down and mend."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class Wire:
    """Forwards bytes both ways until it is cut; while it is, connections are closed at once.

    Attributes:
        delay: seconds that the server's bytes take longer.
    """

    def __init__(self, target: str) -> None:
        self._host, _, port = target.rpartition(":")
        self._port = int(port)
        self._cut = False
        self._open: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self.delay = 0.0
        self.address = ""

    def cut(self) -> None:
        self._cut = True
        for writer in list(self._open):
            writer.transport.abort()

    def stall(self) -> None:
        """Let connections stand and nothing through, as a server that is stopped does."""
        self._flowing.clear()

    def mend(self) -> None:
        self._cut = False
        self._flowing.set()
        self.delay = 0.0

    async def join(self, near_reader: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        if self._cut:
            near.transport.abort()
            return
        far_reader, far = await asyncio.open_connection(self._host, self._port)
        self._open |= {near, far}
        try:
            await asyncio.gather(self._pump(near_reader, far), self._pump(far_reader, near, slow=True))
        finally:
            self._open -= {near, far}
            for writer in (near, far):
                writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, slow: bool = False) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                await self._flowing.wait()
                if slow:
                    await asyncio.sleep(self.delay)
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def a_wire(target: str) -> AsyncIterator[Wire]:
    """A wire to `target`, given as host and port."""
    wire = Wire(target)
    server = await asyncio.start_server(wire.join, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    wire.address = f"{host}:{port}"
    try:
        yield wire
    finally:
        wire.cut()
        server.close()
        await server.wait_closed()
