"""Refusals, as the real client raises them."""

import json
from collections.abc import Callable
from typing import Any

import pytest


def refused(call: Callable[..., Any], *arguments: Any, status: int, **options: Any) -> dict[str, Any]:
    """The body of the refusal that the call ends in."""
    from hubspot.crm import contacts, owners, properties

    kinds = (contacts.ApiException, owners.ApiException, properties.ApiException)
    with pytest.raises(kinds) as raised:
        call(*arguments, **options)
    assert raised.value.status == status, raised.value.body
    body: dict[str, Any] = json.loads(raised.value.body)
    assert body["status"] == "error"
    assert body["correlationId"]
    return body


def code(body: dict[str, Any]) -> str:
    """The code of the only invalid value; the embedded list names the same."""
    [error] = body["errors"]
    [embedded] = json.loads(body["message"].removeprefix("Property values were not valid: "))
    assert embedded["error"] == error["code"]
    assert [embedded["name"]] == error["context"]["propertyName"]
    return str(error["code"])
