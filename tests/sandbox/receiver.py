"""A place that webhooks are sent to, with answers as a test wants them."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Delivery:
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def events(self) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = json.loads(self.body)
        return events

    def header(self, name: str) -> str:
        return next(value for key, value in self.headers if key.lower() == name.lower())


@dataclass
class Receiver:
    target: str
    deliveries: list[Delivery] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    replies: list[bytes] = field(default_factory=list)
    reply: bytes = b""
    release: threading.Event = field(default_factory=threading.Event)
    hold: bool = False

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for delivery in self.deliveries for event in delivery.events]

    def kinds(self) -> list[tuple[str, str | None]]:
        return [(event["subscriptionType"], event.get("propertyName")) for event in self.events]


@contextmanager
def receiving() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.deliveries.append(Delivery(list(self.headers.items()), body))
            if receiver.hold:
                receiver.release.wait(10)
            reply = receiver.replies.pop(0) if receiver.replies else receiver.reply
            with suppress(ConnectionError):  # the sender may have given up waiting
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver = Receiver(f"http://127.0.0.1:{server.server_address[1]}/webhooks/hubspot")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            receiver.release.set()
            server.shutdown()
            thread.join()
