"""The starter on a socket, run as its process runs it."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from leadproof.settings import Settings
from starter.serve import serve


@asynccontextmanager
async def serving(chosen: Settings) -> AsyncIterator[str]:
    """The starter as a process would run it, on a socket; its address."""
    address = f"http://{chosen.starter_host}:{chosen.starter_port}"
    stop = asyncio.Event()
    running = asyncio.create_task(serve(chosen, stop=stop))
    try:
        async with asyncio.timeout(20), httpx.AsyncClient() as http:
            while not await _answers(http, f"{address}/readyz"):  # noqa: ASYNC110 - it says it no other way
                await asyncio.sleep(0.02)
        for number in (signal.SIGTERM, signal.SIGINT):  # they are for whoever runs the tests
            asyncio.get_running_loop().remove_signal_handler(number)
        yield address
    finally:
        stop.set()
        await running


async def _answers(http: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await http.get(url)).is_success
    except httpx.TransportError:
        return False


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
