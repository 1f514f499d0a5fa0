"""What the API refuses before a model reads anything, as the real client raises it."""

from typing import Any

import anthropic
import httpx
import pytest

from tests.sandbox.anthropic.asking import TEXT, ask, closed, question
from tests.sandbox.control import Control

PATH = "/anthropic/v1/messages"
KEY = {"authorization": "Bearer a-key-of-mine", "anthropic-version": "2026-10-21"}
USER = {"role": "user", "content": "Hello"}


def shaped(shape: Any) -> dict[str, Any]:
    return {"output_config": {"format": {"type": "json_schema", "schema": shape}}}


@pytest.mark.parametrize("name", ["temperature", "top_p", "top_k"])
def test_sampling_parameters(claude: anthropic.Anthropic, name: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=f"`{name}` is deprecated") as raised:
        ask(claude, **question(extra_body={name: 1}))
    assert raised.value.type == "invalid_request_error"


def test_unknown_parameters(claude: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.BadRequestError, match="colour: Extra inputs are not permitted"):
        ask(claude, **question(extra_body={"colour": "red"}))


@pytest.mark.parametrize("name", ["model", "max_tokens", "messages"])
def test_missing_parameters(http: httpx.Client, name: str) -> None:
    asked = question()
    asked.pop(name)
    answer = http.post(PATH, json=asked, headers=KEY)
    assert answer.status_code == 400
    error = answer.json()
    assert error["error"] == {"type": "invalid_request_error", "message": f"{name}: Field required"}
    assert (error["type"], error["request_id"]) == ("error", answer.headers["request-id"])


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"model": 5}, "model: "),
        ({"max_tokens": "many"}, "max_tokens: "),
        ({"max_tokens": -1}, "max_tokens: "),
        ({"max_tokens": 128_001}, "128001 > 128000"),
        ({"messages": "Hello"}, "messages: "),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "robot", "content": "Hello"}]}, "messages.0.role"),
        ({"messages": [{"role": "user"}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": ""}]}, "non-empty"),
        ({"messages": [USER, {"role": "assistant", "content": "{"}]}, "Prefilling"),
        ({"system": 5}, "system: "),
        ({"thinking": {"type": "hard"}}, "thinking.type"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "thinking.type.enabled"),
        ({"thinking": {"type": "disabled"}, "output_config": {"effort": "max"}}, "with effort max"),
        ({"thinking": {"type": "disabled"}, "model": "claude-opus-5-5"}, "thinking.type.disabled"),
        ({"model": "claude-haiku-4-5"}, "effort"),
        ({"output_config": {"effort": "huge"}}, "output_config.effort"),
        ({"output_config": {"colour": "red"}}, "output_config.colour"),
        ({"output_config": {"format": {"type": "xml"}}}, "output_config.format.type"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema: Field required"),
    ],
)
def test_parameters_that_make_no_sense(claude: anthropic.Anthropic, asked: dict[str, Any], says: str) -> None:
    with pytest.raises(anthropic.BadRequestError) as raised:
        ask(claude, **{**question(), **asked})
    assert says in str(raised.value.api_message)


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ([], "valid dictionary"),
        ({}, "needs one of"),
        ({"type": "poem"}, "type 'poem'"),
        ({"type": "object", "properties": {}}, "'additionalProperties' must be explicitly set to false"),
        (closed(a={"type": "object", "additionalProperties": True}), "'additionalProperties' must be"),
        (closed(a={"type": "number", "minimum": 0}), "For 'number' type, property 'minimum' is not supported"),
        (closed(a={"type": "integer", "minimum": 0, "maximum": 1}), "properties maximum, minimum are not supported"),
        (closed(a={"type": "string", "maxLength": 9}), "property 'maxLength'"),
        (closed(a={"type": "string", "format": "phone"}), "format 'phone'"),
        (closed(a={"type": "array", "items": TEXT, "minItems": 2}), "'minItems' values other than 0 or 1"),
        (closed(a={"type": "array", "items": TEXT, "maxItems": 2}), "property 'maxItems'"),
        (closed(a={"oneOf": [TEXT]}), "'oneOf'"),
        (closed(a={"enum": [{"x": 1}]}), "'enum'"),
        (closed(a={"$ref": "https://example.com/schema"}), "External"),
        (closed(a={"$ref": "#/$defs/none"}), "Nothing stands at"),
        ({**closed(a={"$ref": "#/$defs/a"}), "$defs": {"a": closed(a={"$ref": "#/$defs/a"})}}, "Recursive"),
        ({**closed(**{f"f{n}": TEXT for n in range(25)}), "required": []}, "optional parameters (25)"),
        (closed(**{f"f{n}": {"anyOf": [TEXT]} for n in range(17)}), "union types (17)"),
    ],
)
def test_schemas_that_are_not_supported(claude: anthropic.Anthropic, shape: Any, says: str) -> None:
    with pytest.raises(anthropic.BadRequestError) as raised:
        ask(claude, **{**question(), **shaped(shape)})
    assert str(raised.value.api_message).startswith("output_config.format.schema: ")
    assert says in str(raised.value.api_message)


