"""Every answer of the Messages API and what it means, row by row, in the exceptions of the real client library."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import anthropic
import httpx2
import pytest
from anthropic.types import Message, StopReason

from leadproof.deadline import Exchange
from leadproof.domain.errors import LeadproofError, MalformedPlan, PlannerRefused, PlannerUnavailable
from leadproof.planners import claude_answers
from leadproof.planners.claude_answers import (
    Asked,
    failure_of,
    message_of,
    no_such_model,
    retry_after,
    text_of,
    told_of,
)

ASKED = Asked("claude-haiku-5-5", "[claude.escalation]", 4096, 30)
REQUEST = httpx2.Request("POST", "https://api.anthropic.example/v1/messages")
SDK = anthropic.Anthropic(api_key="the-key-of-the-tests", base_url="https://api.anthropic.example")
LEAKS = "Ana Lima wrote: the-key-of-the-tests"


def refused_with(
    status: int, kind: str | None = "api_error", *, code: str | None = None, says: str = LEAKS, **headers: str
) -> anthropic.APIStatusError:
    """The error that the client library makes of an answer; without a kind, in nobody's format."""
    error = {"type": kind, "message": says} | ({"details": {"error_code": code}} if code else {})
    body: Any = {"type": "error", "error": error} if kind is not None else "<html>no</html>"
    told = {"request-id": "req_01"} | {name.replace("_", "-"): value for name, value in headers.items()}
    content = json.dumps(body).encode() if kind is not None else body.encode()
    return SDK._make_status_error_from_response(httpx2.Response(status, headers=told, content=content, request=REQUEST))


def brought(value: object, **more: Any) -> Exchange[object]:
    return Exchange(sent=True, late=False, value=value, **more)


def failure(value: object, asked: Asked = ASKED) -> LeadproofError:
    return failure_of(brought(value), asked)


def message(stop_reason: str | None = "end_turn", content: Any = ()) -> Message:
    shape: dict[str, Any] = {"id": "msg_01", "type": "message", "role": "assistant", "model": "m"}
    return Message.construct(None, **shape, content=list(content), stop_reason=stop_reason)


# -- errors with a status ----------------------------------------------------------------------------------------------
REFUSED = [
    (400, "invalid_request_error", "structured answers"),
    (401, "authentication_error", "LEADPROOF_ANTHROPIC_API_KEY is not accepted"),
    (402, "billing_error", "cannot pay"),
    (403, "permission_error", r"may not use claude-haiku-5-5.*\[claude\.escalation\]"),
    (404, "not_found_error", r"no model claude-haiku-5-5 \(retired, or misspelt\).*\[claude\.escalation\]"),
    (412, "memory_precondition_failed_error", "as invalid"),
    (413, "request_too_large", "`shows`"),
    (418, "invalid_request_error", "as invalid"),
    (422, "invalid_request_error", "as invalid"),
    (431, "invalid_request_error", "as invalid"),
    (301, "api_error", "LEADPROOF_ANTHROPIC_BASE_URL"),
    (307, None, "LEADPROOF_ANTHROPIC_BASE_URL"),
    (400, None, "LEADPROOF_ANTHROPIC_BASE_URL"),
    (401, None, "LEADPROOF_ANTHROPIC_BASE_URL"),
    (403, None, "LEADPROOF_ANTHROPIC_BASE_URL"),
    (404, None, "LEADPROOF_ANTHROPIC_BASE_URL"),
    (407, None, "LEADPROOF_ANTHROPIC_BASE_URL"),
]
AGAIN = [
    (408, "timeout_error", None),
    (409, "conflict_error", None),
    (425, "api_error", None),
    (429, "rate_limit_error", 15.0),
    (429, None, 15.0),
    (499, "api_error", None),
    (500, "api_error", None),
    (501, "api_error", None),
    (502, None, None),
    (503, "api_error", 15.0),
    (504, "timeout_error", None),
    (520, None, None),
    (529, "overloaded_error", 15.0),
]


@pytest.mark.parametrize(("status", "kind", "says"), REFUSED)
def test_what_asking_again_would_not_change_is_refused(status: int, kind: str | None, says: str) -> None:
    error = failure(refused_with(status, kind))
    assert type(error) is PlannerRefused
    assert re.search(says, str(error))


