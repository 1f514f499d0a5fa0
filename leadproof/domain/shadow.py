"""What it means in shadow mode that a record is looked at instead of being written. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from leadproof.domain.attribution import Specs
from leadproof.domain.comparison import compare
from leadproof.domain.mutation import Mutation, Observation, Reason, Status
from leadproof.domain.policy import Target
from leadproof.domain.reconciliation import Finding, Next
from leadproof.domain.records import LookUp, Presence


def find(
    mutation: Mutation,
    found: LookUp,
    before: Sequence[Observation],
    *,
    target: Target,
    specs: Specs,
    now: datetime,
) -> Finding:
    """What a look says of an effect that was never sent: what would have been written beside what stands there.

    Any answer settles it. While the target does not tell, it is asked again, with doubling pauses, as long as the
    observation window lasts since the first such look; then the effect is settled without an answer.

    Args:
        before: the looks that the target left unanswered.
    """
    if found.presence is Presence.UNKNOWN:
        first = min((one.read_at for one in before), default=now)
        if now < first + target.observation_window:
            return Finding(next=Next.READ_AGAIN, at=now + _pause(len(before), found, target))
        return _settled(found)
    fields = found.record.fields if found.record is not None else {}
    history = found.record.history if found.record is not None else None
    return _settled(found).model_copy(update={"differences": compare(mutation.intent.fields, fields, specs, history)})


def _settled(found: LookUp) -> Finding:
    return Finding(next=Next.SETTLED, status=Status.ABANDONED, reason=Reason.SHADOW, verdict=found.presence)


def _pause(looks: int, found: LookUp, target: Target) -> timedelta:
    spacing = timedelta(seconds=target.read_spacing_seconds)
    told = timedelta(seconds=found.retry_after_seconds or 0)
    doubled: timedelta = spacing * 2 ** min(looks, 20)
    longest: timedelta = max(spacing, target.observation_window / 5)
    return max(told, min(doubled, longest))
