"""Connections of the Messages API's client that are over with their call, follow no redirect and ask no proxy."""

from __future__ import annotations

import logging
import ssl
import weakref
from collections.abc import Iterable
from typing import Any, Final

import httpcore2
import httpx2

from leadproof.deadline import current_call

LARGEST_ANSWER: Final = 4 * 1024 * 1024
"""Bytes of an answer; the longest that a policy can ask for has 32,000 tokens."""

_IDLE_SECONDS: Final = 15.0
_CONNECTIONS: Final = 200  # as many as a worker may have threads

for _name in ("anthropic", "httpx2", "httpcore2"):
    # at `debug` they log whole requests: the lead, and the key
    logging.getLogger(_name).setLevel(logging.WARNING)


class _Gated(httpcore2.NetworkStream):
    """Asks the call before every byte, and lets it end a read that goes on for too long."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        current_call().sending(self._stream.get_extra_info("socket"))
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Gated(self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore2.SyncBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        return _Gated(super().connect_tcp(host, port, timeout, local_address, socket_options))


class _Transport(httpx2.HTTPTransport):
    """Usable only inside a `Call`."""

    def __init__(self) -> None:
        context = httpx2.create_ssl_context()
        super().__init__(verify=context, trust_env=False)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=context,
            max_connections=_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=_Backend(),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request, once; time-outs come from the call, whatever the client asks for."""
        call = current_call()
        connect, left = max(call.seconds_to_connect(), 0.001), max(call.seconds_left(), 0.001)
        request.extensions["timeout"] = {"connect": connect, "read": left, "write": left, "pool": connect}
        response = super().handle_request(request)
        try:
            body = _whole(response)
        finally:
            response.close()
        call.released()
        return httpx2.Response(response.status_code, headers=response.headers, content=body)


def _whole(response: httpx2.Response) -> bytes:
    parts, size = [], 0
    for part in response.iter_raw():
        parts.append(part)
        size += len(part)
        if size > LARGEST_ANSWER:
            raise httpx2.ReadError("the answer is too large")
    return b"".join(parts)


def http_client() -> httpx2.Client:
    """A client for the SDK: one shared pool, nothing of the environment, no redirects."""
    transport = _Transport()
    client = httpx2.Client(transport=transport, trust_env=False, follow_redirects=False)
    weakref.finalize(client, transport.close)  # whoever forgets it leaves no socket open
    return client
