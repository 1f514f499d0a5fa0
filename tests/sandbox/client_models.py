"""What the installed client library says about its own models, by introspection."""

import inspect
import re
from datetime import datetime
from functools import cache
from types import ModuleType
from typing import Any

PRIMITIVES: dict[str, type] = {"str": str, "int": int, "bool": bool}


def response_types(api: Any, method: str) -> dict[int, str]:
    """Status to model of one operation, as the client picks it."""
    source = inspect.getsource(getattr(type(api), f"{method}_with_http_info"))
    table = re.search(r"response_types_map = \{(.*?)\}", source, re.DOTALL)
    assert table, f"no table of responses in {method}"
    return {int(status): model for status, model in re.findall(r'(\d+): "(\w+)"', table[1])}


@cache
def required(model: type) -> set[str]:
    """The attributes that the model refuses to be without."""
    return set(re.findall(r"Invalid value for `(\w+)`, must not be `None`", inspect.getsource(model)))


def complaints(value: Any, kind: str, models: ModuleType, where: str = "") -> list[str]:
    """Where `value` is not what the client's type `kind` says."""
    if kind in PRIMITIVES:
        return [] if isinstance(value, PRIMITIVES[kind]) else [f"{where}: {value!r} is no {kind}"]
    if kind == "object":
        return []
    if kind == "datetime":
        return [] if isinstance(value, str) and datetime.fromisoformat(value).tzinfo else [f"{where}: {value!r}"]
    if kind.startswith("list["):
        inner = kind[5:-1]
        return [
            text for index, item in enumerate(value) for text in complaints(item, inner, models, f"{where}[{index}]")
        ]
    if kind.startswith("dict["):
        inner = kind[5:-1].partition(", ")[2]
        # a property without a value is null, which the client's own annotation does not say
        present = {key: item for key, item in value.items() if item is not None}
        return [text for key, item in present.items() for text in complaints(item, inner, models, f"{where}.{key}")]
    return _model_complaints(value, kind, models, where)


def _model_complaints(value: Any, kind: str, models: ModuleType, where: str) -> list[str]:
    model = getattr(models, kind)
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no {kind}"]
    names = {key: attribute for attribute, key in model.attribute_map.items()}
    found = [f"{where}.{key} is unknown to {kind}" for key in value if key not in names]
    for key, attribute in names.items():
        item = value.get(key)
        if item is not None:
            found += complaints(item, model.openapi_types[attribute], models, f"{where}.{key}")
        elif attribute in required(model):
            found.append(f"{where}.{key} is required by {kind}")
    return found
