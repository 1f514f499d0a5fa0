from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import pytest

from tests.sandbox.control import Control

Scripted = Callable[..., None]


@pytest.fixture(scope="session")
def claude(address: str) -> Iterator[anthropic.Anthropic]:
    """The real client library, which checks each answer against its own models; its retries off."""
    with anthropic.Anthropic(
        base_url=f"{address}/anthropic",
        api_key="any",
        max_retries=0,
        timeout=10,
        _strict_response_validation=True,
    ) as client:
        yield client


@pytest.fixture
def script(control: Control) -> Scripted:
    """Appends a script to the stand-in's queue."""

    def append(name: str, times: int | None = None, **args: Any) -> None:
        asked: dict[str, Any] = {"script": name, "args": args}
        control.post("/anthropic", asked if times is None else {**asked, "times": times})

    return append
