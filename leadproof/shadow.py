"""Shadow mode: everything but the write. Over ports only.

An effect is planned and reserved as always and never claimed. Later its record is read, and what would have been
written is kept beside what stands there by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from leadproof.domain import progress, shadow
from leadproof.domain.errors import LeadproofError, NotFound
from leadproof.domain.mutation import Answer, RecordRef, Status
from leadproof.domain.records import Description, LookUp
from leadproof.domain.steps import Receipts, WriteRequest
from leadproof.looking import Ports, Rules, find_record, resolved, store_finding
from leadproof.ports import Crm


class WriteInShadow(LeadproofError):
    """A write was asked for in shadow mode."""


class ReadOnly:
    """A CRM that can only be read: whatever goes wrong elsewhere, a process in shadow mode has no way to write."""

    def __init__(self, crm: Crm) -> None:
        self._crm = crm

    @property
    def system(self) -> str:
        return self._crm.system

    @property
    def identity(self) -> str:
        return self._crm.identity

    def read(self, target_object: str, record_id: str, fields: Sequence[str], *, history: bool) -> LookUp:
        return self._crm.read(target_object, record_id, fields, history=history)

    def find(self, record: RecordRef, fields: Sequence[str], *, history: bool) -> LookUp:
        return self._crm.find(record, fields, history=history)

    def write(self, request: WriteRequest) -> Answer:
        """Send nothing.

        Raises:
            WriteInShadow: always.
        """
        raise WriteInShadow("nothing is written in shadow mode")

    def keeps_history(self, target_object: str, fields: Sequence[str]) -> bool:
        return self._crm.keeps_history(target_object, fields)

    def describe(self, target_object: str) -> Description:
        return self._crm.describe(target_object)


def look(ports: Ports, rules: Rules, mutation_key: str, *, receipts: Receipts | None = None) -> datetime | None:
    """Read the record of an effect that was never sent, and settle it with what was seen.

    Args:
        receipts: of the mutation, where the caller has just read them.

    Returns:
        When to look (again); `None` where there is nothing left to look for.

    Raises:
        NotFound: no mutation stands under the key.
    """
    receipts = receipts or ports.ledger.receipts(mutation_key)
    if receipts is None:
        raise NotFound("no mutation stands under this key")
    mutation, now = receipts.mutation, ports.clock.now()
    if mutation.status is not Status.RESERVED:
        return None
    due = progress.shadow_look_at(mutation, rules.shadow_after)
    if now < due:
        return due
    mutation = resolved(ports, mutation)
    read = find_record(ports, mutation, history=True)
    finding = shadow.find(
        mutation, read.found, receipts.observations, target=rules.target, specs=rules.specs, now=read.at
    )
    settled = store_finding(ports, rules, mutation, finding, read)
    if settled.won:
        return finding.at
    return now + timedelta(seconds=rules.target.read_spacing_seconds)  # another run was first: see what it left
