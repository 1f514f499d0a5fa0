"""The people and queues that a record can belong to."""

from collections.abc import Iterable, Mapping
from typing import Any

from sandbox.hubspot.errors import not_found
from sandbox.hubspot.shapes import page
from sandbox.provider import Influence
from sandbox.wire import Answer, Call

MAX_PAGE = 500
BORN = "2019-10-30T03:30:17.883Z"


class Owners:
    def __init__(self, seed: Iterable[Mapping[str, Any]]) -> None:
        self._owners = [dict(item) for item in seed]
        self.active = frozenset(item["id"] for item in self._owners if not item.get("archived"))
        self.default_user = next(item["userId"] for item in self._owners if item.get("userId"))

    def list(self, call: Call, _: Influence) -> Answer:
        archived, email = call.flag("archived"), call.one("email")
        limit, after = call.number("limit", 100), call.number("after", 0)
        rows = [
            _shown(owner)
            for owner in self._owners
            if bool(owner.get("archived")) is archived and email in {None, owner.get("email")}
        ]
        end = after + min(limit, MAX_PAGE)
        return Answer(200, page(rows[after:end], str(end) if len(rows) > end else None))

    def read(self, call: Call, _: Influence) -> Answer:
        field = "userId" if call.one("idProperty") == "userId" else "id"
        for owner in self._owners:
            if str(owner.get(field)) == call.segments[-1] and bool(owner.get("archived")) is call.flag("archived"):
                return Answer(200, _shown(owner))
        raise not_found(call.segments[-1])


def _shown(owner: Mapping[str, Any]) -> dict[str, Any]:
    """An archived owner has no user any more and no name."""
    archived = bool(owner.get("archived"))
    row = {
        "id": owner["id"],
        "email": owner.get("email", ""),
        "type": owner["type"],
        "firstName": "" if archived else owner["firstName"],
        "lastName": "" if archived else owner["lastName"],
        "createdAt": BORN,
        "updatedAt": BORN,
        "archived": archived,
    }
    if owner["type"] == "PERSON":
        row["userId"] = None if archived else owner["userId"]
        row["userIdIncludingInactive"] = owner["userId"]
    return row
