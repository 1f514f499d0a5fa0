"""The total deadline, without any CRM."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import urllib3

from leadproof.crm.transport import Transport
from leadproof.deadline import Call, Deadline, TooLate, current_call
from tests.crm.hostile import Hostile, says

SLACK = 0.75


def calling(transport: Transport, url: str, method: str = "GET", **more: Any) -> Callable[[], bytes]:
    def work() -> bytes:
        return transport.request(method, url, **more).data

    return work


@pytest.fixture
def transport() -> Any:
    made = Transport()
    yield made
    made.clear()


def ended(before: set[threading.Thread]) -> bool:
    """Whether every thread that started since is over within a second."""
    started = [thread for thread in threading.enumerate() if thread.name == "client-call" and thread not in before]
    for thread in started:
        thread.join(1)
    return not any(thread.is_alive() for thread in started)


@pytest.fixture
def threads() -> set[threading.Thread]:
    return set(threading.enumerate())


def test_a_call_in_time_brings_value_and_response(server: Hostile, transport: Transport) -> None:
    server.answers(says(200, b"yes", **{"X-Name": "v"}))
    exchange = Call(calling(transport, server.url), connect_timeout=1, timeout=1).exchange()
    assert (exchange.sent, exchange.late, exchange.status, exchange.value, exchange.fault) == (
        True,
        False,
        200,
        b"yes",
        None,
    )
    assert exchange.response is not None
    assert (exchange.response.body, exchange.response.headers["x-name"]) == (b"yes", "v")


@pytest.mark.parametrize(
    ("script", "status"),
    [
        pytest.param(
            lambda line: line.trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n", 0.1), None, id="in the headers"
        ),
        pytest.param(
            lambda line: line.trickle(b"{" * 90, 0.1, after=b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n"),
            200,
            id="in the body",
        ),
        pytest.param(
            lambda line: line.trickle(
                b"1\r\nx\r\n" * 50, 0.1, after=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            ),
            200,
            id="in chunks",
        ),
        pytest.param(
            lambda line: line.trickle(b"HTTP/1.1 100 Continue\r\n\r\n" * 9, 0.1), None, id="in interim answers"
        ),
        pytest.param(lambda line: line.wait_for_the_end(), None, id="saying nothing"),
    ],
)
def test_a_trickling_server_ends_the_call_at_the_deadline_and_leaves_no_thread(
    script: Any, status: int | None, server: Hostile, transport: Transport, threads: set[threading.Thread]
) -> None:
    server.answers(script)
    started = time.monotonic()
    exchange = Call(calling(transport, server.url), connect_timeout=0.4, timeout=0.4).exchange()
    assert 0.4 <= time.monotonic() - started < 0.4 + SLACK
    assert (exchange.sent, exchange.response, exchange.status) == (True, None, status)
    assert exchange.late or exchange.fault == "ReadTimeoutError", "the read time-out may come a moment earlier"
    assert ended(threads)
    assert server.gone.wait(1), "the connection was closed"


def test_a_refused_connection_was_not_sent(server: Hostile, transport: Transport) -> None:
    url = server.url
    server.close_listener()
    exchange = Call(calling(transport, url), connect_timeout=1, timeout=1).exchange()
    assert (exchange.sent, exchange.late, exchange.fault) == (False, False, "NewConnectionError")


def test_a_tls_handshake_that_does_not_come_ends_with_the_time_to_connect(
    transport: Transport, threads: set[threading.Thread]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        exchange = Call(calling(transport, url), connect_timeout=0.3, timeout=5).exchange()
        assert time.monotonic() - started < 0.3 + SLACK
        assert not exchange.sent
        assert ended(threads)


def test_a_resolver_that_hangs_ends_with_the_time_to_connect_and_nothing_is_sent_later(
    server: Hostile, transport: Transport, threads: set[threading.Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers(says(200, b"yes"))
    resolve, resolved = threading.Event(), threading.Event()
    real = urllib3.util.connection.create_connection

    def slow(*args: Any, **kwargs: Any) -> Any:
        resolve.wait(5)
        connection = real(*args, **kwargs)
        resolved.set()
        return connection

    monkeypatch.setattr(urllib3.util.connection, "create_connection", slow)
    exchange = Call(calling(transport, server.url, "POST", body=b"x"), connect_timeout=0.1, timeout=5).exchange()
    assert (exchange.sent, exchange.late) == (False, True)
    resolve.set()
    assert resolved.wait(5), "the abandoned call goes on and could send now"
    assert ended(threads)
    assert server.gone.wait(1)
    assert server.requests == []


def test_a_call_that_was_given_up_does_not_send_the_rest(
    server: Hostile, transport: Transport, threads: set[threading.Thread]
) -> None:
    server.answers(says(200, b"yes"))
    headers_left, late = threading.Event(), threading.Event()

    def body() -> Any:
        headers_left.set()
        late.wait(5)
        yield b"the rest"

    work = calling(transport, server.url, "POST", body=body(), headers={"Content-Length": "8"})
    exchange = Call(work, connect_timeout=0.1, timeout=0.1).exchange()
    assert headers_left.is_set()
    assert (exchange.sent, exchange.late) == (True, True)
    late.set()
    assert ended(threads)
    assert server.gone.wait(1)
    assert all(request.body == b"" for request in server.requests)


def test_a_connection_that_was_returned_is_not_shut_down_for_the_call_that_used_it_before(
    server: Hostile, transport: Transport
) -> None:
    server.answers(says(200, b"yes"))
    returned, go_on = threading.Event(), threading.Event()

    def work() -> bytes:
        data = transport.request("GET", server.url).data
        returned.set()
        go_on.wait(5)
        return data

    slow = Call(work, connect_timeout=0.5, timeout=0.5)
    waiting = threading.Thread(target=slow.exchange)
    waiting.start()
    assert returned.wait(1)

    def meanwhile(line: Any) -> None:
        waiting.join()  # the first call is given up while the second one uses its connection
        line.respond(200, b"mine")

    server.answers(meanwhile)
    exchange = Call(calling(transport, server.url), connect_timeout=2, timeout=2).exchange()
    go_on.set()
    assert server.connections == 1
    assert exchange.value == b"mine"


def test_an_idle_connection_is_not_used_again_for_long(
    server: Hostile, transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers(says(200, b"yes"))
    for expected in (1, 1):
        Call(calling(transport, server.url), connect_timeout=1, timeout=1).exchange()
        assert server.connections == expected
    monkeypatch.setattr("leadproof.crm.transport.IDLE_SECONDS", 0.0)
    assert Call(calling(transport, server.url), connect_timeout=1, timeout=1).exchange().value == b"yes"
    assert server.connections == 2


def test_outside_a_call_nothing_is_sent(server: Hostile, transport: Transport) -> None:
    with pytest.raises(TooLate):
        transport.request("GET", server.url)
    with pytest.raises(TooLate):
        current_call()
    assert server.connections == 0


def test_a_caller_that_is_interrupted_gives_the_call_up(
    server: Hostile, transport: Transport, threads: set[threading.Thread], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers(lambda line: line.wait_for_the_end())
    call = Call(calling(transport, server.url), connect_timeout=5, timeout=5)

    def interrupted(*_: Any) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(call._changed, "wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        call.exchange()
    assert ended(threads)


def test_without_a_thread_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    exchange = Call(lambda: 1, connect_timeout=1, timeout=1).exchange()
    assert (exchange.sent, exchange.fault) == (False, "RuntimeError")


def test_a_call_without_any_time_is_not_begun(
    server: Hostile, transport: Transport, threads: set[threading.Thread]
) -> None:
    exchange = Call(calling(transport, server.url), connect_timeout=1, timeout=0).exchange()
    assert not exchange.sent
    assert ended(threads)
    assert server.connections == 0


def test_an_answer_that_arrived_counts_although_the_library_is_late(server: Hostile, transport: Transport) -> None:
    server.answers(says(401, b"no"))

    go_on = threading.Event()

    def work() -> None:
        transport.request("GET", server.url)
        go_on.wait(5)

    exchange = Call(work, connect_timeout=0.5, timeout=0.5).exchange()
    go_on.set()
    assert (exchange.late, exchange.value) == (True, None)
    assert exchange.response is not None
    assert exchange.response.status == 401


def test_a_spent_deadline_leaves_nothing() -> None:
    assert Deadline(-1).remaining() == 0
    assert 4 < Deadline(5).remaining() <= 5
