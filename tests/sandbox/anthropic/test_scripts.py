"""What the stand-in can be told to do, seen through the real client."""

import json
import time
from typing import Any

import anthropic
import httpx
import pytest

from tests.sandbox.anthropic.asking import SCHEMA, allows, ask, planned, question, said, sets
from tests.sandbox.anthropic.conftest import Scripted
from tests.sandbox.control import Control


def test_scripts_are_taken_in_order_and_counted(
    claude: anthropic.Anthropic, script: Scripted, control: Control
) -> None:
    script("refusal", times=2)
    script("plan", times=1, confidence=0.1)
    assert control.get("/anthropic") == [
        {"script": "refusal", "times": 2, "args": {}},
        {"script": "plan", "times": 1, "args": {"confidence": 0.1}},
    ]
    assert [ask(claude).stop_reason for _ in range(2)] == ["refusal", "refusal"]
    assert planned(claude)["confidence"] == 0.1
    assert planned(claude)["confidence"] == 0.9
    assert control.get("/anthropic") == []


def test_script_without_times_lasts_until_it_is_taken_back(
    claude: anthropic.Anthropic, script: Scripted, control: Control
) -> None:
    script("refusal")
    assert {ask(claude).stop_reason for _ in range(3)} == {"refusal"}
    control.delete("/anthropic")
    assert planned(claude)["confidence"] == 0.9


def test_reset_forgets_scripts(script: Scripted, control: Control) -> None:
    script("overload")
    control.post("/reset")
    assert control.get("/anthropic") == []


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"script": "sing"},
        {"script": "plan", "times": 0},
        {"script": "plan", "times": "2"},
        {"script": "plan", "often": 2},
        {"script": "plan", "args": {"seconds": 1}},
        {"script": "plan", "args": {"sets": ["owner"]}},
        {"script": "plan", "args": []},
        {"script": "hang", "args": {"seconds": "long"}},
        {"script": "invalid_json", "args": {"kind": "rude"}},
        {"script": "unpaid", "args": {"status": 500}},
    ],
)
def test_script_that_makes_no_sense(http: httpx.Client, asked: dict[str, Any]) -> None:
    answer = http.post("/_sandbox/anthropic", json=asked)
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_nothing_is_put_behind_a_script_that_never_ends(script: Scripted, http: httpx.Client) -> None:
    script("overload")
    answer = http.post("/_sandbox/anthropic", json={"script": "plan"})
    assert (answer.status_code, "never ends" in answer.json()["error"]) == (422, True)


def test_request_that_is_refused_takes_no_script(claude: anthropic.Anthropic, script: Scripted) -> None:
    script("refusal", times=1)
    with pytest.raises(anthropic.NotFoundError):
        ask(claude, **question(model="claude-1"))
    assert ask(claude).stop_reason == "refusal"


def test_paraphrase_means_the_same_in_other_words(claude: anthropic.Anthropic, script: Scripted) -> None:
    plain = planned(claude)
    script("paraphrase")
    told_again = [planned(claude) for _ in range(5)]
    for told in told_again:
        assert allows(SCHEMA, told)
        assert sets(told) == sets(plain)
        assert told["actions"][0]["sets"] != plain["actions"][0]["sets"]
    tellings = [plain, *told_again]
    assert len({plan["summary"] for plan in tellings}) == 6
    assert len({plan["actions"][0]["reason"] for plan in tellings}) == 6
    assert len({json.dumps(plan["actions"][0]["evidence"]) for plan in tellings}) == 6


def test_refusal_is_an_answer_without_content(claude: anthropic.Anthropic, script: Scripted) -> None:
    script("refusal", category="cyber")
    message = ask(claude)
    assert (message.stop_reason, message.content, message.usage.output_tokens) == ("refusal", [], 0)
    assert message.stop_details is not None
    assert message.stop_details.category == "cyber"


