"""API tokens: named, each with its rights."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from leadproof.domain.errors import ConfigurationRefused
from leadproof.setting_lists import ApiToken, Right
from starter import problems

_BEARER = HTTPBearer(auto_error=False, description="an API token of LEADPROOF_API_TOKENS")


class Tokens:
    """The tokens of a deployment.

    Raises:
        ConfigurationRefused: a token is empty.
    """

    def __init__(self, tokens: Sequence[ApiToken]) -> None:
        if any(not token.token.get_secret_value() for token in tokens):
            raise ConfigurationRefused("an API token is empty, anyone could use it")
        self._tokens = [(token, _digest(token.token.get_secret_value())) for token in tokens]

    def find(self, given: str) -> ApiToken | None:
        """The token with this text; all are compared, in constant time."""
        digest = _digest(given)
        matches = [token for token, other in self._tokens if hmac.compare_digest(digest, other)]
        return matches[0] if matches else None

    def require(self, right: Right) -> Callable[..., ApiToken]:
        """A dependency that answers the caller's token.

        Raises:
            Problem: 401 without a known token, 403 without the right.
        """

        async def token(
            credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
        ) -> ApiToken:
            found = self.find(credentials.credentials) if credentials is not None else None
            if found is None:
                raise problems.unauthenticated()
            if right not in found.rights:
                raise problems.forbidden(right)
            return found

        return token  # type: ignore[return-value]  # FastAPI awaits it


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).digest()
