"""How long a record has been looked at on behalf of a mutation: time in which nobody looked shows nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from pydantic import BaseModel, ConfigDict

from leadproof.domain.mutation import Attempt, Mutation, Observation
from leadproof.domain.policy import Target
from leadproof.domain.records import LookUp, Presence
from leadproof.domain.unanswered import UNANSWERED

LONGEST_WAIT = timedelta(hours=1)


class Look(BaseModel):
    """All that a finding is drawn from.

    Attributes:
        attempts: all attempts of the mutation, oldest first.
        found: the fresh look-up.
        asked_id: the provider id that was read, where one was known.
        looked_at: when it was looked at before; `seen_at`: those of these looks that the target answered.
        refused_since: since when the target refuses us, while it does.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    mutation: Mutation
    attempts: tuple[Attempt, ...]
    found: LookUp
    asked_id: str | None
    looked_at: tuple[datetime, ...] = ()
    seen_at: tuple[datetime, ...] = ()
    refused_since: datetime | None = None
    now: datetime

    @property
    def latest(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def reads(self) -> int:
        """How many looks there were since the latest attempt, this one included."""
        latest = self.latest
        return 1 + sum(1 for at in self.looked_at if latest is None or at >= latest.started_at)


def presence(observation: Observation) -> Presence:
    """What the target said at a look, whatever the look was found to mean."""
    return Presence((observation.state or {}).get("presence", observation.verdict))


def pause(looks: int, target: Target) -> timedelta:
    """How long is waited after so many looks: doubling from the spacing up to a fifth of the window."""
    spacing = timedelta(seconds=target.read_spacing_seconds)
    doubled: timedelta = spacing * 2 ** min(max(looks - 1, 0), 20)
    return min(doubled, max(target.observation_window / 5, spacing))


def looked_for(since: datetime, looks: Iterable[datetime], now: datetime, target: Target) -> timedelta:
    """How much of the time since a moment was time of looking.

    From each look to the next, as long as a run waits between them and a step takes. Whatever is longer (a worker that
    slept or was gone, a target that could not be read) shows nothing, and counts no more than that.

    Args:
        looks: when it was looked; one before `since` does not count. The present look is at `now`.
    """
    moments = [since, *sorted(at for at in looks if since < at < now), now]
    step = timedelta(seconds=target.send_within_seconds + target.call_timeout_seconds)
    spans = enumerate(pairwise(moments), 1)
    return sum((min(after - before, pause(n, target) + step) for n, (before, after) in spans), timedelta(0))


def quiet_at(attempts: Sequence[Attempt], quiescence: timedelta) -> datetime | None:
    """When the last unanswered attempt can no longer change the target; `None` where every attempt was answered."""
    return max((a.send_before + quiescence for a in attempts if a.outcome in UNANSWERED), default=None)


def _window_ends(latest: Attempt, look: Look, target: Target) -> datetime:
    """When the observation window may close at the earliest; it never does before an attempt is quiet."""
    ends = (latest.ended_at or latest.send_before) + target.observation_window
    quiet = quiet_at(look.attempts, target.quiescence)
    return max(ends, latest.send_before + target.quiescence, quiet or ends)


def in_window(look: Look, target: Target) -> bool:
    """Whether the observation window is open: it is one of looking, and not of waiting."""
    return look.latest is not None and not _through(look.latest, look.looked_at, look, target)


def seen_through(look: Look, target: Target) -> bool:
    """Whether the target was seen throughout the window, so that what does not show is not there."""
    return look.latest is None or _through(look.latest, look.seen_at, look, target)


def _through(latest: Attempt, looks: Iterable[datetime], look: Look, target: Target) -> bool:
    """Whether the window has passed, and was one of such looks."""
    looked = looked_for(latest.started_at, looks, look.now, target)
    return look.now >= _window_ends(latest, look, target) and looked >= target.observation_window


def may_land(look: Look, target: Target) -> bool:
    """Whether an unanswered attempt may land yet, or may have landed in a time in which nobody looked.

    For as long as it could land the record must have been seen, whenever that was; and after it no longer can, by two
    looks at least, or throughout the window: one look may be stale.
    """
    quiet = quiet_at(look.attempts, target.quiescence)
    if quiet is None:
        return False
    latest = [attempt for attempt in look.attempts if attempt.outcome in UNANSWERED][-1]
    needed = latest.send_before - latest.started_at + target.quiescence
    seen = looked_for(latest.started_at, look.seen_at, look.now, target)
    if look.now < quiet or seen < needed:
        return True
    again = any(quiet <= at < look.now for at in look.seen_at)
    return not again and not seen_through(look, target)


def later(look: Look, target: Target) -> datetime:
    """The time of the next look: as `pause` says, and after the window with pauses of up to an hour.

    A target that tells again after it was long out of reach is asked as in the window, until it was seen for as long.
    """
    told = look.found.presence is not Presence.UNKNOWN
    soon = look.latest is None or in_window(look, target) or (told and not seen_through(look, target))
    slow = timedelta(seconds=target.read_spacing_seconds) * 2 ** min(look.reads - 1, 20)
    at: datetime = look.now + (pause(look.reads, target) if soon else min(slow, LONGEST_WAIT))
    quiet = quiet_at(look.attempts, target.quiescence)
    if quiet is not None and look.now < quiet < at:
        return quiet
    return at


def not_yet_looked_for(look: Look, target: Target) -> bool:
    """Whether a record that was to be there has not been looked for as long as the window lasts, before any attempt:
    what was made a moment ago does not show everywhere at once."""
    since = min(look.seen_at, default=look.now)
    return looked_for(since, look.seen_at, look.now, target) < target.observation_window
