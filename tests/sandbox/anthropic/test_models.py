"""Models, as the real client retrieves them."""

from datetime import UTC, datetime

import anthropic
import httpx
import pytest

from tests.sandbox.anthropic.asking import ask, question


def test_active_model(claude: anthropic.Anthropic) -> None:
    model = claude.models.retrieve("claude-haiku-5-5")
    assert (model.id, model.display_name, model.lifecycle) == ("claude-haiku-5-5", "Claude Haiku 5.5", "active")
    assert (model.line, model.max_input_tokens, model.max_tokens) == ("haiku", 1_000_000, 128_000)
    assert model.created_at == datetime(2026, 10, 7, tzinfo=UTC)
    assert model.deprecated_at is model.retires_at is None
    assert model.capabilities is not None
    assert model.capabilities.structured_outputs.supported
    assert model.capabilities.effort.low.supported
    assert not model.capabilities.thinking.types.enabled.supported


def test_alias_of_a_deprecated_model_that_still_answers(claude: anthropic.Anthropic) -> None:
    model = claude.models.retrieve("claude-sonnet-4-5")
    assert (model.id, model.lifecycle) == ("claude-sonnet-4-5-20250929", "deprecated")
    assert model.retires_at == datetime(2026, 11, 30, tzinfo=UTC)
    asked = question(model="claude-sonnet-4-5")
    asked["output_config"].pop("effort")
    with pytest.warns(DeprecationWarning, match="claude-sonnet-4-5"):
        message = ask(claude, **asked)
    assert (message.stop_reason, message.model) == ("end_turn", "claude-sonnet-4-5-20250929")


def test_retired_model_stays_in_the_catalogue(claude: anthropic.Anthropic) -> None:
    model = claude.models.retrieve("claude-mythos-preview")
    assert model.lifecycle == "retired"
    assert model.retires_at == datetime(2026, 6, 30, tzinfo=UTC)


@pytest.mark.parametrize("name", ["claude-1", "claude-3-5-haiku-20241022"])
def test_model_that_is_not_there(claude: anthropic.Anthropic, name: str) -> None:
    with pytest.raises(anthropic.NotFoundError, match=f"model: {name}") as raised:
        claude.models.retrieve(name)
    assert raised.value.type == "not_found_error"


def test_version_is_required(http: httpx.Client) -> None:
    answer = http.get("/anthropic/v1/models/claude-haiku-5-5", headers={"x-api-key": "any"})
    assert answer.status_code == 400
