"""The starter as a process: opens what it needs, listens, and stops cleanly when told."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import time
from collections.abc import Iterator
from typing import Final

import uvicorn

from leadproof.clock import SystemClock
from leadproof.domain.errors import ConfigurationRefused
from leadproof.settings import Settings, check_mode
from starter.app import create_app
from starter.off_loop import PATIENCE_SECONDS
from workers.compose import looking, open_ledger, read_policy
from workers.connect import connect

_STOP_SECONDS: Final = 10
_BACKLOG: Final = 512
_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class _Server(uvicorn.Server):
    """A server that leaves signals to us: uvicorn's own handling ends the process by the signal that stopped it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(settings: Settings, *, stop: asyncio.Event | None = None) -> None:
    """Serve until told to stop (SIGTERM, SIGINT, or `stop`).

    Raises:
        ConfigurationRefused, PolicyRefused, LedgerOutdated, LedgerUnavailable: what it needs is not right.
    """
    check_mode(settings)
    policy = read_policy(settings.policy)
    clock = SystemClock()
    ledger = open_ledger(settings, busy_seconds=PATIENCE_SECONDS, clock=clock)
    try:
        ledger.load_policy(policy)
        client = await connect(settings)
        look = looking(settings, policy)
        app = create_app(settings, ledger=ledger, client=client, policy=policy, clock=clock, look=look)
        server = _Server(
            uvicorn.Config(
                app,
                access_log=False,  # addresses can carry what is personal, and the counters say the rest
                log_level=settings.log_level,
                lifespan="off",
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=_STOP_SECONDS,
            )
        )
        gc.freeze()  # what is there now stays, and a full collection would keep a delivery waiting for its answer
        with _listening(settings) as listener:
            await _until_stopped(server, listener, stop or asyncio.Event())
    finally:
        ledger.close()


def run(settings: Settings) -> None:
    """Run the starter as a process, until SIGTERM or Ctrl-C."""
    logging.basicConfig(level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s %(message)s")
    asyncio.run(serve(settings))
    time.sleep(0.05)  # the SDK's threads: a process that leaves at once can abort (temporalio/sdk-python#300)


def _listening(settings: Settings) -> socket.socket:
    """A listening socket; opened here, since uvicorn leaves the process where it cannot listen."""
    host, port = settings.starter_host, settings.starter_port
    # without a protocol asyncio leaves Nagle's algorithm on, and every answer takes 40 ms (measured)
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except (OSError, ValueError):  # a name that cannot be one is a ValueError
        listener.close()
        raise ConfigurationRefused(
            f"the starter cannot listen on {host}:{port}; is another one running there?"
        ) from None
    return listener


async def _until_stopped(server: uvicorn.Server, listener: socket.socket, stop: asyncio.Event) -> None:
    async def stopped() -> None:
        await stop.wait()
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in _STOP_SIGNALS:
        loop.add_signal_handler(number, stop.set)
    stopping = asyncio.create_task(stopped())
    try:
        await server.serve(sockets=[listener])
    finally:
        stopping.cancel()
        for number in _STOP_SIGNALS:
            loop.remove_signal_handler(number)