@pytest.mark.parametrize(("status", "kind", "wait"), AGAIN)
def test_what_may_pass_is_asked_again(status: int, kind: str | None, wait: float | None) -> None:
    error = failure(refused_with(status, kind))
    assert isinstance(error, PlannerUnavailable)
    assert error.retry_after_seconds == wait
    assert "it is asked again" in str(error)


@pytest.mark.parametrize(
    ("status", "code", "expected", "says"),
    [
        (429, "enforced_spend_limit_reached", PlannerRefused, "spending limit"),
        (403, "contract_spend_limit_reached", PlannerRefused, "spending limit"),
        (429, "linked_organization_spend_limit_reached", PlannerRefused, "spending limit"),
        (403, "linked_organization_billing_unavailable", PlannerRefused, "cannot pay"),
        (403, "organization_on_hold", PlannerRefused, "support"),
        (429, "ramp_limit_exceeded", PlannerUnavailable, "grows faster"),
        (400, "a_code_of_tomorrow", PlannerRefused, "as invalid"),
    ],
)
def test_a_named_cause_counts_before_the_status(
    status: int, code: str, expected: type[LeadproofError], says: str
) -> None:
    error = failure(refused_with(status, "invalid_request_error", code=code))
    assert type(error) is expected
    assert says in str(error)


def test_an_empty_account_is_told_whatever_its_status() -> None:
    assert "cannot pay" in str(failure(refused_with(400, says="Your credit balance is too low")))
    assert "cannot pay" in str(failure(refused_with(403, "billing_error")))


def test_every_error_class_of_the_library_has_its_row() -> None:
    """By status and class; one that a later version adds is seen here."""
    classes = {
        value
        for name in anthropic.__all__
        if isinstance(value := getattr(anthropic, name), type) and issubclass(value, anthropic.APIStatusError)
    }
    known = {401, 400, 402, 403, 404, 408, 409, 412, 413, 422, 429, 431, 499, 501, 503, 504, 529}
    statuses = {one.status_code for one in classes if isinstance(one.__dict__.get("status_code"), int)}
    assert statuses == known
    assert statuses <= {status for status, *_ in (*REFUSED, *AGAIN)}
    for one in classes:
        status = one.__dict__.get("status_code")
        if isinstance(status, int):
            assert isinstance(refused_with(status), one)


@pytest.mark.parametrize("provider", ["bedrock", "vertex"])
def test_another_provider_answers_in_its_own_format_and_by_its_own_credentials(provider: str) -> None:
    asked = Asked("m", provider=provider)
    said = str(failure(refused_with(403, None), asked))
    assert "BASE_URL" not in said
    assert "API_KEY" not in said
    assert "credentials may not use m" in said