def test_schema_as_the_clients_helper_makes_it(claude: anthropic.Anthropic) -> None:
    from pydantic import BaseModel, Field

    class Score(BaseModel):
        value: int = Field(ge=0, le=10)
        names: list[str] = Field(max_length=3)

    shape = anthropic.transform_schema(Score)
    assert ask(claude, **{**question(), **shaped(shape)}).content[-1].type == "text"


@pytest.mark.parametrize("model", ["claude-1", "claude-3-5-haiku-20241022"])
def test_model_that_is_not_there(claude: anthropic.Anthropic, model: str) -> None:
    with pytest.raises(anthropic.NotFoundError, match=f"model: {model}") as raised:
        ask(claude, **question(model=model))
    assert raised.value.type == "not_found_error"


def test_model_that_is_retired(http: httpx.Client) -> None:
    answer = http.post(PATH, json=question(model="claude-mythos-preview"), headers=KEY)
    assert answer.status_code == 404
    assert answer.json()["error"] == {"type": "not_found_error", "message": "model: claude-mythos-preview"}


@pytest.mark.parametrize("headers", [{}, {"authorization": "Basic abc"}, {"x-api-key": ""}])
@pytest.mark.parametrize("path", [PATH, "/anthropic/v1/models/claude-haiku-5-5"])
def test_request_without_a_key(http: httpx.Client, path: str, headers: dict[str, str]) -> None:
    method = "POST" if path == PATH else "GET"
    answer = http.request(method, path, json=question(), headers={**headers, "anthropic-version": "2026-10-21"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (401, "authentication_error")


def test_either_header_may_carry_the_key(http: httpx.Client) -> None:
    headers = {"x-api-key": "any", "anthropic-version": "2023-06-01"}
    assert http.post(PATH, json=question(), headers=headers).status_code == 200
    assert http.post(PATH, json=question(), headers=KEY).status_code == 200


def test_key_of_anthropic_opens_no_other_provider(http: httpx.Client) -> None:
    answer = http.get("/hubspot/crm/v3/objects/contacts", headers={"x-api-key": "any"})
    assert answer.status_code == 401


def test_version_is_required(http: httpx.Client) -> None:
    answer = http.post(PATH, json=question(), headers={"x-api-key": "any"})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "anthropic-version: header is required"


def test_body_that_is_no_json(http: httpx.Client) -> None:
    answer = http.post(PATH, content=b"{", headers=KEY)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")


def test_streams_are_not_served(http: httpx.Client) -> None:
    assert http.post(PATH, json=question(stream=True), headers=KEY).status_code == 400


def test_what_is_not_served(http: httpx.Client) -> None:
    answer = http.get("/anthropic/v1/files", headers=KEY)
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, "not_found_error")


def test_every_request_is_logged_without_its_key(http: httpx.Client, control: Control) -> None:
    http.post(PATH, json=question(), headers=KEY)
    http.post(PATH, json={"model": "x"}, headers={**KEY, "x-api-key": "a-key-of-mine"})
    http.get("/anthropic/v1/models/claude-haiku-5-5", headers=KEY)
    answered, refused, model = control.get("/requests", provider="anthropic")
    assert (answered["operation"], answered["method"], answered["path"]) == ("messages.create", "POST", PATH)
    assert (answered["body"], answered["status"], answered["applied"]) == (question(), 200, True)
    assert (refused["operation"], refused["status"], refused["applied"]) == ("messages.create", 400, False)
    assert (model["operation"], model["status"], model["applied"]) == ("models.retrieve", 200, False)
    assert "a-key-of-mine" not in str(control.get("/requests"))
