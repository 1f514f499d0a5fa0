"""Runs the sandbox on a port, in this process or in a thread of it."""

import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from sandbox.app import SEARCH_LAG, create_app
from sandbox.connection import Connection
from sandbox.hubspot.store import FIRST_ID

_IDS_BEGAN = 1_767_225_600
"""2026-01-01, in seconds since the epoch; ids are counted from there, so that they are short enough to be read."""


def serve(host: str = "127.0.0.1", port: int = 0, *, portal_id: int | None = None, first_id: int | None = None) -> None:
    """Serve until told to stop; prints the address as one line as soon as it is bound.

    Args:
        host: the interface to listen on.
        port: the port, or 0 for any free one.
        portal_id: the HubSpot account that is served; the seed's by default.
        first_id: the id of the first contact; by default one that no earlier start has given.
    """
    with _bound(host, port) as listener:
        sys.stdout.write(f"{_address(listener)}\n")
        sys.stdout.flush()
        app = create_app(portal_id=portal_id, first_id=_unused_id() if first_id is None else first_id)
        _server(app).run(sockets=[listener])


@contextmanager
def running(
    host: str = "127.0.0.1", port: int = 0, *, portal_id: int | None = None, search_lag: float = SEARCH_LAG
) -> Iterator[str]:
    """Serve in a thread for as long as the context lasts; gives the address."""
    with _bound(host, port) as listener:
        server = _server(create_app(portal_id=portal_id, search_lag=search_lag))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="sandbox", daemon=True)
        thread.start()
        try:
            yield _address(listener)
        finally:
            server.should_exit = True
            thread.join()


def _unused_id() -> int:
    """An id above those of earlier starts.

    Contacts are forgotten when the process ends, and whoever worked with them remembers their ids. Ten ids a second is
    more than anybody has made over a whole run.
    """
    return max(FIRST_ID, int((time.time() - _IDS_BEGAN) * 10))


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # without a protocol asyncio leaves Nagle's algorithm on, and every answer takes 40 ms
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(512)
        listener.setblocking(False)
        yield listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _server(app: ASGIApp) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            loop="asyncio",
            interface="asgi3",
            lifespan="on",
            log_level="warning",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,  # a provider's answers carry the time of its own clock
            timeout_graceful_shutdown=1,
        )
    )
