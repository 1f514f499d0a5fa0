"""What the portal's own automation does when something happens, and a record of each firing."""

from collections.abc import Iterable, Mapping
from typing import Any

from sandbox.clock import rfc3339
from sandbox.hubspot.changes import CREATION, Change
from sandbox.hubspot.contacts import Contacts


class Automations:
    """Each automation fires once for each contact that is created, whoever creates it."""

    def __init__(self, seed: Iterable[Mapping[str, Any]]) -> None:
        self._on_creation = [str(item["name"]) for item in seed if item.get("on")]
        self.fired: list[dict[str, Any]] = []

    def react(self, happened: list[Change], contacts: Contacts) -> None:
        for change in happened:
            contact = contacts.get(change.record) if change.kind == CREATION else None
            if contact is None:
                continue
            for name in self._on_creation:
                self.fired.append(
                    {
                        "at": rfc3339(change.at),
                        "kind": name,
                        "provider": "hubspot",
                        "object": "contacts",
                        "id": contact.id,
                        "detail": {"to": contact.now.values.get("email")},
                    }
                )
