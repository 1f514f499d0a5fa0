"""HubSpot's own client library, held so that none of its habits reaches us.

Kept: its paths, its models, its serialisation. Taken away: its connection pools (a new one at each access), retries,
redirects, missing time-outs, and its token, which a kept api object would never renew.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from hubspot.crm import contacts, owners, properties

from leadproof.crm.transport import Transport
from leadproof.deadline import Call, Deadline, Exchange

USER_AGENT = "leadproof"


class HubSpotClient:
    """The api objects that we use, over one transport. Threads may share it.

    Args:
        token: asked for the access token at every call.
        base_url: HubSpot's address.
        connect_timeout: seconds within which a request has begun to leave, or never leaves.
    """

    def __init__(self, *, token: Callable[[], str], base_url: str, connect_timeout: float) -> None:
        self._token = token
        self.address = base_url.rstrip("/")
        self._connect_timeout = connect_timeout
        self._transport = Transport()
        contacts_client = self._api_client(contacts)
        self._account_client = contacts_client
        self.records = contacts.BasicApi(contacts_client)
        self.batches = contacts.BatchApi(contacts_client)
        self.searches = contacts.SearchApi(contacts_client)
        self.owners = owners.OwnersApi(self._api_client(owners))
        self.properties = properties.CoreApi(self._api_client(properties))

    def call(self, method: Callable[..., Any], *args: Any, deadline: Deadline, **kwargs: Any) -> Exchange[Any]:
        """Call one method of an api object: one request at most, over before the deadline. Never raises."""

        def work() -> Any:
            return method(*args, _request_auth=self._authorization(), **kwargs)

        return Call(work, connect_timeout=self._connect_timeout, timeout=deadline.remaining()).exchange()

    def account_details(self, **kwargs: Any) -> Any:
        """`GET /account-info/v3/details`, for which the library has no method of its own."""
        return self._account_client.call_api(
            "/account-info/v3/details",
            "GET",
            header_params={"Accept": "application/json"},
            response_types_map={200: "object"},
            auth_settings=["oauth2"],
            _return_http_data_only=True,
            **kwargs,
        )

    def token_info(self, **kwargs: Any) -> Any:
        """`POST /oauth/v2/private-apps/get/access-token-info`, which the library does not have either: what our own
        token may do. Asked with the token in the header too, as accounts hosted in Europe want it."""
        return self._account_client.call_api(
            "/oauth/v2/private-apps/get/access-token-info",
            "POST",
            header_params={"Accept": "application/json", "Content-Type": "application/json"},
            body={"tokenKey": self._token()},
            response_types_map={200: "object"},
            auth_settings=["oauth2"],
            _return_http_data_only=True,
            **kwargs,
        )

    def close(self) -> None:
        """Close the idle connections."""
        self._transport.clear()

    def _api_client(self, package: Any) -> Any:
        client = package.ApiClient(package.Configuration(host=self.address))
        client.user_agent = USER_AGENT
        client.rest_client.pool_manager = self._transport
        _read_times_as_written(client)
        return client

    def _authorization(self) -> dict[str, str]:
        return {"type": "oauth2", "in": "header", "key": "Authorization", "value": f"Bearer {self._token()}"}


def _read_times_as_written(client: Any) -> None:
    """Let a client read times as ISO 8601: the library guesses their format, which takes 40 % of a read (measured)."""
    guess = client._ApiClient__deserialize_datetime

    def read(text: Any) -> Any:
        try:
            return datetime.fromisoformat(text)
        except (ValueError, TypeError):
            return guess(text)

    client._ApiClient__deserialize_datetime = read
