"""What a fresh look at the record means for a mutation, and what to do next. Pure; the workflow carries it out."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from leadproof.domain import progress
from leadproof.domain.attribution import (
    Effects,
    Specs,
    explained_base,
    landed,
    overwritten_unseen,
    stranger,
    with_automation,
)
from leadproof.domain.comparison import compare, moved
from leadproof.domain.mutation import AnswerClass, Attempt, Difference, Mutation, Reason, Status
from leadproof.domain.observing import Look, in_window, later, may_land, not_yet_looked_for, quiet_at, seen_through
from leadproof.domain.plan import ActionKind
from leadproof.domain.policy import Target
from leadproof.domain.records import FoundRecord, Presence
from leadproof.domain.unanswered import CHANGED_NOTHING, UNANSWERED


class Next(StrEnum):
    """What follows from a finding.

    *settled*: the status answers the question. *read_again*: at a stated time. *send_again*: a further attempt may be
    claimed. *ask*: a person. *park*: the target refuses us; look again at a stated time.
    """

    SETTLED = "settled"
    READ_AGAIN = "read_again"
    SEND_AGAIN = "send_again"
    ASK = "ask"
    PARK = "park"


class Finding(BaseModel):
    """What a look says, and what follows.

    Attributes:
        status: where the mutation moves now; `None` where it stays.
        verdict: of the observation: *absent* only where absence is established, *unknown* where nothing can be said.
        at: when to look again.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    next: Next
    status: Status | None = None
    reason: Reason | None = None
    differences: tuple[Difference, ...] = ()
    verdict: str = Presence.UNKNOWN
    at: datetime | None = None


def _margin(target: Target) -> timedelta:
    return timedelta(seconds=target.clock_margin_seconds)


def _merged(look: Look, record: FoundRecord) -> bool:
    """Whether the read-back or an answer carries another id than the one that was asked for."""
    if look.asked_id is None:
        return False
    answered = {a.answer.provider_record_id for a in look.attempts if a.answer is not None}
    return bool({record.record_id, *answered} - {look.asked_id, None})


def _unclear(look: Look, target: Target, differences: tuple[Difference, ...] = ()) -> Finding:
    """Nothing can be said from this look: keep reading while the window is open, then ask, and go on reading slowly."""
    at = later(look, target)
    if look.found.retry_after_seconds:
        at = max(at, look.now + timedelta(seconds=look.found.retry_after_seconds))
    status = Status.UNCERTAIN if look.mutation.status in {Status.SUBMITTED, Status.UNCERTAIN} else None
    if in_window(look, target):
        moves = status if quiet_at(look.attempts, target.quiescence) else None
        return Finding(next=Next.READ_AGAIN, status=moves, differences=differences, at=at)
    return Finding(next=Next.ASK, status=status, differences=differences, at=at)


def _refused(look: Look, target: Target) -> Finding:
    """The target refuses us, so nothing is known of the record; after the policy's patience a person is asked."""
    since = look.refused_since or look.now
    at = look.now + timedelta(seconds=target.probe_seconds)
    if look.now < since + timedelta(seconds=target.patience_seconds):
        return Finding(next=Next.PARK, reason=look.mutation.reason, at=at)
    unanswered = quiet_at(look.attempts, target.quiescence) is not None
    accepted = any(a.outcome is AnswerClass.ACCEPTED for a in look.attempts)
    if unanswered or accepted:  # a request that may have landed is never called rejected
        return Finding(next=Next.ASK, status=Status.UNCERTAIN, reason=Reason.TARGET_REFUSES_US, at=at)
    return Finding(next=Next.ASK, status=Status.REJECTED, reason=Reason.TARGET_REFUSES_US)


