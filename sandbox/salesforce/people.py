"""The users and queues of an org."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sandbox.salesforce import ids
from sandbox.salesforce.errors import SalesforceError
from sandbox.salesforce.soql_ids import numbered
from sandbox.salesforce.values import Value

BORN = datetime(2019, 10, 30, 3, 30, 17, tzinfo=UTC)
USER = "005"


class People:
    def __init__(self, seed: Mapping[str, Any]) -> None:
        self.integration_user: str = seed["integration_user"]
        self._default: str = seed["default_person"]
        self._system = {
            "CreatedDate": BORN,
            "LastModifiedDate": BORN,
            "SystemModstamp": BORN,
            "CreatedById": self._default,
            "LastModifiedById": self._default,
        }
        self.users: dict[str, dict[str, Value]] = {item["Id"]: self._user(item) for item in seed["users"]}
        self.queues: dict[str, dict[str, Value]] = {item["Id"]: self._queue(item) for item in seed["queues"]}
        self._serves = {item["Id"]: tuple(item["objects"]) for item in seed["queues"]}

    def named(self, user: str) -> str:
        """The user whose id or user name this is; otherwise the first person."""
        whole = ids.read(user)
        if whole and whole in self.users:
            return whole
        return self.of_username(user) or self._default

    def of_username(self, username: str) -> str | None:
        """The active user of this name."""
        for user, row in self.users.items():
            if str(row["Username"]).casefold() == username.casefold() and row["IsActive"]:
                return user
        return None

    def name_of(self, owner: str) -> Value:
        row = self.users.get(owner) or self.queues.get(owner)
        return row["Name"] if row else None

    def check_owner(self, owner: str, kind: str) -> None:
        """Refuse an owner that nothing can be given to."""
        user = self.users.get(owner)
        if user and not user["IsActive"]:
            raise SalesforceError(400, "INACTIVE_OWNER_OR_USER", "operation performed with inactive user", [])
        if user is None and kind not in self._serves.get(owner, ()):
            raise SalesforceError(400, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", [])

    def queue_objects(self) -> list[dict[str, Value]]:
        pairs = [(queue, kind) for queue, kinds in self._serves.items() for kind in kinds]
        return [
            {"Id": numbered("03gxx", number), "QueueId": queue, "SobjectType": kind}
            for number, (queue, kind) in enumerate(pairs, 1)
        ]

    def _user(self, item: Mapping[str, Any]) -> dict[str, Value]:
        return {**self._system, **item, "Name": f"{item['FirstName']} {item['LastName']}"}

    def _queue(self, item: Mapping[str, Any]) -> dict[str, Value]:
        shown = {name: item[name] for name in ("Id", "Name", "DeveloperName")}
        return {**self._system, **shown, "Type": "Queue"}
