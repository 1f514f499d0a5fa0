"""Anthropic's own client library, held so that none of its habits reaches us.

Kept: its paths, its models, its serialisation, its ways to authenticate at three providers. Taken away: its retries,
its ten minutes of patience, redirects, proxies of the environment and spans. This module costs time to import; only
who really asks Claude does.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final, Literal

import anthropic

from leadproof.deadline import Call, Exchange
from leadproof.domain.errors import ConfigurationRefused
from leadproof.planners.claude_wire import http_client

Provider = Literal["anthropic", "bedrock", "vertex"]

ANTHROPIC_ADDRESS: Final = "https://api.anthropic.com"

_CONNECT_SECONDS: Final = 10.0
_EXTRA: Final = {"bedrock": ("boto3", "AWS"), "vertex": ("google.auth", "Google")}


class ClaudeClient:
    """The calls that we use, over one connection pool. Threads may share it.

    Args:
        provider: who serves the model.
        key: of Anthropic; for `bedrock` a Bedrock API key, for `vertex` an access token; those two can do without one,
            by the credentials that AWS's or Google's own library finds.
        base_url: instead of the provider's own address.
        region, project: of the provider, where it has them.

    Raises:
        ConfigurationRefused: a setting that this provider needs is missing, in one sentence.
    """

    def __init__(
        self,
        *,
        provider: Provider = "anthropic",
        key: str | None,
        base_url: str | None = None,
        region: str | None = None,
        project: str | None = None,
    ) -> None:
        self.provider: Final = provider
        self._sdk = _sdk(provider, key, base_url, region, project)

    def create(self, *, seconds: float, **request: Any) -> Exchange[object]:
        """Ask for one message: one request at most, over within `seconds`. Never raises.

        Returns:
            As `value` the message, or the exception that the library raised.
        """
        return self._called(self._sdk.messages.create, seconds, **request)

    def model(self, name: str, *, seconds: float) -> Exchange[object]:
        """Ask what the API knows of a model; Anthropic's own only. Returns and raises as `create`."""
        return self._called(self._sdk.models.retrieve, seconds, model_id=name)

    def close(self) -> None:
        """Close the idle connections."""
        self._sdk.close()

    def _called(self, method: Callable[..., object], seconds: float, **arguments: Any) -> Exchange[object]:
        def work() -> object:
            try:
                return method(**arguments, timeout=seconds)
            except Exception as error:  # what it means is for one table to say
                return error

        # the cloud providers' libraries may first have to fetch a token
        connect = _CONNECT_SECONDS if self.provider == "anthropic" else seconds
        return Call(work, connect_timeout=connect, timeout=seconds).exchange()


def _sdk(provider: Provider, key: str | None, base_url: str | None, region: str | None, project: str | None) -> Any:
    common: dict[str, Any] = {"max_retries": 0, "open_telemetry": False, "http_client": http_client()}
    if provider == "anthropic":
        if key is None:
            raise ConfigurationRefused(
                "the policy has Claude plan, and there is no key; set LEADPROOF_ANTHROPIC_API_KEY"
            )
        return anthropic.Anthropic(api_key=key, base_url=base_url or ANTHROPIC_ADDRESS, **common)
    library, whose = _EXTRA[provider]
    if region is None:
        raise ConfigurationRefused(f"Claude on {whose} needs a region; set LEADPROOF_ANTHROPIC_REGION")
    if key is None and not _installed(library):
        raise ConfigurationRefused(
            f"Claude on {whose} needs {whose}'s own library for its credentials; "
            f"install it with `pip install 'leadproof[{provider}]'`"
        )
    if provider == "bedrock":
        return anthropic.AnthropicBedrock(api_key=key, aws_region=region, base_url=base_url, **common)
    if project is None:
        raise ConfigurationRefused("Claude on Google needs a project; set LEADPROOF_ANTHROPIC_PROJECT")
    return anthropic.AnthropicVertex(access_token=key, region=region, project_id=project, base_url=base_url, **common)


def _installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # the parent package is missing
        return False
