"""What a portal says of itself and of the token that asks."""

from collections.abc import Mapping
from typing import Any

from sandbox.hubspot.errors import invalid_input
from sandbox.provider import Influence
from sandbox.wire import Answer, Call

NOT_SHOWN = frozenset({"appId", "appName", "userId", "scopes"})


class Account:
    """Args:
    settings: the seed's portal; its app, user and scopes are those of every token.
    """

    def __init__(self, settings: Mapping[str, Any], portal_id: int) -> None:
        self._settings = settings
        self._portal_id = portal_id

    def details(self, _: Call, __: Influence) -> Answer:
        shown = {key: value for key, value in self._settings.items() if key not in NOT_SHOWN}
        return Answer(200, {**shown, "portalId": self._portal_id})

    def token(self, call: Call, _: Influence) -> Answer:
        asked = call.body if isinstance(call.body, dict) else {}
        if not isinstance(asked.get("tokenKey"), str) or not asked["tokenKey"]:
            raise invalid_input("Some required fields were not set: [tokenKey]")
        settings = self._settings
        answer = {"userId": settings["userId"], "hubId": self._portal_id, "appId": settings["appId"]}
        return Answer(200, {**answer, "scopes": list(settings["scopes"])})