# -- how long to wait --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("0", 0.0),
        ("86400", 300.0),
        *((text, None) for text in ("-1", "nan", "inf", "", "Mon, 30 Nov 2026 10:00:00 GMT")),
    ],
)
def test_a_wait_is_told_in_seconds_and_has_a_bound(told: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": told}) == seconds


def test_a_told_wait_counts_before_ours() -> None:
    error = failure(refused_with(529, retry_after="7"))
    assert isinstance(error, PlannerUnavailable)
    assert error.retry_after_seconds == 7


# -- errors without a status -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("value", "expected", "says"),
    [
        (anthropic.APIConnectionError(request=REQUEST), PlannerUnavailable, "connection was lost"),
        (anthropic.APITimeoutError(request=REQUEST), PlannerUnavailable, "within 30 s"),
        (anthropic.APIResponseValidationError(httpx2.Response(200, request=REQUEST), None), PlannerUnavailable, "read"),
        (json.JSONDecodeError("x", "y", 0), PlannerUnavailable, "read"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), PlannerUnavailable, "read"),
        ("<html>", PlannerUnavailable, "read"),
        (None, PlannerUnavailable, "read"),
        (anthropic.CredentialsError(LEAKS), PlannerRefused, "no usable credentials"),
        (type("NoCredentialsError", (Exception,), {})(LEAKS), PlannerRefused, "no usable credentials"),
        (anthropic.RetryableError(LEAKS), PlannerRefused, r"\(RetryableError\)"),
        (anthropic.AnthropicError(LEAKS), PlannerRefused, r"\(AnthropicError\)"),
        (RuntimeError(LEAKS), PlannerRefused, r"\(RuntimeError\)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_what_is_no_answer(value: object, expected: type[LeadproofError], says: str) -> None:
    error = failure(value)
    assert type(error) is expected
    assert re.search(says, str(error))


@pytest.mark.parametrize(
    ("exchange", "says"),
    [
        (Exchange(sent=True, late=True), "no complete answer within 30 s"),
        (Exchange(sent=True, late=True, value=message()), "no complete answer within 30 s"),
        (Exchange(sent=False, late=True), "cannot be reached"),
        (Exchange(sent=False, late=False, fault="RuntimeError"), "cannot be reached"),
    ],
)
def test_a_call_that_was_given_up_is_asked_again(exchange: Exchange[object], says: str) -> None:
    with pytest.raises(PlannerUnavailable, match=says):
        message_of(exchange, ASKED)


# -- messages ----------------------------------------------------------------------------------------------------------
def test_only_a_message_that_ended_by_itself_is_read() -> None:
    whole = message(content=[{"type": "text", "text": "{}"}])
    assert message_of(brought(whole), ASKED) is whole


STOPS = [
    ("refusal", PlannerRefused, "declined"),
    ("max_tokens", PlannerRefused, "cut off at 4096 tokens; raise `max_tokens`"),
    ("model_context_window_exceeded", PlannerRefused, "larger than claude-haiku-5-5 can read"),
    ("stop_sequence", MalformedPlan, "nobody asked for"),
    ("tool_use", MalformedPlan, "nobody asked for"),
    ("pause_turn", MalformedPlan, "nobody asked for"),
]


@pytest.mark.parametrize(
    ("reason", "expected", "says"), [*STOPS, ("tomorrows", *STOPS[-1][1:]), (None, *STOPS[-1][1:])]
)
def test_every_other_stop_has_its_sentence(reason: str | None, expected: type[LeadproofError], says: str) -> None:
    with pytest.raises(expected, match=says):
        message_of(brought(message(reason, [{"type": "text", "text": LEAKS}])), ASKED)


def test_every_stop_reason_of_the_library_has_its_row() -> None:
    assert {"end_turn", *(reason for reason, *_ in STOPS)} == set(get_args(StopReason))


def test_the_first_text_is_the_answer() -> None:
    blocks = [
        anthropic.types.ThinkingBlock(type="thinking", thinking="hm", signature="s"),
        anthropic.types.TextBlock(type="text", text="{}"),
        anthropic.types.TextBlock(type="text", text="no"),
    ]
    assert text_of(message(content=blocks)) == "{}"
    for empty in ([], blocks[:1], [anthropic.types.TextBlock.construct(None, type="text", text=None)]):
        with pytest.raises(MalformedPlan, match="no text"):
            text_of(message(content=empty))


@pytest.mark.parametrize("content", [5, True, None, "{}", {"type": "text", "text": "{}"}, [5, None, "{}"]])
def test_content_that_is_no_list_of_blocks_has_no_text(content: Any) -> None:
    body = {"id": "msg_01", "type": "message", "role": "assistant", "model": "m", "content": content}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, json=body))
    with anthropic.Anthropic(api_key="k", http_client=httpx2.Client(transport=transport)) as client:
        told = client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}])

    with pytest.raises(MalformedPlan, match="no text"):
        text_of(told)


# -- what is said ------------------------------------------------------------------------------------------------------
def test_a_sentence_holds_no_key_and_no_word_of_an_answer() -> None:
    errors = [refused_with(status, kind) for status, kind, _ in (*REFUSED, *AGAIN)]
    said = [str(failure(error)) for error in errors] + [told_of(brought(error), ASKED) for error in errors]
    assert all("Ana" not in one and "the-key" not in one and "\n" not in one for one in said)
    assert all("(request req_01)" in one for one in said)
    assert "(request" not in str(failure(refused_with(500, request_id="Ana Lima")))


def test_each_sentence_can_be_said() -> None:
    meanings = [
        *claude_answers.BY_CODE.values(), *claude_answers.BY_STATUS.values(), *claude_answers.STOPS.values(),
    ]  # fmt: skip
    names = set().union(*(re.findall(r"{(\w+)", meaning.says) for meaning in meanings))
    assert names <= {"model", "where", "max_tokens", "seconds", "key", "status", "fault"}
    assert "claude-haiku-5-5" in no_such_model(ASKED)
