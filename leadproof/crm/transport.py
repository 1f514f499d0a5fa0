"""Connections that send nothing after their call's deadline, never retry and never follow a redirect."""

from __future__ import annotations

import http.client
import logging
import time
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from leadproof.deadline import Response, current_call

IDLE_SECONDS = 15.0
"""A connection that was idle for longer is not used again: the other side may be closing it just now, and a write that
meets this ends as *uncertain* although nothing is wrong."""

# urllib3 warns and reports with whole addresses, and look-ups carry e-mail addresses in them
for _name in ("urllib3.connection", "urllib3.connectionpool"):
    logging.getLogger(_name).setLevel(logging.ERROR)


class _Answer(http.client.HTTPResponse):
    def begin(self) -> None:
        super().begin()
        current_call().status_arrived(self.status)


class _Gated(HTTPConnection):
    """Asks the call before every byte."""

    response_class = _Answer
    _used_at = 0.0

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        current_call().sending(self.sock)
        self._used_at = time.monotonic()
        super().send(data)

    @property
    def is_connected(self) -> bool:
        return super().is_connected and time.monotonic() - self._used_at < IDLE_SECONDS


class _GatedTls(_Gated, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Gated

    def _put_conn(self, conn: Any) -> None:
        current_call().released()
        super()._put_conn(conn)


class _TlsPool(_Pool, HTTPSConnectionPool):
    ConnectionCls = _GatedTls


class Transport(urllib3.PoolManager):
    """A pool manager for client libraries; usable only inside a `Call`.

    Args:
        connections: connections kept for reuse per host; a further one is opened where they are all in use.
    """

    def __init__(self, *, connections: int = 64) -> None:
        super().__init__(num_pools=2, maxsize=connections)
        self.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}

    def urlopen(  # type: ignore[override]
        self, method: str, url: str, redirect: bool = True, **kw: Any
    ) -> urllib3.BaseHTTPResponse:
        """Send one request, once; time-outs come from the call, whatever the client library asks for."""
        call = current_call()
        # urllib3 refuses a time-out that is not positive, so a call without any time left ends here
        timeout = urllib3.Timeout(connect=call.seconds_to_connect(), read=call.seconds_left())
        kw |= {"timeout": timeout, "retries": False}
        response = super().urlopen(method, url, redirect=False, **kw)
        call.answered(Response(response.status, response.headers, response.data))
        return response
