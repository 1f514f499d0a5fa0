"""A request for a plan, and what its schema allows: written from the agreement, not from the sandbox."""

import json
from collections.abc import Mapping
from typing import Any, cast

from anthropic import Anthropic
from anthropic.types import Message

MODEL = "claude-haiku-5-5"
TEXT = {"type": "string"}
NUMBER = {"type": "number"}
LEAD = {
    "email": "ann@example.com",
    "first_name": "Ann",
    "company": "Example",
    "employees": 40,
    "phone": None,
    "message": "We would like to hear from you.",
}
OWNER = {"enum": ["dana", "kofi"]}
STATUS = {"enum": ["NEW", "OPEN"]}
STAGE = {"enum": ["lead", "salesqualifiedlead"]}


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def permitted(name: str, **fields: Any) -> dict[str, Any]:
    one_of = [closed(field={"const": field}, value=value) for field, value in fields.items()]
    return closed(
        action={"const": name},
        sets={"type": "array", "items": {"anyOf": one_of}},
        reason=TEXT,
        evidence={"type": "array", "items": closed(field={"enum": list(LEAD)}, says=TEXT)},
    )


CREATE = permitted("create hubspot contact", email=TEXT, first_name=TEXT, phone=TEXT, employees=NUMBER, owner=OWNER)
QUALIFY = permitted("qualify hubspot contact", owner=OWNER, lifecycle_stage=STAGE, lead_status=STATUS)


def schema(*actions: dict[str, Any]) -> dict[str, Any]:
    items = {"anyOf": list(actions or (CREATE, QUALIFY))}
    return closed(summary=TEXT, confidence=NUMBER, actions={"type": "array", "items": items})


SCHEMA = schema()


def question(
    lead: Mapping[str, Any] = LEAD, record: Any = None, *, shape: Any = SCHEMA, **other: Any
) -> dict[str, Any]:
    """The body of a request."""
    document = {"lead": lead, "record": record, "source": "hubspot", "event": "contact.creation"}
    return {
        "model": MODEL,
        "max_tokens": 2048,
        "system": "Plan what is to be written about this lead.",
        "messages": [{"role": "user", "content": json.dumps(document)}],
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": shape}},
        **other,
    }


def ask(client: Anthropic, **asked: Any) -> Message:
    return cast(Message, client.messages.create(**(asked or question())))


def said(message: Message) -> str:
    """The first text of a message, by its type and not by its place."""
    return next(block.text for block in message.content if block.type == "text")


def planned(client: Anthropic, lead: Mapping[str, Any] = LEAD, record: Any = None) -> dict[str, Any]:
    message = ask(client, **question(lead, record))
    assert message.stop_reason == "end_turn"
    plan: dict[str, Any] = json.loads(said(message))
    return plan


def sets(plan: Mapping[str, Any], action: int = 0) -> dict[str, Any]:
    return {row["field"]: row["value"] for row in plan["actions"][action]["sets"]}


def allows(shape: Mapping[str, Any], value: Any) -> bool:
    """Whether a schema of the kind above allows a value."""
    if "anyOf" in shape:
        return any(allows(part, value) for part in shape["anyOf"])
    if "const" in shape or "enum" in shape:
        return value in shape.get("enum", [shape.get("const")])
    if shape["type"] == "object":
        properties = shape["properties"]
        return (
            isinstance(value, dict)
            and value.keys() == properties.keys()
            and all(allows(properties[name], item) for name, item in value.items())
        )
    if shape["type"] == "array":
        return isinstance(value, list) and all(allows(shape["items"], item) for item in value)
    return isinstance(value, str if shape["type"] == "string" else int | float)
