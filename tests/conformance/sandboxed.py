"""People, faults and the witness of the sandbox, through its control plane."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.conformance.hands import Mischief, Sent, Standing
from tests.conformance.systems import System
from tests.sandbox.control import Control


class SandboxHands:
    """One provider of a sandbox that is reset for each case."""

    def __init__(self, system: System, control: Control) -> None:
        self._system = system
        self._control = control
        self._named = {"provider": system.name, "object": system.kind}

    @property
    def editors(self) -> Sequence[str]:
        return (f"person:{self._system.person}",)

    def expects(self, external_id: str) -> None:
        """Its records are all there are."""

    def create(self, properties: Mapping[str, Any]) -> str:
        made = self._control.put("/records", {**self._named, "user": self._system.person, "properties": properties})
        return str(made["id"])

    def edit(self, record_id: str, properties: Mapping[str, Any]) -> None:
        asked = {**self._named, "id": record_id, "user": self._system.person, "properties": properties}
        self._control.put("/records", asked)

    def archive(self, record_id: str) -> None:
        self._control.delete("/records", {**self._named, "id": record_id, "user": self._system.person})

    def merge(self, winner: str, loser: str) -> None:
        asked = {**self._named, "winner": winner, "loser": loser, "user": self._system.person}
        self._control.post("/merge", asked)

    def signed_in(self) -> int:
        """How often a token was asked for."""
        return len(self._control.get("/requests", provider=self._system.name, operation="token.create"))

    def org(self, **settings: Any) -> None:
        """Set up Salesforce's org."""
        self._control.post("/salesforce", settings)

    def contact(self, properties: Mapping[str, Any]) -> str:
        """A contact that a person makes beside the leads."""
        asked = {**self._named, "object": "contacts", "user": self._system.person, "properties": properties}
        return str(self._control.put("/records", asked)["id"])

    def convert(self, record_id: str) -> None:
        self._control.post("/convert", {**self._named, "id": record_id, "user": self._system.person})

    def arm(self, mischief: Mischief) -> None:
        self._control.post(
            "/faults",
            {
                "provider": self._system.name,
                "operation": mischief.operation,
                "kind": mischief.kind,
                "times": mischief.times,
                "after": mischief.after,
                "args": dict(mischief.args),
            },
        )

    def person_in_between(self, operation: str, properties: Mapping[str, Any], *, before: bool) -> None:
        moment = "before_write" if before else "after_write"
        args = {"user": self._system.person, "moment": moment, "fields": dict(properties)}
        self.arm(Mischief(kind="human_edit", operation=operation, args=args))

    def records(self) -> tuple[Standing, ...]:
        rows = self._control.get("/records", provider=self._system.name, object=self._system.kind)
        return tuple(self._system.standing(row) for row in rows)

    def sent(self) -> tuple[Sent, ...]:
        rows = self._control.get("/requests", provider=self._system.name, operation=self._system.write)
        return tuple(Sent(applied=row["applied"], body=json.dumps(row["body"])) for row in rows)
