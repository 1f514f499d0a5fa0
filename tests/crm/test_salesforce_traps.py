"""What Salesforce's client library does by itself, and that none of it reaches us."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
import urllib3

from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.mutation import Answer, AnswerClass
from leadproof.domain.records import LookUp, Presence
from leadproof.domain.steps import WriteRequest
from tests.crm.conftest import MakeSalesforce
from tests.crm.hostile import Hostile, Line, says
from tests.crm.salesforce_org import (
    CREATED,
    EXTERNAL_FIELD,
    LEAD,
    NO_SESSION,
    Org,
    creation,
    lead_ref,
    query_of,
    row,
    rows,
    update,
)
from tests.crm.test_deadline import SLACK

if TYPE_CHECKING:
    from leadproof.crm.salesforce import SalesforceCrm

BOTH = pytest.mark.parametrize("request_", [update(title="CTO"), creation()], ids=["update", "create"])


def read(crm: SalesforceCrm) -> LookUp:
    return crm.read("lead", LEAD, ["email"], history=False)


@pytest.fixture
def signed_in(org: Org, make_salesforce: MakeSalesforce) -> Callable[..., SalesforceCrm]:
    """Adapters that have a token and a description already, so that short deadlines are for the call alone."""

    def make(**settings: Any) -> SalesforceCrm:
        crm = make_salesforce(org.server.url, **settings)
        org.shows(row())
        assert read(crm).presence is Presence.ONE
        org.server.requests.clear()
        return crm

    return make


@BOTH
def test_no_timeout_of_its_own_a_trickling_server_is_left_at_the_deadline(
    request_: WriteRequest, org: Org, signed_in: Callable[..., SalesforceCrm]
) -> None:
    crm = signed_in(connect_timeout=0.4, call_timeout=0.4)
    org.answers(lambda line: line.trickle(b" " * 900, 0.02, after=b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"))
    for call in (lambda: crm.write(request_), lambda: read(crm)):
        started = time.monotonic()
        answer = call()
        assert time.monotonic() - started < 0.4 + SLACK
        if isinstance(answer, Answer):
            assert (answer.outcome, answer.http_status) == (AnswerClass.UNCERTAIN, 200)
        else:
            assert answer.presence is Presence.UNKNOWN
    assert [one.method for one in org.calls] == ["PATCH", "GET"]


def test_a_silent_sign_in_ends_with_the_time_to_connect(org: Org, make_salesforce: MakeSalesforce) -> None:
    crm = make_salesforce(org.server.url, connect_timeout=0.3, call_timeout=0.6)
    org.sign_in = Line.wait_for_the_end
    started = time.monotonic()
    assert crm.write(update(title="CTO")).outcome is AnswerClass.NOT_SENT
    assert read(crm).presence is Presence.UNKNOWN
    assert time.monotonic() - started < 1.2 + 2 * SLACK


@pytest.mark.parametrize(
    "breaks",
    [
        pytest.param(Line.break_off, id="closed"),
        pytest.param(Line.reset, id="reset"),
        pytest.param(lambda line: line.break_off(b"HTTP/1.1 200 OK\r\nContent-Le"), id="in the headers"),
        pytest.param(
            lambda line: line.break_off(b'HTTP/1.1 201 OK\r\nContent-Length: 99\r\n\r\n{"id":"00Q'), id="in the body"
        ),
        pytest.param(
            lambda line: line.break_off(b'HTTP/1.1 201 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n'),
            id="in chunks",
        ),
        pytest.param(lambda line: line.break_off(b"SSH-2.0-OpenSSH_9.6\r\n"), id="another protocol"),
        pytest.param(lambda line: line.break_off(b"HTTP/1.1 999999 OK\r\n\r\n"), id="no status"),
        pytest.param(
            lambda line: line.respond(201, b"not gzip", {"Content-Encoding": "gzip"}), id="undecodable content"
        ),
    ],
)
@BOTH
def test_a_broken_answer_is_uncertain_and_nothing_is_retried(
    breaks: Callable[[Line], None], request_: WriteRequest, org: Org, salesforce: SalesforceCrm
) -> None:
    org.answers(breaks)
    answer = salesforce.write(request_)
    assert (answer.outcome, answer.provider_record_id) == (AnswerClass.UNCERTAIN, None)
    assert len(org.calls) == 1
    found = read(salesforce)
    assert (found.presence, found.refuses_us) == (Presence.UNKNOWN, False)
    assert len(org.calls) == 2


@BOTH
def test_connection_refused_is_not_retried_and_not_sent(
    request_: WriteRequest,
    org: Org,
    signed_in: Callable[..., SalesforceCrm],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crm = signed_in()
    crm._client._http.adapters["https://"].poolmanager.clear()  # type: ignore[attr-defined]
    org.server.close_listener()
    attempts = []
    real = urllib3.util.connection.create_connection

    def counted(*args: Any, **kwargs: Any) -> Any:
        attempts.append(args)
        return real(*args, **kwargs)

    monkeypatch.setattr(urllib3.util.connection, "create_connection", counted)
    found = read(crm)
    assert (found.presence, len(attempts)) == (Presence.UNKNOWN, 1)
    answer = crm.write(request_)
    assert (answer.outcome, answer.http_status) == (AnswerClass.NOT_SENT, None)


def test_a_name_that_does_not_resolve_is_not_sent(make_salesforce: MakeSalesforce) -> None:
    assert make_salesforce("https://leadproof.invalid").write(update(title="CTO")).outcome is AnswerClass.NOT_SENT


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@BOTH
def test_no_redirect_is_followed(status: int, request_: WriteRequest, org: Org, salesforce: SalesforceCrm) -> None:
    elsewhere = f"{org.server.url.replace('http:', 'https:')}/elsewhere"  # at the address that the library knows
    org.answers(says(status, b"", Location=elsewhere))
    assert salesforce.write(request_).outcome is not AnswerClass.ACCEPTED
    assert read(salesforce).presence is Presence.UNKNOWN
    assert len(org.calls) == 2
    org.sign_in = says(status, b"", Location=elsewhere)
    org.answers(says(401, NO_SESSION))
    assert salesforce.write(request_).outcome is AnswerClass.REFUSES_US
    assert not any("elsewhere" in one.path for one in org.server.requests)


@pytest.mark.parametrize("status", [429, 503])
def test_no_wait_inside_the_thread(status: int, org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(status, b"", **{"Retry-After": "3"}))
    started = time.monotonic()
    found = read(salesforce)
    assert time.monotonic() - started < 1
    assert (found.presence, found.retry_after_seconds) == (Presence.UNKNOWN, 3)
    assert len(org.calls) == 1


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x.my.salesforce.com",
        "ftp://x.my.salesforce.com",
        "https://",
        "https://x.my.salesforce.com/services",
        "https://x.my.salesforce.com?a=b",
        "https://user@x.my.salesforce.com",
        "https://[::1]:8443",
        "https://[::1",
        "https://x:port",
    ],
)
def test_an_address_that_the_library_would_change_is_refused(url: str, make_salesforce: MakeSalesforce) -> None:
    with pytest.raises(ConfigurationRefused, match="the address of Salesforce"):
        make_salesforce(url)


def test_plain_http_is_spoken_only_where_it_is_configured(make_salesforce: MakeSalesforce) -> None:
    """The library always says https; told of an https address, nothing is ever sent in the clear."""
    heard: list[bytes] = []

    def accept() -> None:
        connection, _ = listener.accept()
        with connection:
            heard.append(connection.recv(1))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        crm = make_salesforce(f"https://127.0.0.1:{listener.getsockname()[1]}")
        assert crm.write(update(title="CTO")).outcome is AnswerClass.NOT_SENT
    assert heard == [b"\x16"], "a TLS handshake begins so"


def test_a_request_to_another_host_never_leaves(org: Org, signed_in: Callable[..., SalesforceCrm]) -> None:
    from leadproof.deadline import Deadline, Exchange

    crm = signed_in()
    for url in ("https://evil.example/x", "http://127.0.0.1/x", f"https://127.0.0.1:{org.server.port}.evil.example/x"):
        asked = crm._client.call(lambda library, url=url: library.session.get(url), Deadline(1.0))  # type: ignore[misc]
        assert isinstance(asked, Exchange)
        assert asked.sent is False

    def joined(library: Any) -> Any:
        return library.Lead.update("//evil.example/x", {})  # to its own address, which makes it another host's

    asked = crm._client.call(joined, Deadline(1.0))
    assert isinstance(asked, Exchange)
    assert (asked.sent, asked.fault) == (False, "Elsewhere")
    assert org.server.requests == []


def test_neither_netrc_nor_proxy_nor_cookie_changes_a_request(
    org: Org, make_salesforce: MakeSalesforce, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    crm = make_salesforce(org.server.url)
    org.answers(says(200, rows(row()), **{"Set-Cookie": "BrowserId=x; path=/"}))
    for _ in range(2):
        assert read(crm).presence is Presence.ONE
    assert {one.headers["authorization"] for one in org.calls} == {"Bearer token-1"}
    assert not any("cookie" in one.headers for one in org.server.requests)


def test_a_connection_is_used_again(org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(lambda line: line.respond(200, rows(row())) if query_of(line.request) else line.respond(204))
    for _ in range(3):
        assert read(salesforce).presence is Presence.ONE
        assert salesforce.write(update(title="CTO")).outcome is AnswerClass.ACCEPTED
    assert org.server.connections == 1


def test_twenty_threads_share_it_while_its_tokens_are_taken_away(org: Org, salesforce: SalesforceCrm) -> None:
    """Each answer belongs to its question, each write goes out with all its headers, and no write goes out twice but
    for a refused session."""
    refusals = iter([False] * 40 + [True] + [False] * 110 + [True] + [False] * 10_000)
    lock, dead = threading.Lock(), set()

    def echo(line: Line) -> None:
        token = line.request.headers["authorization"]
        with lock:
            if next(refusals):
                dead.add(token)
        if token in dead:
            line.respond(401, NO_SESSION)
        elif line.request.method == "PATCH":
            line.respond(204)
        else:
            asked = query_of(line.request).rpartition("'")[0].rpartition("'")[2]
            line.respond(200, rows(row(asked, Email=f"{asked}@example.com")))

    org.answers(echo)
    start = threading.Barrier(20)

    def work(thread: int) -> bool:
        start.wait()
        right = True
        for number in range(5):
            record_id = lead_id(10 * thread + number)
            found = salesforce.read("lead", record_id, ["email"], history=False)
            written = salesforce.write(update(record_id, title="CTO"))
            right &= found.record is not None and found.record.fields["email"] == f"{record_id}@example.com".lower()
            right &= written.provider_record_id == record_id
        return right

    with ThreadPoolExecutor(20) as threads:
        assert all(threads.map(work, range(20)))
    assert len(org.sign_ins) == 3
    writes = [one for one in org.calls if one.method == "PATCH" and one.headers["authorization"] not in dead]
    assert all(one.headers["sforce-auto-assign"] == "FALSE" for one in writes)
    assert sorted(one.path for one in writes) == sorted({one.path for one in writes})


def lead_id(number: int) -> str:
    from leadproof.domain.salesforce_ids import salesforce_id

    return salesforce_id(f"00Qxx{number:010}")


@pytest.mark.parametrize("headers", [b"", b"bad header\r\n"])
def test_neither_the_library_nor_urllib3_logs_addresses_or_bodies(
    headers: bytes, org: Org, signed_in: Callable[..., SalesforceCrm], caplog: pytest.LogCaptureFixture
) -> None:
    crm = signed_in(call_timeout=0.4)  # behind a bad header the length is not seen
    caplog.set_level(logging.DEBUG)
    body = b'[{"message":"bo@example.com","errorCode":"STRING_TOO_LONG"}]'
    org.answers(
        lambda line: line.send(b"HTTP/1.1 400 X\r\n" + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    )
    crm.find(lead_ref(email="bo@example.com"), ["email"], history=False)
    crm.write(update(email="bo@example.com"))
    assert len(org.calls) == 2
    logged = caplog.text.replace("%40", "@")
    assert "example.com" not in logged
    assert "token-1" not in logged
    assert "secret" not in logged


def test_an_error_of_the_library_after_a_write_was_sent_does_not_hide_the_answer(
    org: Org, salesforce: SalesforceCrm, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simple_salesforce.api import SFType

    def breaks(*_: object) -> None:
        raise AttributeError("x")

    monkeypatch.setattr(SFType, "_raw_response", breaks)
    org.answers(says(201, CREATED))
    answer = salesforce.write(creation())
    assert (answer.outcome, answer.provider_record_id) == (AnswerClass.ACCEPTED, LEAD), "it is read from the wire"


def test_only_one_address_is_ever_used(org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(201, CREATED))
    salesforce.write(creation())
    assert [one.path for one in org.server.requests] == [
        "/services/oauth2/token",
        "/services/data/v62.0/sobjects/Lead/describe",
        f"/services/data/v62.0/sobjects/Lead/{EXTERNAL_FIELD}/{'e' * 64}",
    ]


def test_the_wait_for_a_sign_in_of_another_thread_is_bounded(
    org: Org, make_salesforce: MakeSalesforce, server: Hostile
) -> None:
    crm = make_salesforce(server.url, connect_timeout=0.3, call_timeout=0.6)
    org.sign_in = Line.wait_for_the_end
    start = threading.Barrier(6)

    def work(_: int) -> AnswerClass:
        start.wait()
        return crm.write(update(title="CTO")).outcome

    started = time.monotonic()
    with ThreadPoolExecutor(6) as threads:
        assert set(threads.map(work, range(6))) == {AnswerClass.NOT_SENT}
    assert time.monotonic() - started < 0.6 + 2 * SLACK
