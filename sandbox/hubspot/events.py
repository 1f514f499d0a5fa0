"""Changes as the events of a webhook."""

from random import Random
from typing import Any

from sandbox.hubspot import changes
from sandbox.hubspot.changes import Change

FIRST_SUBSCRIPTION = 3855057
FLAGS = {changes.CREATION: "CREATED", changes.DELETION: "DELETED"}

Event = dict[str, Any]


class Events:
    """Words changes as one account's events. Ids are drawn by chance and promise nothing."""

    def __init__(self, portal_id: int, app_id: int) -> None:
        self._portal_id = portal_id
        self._app_id = app_id
        self._chance = Random(portal_id)
        self._subscriptions: dict[tuple[str, str | None], int] = {}

    def event(self, change: Change) -> Event:
        kind = f"contact.{change.kind}"
        event: Event = {
            "eventId": self.event_id(),
            "subscriptionId": self._subscription(kind, change.details.get("propertyName")),
            "portalId": self._portal_id,
            "appId": self._app_id,
            "occurredAt": change.at,
            "subscriptionType": kind,
            "attemptNumber": 0,
            "objectId": int(change.record),
            **change.details,
            "changeSource": change.source.type,
            "sourceId": change.source.id,
        }
        if change.kind in FLAGS:
            event["changeFlag"] = FLAGS[change.kind]
        return event

    def again(self, event: Event, attempt: int) -> Event:
        """The same event for another attempt."""
        return {**event, "eventId": self.event_id(), "attemptNumber": attempt}

    def event_id(self) -> int:
        return self._chance.randrange(1, 2**32)

    def _subscription(self, kind: str, name: str | None) -> int:
        return self._subscriptions.setdefault((kind, name), FIRST_SUBSCRIPTION + len(self._subscriptions))
