"""The body of an answered message."""

import json
from collections.abc import Mapping
from typing import Any

from sandbox.anthropic.identifiers import message_id
from sandbox.wire import Answer

CHARACTERS_PER_TOKEN = 4


def message(
    body: Mapping[str, Any],
    text: str | None,
    *,
    stop_reason: str = "end_turn",
    stop_details: Mapping[str, Any] | None = None,
) -> Answer:
    """A message as the model wrote it.

    Args:
        body: the request.
        text: what was written, or nothing for a message without content.
        stop_reason: why the model stopped.
        stop_details: more about it.
    """
    content = [] if text is None else [{"type": "text", "text": text}]
    answered = {
        "model": body["model"],
        "id": message_id(),
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "stop_details": stop_details,
        "usage": _usage(input_tokens=_tokens(_prompt(body)), output_tokens=_tokens(text or "") + 2),
    }
    return Answer(200, answered, applied=True)


def _usage(*, input_tokens: int, output_tokens: int) -> dict[str, Any]:
    return {
        "input_tokens": input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output_tokens,
        "output_tokens_details": {"thinking_tokens": 0},
        "service_tier": "standard",
        "inference_geo": "global",
    }


def _prompt(body: Mapping[str, Any]) -> str:
    read = {name: body[name] for name in ("system", "messages", "output_config") if name in body}
    return json.dumps(read, ensure_ascii=False)


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
