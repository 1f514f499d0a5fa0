"""The part of JSON Schema that structured outputs take, and the smallest document that a schema allows."""

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

MOST_OPTIONAL = 24
MOST_UNIONS = 16
FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)  # fmt: skip
REFUSED = {
    "object": ("maxProperties", "minProperties", "patternProperties", "propertyNames"),
    "array": ("contains", "maxItems", "prefixItems", "uniqueItems"),
    "string": ("maxLength", "minLength"),
    "integer": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
    "number": ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"),
    "boolean": (),
    "null": (),
}
REFUSED_ANYWHERE = ("oneOf", "not", "if", "then", "else", "dependentSchemas", "dependentRequired")
SAYS_SOMETHING = ("type", "enum", "const", "anyOf", "allOf", "$ref")


def complaint(schema: Any) -> str | None:
    """Why structured outputs do not take this schema; nothing if they do."""
    if not isinstance(schema, dict):
        return "Input should be a valid dictionary"
    try:
        parts = list(_parts(schema, schema, ()))
    except _Refused as refused:
        return str(refused)
    optional = sum(len(set(part.get("properties", ())) - set(part.get("required", ()))) for part in parts)
    if optional > MOST_OPTIONAL:
        return f"Schemas contains too many optional parameters ({optional}). The limit is {MOST_OPTIONAL}"
    unions = sum("anyOf" in part or isinstance(part.get("type"), list) for part in parts)
    if unions > MOST_UNIONS:
        return f"Schemas contains too many parameters with union types ({unions}). The limit is {MOST_UNIONS}"
    return None


def smallest(schema: Schema, root: Schema | None = None) -> Any:
    """A document that the schema allows, with as little in it as that takes."""
    root = schema if root is None else root
    if "$ref" in schema:
        return smallest(_referred(schema["$ref"], root), root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for several in ("anyOf", "allOf"):
        if several in schema:
            return smallest(schema[several][0], root)
    kind = schema["type"][0] if isinstance(schema["type"], list) else schema["type"]
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: smallest(properties[name], root) for name in schema.get("required", ())}
    if kind == "array":
        return [smallest(schema["items"], root)] if schema.get("minItems") else []
    return {"string": "", "integer": 0, "number": 0, "boolean": False, "null": None}[kind]


class _Refused(Exception):
    """Why a schema is refused."""


def _parts(schema: Any, root: Schema, under: tuple[str, ...]) -> Iterator[Schema]:
    """The schema and every schema in it, checked."""
    if not isinstance(schema, dict):
        raise _Refused("Input should be a valid dictionary")
    if "$ref" in schema:
        reference = schema["$ref"]
        if reference in under:
            raise _Refused(f"Recursive schemas are not supported: {reference}")
        yield from _parts(_referred(reference, root), root, (*under, reference))
        return
    _check(schema)
    yield schema
    inside = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *schema.get("allOf", ())]
    if "items" in schema:
        inside.append(schema["items"])
    for part in inside:
        yield from _parts(part, root, under)


def _check(schema: Schema) -> None:
    for word in REFUSED_ANYWHERE:
        if word in schema:
            raise _Refused(f"Schema keyword '{word}' is not supported")
    if not any(word in schema for word in SAYS_SOMETHING):
        raise _Refused("A schema needs one of " + ", ".join(SAYS_SOMETHING))
    if any(isinstance(value, dict | list) for value in schema.get("enum", ())):
        raise _Refused("'enum' may hold strings, numbers, booleans and nulls only")
    kinds = schema.get("type", [])
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        _check_kind(kind, schema)


def _check_kind(kind: Any, schema: Schema) -> None:
    if kind not in REFUSED:
        raise _Refused(f"Schema type '{kind}' is not supported")
    refused = [word for word in REFUSED[kind] if word in schema]
    if len(refused) == 1:
        raise _Refused(f"For '{kind}' type, property '{refused[0]}' is not supported")
    if refused:
        raise _Refused(f"For '{kind}' type, properties {', '.join(refused)} are not supported")
    if kind == "object" and schema.get("additionalProperties") is not False:
        raise _Refused("For 'object' type, 'additionalProperties' must be explicitly set to false")
    if kind == "array" and schema.get("minItems", 0) not in {0, 1}:
        raise _Refused("For 'array' type, 'minItems' values other than 0 or 1 are not supported")
    if kind == "string" and schema.get("format", "date") not in FORMATS:
        raise _Refused(f"For 'string' type, format '{schema['format']}' is not supported")


def _referred(reference: Any, root: Schema) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        raise _Refused(f"External schema references are not supported: {reference}")
    found: Any = root
    for step in reference[2:].split("/"):
        found = found.get(step) if isinstance(found, dict) else None
    if found is None:
        raise _Refused(f"Nothing stands at {reference}")
    return found
