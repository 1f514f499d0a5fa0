"""What HubSpot's client library does by itself, and that none of it reaches us."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import urllib3

from leadproof.crm.hubspot import HubSpotCrm
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.mutation import Answer, AnswerClass
from leadproof.domain.records import LookUp, Presence
from leadproof.domain.steps import WriteRequest
from tests.crm.asking import contact, creation, update
from tests.crm.conftest import MakeCrm
from tests.crm.hostile import Hostile, Line, says
from tests.crm.test_answers import HTML, OUR_ROW, success
from tests.crm.test_deadline import SLACK

RECORD = {"id": "101", "properties": {"email": "bo@example.com"}, "archived": False}
BOTH = pytest.mark.parametrize("request_", [update(), creation()], ids=["update", "create"])


@pytest.fixture
def crm(server: Hostile, make_crm: MakeCrm) -> HubSpotCrm:
    return make_crm(server.url)


def read(crm: HubSpotCrm) -> LookUp:
    return crm.read("contact", "101", ["email"], history=True)


@BOTH
def test_no_timeout_of_its_own_a_trickling_server_is_left_at_the_deadline(
    request_: WriteRequest, server: Hostile, make_crm: MakeCrm
) -> None:
    crm = make_crm(server.url, connect_timeout=0.4, call_timeout=0.4)
    server.answers(lambda line: line.trickle(b" " * 900, 0.02, after=b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"))
    for call in (lambda: crm.write(request_), lambda: read(crm)):
        started = time.monotonic()
        answer = call()
        assert time.monotonic() - started < 0.4 + SLACK
        if isinstance(answer, Answer):
            assert (answer.outcome, answer.http_status) == (AnswerClass.UNCERTAIN, 200)
        else:
            assert answer.presence is Presence.UNKNOWN
    assert [r.method for r in server.requests] == ["POST" if request_.creates else "PATCH", "GET"]


def test_a_find_has_one_deadline_for_all_its_requests(server: Hostile, make_crm: MakeCrm) -> None:
    crm = make_crm(server.url, call_timeout=0.4)

    def slow(line: Line) -> None:
        time.sleep(0.3)
        line.respond(404, {"status": "error", "category": "OBJECT_NOT_FOUND", "message": "no"})

    server.answers(slow)
    started = time.monotonic()
    found = crm.find(contact(email="bo@example.com"), ["email"], history=False)
    assert time.monotonic() - started < 0.4 + SLACK
    assert found.presence is Presence.UNKNOWN


@pytest.mark.parametrize(
    "breaks",
    [
        pytest.param(Line.break_off, id="closed"),
        pytest.param(Line.reset, id="reset"),
        pytest.param(lambda line: line.break_off(b"HTTP/1.1 200 OK\r\nContent-Le"), id="in the headers"),
        pytest.param(
            lambda line: line.break_off(b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id":"101",'),
            id="in the body",
        ),
        pytest.param(
            lambda line: line.break_off(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n'),
            id="in chunks",
        ),
        pytest.param(
            lambda line: line.break_off(b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"id":"101",'),
            id="in a body of unknown length",
        ),
        pytest.param(lambda line: line.break_off(b"SSH-2.0-OpenSSH_9.6\r\n"), id="another protocol"),
        pytest.param(lambda line: line.break_off(b"HTTP/1.1 999999 OK\r\n\r\n"), id="no status"),
        pytest.param(
            lambda line: line.respond(200, b"not gzip", {"Content-Encoding": "gzip"}), id="undecodable content"
        ),
    ],
)
@BOTH
def test_raw_urllib3_errors_are_answers_and_nothing_is_retried(
    breaks: Callable[[Line], None], request_: WriteRequest, server: Hostile, crm: HubSpotCrm
) -> None:
    server.answers(breaks)
    answer = crm.write(request_)
    assert (answer.outcome, answer.provider_record_id) == (AnswerClass.UNCERTAIN, None)
    assert len(server.requests) == 1
    found = read(crm)
    assert (found.presence, found.refuses_us) == (Presence.UNKNOWN, False)
    assert len(server.requests) == 2, "a GET is what the library would have sent four times"


@BOTH
def test_connection_refused_is_not_retried_and_not_sent(
    request_: WriteRequest, server: Hostile, crm: HubSpotCrm, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.close_listener()
    attempts = []
    real = urllib3.util.connection.create_connection

    def counted(*args: Any, **kwargs: Any) -> Any:
        attempts.append(args)
        return real(*args, **kwargs)

    monkeypatch.setattr(urllib3.util.connection, "create_connection", counted)
    answer = crm.write(request_)
    assert (answer.outcome, answer.http_status) == (AnswerClass.NOT_SENT, None)
    assert len(attempts) == 1
    assert read(crm).presence is Presence.UNKNOWN


def test_a_name_that_does_not_resolve_is_not_sent(make_crm: MakeCrm) -> None:
    crm = make_crm("http://leadproof.invalid")
    assert crm.write(update()).outcome is AnswerClass.NOT_SENT


@pytest.mark.parametrize(
    ("url", "token"), [("http://[::1", "any"), ("ftp://127.0.0.1", "any"), (None, "line\r\nbreak")]
)
def test_what_the_library_cannot_send_is_not_sent(
    url: str | None, token: str, server: Hostile, make_crm: MakeCrm
) -> None:
    crm = make_crm(url or server.url, token=lambda: token)
    assert crm.write(update()).outcome is AnswerClass.NOT_SENT
    assert server.requests == []


def test_a_token_that_cannot_be_had_is_not_sent(server: Hostile, make_crm: MakeCrm) -> None:
    def none() -> str:
        raise OSError("secret store is down")

    crm = make_crm(server.url, token=none)
    assert crm.write(update()).outcome is AnswerClass.NOT_SENT
    assert read(crm).presence is Presence.UNKNOWN


@pytest.mark.parametrize("status", [429, 503])
def test_a_get_does_not_sleep_for_retry_after_inside_the_thread(status: int, server: Hostile, crm: HubSpotCrm) -> None:
    server.answers(says(status, HTML, **{"Retry-After": "3"}))
    started = time.monotonic()
    found = read(crm)
    assert time.monotonic() - started < 1
    assert (found.presence, found.retry_after_seconds) == (Presence.UNKNOWN, 3)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@BOTH
def test_no_redirect_is_followed(status: int, request_: WriteRequest, server: Hostile, crm: HubSpotCrm) -> None:
    server.answers(says(status, b"", Location=f"{server.url}/elsewhere"))
    assert crm.write(request_).outcome is not AnswerClass.ACCEPTED
    assert read(crm).presence is Presence.UNKNOWN
    assert len(server.requests) == 2
    assert not any("elsewhere" in request.path for request in server.requests)


@pytest.mark.parametrize("date", ["yesterday", "2026-13-45T00:00:00Z", 17, [], {"a": 1}])
def test_an_undecodable_date_in_a_success_is_uncertain(date: object, server: Hostile, crm: HubSpotCrm) -> None:
    """The library says status 0, or raises whatever the date parser raises, although the write was applied."""
    server.answers(
        says(200, RECORD | {"updatedAt": date}),
        says(200, success(OUR_ROW | {"updatedAt": date})),
        says(200, RECORD | {"updatedAt": date}),
    )
    for request in (update(), creation()):
        answer = crm.write(request)
        assert (answer.outcome, answer.http_status) == (AnswerClass.UNCERTAIN, 200)
    found = read(crm)
    assert found.presence is Presence.UNKNOWN
    assert found.detail is not None
    assert "AttributeError" not in found.detail, "the library's own error is the one that is named"


@pytest.mark.parametrize("body", [HTML, b"", b"null", [], {}, [RECORD], {"id": None}, {"id": ""}, b"7", b'"text"'])
def test_a_success_that_is_no_record_is_a_model_of_nothing_and_never_one(
    body: Any, server: Hostile, crm: HubSpotCrm
) -> None:
    server.answers(says(200, body))
    found = read(crm)
    assert (found.presence, found.record) == (Presence.UNKNOWN, None)
    found = crm.find(contact(email="bo@example.com"), ["email"], history=False)
    assert found.presence is Presence.UNKNOWN


def test_owners_that_are_a_list_are_a_refusal_and_no_attribute_error(server: Hostile, crm: HubSpotCrm) -> None:
    server.answers(says(200, {"portalId": 62515}), says(200, [1, 2]))
    with pytest.raises(ConfigurationRefused, match="no description"):
        crm.describe("contact")


def test_each_package_has_its_own_error_type_and_none_escapes(server: Hostile, crm: HubSpotCrm) -> None:
    for answered in range(3):
        scripts = [says(200, {"portalId": 62515}), says(200, {"results": []}), says(200, {"results": []})]
        server.answers(*scripts[:answered], says(403, {"status": "error", "category": "MISSING_SCOPES"}))
        with pytest.raises(ConfigurationRefused, match="403 MISSING_SCOPES"):
            crm.describe("contact")


def test_an_error_of_the_library_after_a_write_was_sent_is_uncertain(
    server: Hostile, crm: HubSpotCrm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """urllib3 2.6.0 has no `getheaders`: each call ends in an AttributeError after a write that landed."""
    monkeypatch.delattr(urllib3.BaseHTTPResponse, "getheader")
    monkeypatch.delattr(urllib3.BaseHTTPResponse, "getheaders")
    server.answers(says(200, RECORD))
    answer = crm.write(update())
    assert (answer.outcome, answer.http_status) == (AnswerClass.UNCERTAIN, 200)


def test_connections_are_used_again_although_the_library_makes_a_pool_at_each_access(
    server: Hostile, crm: HubSpotCrm
) -> None:
    server.answers(says(200, RECORD))
    for _ in range(3):
        assert read(crm).presence is Presence.ONE
        assert crm.write(update()).outcome is AnswerClass.ACCEPTED
    assert server.connections == 1


def test_a_rotated_token_counts_at_the_next_call(server: Hostile, make_crm: MakeCrm) -> None:
    tokens = iter(["old", "new", "newer"])
    crm = make_crm(server.url, token=lambda: next(tokens))
    server.answers(says(200, RECORD))
    crm.write(update())
    crm.write(creation())
    read(crm)
    assert [r.headers["authorization"] for r in server.requests] == ["Bearer old", "Bearer new", "Bearer newer"]


def test_a_token_is_never_sent_elsewhere(server: Hostile, make_crm: MakeCrm) -> None:
    crm = make_crm(f"{server.url}/hubspot/")
    server.answers(says(200, {"portalId": 62515}), says(200, {"results": []}))
    crm.describe("contact")
    assert [r.path.partition("?")[0] for r in server.requests] == [
        "/hubspot/account-info/v3/details",
        "/hubspot/crm/v3/owners/",
        "/hubspot/crm/v3/owners/",
        "/hubspot/crm/v3/properties/contacts",
    ]


def test_twenty_threads_share_it(server: Hostile, crm: HubSpotCrm) -> None:
    def echo(line: Line) -> None:
        record_id = line.request.path.rpartition("/")[2].partition("?")[0]
        line.respond(200, {"id": record_id, "properties": {"email": f"{record_id}@example.com"}, "archived": False})

    server.answers(echo)
    start = threading.Barrier(20)

    def work(thread: int) -> bool:
        start.wait()
        right = True
        for number in range(10):
            record_id = str(1000 * thread + number)
            found = crm.read("contact", record_id, ["email"], history=False)
            written = crm.write(update(record_id, email="x@example.com"))
            right &= found.record is not None and found.record.fields == {"email": f"{record_id}@example.com"}
            right &= written.provider_record_id == record_id
        return right

    with ThreadPoolExecutor(20) as threads:
        assert all(threads.map(work, range(1, 21)))
    assert server.connections <= 20


@pytest.mark.parametrize("headers", [b"", b"bad header\r\n"])
def test_neither_the_library_nor_urllib3_logs_addresses_or_bodies(
    headers: bytes, server: Hostile, make_crm: MakeCrm, caplog: pytest.LogCaptureFixture
) -> None:
    crm = make_crm(server.url, call_timeout=0.4)  # behind a bad header the length is not seen
    caplog.set_level(logging.DEBUG)
    body = b'{"id":"101","properties":{"email":"bo@example.com"}}'
    server.answers(
        lambda line: line.send(b"HTTP/1.1 200 OK\r\n" + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    )
    crm.find(contact(external_id="bo@example.com"), ["email"], history=False)
    crm.write(update(email="bo@example.com"))
    assert len(server.requests) == 2
    assert "example.com" not in caplog.text.replace("%40", "@")


def test_values_are_quoted_into_one_path_segment(server: Hostile, crm: HubSpotCrm) -> None:
    server.answers(says(200, RECORD))
    crm.find(contact(email="a+b/c?d#e@example.com"), ["email"], history=False)
    assert server.requests[1].path.startswith("/crm/v3/objects/contacts/a%2Bb%2Fc%3Fd%23e%40example.com?")


@pytest.mark.parametrize("record_id", ["", ".", ".."])
def test_a_path_of_dots_is_no_record(record_id: str, server: Hostile, crm: HubSpotCrm) -> None:
    answer = crm.write(update(record_id))
    assert (answer.outcome, answer.code) == (AnswerClass.REFUSES_THIS, "NO_RECORD_ID")
    assert crm.read("contact", record_id, ["email"], history=False).presence is Presence.UNKNOWN
    assert server.requests == []
