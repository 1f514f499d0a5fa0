"""What earlier attempts of a mutation can still do to its target, and whether a further one may be made."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from leadproof.domain.mutation import AnswerClass, Attempt, Observation, Status
from leadproof.domain.records import Presence

UNANSWERED = frozenset({None, AnswerClass.UNCERTAIN})
CHANGED_NOTHING = frozenset({AnswerClass.NOT_SENT, AnswerClass.NOT_APPLIED})
_REFUSED = frozenset({AnswerClass.REFUSES_US, AnswerClass.REFUSES_THIS})


def may_attempt_again(
    attempts: Sequence[Attempt],
    observations: Sequence[Observation],
    *,
    status: Status,
    creates: bool,
    quiescence: timedelta,
    now: datetime,
) -> bool:
    """Whether every earlier attempt provably changed nothing, so that a further one makes no second effect.

    An attempt did not if it was answered *not sent* or *not applied*; any other only once it is past its quiescence and
    the latest observation after that moment says *absent*. A create that was answered with a record is never absent. In
    `rejected` a refusal is enough, since a read-back has shown the record unchanged, and any such observation will do,
    since the refused attempt came after it.
    """
    if creates and any(attempt.outcome is AnswerClass.ACCEPTED for attempt in attempts):
        return False
    rejected = status is Status.REJECTED
    harmless = CHANGED_NOTHING | _REFUSED if rejected else CHANGED_NOTHING
    for attempt in attempts:
        if attempt.outcome in harmless:
            continue
        quiet = attempt.send_before + quiescence
        after = [observation for observation in observations if observation.read_at >= quiet]
        seen = after if rejected else after[-1:] if after and after[-1] is observations[-1] else []
        if now < quiet or not any(observation.verdict == Presence.ABSENT for observation in seen):
            return False
    return True


def open_until(
    attempts: Sequence[Attempt],
    observations: Sequence[Observation],
    *,
    mutation_key: str,
    quiescence: timedelta,
    now: datetime,
) -> datetime | None:
    """Until when an unanswered attempt that no read-back has shown to have landed may still change the target.

    Returns:
        `None` where nothing is on its way: the record can be given up or passed on.
    """
    moments = [
        attempt.send_before + quiescence
        for attempt in attempts
        if attempt.outcome in UNANSWERED and not _shown(attempt, observations, mutation_key)
    ]
    latest = max(moments, default=None)
    return latest if latest is not None and now < latest else None


def _shown(attempt: Attempt, observations: Sequence[Observation], mutation_key: str) -> bool:
    for observation in observations:
        state = observation.state or {}
        ours = state.get("ours") is True or state.get("marker") == mutation_key
        if ours and observation.read_at >= attempt.started_at:
            return True
    return False
