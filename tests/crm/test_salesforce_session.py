"""How we are let in by Salesforce, and that a refusal is no storm."""

from __future__ import annotations

import threading
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from leadproof.crm.salesforce_sign_in import ClientCredentials, JwtBearer
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.records import LookUp, Presence
from tests.crm.conftest import MakeSalesforce
from tests.crm.hostile import Hostile, Line, says
from tests.crm.salesforce_org import CREATED, LEAD, NO_SESSION, ORG, Org, creation, row, rows, update

if TYPE_CHECKING:
    from leadproof.crm.salesforce import SalesforceCrm


def read(crm: SalesforceCrm) -> LookUp:
    return crm.read("lead", LEAD, ["email"], history=False)


def test_one_sign_in_serves_all_calls_and_threads(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows(row())
    start = threading.Barrier(8)

    def work(_: int) -> LookUp:
        start.wait()
        return read(salesforce)

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(work, range(8)))
    assert {one.presence for one in found} == {Presence.ONE}
    assert len(org.sign_ins) == 1
    assert {one.headers["authorization"] for one in org.calls} == {"Bearer token-1"}
    assert salesforce.identity == "salesforce user 005xx000001Sv6AAAS"


def test_client_credentials_go_in_the_header_of_the_sign_in(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows(row())
    read(salesforce)
    (request,) = org.sign_ins
    assert request.method == "POST"
    assert b64decode(request.headers["authorization"].removeprefix("Basic ")) == b"leadproof:secret"
    assert parse_qs(request.body.decode()) == {"grant_type": ["client_credentials"]}
    assert "secret" not in repr(ClientCredentials("leadproof", "secret"))


def test_a_jwt_is_signed_for_the_user_and_short_lived(org: Org, make_salesforce: MakeSalesforce) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    audience = "https://login.salesforce.com"
    bearer = JwtBearer(client_id="leadproof", username="us@example.com", private_key=pem, audience=audience)
    org.shows(row())
    assert read(make_salesforce(org.server.url, sign_in=bearer)).presence is Presence.ONE
    (request,) = org.sign_ins
    assert "authorization" not in request.headers
    form = parse_qs(request.body.decode())
    assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
    claims = jwt.decode(form["assertion"][0], key.public_key(), algorithms=["RS256"], audience=audience)
    assert (claims["iss"], claims["sub"]) == ("leadproof", "us@example.com")
    with pytest.raises(jwt.ExpiredSignatureError):
        jwt.decode(form["assertion"][0], key.public_key(), algorithms=["RS256"], audience=audience, leeway=-180)


@pytest.mark.parametrize("key", ["", "no key", "-----BEGIN PRIVATE KEY-----\nnope\n-----END PRIVATE KEY-----"])
def test_a_key_that_is_none_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(ConfigurationRefused, match="no RSA private key in PEM") as refused:
        JwtBearer(client_id="c", username="u", private_key=key, audience="https://login.salesforce.com")
    assert "nope" not in str(refused.value)


@pytest.mark.parametrize("creates", [True, False])
def test_a_refused_session_is_renewed_once_and_the_call_repeated_with_every_header(
    creates: bool, org: Org, salesforce: SalesforceCrm
) -> None:
    request = creation() if creates else update(title="CTO")
    org.answers(says(401, NO_SESSION), says(201, CREATED) if creates else says(204))
    answer = salesforce.write(request)
    assert (answer.outcome, answer.provider_record_id) == (AnswerClass.ACCEPTED, LEAD)
    first, second = org.calls
    assert (first.method, first.path, first.body) == (second.method, second.path, second.body)
    assert first.headers.pop("authorization") == "Bearer token-1"
    assert second.headers.pop("authorization") == "Bearer token-2"
    assert first.headers == second.headers
    assert second.headers["sforce-auto-assign"] == "FALSE"


def test_a_refused_session_without_any_json_is_renewed_too(org: Org, salesforce: SalesforceCrm) -> None:
    org.answers(says(401, b"<html>"), says(200, rows(row())))
    assert read(salesforce).presence is Presence.ONE


def test_threads_that_meet_a_refused_session_renew_it_once(org: Org, salesforce: SalesforceCrm) -> None:
    org.shows(row())
    read(salesforce)
    together = threading.Barrier(8)

    def by_token(line: Line) -> None:
        if line.request.headers["authorization"] == "Bearer token-1":
            together.wait(10)
            line.respond(401, NO_SESSION)
        else:
            line.respond(200, rows(row()))

    org.answers(by_token)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: read(salesforce), range(8)))
    assert {one.presence for one in found} == {Presence.ONE}
    assert len(org.sign_ins) == 2


