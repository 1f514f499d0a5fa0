"""The Claude planner over the real client library and real sockets: the sandbox's API, and a server without manners."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from leadproof.deadline import Call
from leadproof.domain.errors import ConfigurationRefused, MalformedPlan, PlannerRefused, PlannerUnavailable
from leadproof.domain.plan import Plan, PlannerInfo
from leadproof.domain.policy import Policy
from leadproof.planners.claude import ClaudePlanner
from leadproof.planners.claude_client import ClaudeClient
from leadproof.planners.claude_wire import LARGEST_ANSWER, http_client
from leadproof.ports import Planner
from sandbox.server import running
from tests.crm.hostile import Hostile, Script, hostile, says
from tests.domain.samples import snapshot
from tests.planners.samples import CLAUDE_POLICY, a_lead, claude_policy
from tests.sandbox.control import Control

KEY = "the-key-of-the-tests"
SLACK = 1.0
LEAD = snapshot(email="ana@acme.example", company="Acme", country="DE", message="We need 40 seats")
ESCALATES = CLAUDE_POLICY + '[claude.escalation]\nmodel = "claude-sonnet-5-5"\nafter_refusal = true\n'

MakePlanner = Callable[..., ClaudePlanner]


@pytest.fixture
def make() -> Iterator[MakePlanner]:
    """Planners that are closed with the test."""
    made: list[ClaudePlanner] = []

    def planner(base_url: str, **more: Any) -> ClaudePlanner:
        made.append(ClaudePlanner(lambda: ClaudeClient(base_url=base_url, **{"key": KEY, **more})))
        return made[-1]

    yield planner
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running() as url:
        yield url


@pytest.fixture
def api(address: str) -> Iterator[Control]:
    """The control plane of a sandbox that nobody has asked anything."""
    with httpx.Client(base_url=address, trust_env=False) as browser:
        control = Control(browser)
        control.post("/reset")
        yield control


@pytest.fixture
def claude(address: str, api: Control, make: MakePlanner) -> ClaudePlanner:
    return make(f"{address}/anthropic")


def planned(planner: Planner, policy: Policy | None = None, *, stronger: bool = False) -> tuple[Plan, PlannerInfo]:
    return planner.plan(a_lead(), LEAD, policy or claude_policy(), stronger=stronger)


def asked(api: Control) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = api.get("/requests", provider="anthropic", operation="messages.create")
    return rows


def fails(api: Control, kind: str, **fault: Any) -> None:
    api.post("/faults", {"provider": "anthropic", "operation": "messages.create", "kind": kind, "times": 1, **fault})


ANSWER = {"summary": "give it to dana", "confidence": 0.8, "actions": []}


def a_message(text: str = json.dumps(ANSWER), **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-5-5-20261007",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    } | more


def answers(body: Any, status: int = 200, **headers: str) -> Script:
    told = {"Content-Type": "application/json", "request-id": "req_01", **headers}
    return lambda line: line.respond(status, body, told)


# -- a plan ------------------------------------------------------------------------------------------------------------
def test_one_question_brings_one_plan_and_who_made_it(claude: ClaudePlanner, api: Control) -> None:
    policy = claude_policy()
    plan, info = planned(claude, policy)
    (action,) = plan.actions
    assert (action.kind, action.fields["owner"], action.confidence) == ("create", "dana", 0.9)
    assert action.fields["email"] == "ana@acme.example"
    assert (info.kind, info.model, info.policy_digest) == ("claude", "claude-haiku-5-5", policy.digest)
    usage = info.usage or {}
    assert usage["input_tokens"] > 100
    assert usage["output_tokens"] > 10
    assert (usage["stop_reason"], usage["service_tier"], usage["stronger"]) == ("end_turn", "standard", False)
    assert str(usage["request_id"]).startswith("req_")
    (request,) = asked(api)
    assert "ana@acme.example" not in json.dumps(request["body"])


def test_what_is_sent_is_what_the_policy_says(server: Hostile, make: MakePlanner) -> None:
    server.answers(answers(a_message()))
    _, info = planned(make(server.url), claude_policy(effort="medium", max_tokens=32_000))
    (request,) = server.requests
    body = request.json()
    assert (request.method, request.path) == ("POST", "/v1/messages")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "anthropic-version" in request.headers
    assert set(body) == {"model", "max_tokens", "system", "messages", "output_config"}
    assert (body["model"], body["max_tokens"]) == ("claude-haiku-5-5", 32_000)
    assert (body["output_config"]["effort"], body["output_config"]["format"]["type"]) == ("medium", "json_schema")
    ((message,), document) = body["messages"], json.loads(body["messages"][0]["content"])
    assert message["role"] == "user"
    assert document["lead"] == {"company": "Acme", "country": "DE", "message": "We need 40 seats"}
    assert (info.model, info.usage) == (
        "claude-haiku-5-5-20261007",
        {
            "input_tokens": 10, "output_tokens": 5, "stop_reason": "end_turn", "request_id": "req_01",
            "stronger": False,
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("policy", "stronger", "model"),
    [
        (CLAUDE_POLICY, True, "claude-haiku-5-5"),
        (ESCALATES, False, "claude-haiku-5-5"),
        (ESCALATES, True, "claude-sonnet-5-5"),
    ],
)
def test_the_stronger_model_is_asked_where_there_is_one(
    claude: ClaudePlanner, api: Control, policy: str, stronger: bool, model: str
) -> None:
    _, info = planned(claude, claude_policy(policy), stronger=stronger)
    assert info.usage is not None
    assert (info.model, info.usage["stronger"]) == (model, stronger)
    assert [row["body"]["model"] for row in asked(api)] == [model]


def test_a_policy_that_permits_nothing_costs_nothing(claude: ClaudePlanner, api: Control) -> None:
    plan, info = planned(claude, claude_policy().model_copy(update={"actions": ()}))
    assert (plan.actions, info.usage) == ((), None)
    assert asked(api) == []


def test_a_policy_without_claude_is_refused(claude: ClaudePlanner) -> None:
    with pytest.raises(PlannerRefused, match=r"\[claude\]"):
        planned(claude, claude_policy().model_copy(update={"claude": None}))


def test_thinking_before_the_text_is_passed_over(server: Hostile, make: MakePlanner) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    text = {"type": "text", "text": json.dumps(ANSWER)}
    server.answers(answers(a_message(content=[thinking, text, {"type": "text", "text": "and more"}])))
    assert planned(make(server.url))[0].summary == "give it to dana"


def test_what_a_later_api_adds_is_no_fault(server: Hostile, make: MakePlanner) -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "service_tier": "tomorrows", "new": {"a": 1}}
    server.answers(answers(a_message(usage=usage, new=1)))
    _, info = planned(make(server.url))
    assert info.usage is not None
    assert info.usage["service_tier"] == "tomorrows"


# -- no plan -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("script", "args", "error", "says"),
    [
        ("refusal", {}, PlannerRefused, "declined"),
        ("truncation", {}, PlannerRefused, "raise `max_tokens`"),
        ("context", {}, PlannerRefused, "`shows`"),
        ("unauthorized", {}, PlannerRefused, "LEADPROOF_ANTHROPIC_API_KEY"),
        ("unpaid", {}, PlannerRefused, "cannot pay"),
        ("unpaid", {"status": 400}, PlannerRefused, "cannot pay"),
        ("retired", {}, PlannerRefused, r"claude-haiku-5-5 .*`model` in \[claude\]"),
        *(
            ("invalid_json", {"kind": kind}, MalformedPlan, "answer")
            for kind in ("prose", "fenced", "cut", "list", "missing", "extra", "type", "twice", "empty")
        ),
    ],
)
def test_what_brings_no_plan_is_told_in_one_sentence(
    claude: ClaudePlanner, api: Control, script: str, args: dict[str, Any], error: type[Exception], says: str
) -> None:
    api.post("/anthropic", {"script": script, "times": 1, "args": args})
    with pytest.raises(error, match=says) as failed:
        planned(claude)
    assert "Acme" not in str(failed.value)
    assert "\n" not in str(failed.value)
    assert len(asked(api)) == 1
    assert planned(claude)[0].actions


@pytest.mark.parametrize(("told", "wait"), [({"seconds": 7}, 7.0), ({}, 15.0)])
def test_an_overload_says_how_long_to_wait(
    claude: ClaudePlanner, api: Control, told: dict[str, Any], wait: float
) -> None:
    api.post("/anthropic", {"script": "overload", "times": 1, "args": told})
    with pytest.raises(PlannerUnavailable, match="overloaded") as failed:
        planned(claude)
    assert failed.value.retry_after_seconds == wait
    assert len(asked(api)) == 1  # whether to ask again is not the client's to decide


@pytest.mark.parametrize("fault", ["drop_before_apply", "drop_after_apply", "garbage_after_apply", "rate_limit"])
def test_a_lost_answer_is_asked_for_again_by_others(claude: ClaudePlanner, api: Control, fault: str) -> None:
    fails(api, fault)
    with pytest.raises(PlannerUnavailable):
        planned(claude)
    assert len(asked(api)) == 1
    assert planned(claude)[0].actions


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (answers(a_message(), 529, **{"x-should-retry": "true"}), PlannerUnavailable),
        (answers({"type": "message"}), MalformedPlan),
        (answers(a_message(content=None)), MalformedPlan),
        (answers(a_message(content=[{"type": "tomorrows"}])), MalformedPlan),
        (answers(b"[]"), PlannerUnavailable),
        (answers(b"null"), PlannerUnavailable),
        (answers(b"{"), PlannerUnavailable),
        (answers(b"\xff\xfe"), PlannerUnavailable),
        (answers(b""), PlannerUnavailable),
        (answers(a_message("x" * LARGEST_ANSWER)), PlannerUnavailable),
        (says(200, b"<html>", **{"Content-Type": "text/html"}), PlannerUnavailable),
        (says(404, b"<html>", **{"Content-Type": "text/html"}), PlannerRefused),
        (lambda line: line.break_off(b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{"), PlannerUnavailable),
        (lambda line: line.break_off(b"SSH-2.0\r\n"), PlannerUnavailable),
        (lambda line: line.reset(), PlannerUnavailable),
    ],
)
def test_whatever_answers_it_is_one_request_and_an_error_of_ours(
    server: Hostile, make: MakePlanner, script: Script, error: type[Exception]
) -> None:
    server.answers(script)
    with pytest.raises(error):
        planned(make(server.url))
    assert len(server.requests) == 1


def test_nobody_there_is_asked_again_by_others(make: MakePlanner) -> None:
    with hostile() as gone:
        address = gone.url
    with pytest.raises(PlannerUnavailable, match="cannot be reached"):
        planned(make(address))


# -- the deadline ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(lambda line: line.wait_for_the_end(), id="never"),
        pytest.param(lambda line: line.trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n", 0.1), id="in the headers"),
        pytest.param(
            lambda line: line.trickle(b"{" * 90, 0.1, after=b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n"),
            id="in the body",
        ),
    ],
)
def test_a_server_that_trickles_holds_no_call_longer_than_its_deadline(
    server: Hostile, make: MakePlanner, script: Script
) -> None:
    before = set(threading.enumerate())
    server.answers(script)
    planner = make(server.url)
    planner.connect()  # the library's import is not part of the call
    began = time.monotonic()
    with pytest.raises(PlannerUnavailable, match=r"no complete answer within 0\.5 s"):
        planned(planner, claude_policy(call_timeout_seconds=0.5))
    assert time.monotonic() - began < 0.5 + SLACK
    assert server.gone.wait(SLACK)  # and the connection is closed
    for thread in set(threading.enumerate()) - before:
        if thread.name == "client-call":
            thread.join(SLACK)
            assert not thread.is_alive()


@pytest.mark.parametrize("kind", ["trickle", "hang"])
def test_the_sandbox_that_trickles_or_hangs_is_left_in_time(claude: ClaudePlanner, api: Control, kind: str) -> None:
    if kind == "hang":
        api.post("/anthropic", {"script": "hang", "times": 1})
    else:
        fails(api, "trickle")
    claude.connect()
    began = time.monotonic()
    with pytest.raises(PlannerUnavailable):
        planned(claude, claude_policy(call_timeout_seconds=0.5))
    assert time.monotonic() - began < 0.5 + SLACK


# -- its client's habits -----------------------------------------------------------------------------------------------
def test_nothing_of_the_environment_counts(server: Hostile, make: MakePlanner, monkeypatch: pytest.MonkeyPatch) -> None:
    with hostile() as elsewhere:
        elsewhere.answers(answers(a_message()))
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, elsewhere.url)
        for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
            monkeypatch.setenv(name, elsewhere.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        server.answers(answers(a_message()))
        planned(make(server.url))
        assert elsewhere.connections == 0
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(server: Hostile, make: MakePlanner, status: int) -> None:
    with hostile() as elsewhere:
        elsewhere.answers(answers(a_message()))
        server.answers(answers(b"", status, Location=f"{elsewhere.url}/v1/messages"))
        with pytest.raises(PlannerRefused, match="LEADPROOF_ANTHROPIC_BASE_URL"):
            planned(make(server.url))
        assert elsewhere.connections == 0


def test_a_connection_is_used_again_and_a_closed_one_is_not(server: Hostile, make: MakePlanner) -> None:
    server.answers(answers(a_message()))
    planner = make(server.url)
    planned(planner)
    planned(planner)
    assert (server.connections, len(server.requests)) == (1, 2)
    server.answers(answers(a_message(), Connection="close"))
    planned(planner)
    planned(planner)
    assert len(server.requests) == 4


def test_a_call_that_is_given_up_after_its_answer_leaves_the_connection_to_others(server: Hostile) -> None:
    server.answers(answers(a_message()))
    client, late = http_client(), threading.Event()

    def answered_and_then_busy() -> None:
        client.get(server.url)
        late.wait(5)

    assert Call(answered_and_then_busy, connect_timeout=1, timeout=0.3).exchange().late
    assert Call(lambda: client.get(server.url).status_code, connect_timeout=1, timeout=1).exchange().value == 200
    late.set()
    client.close()
    assert server.connections == 1


def test_threads_share_one_client(claude: ClaudePlanner, api: Control) -> None:
    with ThreadPoolExecutor(12) as pool:
        plans = list(pool.map(lambda _: planned(claude)[0], range(24)))
    assert len({plan.model_dump_json() for plan in plans}) == 1
    assert len(asked(api)) == 24


def test_neither_key_nor_lead_is_logged_at_any_level(
    server: Hostile, make: MakePlanner, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.answers(answers(a_message()), answers(a_message(), 529), lambda line: line.reset())
    planner = make(server.url)
    for _ in range(3):
        try:
            planned(planner)
        except PlannerUnavailable:
            continue
    assert KEY not in caplog.text
    assert "Acme" not in caplog.text
    assert KEY not in repr(vars(planner))


def test_who_does_not_ask_claude_does_not_pay_for_its_library() -> None:
    code = "import sys, leadproof.planners.claude, leadproof.settings; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "leadproof.planners.claude" in loaded
    assert not {"anthropic", "httpx2", "httpcore2"} & set(loaded)


# -- other providers ---------------------------------------------------------------------------------------------------
def test_bedrock_is_asked_with_its_key(server: Hostile, make: MakePlanner) -> None:
    server.answers(answers(a_message()))
    planner = make(server.url, provider="bedrock", region="eu-central-1")
    assert planned(planner, claude_policy(model="anthropic.claude-haiku-5-5"))[0].summary == "give it to dana"
    (request,) = server.requests
    assert request.path == "/model/anthropic.claude-haiku-5-5/invoke"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert set(request.json()) == {"anthropic_version", "max_tokens", "system", "messages", "output_config"}
    (said,) = planner.check(claude_policy())  # it has no list of models that could be asked
    assert said == "whether Claude can plan is not known before it is first asked: bedrock was not asked"


def test_vertex_is_asked_with_its_token(server: Hostile, make: MakePlanner) -> None:
    server.answers(answers(a_message()))
    planner = make(f"{server.url}/v1", provider="vertex", region="europe-west1", project="acme")
    assert planned(planner)[0].summary == "give it to dana"
    (request,) = server.requests
    assert request.path.startswith("/v1/projects/acme/locations/europe-west1/publishers/anthropic/models/")
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_a_setting_that_is_missed_only_when_a_plan_is_wanted_is_told_as_the_planners(make: MakePlanner) -> None:
    with pytest.raises(PlannerRefused, match="set LEADPROOF_ANTHROPIC_API_KEY"):
        planned(make("http://127.0.0.1:9", key=None))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "set LEADPROOF_ANTHROPIC_API_KEY"),
        ({"provider": "bedrock"}, "set LEADPROOF_ANTHROPIC_REGION"),
        ({"provider": "bedrock", "region": "eu-central-1"}, r"pip install 'leadproof\[bedrock\]'"),
        ({"provider": "vertex", "region": "eu"}, r"pip install 'leadproof\[vertex\]'"),
        ({"provider": "vertex", "region": "eu", "key": KEY}, "set LEADPROOF_ANTHROPIC_PROJECT"),
    ],
)
def test_a_missing_setting_is_named(settings: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leadproof.planners.claude_client.find_spec", lambda _: None)
    with pytest.raises(ConfigurationRefused, match=says):
        ClaudeClient(**{"key": None, **settings})


# -- before anything is planned ----------------------------------------------------------------------------------------
def test_models_that_are_there_are_no_fault(claude: ClaudePlanner, api: Control) -> None:
    assert claude.check(claude_policy(ESCALATES)) == ()
    assert len(api.get("/requests", provider="anthropic", operation="models.retrieve")) == 2


@pytest.mark.parametrize("model", ["claude-nobody-1", "claude-mythos-preview"])
def test_a_model_that_is_not_there_any_more_is_refused_with_its_place(claude: ClaudePlanner, model: str) -> None:
    with pytest.raises(ConfigurationRefused, match=rf"no model {model}.*in \[claude\] "):
        claude.check(claude_policy(model=model))
    with pytest.raises(ConfigurationRefused, match=rf"no model {model}.*in \[claude.escalation\]"):
        claude.check(claude_policy(ESCALATES.replace("claude-sonnet-5-5", model)))


def test_a_model_that_ends_soon_is_told(claude: ClaudePlanner) -> None:
    (said,) = claude.check(claude_policy(model="claude-sonnet-4-5-20250929"))
    assert "claude-sonnet-4-5-20250929 is deprecated and ends on 2026-11-30" in said


def test_a_wrong_key_is_refused_before_anything_is_planned(claude: ClaudePlanner, api: Control) -> None:
    fault = {"provider": "anthropic", "operation": "models.retrieve", "kind": "reject_auth", "times": 1}
    api.post("/faults", fault)
    with pytest.raises(ConfigurationRefused, match="LEADPROOF_ANTHROPIC_API_KEY is not accepted"):
        claude.check(claude_policy())


@pytest.mark.parametrize(
    "script",
    [answers(b"", 404), answers(b"{}", 403), answers(b"", 500), answers(b"[]"), lambda line: line.reset()],
)
def test_what_is_not_clear_is_told_and_no_reason_to_stop(server: Hostile, make: MakePlanner, script: Script) -> None:
    server.answers(script)
    (said,) = make(server.url).check(claude_policy())
    assert said.startswith("whether Claude can plan is not known yet")
    assert "asked again" not in said