@pytest.mark.parametrize(
    ("name", "reason"), [("truncation", "max_tokens"), ("context", "model_context_window_exceeded")]
)
def test_text_is_cut_in_the_middle(claude: anthropic.Anthropic, script: Scripted, name: str, reason: str) -> None:
    whole = said(ask(claude))
    script(name)
    message = ask(claude)
    assert message.stop_reason == reason
    assert whole.startswith(said(message))
    assert (message.usage.output_tokens == 2048) is (reason == "max_tokens")
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(said(message))


@pytest.mark.parametrize("kind", ["prose", "fenced", "cut"])
def test_text_is_no_json(claude: anthropic.Anthropic, script: Scripted, kind: str) -> None:
    script("invalid_json", kind=kind)
    message = ask(claude)
    assert message.stop_reason == "end_turn"
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(said(message))


@pytest.mark.parametrize("kind", ["list", "missing", "extra", "type"])
def test_json_is_not_of_the_schema(claude: anthropic.Anthropic, script: Scripted, kind: str) -> None:
    script("invalid_json", kind=kind)
    message = ask(claude)
    assert message.stop_reason == "end_turn"
    assert not allows(SCHEMA, json.loads(said(message)))


def test_field_is_set_twice(claude: anthropic.Anthropic, script: Scripted) -> None:
    script("invalid_json", kind="twice")
    rows = planned(claude)["actions"][0]["sets"]
    assert rows[0] == rows[-1]
    assert len(rows) == 5


def test_end_of_turn_without_any_text(claude: anthropic.Anthropic, script: Scripted) -> None:
    script("invalid_json", kind="empty")
    message = ask(claude)
    assert (message.stop_reason, message.content) == ("end_turn", [])


@pytest.mark.parametrize(
    ("name", "args", "error", "status", "kind"),
    [
        ("overload", {}, anthropic.OverloadedError, 529, "overloaded_error"),
        ("unauthorized", {}, anthropic.AuthenticationError, 401, "authentication_error"),
        ("unpaid", {}, anthropic.PaymentRequiredError, 402, "billing_error"),
        ("unpaid", {"status": 400}, anthropic.BadRequestError, 400, "invalid_request_error"),
        ("retired", {}, anthropic.NotFoundError, 404, "not_found_error"),
    ],
)
def test_errors(
    claude: anthropic.Anthropic,
    script: Scripted,
    control: Control,
    name: str,
    args: dict[str, Any],
    error: type[anthropic.APIStatusError],
    status: int,
    kind: str,
) -> None:
    script(name, **args)
    with pytest.raises(error) as raised:
        ask(claude)
    assert (raised.value.status_code, raised.value.type) == (status, kind)
    assert raised.value.request_id == raised.value.body["request_id"]  # type: ignore[index]
    assert "retry-after" not in raised.value.response.headers
    [entry] = control.get("/requests", provider="anthropic")
    assert (entry["status"], entry["applied"]) == (status, False)


def test_overload_says_when_to_come_again(claude: anthropic.Anthropic, script: Scripted) -> None:
    script("overload", times=1, seconds=7)
    with pytest.raises(anthropic.OverloadedError) as raised:
        ask(claude)
    assert raised.value.response.headers["retry-after"] == "7"
    assert planned(claude)


def test_hang_lasts_until_the_client_leaves(claude: anthropic.Anthropic, script: Scripted, control: Control) -> None:
    script("hang", times=1)
    with pytest.raises(anthropic.APITimeoutError):
        ask(claude.with_options(timeout=0.2))
    [entry] = control.get("/requests", provider="anthropic")
    assert (entry["operation"], entry["status"], entry["applied"]) == ("messages.create", None, True)
    assert planned(claude)


def test_hang_of_some_seconds_ends_in_an_answer(claude: anthropic.Anthropic, script: Scripted) -> None:
    script("hang", seconds=0.2)
    started = time.monotonic()
    assert planned(claude)
    assert time.monotonic() - started >= 0.2