def test_a_session_that_is_refused_for_ever_costs_two_requests_and_a_token_once_and_then_one(
    org: Org, salesforce: SalesforceCrm
) -> None:
    org.answers(says(401, NO_SESSION))
    answer = salesforce.write(update(title="CTO"))
    assert (answer.outcome, answer.code, answer.http_status) == (AnswerClass.REFUSES_US, "INVALID_SESSION_ID", 401)
    assert (len(org.calls), len(org.sign_ins)) == (2, 2)
    found = read(salesforce)
    assert (found.presence, found.refuses_us) == (Presence.UNKNOWN, True)
    assert (len(org.calls), len(org.sign_ins)) == (3, 2)
    end_the_quiet(salesforce)
    read(salesforce)
    assert (len(org.calls), len(org.sign_ins)) == (5, 3)


def test_a_token_is_renewed_as_often_as_it_ends(org: Org, salesforce: SalesforceCrm) -> None:
    for number in range(1, 4):
        org.answers(says(401, NO_SESSION), says(200, rows(row())))
        assert read(salesforce).presence is Presence.ONE
        assert len(org.sign_ins) == 1 + number


def test_a_renewed_token_that_was_taken_and_then_ended_is_renewed_at_once(org: Org, salesforce: SalesforceCrm) -> None:
    """Two calls meet the end of one token; the other one has renewed and used the next, which ends before we do."""
    met, used = threading.Event(), threading.Event()

    def waits(line: Line) -> None:
        met.set()
        used.wait(10)
        line.respond(401, NO_SESSION)

    org.answers(waits, says(401, NO_SESSION), says(200, rows(row())), says(401, NO_SESSION), says(200, rows(row())))
    with ThreadPoolExecutor(1) as threads:
        ours = threads.submit(read, salesforce)
        assert met.wait(10)
        assert read(salesforce).presence is Presence.ONE
        used.set()
        assert ours.result().refuses_us
    end_of_second = len(org.sign_ins)
    org.answers(says(401, NO_SESSION), says(200, rows(row())))
    assert read(salesforce).presence is Presence.ONE
    assert (end_of_second, len(org.sign_ins)) == (2, 3)


def test_a_call_that_no_token_lets_in_does_not_renew_it_each_time_while_others_are_let_in(
    org: Org, salesforce: SalesforceCrm
) -> None:
    """A session policy can refuse one kind of request for ever. What succeeds in between says nothing about that."""
    refused = says(401, NO_SESSION)
    with ThreadPoolExecutor(1) as threads:

        def refuses_after_another_call(line: Line) -> None:
            org.answers(says(200, rows(row())))
            assert threads.submit(read, salesforce).result().presence is Presence.ONE
            org.answers(refused)
            refused(line)

        org.answers(refused, refuses_after_another_call)
        assert salesforce.write(update(title="CTO")).outcome is AnswerClass.REFUSES_US
    assert len(org.sign_ins) == 2
    assert salesforce.write(update(title="CTO")).outcome is AnswerClass.REFUSES_US
    assert len(org.sign_ins) == 2


def end_the_quiet(crm: SalesforceCrm) -> None:
    """The time without a further sign-in is over."""
    crm._client._sessions._quiet_until = -1.0


