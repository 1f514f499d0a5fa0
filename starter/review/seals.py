"""What the review key signs: one-time links, sessions, and the tokens of forms. Nothing of them is kept here."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from itsdangerous import BadData, Signer, URLSafeSerializer

_HOW: Final[dict[str, Any]] = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
_ID_BYTES: Final = 18


@dataclass(frozen=True, slots=True)
class Sealed:
    """What a link and a session say; which of them it is, its seal says.

    Attributes:
        id: made up, and no other one's.
        by: name of the API token through which somebody signs in.
        at: of a link, from when it opens nothing more; of a session, when it was begun.
    """

    id: str
    by: str
    at: datetime

    @property
    def digest(self) -> str:
        """Names a link in the ledger. One link can be written in several ways, so it is not of the text."""
        return hashlib.sha256(self.id.encode("utf-8")).hexdigest()


class Seals:
    """Signs with the review key, and reads what was signed with it.

    Args:
        deployment: where it counts; another deployment with the same key takes nothing of it.
    """

    def __init__(self, key: str, *, deployment: str) -> None:
        self._links = URLSafeSerializer(key, salt=f"leadproof review link {deployment}", signer_kwargs=_HOW)
        self._sessions = URLSafeSerializer(key, salt=f"leadproof review session {deployment}", signer_kwargs=_HOW)
        self._forms = Signer(key, salt=f"leadproof review form {deployment}", **_HOW)

    def link(self, by: str, *, until: datetime) -> str:
        """A new one-time link's text."""
        return _written(self._links, by, until)

    def read_link(self, text: str, *, now: datetime) -> Sealed | None:
        """What a link says; `None` where it is none of ours, or over."""
        link = _read(self._links, text)
        return link if link is not None and now < link.at else None

    def session(self, by: str, *, now: datetime) -> str:
        """A new session's text, which a cookie holds."""
        return _written(self._sessions, by, now)

    def read_session(self, text: str, *, now: datetime, lasts: timedelta) -> Sealed | None:
        """What a session says; `None` where it is none of ours, or over."""
        session = _read(self._sessions, text)
        return session if session is not None and now < session.at + lasts else None

    def csrf(self, identity: str) -> str:
        """The token of the forms that this person, in this session, is shown."""
        return self._forms.get_signature(identity).decode("ascii")


def same(given: str, expected: str) -> bool:
    """Whether two tokens are the same; how long it takes does not tell how much of them is."""
    return hmac.compare_digest(given.encode("utf-8", "backslashreplace"), expected.encode("utf-8"))


def _written(serializer: URLSafeSerializer, by: str, at: datetime) -> str:
    text = serializer.dumps({"id": secrets.token_urlsafe(_ID_BYTES), "by": by, "at": int(at.timestamp())})
    return text if isinstance(text, str) else text.decode("ascii")


def _read(serializer: URLSafeSerializer, text: str) -> Sealed | None:
    try:
        said = serializer.loads(text)
    except (BadData, UnicodeError):
        return None
    return Sealed(id=said["id"], by=said["by"], at=datetime.fromtimestamp(said["at"], UTC))
