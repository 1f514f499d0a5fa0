"""The flow that writes a welcome e-mail, and a record of each firing."""

from typing import Any

from sandbox.clock import rfc3339
from sandbox.salesforce.drafts import CONVERSION
from sandbox.salesforce.record import Record
from sandbox.salesforce.settings import Settings


class Automations:
    """Fires once for each lead or contact that is made, whoever makes it; not for one that a conversion made."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.fired: list[dict[str, Any]] = []

    def react(self, created: list[Record]) -> None:
        if not self._settings.welcome_email:
            return
        for record in created:
            if record.now.versions["LastName"][-1]["sourceType"] == CONVERSION:
                continue
            self.fired.append(
                {
                    "at": rfc3339(record.created_at),
                    "kind": "welcome_email",
                    "provider": "salesforce",
                    "object": f"{record.kind.lower()}s",
                    "id": record.id,
                    "detail": {"to": record.now.values.get("Email")},
                }
            )
