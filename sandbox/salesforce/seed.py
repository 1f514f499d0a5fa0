"""What an org holds before anything happened to it."""

import json
from functools import cache
from importlib.resources import files
from typing import Any, cast


@cache
def _text() -> str:
    return (files("sandbox") / "seed" / "salesforce.json").read_text("utf-8")


def load() -> dict[str, Any]:
    """A fresh copy of the seed."""
    return cast(dict[str, Any], json.loads(_text()))
