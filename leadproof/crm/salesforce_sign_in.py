"""The two ways in which we sign in to Salesforce without a person: client credentials, and a signed JWT."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import jwt
from jwt.algorithms import RSAAlgorithm

from leadproof.domain.errors import ConfigurationRefused

SIGN_IN_PATH: Final = "/services/oauth2/token"

_JWT_GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_VALID_SECONDS: Final = 120  # Salesforce takes up to three minutes; what is left over is for clocks that differ


class SignIn(Protocol):
    """What is sent to get an access token."""

    def form(self) -> dict[str, str]: ...

    def basic(self) -> tuple[str, str] | None:
        """User and password of the request itself."""
        ...


@dataclass(frozen=True)
class ClientCredentials:
    """By the secret of our External Client App, as the user that it runs as."""

    client_id: str
    client_secret: str = field(repr=False)

    def form(self) -> dict[str, str]:
        return {"grant_type": "client_credentials"}

    def basic(self) -> tuple[str, str]:
        return self.client_id, self.client_secret


class JwtBearer:
    """As the integration user, by an assertion signed with our private key.

    Args:
        private_key: RSA, in PEM.
        audience: `https://login.salesforce.com`, or `https://test.salesforce.com` for a sandbox org.

    Raises:
        ConfigurationRefused: the key is none.
    """

    def __init__(self, *, client_id: str, username: str, private_key: str, audience: str) -> None:
        try:
            self._key: Any = RSAAlgorithm(RSAAlgorithm.SHA256).prepare_key(private_key)
        except Exception:  # whatever the parser says may repeat parts of the key
            self._key = None
        if not hasattr(self._key, "sign"):
            raise ConfigurationRefused("the private key for Salesforce is no RSA private key in PEM")
        self._claims = {"iss": client_id, "sub": username, "aud": audience}

    def form(self) -> dict[str, str]:
        claims = {**self._claims, "exp": int(time.time()) + _VALID_SECONDS}
        return {"grant_type": _JWT_GRANT, "assertion": jwt.encode(claims, self._key, algorithm="RS256")}

    def basic(self) -> None:
        return None
