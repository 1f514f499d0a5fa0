"""What is known after a soak, from both sides, and what can be wrong about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from soak.ledger import Ledger
from soak.reviewer import Decision
from soak.schedule import Schedule
from soak.source import Told
from soak.witness import Witness


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that is not as it must be."""

    lead: str
    what: str

    def __str__(self) -> str:
        return f"{self.lead}: {self.what}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known after a soak.

    Attributes:
        read_at: when the ledger was read.
        quiescence: the policy's.
    """

    schedule: Schedule
    told: Told
    ledger: Ledger
    witness: Witness
    decisions: Mapping[str, Decision]
    read_at: datetime
    quiescence: timedelta

    def faults_of(self, record_id: str) -> set[str]:
        """The kinds of faults that were armed for the lead of a source record."""
        numbers = {number for number, known in self.told.record_ids.items() if known == record_id}
        return {fault.kind for lead in self.schedule.leads if lead.number in numbers for fault in lead.faults}