def _nothing_of_ours(look: Look, target: Target) -> Finding:
    """Nothing of ours is there and every field stands at its base: the last attempt's answer decides what follows."""
    latest = look.latest
    if latest is None:
        return Finding(next=Next.SEND_AGAIN, verdict=Presence.ABSENT)
    if _created(look) or may_land(look, target):
        return _unclear(look, target)
    if latest.outcome is AnswerClass.ACCEPTED and not seen_through(look, target):
        return _unclear(look, target)
    if latest.outcome is AnswerClass.REFUSES_THIS:
        exists = latest.answer is not None and latest.answer.read_first and look.mutation.intent.creates
        if exists and not seen_through(look, target):  # what is said to exist already can show a moment later
            return _unclear(look, target)
        return Finding(next=Next.ASK, status=Status.REJECTED, reason=Reason.REFUSES_THIS, verdict=Presence.ABSENT)
    if latest.outcome is AnswerClass.REFUSES_US and progress.out_of_patience(look.attempts, target, look.now):
        return Finding(next=Next.ASK, status=Status.REJECTED, reason=Reason.TARGET_REFUSES_US, verdict=Presence.ABSENT)
    return _absent(look, latest, target)


def _absent(look: Look, latest: Attempt, target: Target) -> Finding:
    """A further attempt, where the policy allows one, as soon as no attempt can change anything any more.

    A target that lets us read and refuses our writes is probed with it; one that said yes and shows nothing is for a
    person.
    """
    settled = [a.send_before + target.quiescence for a in look.attempts if a.outcome not in CHANGED_NOTHING]
    if latest.outcome is AnswerClass.REFUSES_US:
        settled.append(latest.send_before + timedelta(seconds=target.probe_seconds))
    again = max(settled, default=look.now)
    if look.now < again:
        return Finding(next=Next.READ_AGAIN, at=again)
    unanswered = sum(1 for attempt in look.attempts if attempt.outcome in UNANSWERED)
    asks = latest.outcome is AnswerClass.ACCEPTED or unanswered >= target.max_attempts
    if asks and look.mutation.reason is not Reason.RETRY:
        return Finding(next=Next.ASK, status=Status.UNCERTAIN, verdict=Presence.ABSENT, at=later(look, target))
    status = Status.UNCERTAIN if latest.outcome in UNANSWERED else None
    return Finding(next=Next.SEND_AGAIN, status=status, reason=look.mutation.reason, verdict=Presence.ABSENT)


def _created(look: Look) -> bool:
    """Whether this is a create that was answered 2xx with an id: it is never absent, only unknown or removed."""
    return look.mutation.intent.creates and any(a.outcome is AnswerClass.ACCEPTED for a in look.attempts)


def _not_found(look: Look, target: Target) -> Finding:
    """Neither among live records nor among archived, deleted or merged ones."""
    if _created(look):
        return _unclear(look, target)
    if look.mutation.intent.creates and look.asked_id is None:
        return _nothing_of_ours(look, target)
    if look.latest is None and not_yet_looked_for(look, target):
        return Finding(next=Next.READ_AGAIN, at=later(look, target))
    if not seen_through(look, target):
        return _unclear(look, target)
    return Finding(next=Next.ASK, status=Status.DIVERGENT, reason=Reason.REMOVED, verdict=Presence.REMOVED)


def _ours(look: Look, record: FoundRecord, target: Target, specs: Specs, effects: Effects) -> Finding:
    """A write of this mutation landed on the record."""
    mutation = look.mutation
    lost = overwritten_unseen(mutation, record, specs, effects, _margin(target))
    differences = compare(mutation.intent.fields, record.fields, specs, record.history)
    differences = with_automation(mutation.mutation_key, record, differences, specs)
    if lost:
        named = {difference.field for difference in lost}
        others = tuple(difference for difference in differences if difference.field not in named)
        return Finding(
            next=Next.ASK,
            status=Status.DIVERGENT,
            reason=Reason.OVERWROTE_UNSEEN_EDIT,
            differences=(*lost, *others),
            verdict=Presence.ONE,
        )
    if not differences:
        return Finding(next=Next.SETTLED, status=Status.OBSERVED, verdict=Presence.ONE)
    if all(not difference.returned for difference in differences):
        return _unclear(look, target, differences)
    return Finding(next=Next.ASK, status=Status.DIVERGENT, differences=differences, verdict=Presence.ONE)


