"""The plan that the stand-in gives when nothing else is asked of it."""

import json
from typing import Any

import anthropic
import pytest

from tests.sandbox.anthropic.asking import (
    CREATE,
    LEAD,
    QUALIFY,
    SCHEMA,
    allows,
    ask,
    closed,
    planned,
    question,
    said,
    schema,
    sets,
)
from tests.sandbox.anthropic.conftest import Scripted

RECORD = {"email": "ann@example.com", "owner": None}


def test_new_lead_is_created_with_what_it_has(claude: anthropic.Anthropic) -> None:
    plan = planned(claude)
    assert [action["action"] for action in plan["actions"]] == ["create hubspot contact"]
    assert sets(plan) == {"email": "ann@example.com", "first_name": "Ann", "employees": 40, "owner": "dana"}
    assert plan["confidence"] == 0.9
    assert {row["field"] for row in plan["actions"][0]["evidence"]} <= set(LEAD)
    assert allows(SCHEMA, plan)


def test_known_lead_is_qualified_with_the_first_choices(claude: anthropic.Anthropic) -> None:
    plan = planned(claude, record=RECORD)
    assert [action["action"] for action in plan["actions"]] == ["qualify hubspot contact"]
    assert sets(plan) == {"owner": "dana", "lifecycle_stage": "lead", "lead_status": "NEW"}
    assert allows(SCHEMA, plan)


def test_a_plan_is_the_same_every_time(claude: anthropic.Anthropic) -> None:
    assert planned(claude) == planned(claude)


def test_nothing_is_done_where_nothing_fits(claude: anthropic.Anthropic) -> None:
    message = ask(claude, **question(record=RECORD, shape=schema(CREATE)))
    assert json.loads(said(message))["actions"] == []


def test_without_a_create_a_new_lead_gets_what_is_permitted(claude: anthropic.Anthropic) -> None:
    message = ask(claude, **question(shape=schema(QUALIFY)))
    assert json.loads(said(message))["actions"][0]["action"] == "qualify hubspot contact"


def test_script_overrides_values_and_confidence(claude: anthropic.Anthropic, script: Scripted) -> None:
    script("plan", sets={"owner": "kofi", "lead_status": None, "region": "west"}, confidence=0.2)
    plan = planned(claude, record=RECORD)
    assert sets(plan) == {"owner": "kofi", "lifecycle_stage": "lead", "region": "west"}
    assert plan["confidence"] == 0.2


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("qualify hubspot contact", ["qualify hubspot contact"]),
        ("delete hubspot contact", ["delete hubspot contact"]),
        ("none", []),
    ],
)
def test_script_picks_the_action(
    claude: anthropic.Anthropic, script: Scripted, action: str, expected: list[str]
) -> None:
    script("plan", action=action)
    assert [row["action"] for row in planned(claude)["actions"]] == expected


def test_message_has_everything_that_a_caller_accounts_for(claude: anthropic.Anthropic) -> None:
    message = ask(claude)
    assert message._request_id is not None
    assert message._request_id.startswith("req_")
    assert message.id.startswith("msg_")
    assert (message.role, message.model, message.stop_sequence) == ("assistant", "claude-haiku-5-5", None)
    usage = message.usage
    assert usage.input_tokens > usage.output_tokens > 0
    assert (usage.cache_creation_input_tokens, usage.cache_read_input_tokens) == (0, 0)
    assert usage.service_tier == "standard"
    assert usage.output_tokens_details is not None
    assert usage.output_tokens > usage.output_tokens_details.thinking_tokens > 0


@pytest.mark.parametrize(
    ("model", "thinking", "types"),
    [
        ("claude-haiku-5-5", None, ["thinking", "text"]),
        ("claude-haiku-5-5", {"type": "disabled"}, ["text"]),
        ("claude-opus-5-5", None, ["thinking", "text"]),
        ("claude-haiku-4-5", None, ["text"]),
        ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 1024}, ["thinking", "text"]),
    ],
)
def test_thinking_stands_before_the_text(
    claude: anthropic.Anthropic, model: str, thinking: Any, types: list[str]
) -> None:
    asked = question(model=model, **({"thinking": thinking} if thinking else {}))
    asked["output_config"].pop("effort")
    message = ask(claude, **asked)
    assert [block.type for block in message.content] == types
    assert [block.thinking for block in message.content if block.type == "thinking"] in ([], [""])


def test_summarized_thinking_is_shown(claude: anthropic.Anthropic) -> None:
    message = ask(claude, **question(thinking={"type": "adaptive", "display": "summarized"}))
    assert [bool(block.thinking) for block in message.content if block.type == "thinking"] == [True]


def test_plan_that_does_not_fit_is_cut_where_the_tokens_end(claude: anthropic.Anthropic) -> None:
    whole = said(ask(claude))
    message = ask(claude, **question(max_tokens=60))
    assert (message.stop_reason, message.usage.output_tokens) == ("max_tokens", 60)
    assert whole.startswith(said(message))
    assert ask(claude, **question(max_tokens=10)).content[-1].type == "thinking"


def test_other_questions_are_answered_too(claude: anthropic.Anthropic) -> None:
    asked = question(messages=[{"role": "user", "content": [{"type": "text", "text": "Hello"}]}])
    asked["output_config"]["format"]["schema"] = closed(ok={"type": "boolean"})
    assert json.loads(said(ask(claude, **asked))) == {"ok": False}
    asked.pop("output_config")
    assert said(ask(claude, **asked))