@pytest.mark.parametrize("code", ["invalid_client", "invalid_grant", "inactive_user"])
def test_a_sign_in_that_is_refused_refuses_us_and_is_not_repeated_at_once(
    code: str, org: Org, salesforce: SalesforceCrm
) -> None:
    org.sign_in = says(400, {"error": code, "error_description": "of us@example.com"})
    for _ in range(3):
        answer = salesforce.write(update(title="CTO"))
        assert (answer.outcome, answer.code, answer.http_status) == (AnswerClass.REFUSES_US, code, 400)
        assert "example.com" not in str(answer.detail)
        assert read(salesforce).refuses_us
    assert (len(org.calls), len(org.sign_ins)) == (0, 1)


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param(says(503, b"<html>"), id="503"),
        pytest.param(says(429, {"error": "rate"}), id="429"),
        pytest.param(lambda line: line.break_off(), id="closed"),
        pytest.param(says(200, b"<html>"), id="a page"),
        pytest.param(says(200, {"access_token": "t"}), id="nobody"),
        pytest.param(lambda line: line.break_off(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"), id="half"),
    ],
)
def test_a_sign_in_without_an_answer_means_that_nothing_was_sent(
    answers: object, org: Org, salesforce: SalesforceCrm
) -> None:
    org.sign_in = answers  # type: ignore[assignment]
    assert salesforce.write(update(title="CTO")).outcome is AnswerClass.NOT_SENT
    found = read(salesforce)
    assert (found.presence, found.refuses_us) == (Presence.UNKNOWN, False)
    assert org.calls == []


def test_a_refused_sign_in_in_whatever_words_refuses_us(org: Org, salesforce: SalesforceCrm) -> None:
    org.sign_in = says(400, b"[" * 100_000)
    assert salesforce.write(update(title="CTO")).outcome is AnswerClass.REFUSES_US


def test_a_token_for_another_address_is_refused(org: Org, salesforce: SalesforceCrm) -> None:
    for url in ("https://evil.example", "https://127.0.0.1", "//evil.example", "None", "https://127.0.0.1:1/x"):
        org.sign_in = lambda line, url=url: org.lets_in(line, instance_url=url)  # type: ignore[misc]
        end_the_quiet(salesforce)
        answer = salesforce.write(update(title="CTO"))
        assert (answer.outcome, answer.code) == (AnswerClass.REFUSES_US, "FOREIGN_INSTANCE")
    assert org.calls == []


def test_who_let_us_in_is_told(org: Org, salesforce: SalesforceCrm) -> None:
    assert salesforce.identity == "salesforce integration user"
    org.shows(row())
    read(salesforce)
    session = salesforce._client._sessions.present
    assert session is not None
    assert (session.organization_id, salesforce.identity) == (ORG, "salesforce user 005xx000001Sv6AAAS")


def test_a_sign_in_that_takes_the_time_to_connect_leaves_none_for_the_write(
    org: Org, make_salesforce: MakeSalesforce, server: Hostile
) -> None:
    """A write is called quiet a known time after its beginning, so what has not left by then never leaves."""
    crm = make_salesforce(server.url, connect_timeout=0.3)
    held = threading.Event()

    def late(line: Line) -> None:
        held.wait(0.5)
        org.lets_in(line)

    org.sign_in = late
    answer = crm.write(update(title="CTO"))
    assert answer.outcome is AnswerClass.NOT_SENT
    assert org.calls == []


def test_what_is_asked_before_a_write_takes_of_its_time_to_connect(org: Org, make_salesforce: MakeSalesforce) -> None:
    crm = make_salesforce(org.server.url, connect_timeout=0.4)
    held = threading.Event()

    def slowly(line: Line) -> None:
        held.wait(0.15)
        line.respond(200, org.description)

    def late(line: Line) -> None:
        held.wait(0.3)
        line.respond(401, NO_SESSION)

    org.describes = slowly  # type: ignore[method-assign]
    org.answers(late, says(204))
    assert crm.write(update(title="CTO")).outcome is AnswerClass.NOT_SENT
    assert len(org.calls) == 1, "the write that was refused"


def test_a_renewal_that_takes_the_time_to_connect_leaves_none_for_the_repetition(
    org: Org, make_salesforce: MakeSalesforce
) -> None:
    crm = make_salesforce(org.server.url, connect_timeout=0.4)
    org.shows(row())
    read(crm)
    held = threading.Event()

    def late(line: Line) -> None:
        held.wait(0.6)
        line.respond(401, NO_SESSION)

    org.answers(late, says(204))
    answer = crm.write(update(title="CTO"))
    assert answer.outcome is AnswerClass.NOT_SENT
    assert len(org.calls) == 2, "the read and the write that was refused"
