"""The body of an answered message."""

import json
from collections.abc import Mapping
from typing import Any

from sandbox.anthropic.identifiers import message_id, signature
from sandbox.anthropic.models import Model
from sandbox.wire import Answer

CHARACTERS_PER_TOKEN = 4
THINKING_TOKENS = 24


def message(body: Mapping[str, Any], model: Model, text: str | None, *, stop_reason: str = "end_turn") -> Answer:
    """What the model wrote, as far as `max_tokens` lets it.

    Args:
        body: the request.
        model: who wrote.
        text: what was written, or nothing for a message without content.
        stop_reason: why the model stopped. Where it is `max_tokens`, the text is cut already.
    """
    most = int(body["max_tokens"])
    thinking = min(THINKING_TOKENS, most) if text is not None and _thinks(body, model) else 0
    written = tokens(text or "")
    if stop_reason == "end_turn" and thinking + written > most:
        text, stop_reason = (text or "")[: (most - thinking) * CHARACTERS_PER_TOKEN], "max_tokens"
    output = most if stop_reason == "max_tokens" else thinking + written
    content: list[dict[str, Any]] = []
    if thinking:
        content.append({"type": "thinking", "thinking": _shown(body), "signature": signature()})
    if text:
        content.append({"type": "text", "text": text})
    return _answer(body, model, content, stop_reason, output_tokens=output, thinking_tokens=thinking)


def refusal(body: Mapping[str, Any], model: Model, category: str) -> Answer:
    """The model's classifiers declined before anything was written."""
    details = {
        "type": "refusal",
        "category": category,
        "explanation": "This request was declined because it may violate the usage policy.",
    }
    return _answer(body, model, [], "refusal", stop_details=details, output_tokens=0, thinking_tokens=0)


def _answer(
    body: Mapping[str, Any],
    model: Model,
    content: list[dict[str, Any]],
    stop_reason: str,
    *,
    output_tokens: int,
    thinking_tokens: int,
    stop_details: Mapping[str, Any] | None = None,
) -> Answer:
    answered = {
        "model": model.id,
        "id": message_id(),
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "stop_details": stop_details,
        "usage": {
            "input_tokens": tokens(_prompt(body)),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": output_tokens,
            "output_tokens_details": {"thinking_tokens": thinking_tokens},
            "service_tier": "standard",
            "inference_geo": "global",
        },
    }
    return Answer(200, answered, applied=True)


def tokens(text: str) -> int:
    """About as many tokens as the text has."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _thinks(body: Mapping[str, Any], model: Model) -> bool:
    asked = (body.get("thinking") or {}).get("type")
    return asked in {"adaptive", "enabled"} or (asked is None and model.thinking != "asked")


def _shown(body: Mapping[str, Any]) -> str:
    shown = (body.get("thinking") or {}).get("display") == "summarized"
    return "The rules name one action for this lead." if shown else ""


def _prompt(body: Mapping[str, Any]) -> str:
    read = {name: body[name] for name in ("system", "messages", "output_config") if name in body}
    return json.dumps(read, ensure_ascii=False)
