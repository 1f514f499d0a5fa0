"""What `requests` sends with on behalf of Salesforce's client library: one host, one request, no habits of its own."""

from __future__ import annotations

from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from leadproof.crm.transport import Transport
from leadproof.domain.errors import ConfigurationRefused


class Elsewhere(Exception):
    """A request would go to another host than the configured one; it is not sent."""


class Address:
    """Salesforce's address, as it is configured and as the client library is told it.

    The library always speaks https. Where a plain http address is configured (a sandbox on this machine), it is told
    https, and the adapter sends to the address as it is configured.

    Attributes:
        configured: `scheme://host:port` without a path.
        told: the same with https.
        host: host, and the port where it is none that https means.

    Raises:
        ConfigurationRefused: the address is none, or has a path, which the library would drop.
    """

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise ConfigurationRefused("the address of Salesforce is none") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname or ":" in parts.hostname or "@" in parts.netloc:
            raise ConfigurationRefused("the address of Salesforce is `https://` and a host's name")
        if parts.path.strip("/") or parts.query or parts.fragment:
            raise ConfigurationRefused("the address of Salesforce has no path: the client library would drop it")
        port = port or (80 if parts.scheme == "http" else 443)
        self.host = parts.hostname if port == 443 else f"{parts.hostname}:{port}"
        self.told = f"https://{self.host}"
        self.configured = f"{parts.scheme}://{parts.hostname}:{port}"

    def is_same(self, url: str) -> bool:
        """Whether another address is this one as the library is told it."""
        try:
            return Address(url).told == self.told
        except ConfigurationRefused:
            return False


class _Adapter(HTTPAdapter):
    """Sends through our transport, so that the call's deadline and its gate hold for every verb."""

    def __init__(self, address: Address) -> None:
        self._address = address
        super().__init__(max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        self.poolmanager = Transport()

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        url = str(request.url)
        if not url.lower().startswith(f"{self._address.told}/"):
            raise Elsewhere
        arrived = self.poolmanager.urlopen(
            str(request.method),
            self._address.configured + url[len(self._address.told) :],
            body=request.body,
            headers=request.headers,
        )
        response = self.build_response(request, arrived)
        # the body has been read whole, within the deadline; what `requests` would read of it now is nothing
        response._content = arrived.data
        response._content_consumed = True
        return response


class OneHostSession(requests.Session):
    """A session without redirects, cookies, proxies and `.netrc`.

    Threads may share it: nothing of it changes after it was made, and the pools behind it are made for threads.
    """

    def __init__(self, address: Address) -> None:
        super().__init__()
        self.trust_env = False
        self.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self.adapters.clear()
        self.mount("https://", _Adapter(address))

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        return None
