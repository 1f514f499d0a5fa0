"""The reverse proxy that says who is signed in; only what it says itself counts."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from fastapi import Request

from leadproof.setting_lists import Network
from starter.problems import Problem


class Proxy:
    """One header, which counts only from these addresses."""

    def __init__(self, header: str, addresses: Sequence[Network]) -> None:
        self._header = header
        self._addresses = addresses

    def names(self, request: Request) -> str | None:
        """The person whom the proxy names; `None` where it names nobody.

        Raises:
            Problem: 403, the header comes from elsewhere, or more than once.
        """
        given = request.headers.getlist(self._header)
        if not given:
            return None
        if not self._is(request.client.host if request.client is not None else ""):
            raise _refused("it says who is signed in, and does not come from the proxy that may say so")
        if len(given) > 1:
            raise _refused("it says twice who is signed in, so that one of the two is not the proxy's")
        return given[0] or None

    def _is(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        # a socket that listens on both kinds shows an IPv4 caller in IPv6's clothes
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return any((mapped or address) in network for network in self._addresses)


def _refused(why: str) -> Problem:
    return Problem(403, "proxy-header", "This request is not taken", why)
