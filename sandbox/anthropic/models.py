"""The models that the API knows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sandbox.anthropic.errors import ApiError

EFFORTS = ("low", "medium", "high", "xhigh", "max")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Model:
    """One model.

    Attributes:
        id: its full name.
        lifecycle: `active`, `deprecated` or `retired`.
        thinking: whether it thinks `always`, by `default`, or only where `asked` to.
        info: what `GET /v1/models/{id}` answers.
    """

    id: str
    lifecycle: str
    thinking: str
    info: Mapping[str, Any]

    @property
    def most_tokens(self) -> int:
        """The highest `max_tokens` that it takes."""
        return int(self.info["max_tokens"])

    def supports(self, capability: str, kind: str | None = None) -> bool:
        """Whether it can do something, or something of that kind."""
        found = self.info["capabilities"][capability]
        if kind is not None:
            found = found.get("types", found)[kind]
        return bool(found["supported"])


def callable_model(name: str) -> Model:
    """The model that messages of this name go to.

    Raises:
        ApiError: there is none, or it is retired.
    """
    model = _catalogue().get(name)
    if model is None or model.lifecycle == "retired":
        raise unknown_model(name)
    return model


def known_model(name: str) -> Model:
    """The model, retired or not.

    Raises:
        ApiError: there is none.
    """
    model = _catalogue().get(name)
    if model is None:
        raise unknown_model(name)
    return model


def unknown_model(name: str) -> ApiError:
    return ApiError(404, f"model: {name}")


@cache
def _catalogue() -> dict[str, Model]:
    rows = json.loads((files("sandbox") / "seed" / "anthropic.json").read_text("utf-8"))["models"]
    models: dict[str, Model] = {row["id"]: _model(row) for row in rows}
    return models | {row["alias"]: models[row["id"]] for row in rows if "alias" in row}


def _model(row: Row) -> Model:
    info = {
        "type": "model",
        "id": row["id"],
        "display_name": row["name"],
        "created_at": _midnight(row["created"]),
        "lifecycle": row.get("lifecycle", "active"),
        "deprecated_at": _midnight(row.get("deprecated")),
        "retires_at": _midnight(row.get("retires")),
        "line": row["line"],
        "max_input_tokens": row["window"],
        "max_tokens": row["output"],
        "capabilities": _capabilities(row),
    }
    return Model(row["id"], info["lifecycle"], row["thinking"], info)


def _capabilities(row: Row) -> dict[str, Any]:
    yes, no = {"supported": True}, {"supported": False}
    manual = row["thinking"] == "asked"
    return {
        "batch": yes,
        "citations": yes,
        "code_execution": yes,
        "context_management": {
            "supported": True,
            "clear_thinking_20251015": yes,
            "clear_tool_uses_20250919": yes,
            "compact_20260112": no if manual else yes,
        },
        "effort": {"supported": not manual, **dict.fromkeys(EFFORTS, no if manual else yes)},
        "image_input": yes,
        "pdf_input": yes,
        "server_tools": {"supported": True, "code_execution": yes, "web_search": yes},
        "structured_outputs": yes,
        "thinking": {
            "supported": True,
            "types": {
                "adaptive": no if manual else yes,
                "between_tools": no,
                "disabled": no if row["thinking"] == "always" else yes,
                "enabled": yes if manual else no,
            },
        },
    }


def _midnight(day: str | None) -> str | None:
    return f"{day}T00:00:00Z" if day else None
