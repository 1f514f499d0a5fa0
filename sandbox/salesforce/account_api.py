"""What an org says of its API: its versions, and how much of it is used."""

from collections.abc import Mapping
from typing import Any

from sandbox.provider import Influence
from sandbox.salesforce.reading import base_of
from sandbox.salesforce.settings import Settings
from sandbox.wire import Answer, Call

RESOURCES = ("sobjects", "query", "queryAll", "limits", "composite")


class AccountApi:
    """Args:
    api: the seed's oldest and newest version.
    """

    def __init__(self, api: Mapping[str, Any], settings: Settings) -> None:
        self.versions = [f"{each}.0" for each in range(api["oldest_version"], api["newest_version"] + 1)]
        self._settings = settings

    def list(self, _: Call, __: Influence) -> Answer:
        return Answer(
            200, [{"label": each, "url": f"/services/data/v{each}", "version": each} for each in self.versions]
        )

    def resources(self, call: Call, _: Influence) -> Answer:
        return Answer(200, {name: f"{base_of(call)}/{name}" for name in RESOURCES})

    def limits(self, _: Call, __: Influence) -> Answer:
        settings = self._settings
        left = max(settings.daily_limit - settings.daily_used, 0)
        return Answer(200, {"DailyApiRequests": {"Max": settings.daily_limit, "Remaining": left}})
