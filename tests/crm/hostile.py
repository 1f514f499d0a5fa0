"""A server that answers with exactly the bytes, pauses and breaks that a test wants."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


class HungUp(Exception):
    """A script wants the connection closed."""


@dataclass
class Line:
    """The connection of one request, for the script that answers it."""

    connection: socket.socket
    request: Request

    def send(self, raw: bytes) -> None:
        self.connection.sendall(raw)

    def respond(self, status: int, body: Any = b"", headers: Mapping[str, str] | None = None) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        told = {"Content-Length": str(len(raw)), **(headers or {})}
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in told.items())]
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + raw)

    def break_off(self, raw: bytes = b"") -> None:
        """Send a beginning and close."""
        self.send(raw)
        raise HungUp

    def reset(self) -> None:
        """Close with a RST instead of a FIN."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise HungUp

    def trickle(self, raw: bytes, pause: float, *, after: bytes = b"") -> None:
        """A byte at a time until the client is gone; no read time-out ever fires."""
        self.send(after)
        for index in range(len(raw)):
            self.send(raw[index : index + 1])
            time.sleep(pause)

    def wait_for_the_end(self) -> None:
        """Say nothing until the client is gone."""
        with contextlib.suppress(OSError):
            while self.connection.recv(4096):
                pass


Script = Callable[[Line], None]


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Hostile:
    """Answers each request with the next script; the last one answers all that follow."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.gone = threading.Event()
        self._scripts: list[Script] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._threads: list[threading.Thread] = []
        self._open: set[socket.socket] = set()
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answers(self, *scripts: Script) -> None:
        self._scripts = list(scripts)

    def close_listener(self) -> None:
        """Refuse further connections."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()

    def close(self) -> None:
        self.close_listener()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.add(connection)
            thread = threading.Thread(target=self._serve, args=[connection], daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, HungUp):
            reader = connection.makefile("rb")
            with reader:
                while (request := _read(reader)) is not None:
                    self.requests.append(request)
                    script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
                    script(Line(connection, request))
        self._open.discard(connection)
        self.gone.set()


def _read(reader: Any) -> Request | None:
    first = reader.readline()
    if not first.strip():
        return None
    headers = {}
    while line := reader.readline().strip():
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    method, path, _ = first.decode().split(" ")
    return Request(method, path, headers, reader.read(int(headers.get("content-length", 0))))


@contextmanager
def hostile() -> Iterator[Hostile]:
    server = Hostile()
    try:
        yield server
    finally:
        server.close()


def says(status: int, body: Any = b"", **headers: str) -> Script:
    """A script that gives one complete answer."""
    return lambda line: line.respond(status, body, headers)