def _not_ours(look: Look, record: FoundRecord, target: Target, specs: Specs, effects: Effects) -> Finding:
    """The record is there and no write of this mutation has landed on it."""
    intent = look.mutation.intent
    differences = compare(intent.fields, record.fields, specs, record.history)
    if stranger(look.mutation, record):
        if _may_still_show(look, target):
            return _unclear(look, target, differences)
        return _changed(differences)
    if not differences and not _yet_to_link(look.mutation, record):
        if seen_through(look, target):
            return Finding(next=Next.SETTLED, status=Status.OBSERVED, reason=Reason.ALREADY_SO, verdict=Presence.ONE)
        return _unclear(look, target)
    base = explained_base(look.mutation, record, specs, effects, _margin(target))
    compared = (*intent.fields, *intent.compare_also)
    changed = moved(base, record, compared, specs) if base is not None else differences
    if not changed:
        return _nothing_of_ours(look, target)
    if any(not difference.returned for difference in changed):
        return _unclear(look, target, differences)
    if _may_still_show(look, target):
        return _unclear(look, target, differences)
    seen = {difference.field for difference in differences}
    elsewhere = tuple(
        # somebody set what we intend; any other field has no intended value but its base
        difference.model_copy(update={"intended": intent.fields.get(difference.field, difference.intended)})
        for difference in changed
        if difference.field not in seen
    )
    return _changed((*differences, *elsewhere))


def _yet_to_link(mutation: Mutation, record: FoundRecord) -> bool:
    """Whether what is intended is above all that the record carries our external id, and it carries none."""
    return mutation.action_kind == ActionKind.LINK and record.external_id is None


def _may_still_show(look: Look, target: Target) -> bool:
    """Whether a write of ours may land yet, or has landed and is not seen: an unanswered one, or an accepted one."""
    accepted = look.latest is not None and look.latest.outcome is AnswerClass.ACCEPTED
    return (accepted and not seen_through(look, target)) or may_land(look, target)


def _changed(differences: tuple[Difference, ...]) -> Finding:
    return Finding(
        next=Next.ASK,
        status=Status.DIVERGENT,
        reason=Reason.CHANGED_BEFORE_WRITE,
        differences=differences,
        verdict=Presence.ONE,
    )


def find(look: Look, target: Target, specs: Specs, effects: Effects | None = None) -> Finding:
    """Draw the finding from a look.

    Args:
        target: the numbers of the target: window, spacing, quiescence, attempts, patience.
        specs: declared types of the target's fields.
        effects: earlier effects of ours that explain what stands on the record.
    """
    found = look.found
    if found.refuses_us:
        return _refused(look, target)
    if found.presence is Presence.UNKNOWN:
        return _unclear(look, target)
    if found.presence is Presence.SEVERAL:
        return Finding(next=Next.ASK, status=Status.DIVERGENT, reason=Reason.SEVERAL, verdict=Presence.SEVERAL)
    if found.presence is Presence.REMOVED:
        return Finding(next=Next.ASK, status=Status.DIVERGENT, reason=Reason.REMOVED, verdict=Presence.REMOVED)
    record = found.record
    if found.presence is Presence.ABSENT or record is None:
        return _not_found(look, target)
    if _merged(look, record):
        differences = compare(look.mutation.intent.fields, record.fields, specs, record.history)
        return Finding(
            next=Next.ASK,
            status=Status.DIVERGENT,
            reason=Reason.MERGED,
            differences=differences,
            verdict=Presence.ONE,
        )
    if landed(record, look.mutation.mutation_key):
        return _ours(look, record, target, specs, effects or {})
    return _not_ours(look, record, target, specs, effects or {})
