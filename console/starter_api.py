"""The starter's API, as commands call it."""

from __future__ import annotations

from typing import Any

import httpx

from console.leaving import CommandRefused
from leadproof.domain.errors import ConfigurationRefused, NotFound
from leadproof.setting_lists import Right
from leadproof.settings import Settings

_SECONDS = 15.0
"""Longer than the five seconds in which the starter waits for a worker's answer to a decision."""

_SECONDS_FOR_MANY = 60.0
"""Longer than the half a minute for which the starter answers a request with many decisions at most."""


class StarterApi:
    """Calls to one starter, with a token of the settings that has the right which a call needs."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._url = (settings.starter_url or settings.public_url).rstrip("/")

    def get(self, path: str, **query: str | int | None) -> Any:
        """Read something.

        Raises:
            NotFound, CommandRefused, ConfigurationRefused: what the starter's answer means.
        """
        return self._call("GET", path, "read", params={name: value for name, value in query.items() if value})[1]

    def decide(self, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        """Decide something; status and answer.

        Raises:
            NotFound, CommandRefused, ConfigurationRefused: what the starter's answer means.
        """
        return self._call("POST", path, "decide", json=body if body is not None else {})

    def decide_many(self, body: dict[str, Any]) -> Any:
        """Decide many questions by one request.

        Raises:
            NotFound, CommandRefused, ConfigurationRefused: what the starter's answer means.
        """
        return self._call("POST", "/v1/reviews/decisions", "decide", json=body, timeout=_SECONDS_FOR_MANY)[1]

    def deliver(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        """Post a delivery as a source would; status and answer, whatever they are."""
        with self._client() as client:
            response = self._sent(client, "POST", path, content=body, headers=headers)
        return response.status_code, _body(response)

    def _call(self, method: str, path: str, right: Right, **arguments: Any) -> tuple[int, Any]:
        with self._client() as client:
            response = self._sent(client, method, path, headers=self._authorization(right), **arguments)
        if response.is_success:
            return response.status_code, _body(response)
        said = _body(response)
        detail = said.get("detail") or said.get("title") if isinstance(said, dict) else None
        if response.status_code in {401, 403}:
            raise ConfigurationRefused(
                f"the starter at {self._url} does not accept our token for {right!r}; see LEADPROOF_API_TOKENS"
            )
        if response.status_code == 404:
            raise NotFound(detail or "nothing stands under this key")
        raise CommandRefused(detail or f"the starter answered {response.status_code}")

    def _authorization(self, right: Right) -> dict[str, str]:
        for token in self._settings.api_tokens:
            if right in token.rights:
                return {"Authorization": f"Bearer {token.token.get_secret_value()}"}
        raise ConfigurationRefused(
            f"LEADPROOF_API_TOKENS names no token with the right {right!r}; "
            "`leadproof up` says how to use an embedded stack's"
        )

    def _client(self) -> httpx.Client:
        return httpx.Client(base_url=self._url, timeout=_SECONDS)

    def _sent(self, client: httpx.Client, method: str, path: str, **arguments: Any) -> httpx.Response:
        try:
            return client.request(method, path, **arguments)
        except httpx.HTTPError:
            raise ConfigurationRefused(
                f"no starter answers at {self._url}; start one with `leadproof up`, or set LEADPROOF_STARTER_URL"
            ) from None


def _body(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return {}
