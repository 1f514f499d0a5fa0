"""The sessions that were opened: whose they are, and whether they still hold."""

from secrets import token_urlsafe

from sandbox.salesforce.settings import Settings


class Sessions:
    """Outlive a reset of the records, as the programs do that hold them."""

    def __init__(self) -> None:
        self._users: dict[str, str] = {}

    def open(self, organization: str, user: str) -> str:
        token = f"{organization[:15]}!{token_urlsafe(72)}"
        self._users[token] = user
        return token

    def user(self, token: str, settings: Settings) -> str | None:
        return None if settings.refuse_sessions else self._users.get(token)

    def expire(self) -> None:
        self._users.clear()
