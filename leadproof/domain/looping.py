"""A loop between us and software of the customer's: what we write is answered with a change, which is planned again.

No key stops it, since each change is an event of its own. So after a few rounds a person is asked before a write.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from leadproof.domain.attribution import US
from leadproof.domain.events import Lead
from leadproof.domain.plan import GuardedAction, Verdict
from leadproof.domain.records import FoundRecord

MOST_ROUNDS: Final = 3
"""So many leads of one record may each write, within `WITHIN`, while nobody but software answers."""
WITHIN: Final = timedelta(hours=1)

_SOFTWARE: Final = ("automation:", "integration:")
_A_PERSON: Final = "userId:"
"""How the `sourceId` begins by which HubSpot tells what a person did."""


def by_software(lead: Lead, record: FoundRecord | None) -> bool:
    """Whether the record was last changed by software, ours included, and the event does not say that it is a
    person's: ours can have come after that."""
    told = (lead.lead or {}).get("extra") or {}
    if str(told.get("sourceId", "")).startswith(_A_PERSON):
        return False
    by = record.changed_by if record is not None else None
    return by is not None and (by == US or by.startswith(_SOFTWARE))


def held_back(guarded: Sequence[GuardedAction], rounds: int) -> tuple[GuardedAction, ...]:
    """What may go on without a person after so many rounds: nothing more, once there were too many."""
    if rounds < MOST_ROUNDS:
        return tuple(guarded)
    why = f"software has answered our last {rounds} writes to this record within an hour; it may be a loop"
    return tuple(
        one.model_copy(update={"verdict": Verdict.FOR_A_PERSON, "why": why, "queue": one.queue or "default"})
        if one.verdict is Verdict.ALLOWED
        else one
        for one in guarded
    )
