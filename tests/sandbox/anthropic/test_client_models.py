"""Every answer has all that the real client's own models know of it, and nothing else."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from anthropic.types import Message, ModelInfo
from anthropic.types.shared import ErrorResponse
from pydantic import BaseModel

from tests.sandbox.anthropic.asking import question
from tests.sandbox.anthropic.conftest import Scripted
from tests.sandbox.control import Control

HEADERS = {"x-api-key": "any", "anthropic-version": "2026-10-21"}
ABSENT = {"container", "diagnostics", "server_tool_use", "speed", "citations"}
"""What the API says of features that a planner does not use."""


def differences(answer: BaseModel, where: str = "") -> Iterator[str]:
    """Where an answer has what its model does not know, or lacks what its model knows."""
    known = set(type(answer).model_fields)
    yield from (f"{where}.{name} is unknown" for name in answer.model_fields_set - known)
    yield from (f"{where}.{name} is missing" for name in known - answer.model_fields_set - ABSENT)
    for name in answer.model_fields_set & known:
        value = getattr(answer, name)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, BaseModel):
                yield from differences(part, f"{where}.{name}")


def checked(answer: httpx.Response, model: type[BaseModel]) -> list[str]:
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.headers["request-id"].startswith("req_")
    return list(differences(model.model_validate(answer.json())))


@pytest.mark.parametrize("name", ["plan", "paraphrase", "victim", "refusal", "truncation", "context", "invalid_json"])
def test_message(http: httpx.Client, script: Scripted, name: str) -> None:
    script(name)
    answer = http.post("/anthropic/v1/messages", json=question(), headers=HEADERS)
    assert answer.status_code == 200
    assert checked(answer, Message) == []


@pytest.mark.parametrize("name", ["claude-haiku-5-5", "claude-haiku-4-5", "claude-mythos-preview"])
def test_model(http: httpx.Client, name: str) -> None:
    answer = http.get(f"/anthropic/v1/models/{name}", headers=HEADERS)
    assert answer.status_code == 200
    assert checked(answer, ModelInfo) == []


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 429, 500, 503, 504, 529])
def test_error(http: httpx.Client, control: Control, status: int) -> None:
    fault: dict[str, Any] = {"kind": "status", "args": {"status": status}}
    control.post("/faults", {"provider": "anthropic", "operation": "messages.create", **fault})
    answer = http.post("/anthropic/v1/messages", json=question(), headers=HEADERS)
    assert answer.status_code == status
    assert checked(answer, ErrorResponse) == []
    assert answer.json()["request_id"] == answer.headers["request-id"]
