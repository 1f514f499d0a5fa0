"""What the API checks before a model reads anything."""

from collections.abc import Mapping
from typing import Any

from sandbox.anthropic.errors import ApiError, invalid
from sandbox.anthropic.models import EFFORTS, Model, callable_model
from sandbox.anthropic.schemas import complaint

Body = Mapping[str, Any]

PARAMETERS = frozenset({
    "cache_control",
    "container",
    "diagnostics",
    "inference_geo",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "thinking",
    "tool_choice",
    "tools",
    "user_profile_id",
})  # fmt: skip
SAMPLING = ("temperature", "top_p", "top_k")
ROLES = ("user", "assistant", "system")


def checked(body: Any) -> tuple[Body, Model]:
    """The request and the model that it asks.

    Raises:
        ApiError: the API would not take it.
    """
    if not isinstance(body, dict):
        raise invalid("The request body is not valid JSON")
    _parameters(body)
    _messages(body["messages"])
    model = callable_model(body["model"])
    if body["max_tokens"] > model.most_tokens:
        raise invalid(
            f"max_tokens: {body['max_tokens']} > {model.most_tokens}, which is the maximum allowed number of output "
            f"tokens for {model.id}"
        )
    _thinking(body.get("thinking"), model)
    _output(body.get("output_config"), model)
    _thinking_off(body, model)
    return body, model


def _parameters(body: Body) -> None:
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            raise invalid(f"{name}: Field required")
    for name in SAMPLING:
        if name in body:
            raise invalid(f"`{name}` is deprecated for this model.")
    for name in body:
        if name not in PARAMETERS:
            raise invalid(f"{name}: Extra inputs are not permitted")
    if not isinstance(body["model"], str):
        raise invalid("model: Input should be a valid string")
    most = body["max_tokens"]
    if not isinstance(most, int) or isinstance(most, bool):
        raise invalid("max_tokens: Input should be a valid integer")
    if most < 0:
        raise invalid("max_tokens: Input should be greater than or equal to 0")
    if not isinstance(body.get("system", ""), str | list):
        raise invalid("system: Input should be a valid string or list")
    if body.get("stream"):
        raise invalid("stream: the sandbox answers whole messages only")


def _messages(messages: Any) -> None:
    if not isinstance(messages, list):
        raise invalid("messages: Input should be a valid list")
    if not messages:
        raise invalid("messages: at least one message is required")
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            raise invalid(f"messages.{place}.role: Input should be 'user', 'assistant' or 'system'")
        content = message.get("content")
        if not isinstance(content, str | list):
            raise invalid(f"messages.{place}.content: Field required")
        if not content:
            raise invalid(f"messages.{place}: all messages must have non-empty content")
    if messages[-1]["role"] == "assistant":
        raise invalid("Prefilling assistant messages is not supported for this model.")


def _thinking(thinking: Any, model: Model) -> None:
    if thinking is None:
        return
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if kind not in {"adaptive", "between_tools", "disabled", "enabled"}:
        raise invalid("thinking.type: Input should be 'adaptive', 'between_tools', 'disabled' or 'enabled'")
    if not model.supports("thinking", kind):
        raise invalid(f'"thinking.type.{kind}" is not supported for this model.')


def _thinking_off(body: Body, model: Model) -> None:
    off = (body.get("thinking") or {}).get("type") == "disabled"
    effort = (body.get("output_config") or {}).get("effort")
    if off and model.thinking != "asked" and effort in {"xhigh", "max"}:
        raise invalid(f'"thinking.type.disabled" is not supported with effort {effort} for this model.')


def _output(config: Any, model: Model) -> None:
    if config is None:
        return
    if not isinstance(config, dict):
        raise invalid("output_config: Input should be a valid dictionary")
    for name in config:
        if name not in {"effort", "format"}:
            raise invalid(f"output_config.{name}: Extra inputs are not permitted")
    effort = config.get("effort")
    if effort is not None and effort not in EFFORTS:
        raise invalid("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
    if effort is not None and not model.supports("effort"):
        raise invalid("This model does not support the effort parameter.")
    if config.get("format") is not None:
        _format(config["format"])


def _format(form: Any) -> None:
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        raise invalid("output_config.format.type: Input should be 'json_schema'")
    if "schema" not in form:
        raise invalid("output_config.format.schema: Field required")
    said = complaint(form["schema"])
    if said:
        raise ApiError(400, f"output_config.format.schema: {said}")
