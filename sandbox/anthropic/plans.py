"""The plan that a sensible model would give: one action, fields as the lead has them."""

from collections.abc import Mapping
from typing import Any

from sandbox.anthropic.question import Permitted, Question, Schema

CONFIDENCE = 0.9
NO_ACTION = "none"

Plan = dict[str, Any]


def plan(question: Question, args: Mapping[str, Any]) -> Plan:
    """The plan for one lead.

    Args:
        question: what was asked.
        args: `action` picks the action by its name (`none`: no action), `sets` gives fields other values (null leaves
            one out), `confidence` another confidence. They hold even where the schema does not allow it.
    """
    action = _action(question, args)
    return {
        "summary": f"{action['action']} after {question.occasion}" if action else "There is nothing to do",
        "confidence": args.get("confidence", CONFIDENCE),
        "actions": [action] if action else [],
    }


def _action(question: Question, args: Mapping[str, Any]) -> dict[str, Any] | None:
    name = args.get("action")
    chosen = _chosen(question, name)
    if chosen is None:
        return None
    values = {**_values(chosen, question.lead), **args.get("sets", {})}
    said = [field for field in chosen.evidence if question.lead.get(field) not in {None, ""}][:2]
    return {
        "action": chosen.name,
        "sets": [{"field": field, "value": value} for field, value in values.items() if value is not None],
        "reason": f"The rules say {chosen.name} for a lead like this",
        "evidence": [{"field": field, "says": str(question.lead[field])} for field in said],
    }


def _chosen(question: Question, name: str | None) -> Permitted | None:
    if name == NO_ACTION:
        return None
    if name is not None:
        known = next((permitted for permitted in question.permitted if permitted.name == name), None)
        return known or Permitted(name, {}, ())
    creates = [permitted for permitted in question.permitted if permitted.name.startswith("create ")]
    others = [permitted for permitted in question.permitted if permitted not in creates]
    wanted = creates if question.record is None and creates else others
    return wanted[0] if wanted else None


def _values(permitted: Permitted, lead: Mapping[str, Any]) -> dict[str, Any]:
    return {field: _value(schema, lead.get(field)) for field, schema in permitted.fields.items()}


def _value(schema: Schema, held: Any) -> Any:
    """The first value of a fixed choice, else what the lead has; nothing if it has nothing."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if held is None or held == "":
        return None
    return str(held) if schema.get("type") == "string" else held
