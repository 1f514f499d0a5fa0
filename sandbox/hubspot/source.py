"""Who changed a value, in the words of property history and of webhooks."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Source:
    type: str
    id: str
    label: str | None = None
    user_id: int | None = None

    def version(self, value: str, at: str) -> dict[str, Any]:
        """One entry of a property's history."""
        version: dict[str, Any] = {"value": value, "timestamp": at, "sourceType": self.type, "sourceId": self.id}
        if self.label is not None:
            version["sourceLabel"] = self.label
        if self.user_id is not None:
            version["updatedByUserId"] = self.user_id
        return version


def application(app_id: int, name: str) -> Source:
    return Source("INTEGRATION", str(app_id), name)


def automation() -> Source:
    return Source("AUTOMATION_PLATFORM", "enrollmentId:1", "Workflow")


def person(user: str, default: int) -> Source:
    """A person in the CRM's own pages; `user` is a user id, with or without the prefix `userId:`."""
    digits = user.removeprefix("userId:")
    user_id = int(digits) if digits.isdigit() else default
    return Source("CRM_UI", f"userId:{user_id}", user_id=user_id)
