import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

from console.free_ports import any_free
from console.leaving import CommandRefused
from console.starter_api import StarterApi
from leadproof.domain.errors import ConfigurationRefused, NotFound
from leadproof.settings import Settings

TOKENS = "form:events:first,reader:read:second,reviewer:read+decide:third"


class Starter(BaseHTTPRequestHandler):
    """Answers as it is told, and keeps what it was asked."""

    answer: ClassVar[tuple[int, Any]] = (200, {})
    asked: ClassVar[list[tuple[str, str, str]]] = []
    bodies: ClassVar[list[bytes]] = []

    def do_GET(self) -> None:
        self.asked.append((self.command, self.path, self.headers.get("Authorization", "")))
        self.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        status, body = self.answer
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Starter.asked.clear()
    Starter.bodies.clear()
    with HTTPServer(("127.0.0.1", 0), Starter) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def api(url: str, tokens: str = TOKENS) -> StarterApi:
    return StarterApi(Settings.model_validate({"starter_url": url, "api_tokens": tokens}))


def test_each_call_takes_a_token_with_the_right_for_it(url: str) -> None:
    Starter.answer = (200, {"items": []})
    assert api(url).get("/v1/reviews", queue=None, state="open") == {"items": []}
    assert api(url).decide("/v1/reviews/x/decisions", {"decision": "approve"}) == (200, {"items": []})
    assert Starter.asked == [
        ("GET", "/v1/reviews?state=open", "Bearer second"),
        ("POST", "/v1/reviews/x/decisions", "Bearer third"),
    ]


def test_without_a_token_for_it_nothing_is_asked(url: str) -> None:
    with pytest.raises(ConfigurationRefused, match="no token with the right 'decide'"):
        api(url, "reader:read:second").decide("/v1/reviews/x/decisions")
    assert Starter.asked == []


@pytest.mark.parametrize(
    ("status", "error", "says"),
    [
        (401, ConfigurationRefused, "does not accept our token"),
        (403, ConfigurationRefused, "does not accept our token"),
        (404, NotFound, "no review item"),
        (409, CommandRefused, "no review item"),
        (503, CommandRefused, "no review item"),
    ],
)
def test_an_error_is_told_in_the_starters_own_words(url: str, status: int, error: type[Exception], says: str) -> None:
    Starter.answer = (status, {"title": "A title", "detail": "no review item stands under this id"})
    with pytest.raises(error, match=says):
        api(url).get("/v1/reviews/x")


def test_a_starter_that_is_not_there_is_named_with_what_to_do() -> None:
    nowhere = f"http://127.0.0.1:{any_free(set())}"
    with pytest.raises(ConfigurationRefused, match=rf"no starter answers at {nowhere}.*LEADPROOF_STARTER_URL"):
        api(nowhere).get("/v1/reviews")
