"""What one planning request asks: the lead, and what the schema lets a plan say about it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Permitted:
    """One action that the schema permits.

    Attributes:
        name: its kind, target and object, as in `qualify hubspot contact`.
        fields: the schema of the value of each field that it may set.
        evidence: the fields of the lead that evidence may name.
    """

    name: str
    fields: Mapping[str, Schema]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """One request for a plan.

    Attributes:
        lead: the lead's fields by the caller's names.
        record: what the target holds of it, or nothing.
        occasion: the event that the plan is for.
        permitted: what a plan may do.
    """

    lead: Mapping[str, Any]
    record: Mapping[str, Any] | None
    occasion: str
    permitted: tuple[Permitted, ...]

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Self | None:
        """The question in a request, or nothing if its schema and its message are not those of a plan."""
        document = _document(user_text(body))
        entries = _actions(schema_of(body))
        if document is None or entries is None:
            return None
        return cls(
            lead=document["lead"],
            record=document.get("record"),
            occasion=str(document.get("event") or "lead"),
            permitted=tuple(permitted for entry in entries if (permitted := _permitted(entry))),
        )


def schema_of(body: Mapping[str, Any]) -> Schema | None:
    form = (body.get("output_config") or {}).get("format") or {}
    schema: Schema | None = form.get("schema")
    return schema


def user_text(body: Mapping[str, Any]) -> str:
    """The text of the last message."""
    return text_of(body["messages"][-1]["content"])


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content or () if isinstance(block, dict))


def _document(text: str) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) and isinstance(document.get("lead"), dict) else None


def _actions(schema: Schema | None) -> list[Schema] | None:
    actions = ((schema or {}).get("properties") or {}).get("actions")
    return _variants(actions["items"]) if actions and "items" in actions else None


def _permitted(entry: Schema) -> Permitted | None:
    properties = entry.get("properties", {})
    name = properties.get("action", {}).get("const")
    if name is None:
        return None
    fields = {}
    for variant in _variants(properties.get("sets", {}).get("items", {})):
        named = variant.get("properties", {})
        for field in _values(named.get("field", {})):
            fields[field] = named.get("value", {})
    said = properties.get("evidence", {}).get("items", {}).get("properties", {}).get("field", {})
    return Permitted(name, fields, tuple(_values(said)))


def _variants(schema: Schema) -> list[Schema]:
    variants: list[Schema] = schema.get("anyOf") or [schema]
    return variants


def _values(schema: Schema) -> list[str]:
    values: list[str] = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return values
