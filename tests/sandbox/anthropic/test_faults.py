"""The fault plane in front of the stand-in, through the real client."""

import time
from typing import Any

import anthropic
import httpx
import pytest

from tests.sandbox.anthropic.asking import LEAD, ask, planned, question
from tests.sandbox.anthropic.conftest import Scripted
from tests.sandbox.control import Control, eventually

CREATE = "messages.create"


def arm(control: Control, kind: str, operation: str = CREATE, **fault: Any) -> None:
    control.post("/faults", {"provider": "anthropic", "operation": operation, "kind": kind, **fault})


def logged(control: Control) -> tuple[int | None, bool]:
    last = control.get("/requests", provider="anthropic")[-1]
    return last["status"], last["applied"]


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, anthropic.BadRequestError, "invalid_request_error"),
        (402, anthropic.PaymentRequiredError, "billing_error"),
        (403, anthropic.PermissionDeniedError, "permission_error"),
        (408, anthropic.RequestTimeoutError, "invalid_request_error"),
        (413, anthropic.ContentTooLargeError, "request_too_large"),
        (500, anthropic.InternalServerError, "api_error"),
        (503, anthropic.ServiceUnavailableError, "api_error"),
        (504, anthropic.GatewayTimeoutError, "timeout_error"),
        (529, anthropic.OverloadedError, "overloaded_error"),
    ],
)
def test_status(
    claude: anthropic.Anthropic, control: Control, status: int, error: type[anthropic.APIStatusError], kind: str
) -> None:
    arm(control, "status", args={"status": status, "retry_after": 3})
    with pytest.raises(error) as raised:
        ask(claude)
    assert (raised.value.status_code, raised.value.type) == (status, kind)
    assert raised.value.response.headers["retry-after"] == "3"
    assert raised.value.request_id is not None
    assert logged(control) == (status, False)
    assert planned(claude)


def test_status_with_a_body_of_its_own(claude: anthropic.Anthropic, control: Control) -> None:
    arm(control, "status", args={"status": 502, "body": "<html>Bad gateway</html>"})
    with pytest.raises(anthropic.InternalServerError) as raised:
        ask(claude)
    assert raised.value.body == "<html>Bad gateway</html>"


@pytest.mark.parametrize(("args", "seconds"), [({}, "1"), ({"retry_after": 12}, "12")])
def test_rate_limit(claude: anthropic.Anthropic, control: Control, args: dict[str, Any], seconds: str) -> None:
    arm(control, "rate_limit", args=args)
    with pytest.raises(anthropic.RateLimitError) as raised:
        ask(claude)
    assert raised.value.type == "rate_limit_error"
    assert raised.value.response.headers["retry-after"] == seconds


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({}, anthropic.AuthenticationError),
        ({"status": 403}, anthropic.PermissionDeniedError),
        ({"token": "any"}, anthropic.AuthenticationError),
    ],
)
def test_rejected_key(
    claude: anthropic.Anthropic, control: Control, args: dict[str, Any], error: type[anthropic.APIStatusError]
) -> None:
    arm(control, "reject_auth", args=args)
    with pytest.raises(error):
        ask(claude)


@pytest.mark.parametrize(("kind", "applied"), [("drop_before_apply", False), ("drop_after_apply", True)])
def test_dropped(claude: anthropic.Anthropic, control: Control, script: Scripted, kind: str, applied: bool) -> None:
    script("plan", times=1, confidence=0.5)
    arm(control, kind)
    with pytest.raises(anthropic.APIConnectionError):
        ask(claude)
    assert logged(control) == (None, applied)
    assert (control.get("/anthropic") == []) is applied


def test_garbage_after_the_message_was_written(control: Control, claude: anthropic.Anthropic) -> None:
    arm(control, "garbage_after_apply")
    with pytest.raises(anthropic.APIResponseValidationError):
        ask(claude)
    assert logged(control) == (200, True)


def test_status_after_the_message_was_written(control: Control, claude: anthropic.Anthropic) -> None:
    arm(control, "status_after_apply", args={"status": 500})
    with pytest.raises(anthropic.InternalServerError):
        ask(claude)
    assert logged(control) == (500, True)


def test_written_later(control: Control, claude: anthropic.Anthropic) -> None:
    arm(control, "apply_later", args={"seconds": 0.1})
    with pytest.raises(anthropic.APIConnectionError):
        ask(claude)
    assert eventually(lambda: logged(control) == (None, True))


def test_delayed(control: Control, claude: anthropic.Anthropic) -> None:
    arm(control, "delay", args={"seconds": 0.2}, times=2)
    started = time.monotonic()
    assert planned(claude)
    assert time.monotonic() - started >= 0.2
    with pytest.raises(anthropic.APITimeoutError):
        ask(claude.with_options(timeout=0.05))


def test_trickle_outlasts_every_read_timeout(control: Control, claude: anthropic.Anthropic, script: Scripted) -> None:
    script("refusal")
    arm(control, "trickle", args={"seconds": 0.0006})
    started = time.monotonic()
    assert ask(claude.with_options(timeout=0.3)).stop_reason == "refusal"
    assert time.monotonic() - started > 0.3
    assert logged(control) == (200, True)


def test_fault_of_one_lead(control: Control, claude: anthropic.Anthropic) -> None:
    arm(control, "status", match="bo@example.com", args={"status": 500})
    assert planned(claude)
    with pytest.raises(anthropic.InternalServerError):
        planned(claude, {**LEAD, "email": "Bo@Example.com"})


def test_fault_of_one_operation_spares_the_other(control: Control, claude: anthropic.Anthropic) -> None:
    arm(control, "status", operation="models.retrieve", args={"status": 404})
    assert planned(claude)
    with pytest.raises(anthropic.NotFoundError):
        claude.models.retrieve("claude-haiku-5-5")
    assert claude.models.retrieve("claude-haiku-5-5").id == "claude-haiku-5-5"


@pytest.mark.parametrize("kind", ["lock", "stale_read", "human_edit", "rewrite", "partial_batch"])
def test_fault_that_makes_no_sense(http: httpx.Client, kind: str) -> None:
    fault = {"provider": "anthropic", "operation": CREATE, "kind": kind, "args": {"fields": {}}}
    answer = http.post("/_sandbox/faults", json=fault)
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_there_are_no_records(http: httpx.Client) -> None:
    assert http.get("/_sandbox/records", params={"provider": "anthropic"}).status_code == 404


def test_question_that_is_no_json_meets_faults_too(control: Control, claude: anthropic.Anthropic) -> None:
    arm(control, "status", match="claude-haiku-5-5", args={"status": 500})
    with pytest.raises(anthropic.InternalServerError):
        ask(claude, **question(messages=[{"role": "user", "content": "Hello"}]))
