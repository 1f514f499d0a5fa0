"""The write boundary: claim, check, send, store; and look. Over ports only.

This is the one place from which a request can change a target. Everything that can go wrong goes wrong between two
lines of `submit`; what each gap leaves behind in the ledger is what the next run reads.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from leadproof.domain import keys, progress, reconciliation
from leadproof.domain.comparison import compare
from leadproof.domain.errors import LedgerUnavailable, NotFound
from leadproof.domain.events import Outcome
from leadproof.domain.mutation import Answer, AnswerClass, Attempt, Mutation, Reason, Status
from leadproof.domain.observing import Look, presence
from leadproof.domain.overtaking import overtaken, overtaken_in
from leadproof.domain.progress import Unstored
from leadproof.domain.reconciliation import Finding, Next
from leadproof.domain.records import FoundRecord, LookUp, Presence
from leadproof.domain.references import references_in
from leadproof.domain.review import ReviewState
from leadproof.domain.steps import Claim, ClaimResult, Receipts, Settlement, TargetRow, WriteRequest
from leadproof.looking import (
    Ports,
    Read,
    Rules,
    asked_id,
    effects_on,
    find_record,
    missed,
    question,
    resolved,
    store_finding,
)

__all__ = ["Looked", "Ports", "Result", "Rules", "Submission", "look", "submit"]

_VERSION_AFTER_FIRST_CLAIM = 2


class Result(StrEnum):
    """What became of a submission.

    *sent*: a request left, or may have; look. *again*: nothing was applied; a further attempt at `at`. *settled*: the
    check answered, nothing was sent. *waits*: another mutation holds the record. *parked*: the target refuses us; probe
    at `at`. *gave_up*: out of patience, rejected. *moved*: the row is not where the caller thought. *look_first*: an
    earlier attempt may still have landed; look at `at`.
    """

    SENT = "sent"
    AGAIN = "again"
    SETTLED = "settled"
    WAITS = "waits"
    PARKED = "parked"
    GAVE_UP = "gave_up"
    MOVED = "moved"
    LOOK_FIRST = "look_first"


class Submission(BaseModel):
    """What `submit` did, with the row as it is now.

    Attributes:
        unstored: the answer, where the ledger was not there when it came; the row is then as it was claimed.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    result: Result
    mutation: Mutation
    attempts: tuple[Attempt, ...] = ()
    at: datetime | None = None
    wake: str | None = None
    unstored: Unstored | None = None


class Looked(BaseModel):
    """What `look` found and stored, with the row and the event's outcome as they are now.

    Attributes:
        outcome: `None` where nothing was stored.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    next: Next
    mutation: Mutation
    attempts: tuple[Attempt, ...] = ()
    at: datetime | None = None
    wake: str | None = None
    outcome: Outcome | None = None


def submit(ports: Ports, rules: Rules, mutation_key: str, *, version: int, number: int) -> Submission:
    """Make one attempt at a mutation: at most one request leaves.

    Args:
        version, number: the caller's own reading: the row's version, and the number of the attempt to make.

    Returns:
        What was done; a lost answer is *sent*, never an exception.
    """
    ledger, target = ports.ledger, rules.target
    row = ledger.target(ports.crm.system)
    down = row if row is not None and row.state != "up" else None
    parked = _parked(ports, rules, mutation_key, version, down) if down is not None else None
    if parked is not None:
        return parked
    began = ports.clock.monotonic()
    claim = ledger.claim(
        mutation_key,
        version=version,
        number=number,
        send_within=timedelta(seconds=target.send_within_seconds),
        quiescence=target.quiescence,
    )
    mutation, attempt = claim.mutation, claim.attempt
    if claim.result is not ClaimResult.WON or attempt is None:
        return _not_won(ports, rules, claim)
    mutation = resolved(ports, mutation)
    settled = _check(ports, rules, mutation, attempt, claim)
    if isinstance(settled, Submission):
        return settled
    request = settled
    digest = keys.digest(["write/1", request.model_dump(mode="json")])
    if ports.clock.monotonic() - began >= target.send_within_seconds:
        answer = Answer(outcome=AnswerClass.NOT_SENT, detail="the time to send had passed")
    else:
        answer = ports.crm.write(request)
    try:
        ledger.store_answer(mutation_key, number, answer, request_digest=digest)
    except LedgerUnavailable:
        unstored = Unstored(number=number, answer=answer, request_digest=digest)
        return Submission(result=Result.SENT, mutation=mutation, attempts=(attempt,), unstored=unstored)
    if down is not None and answer.outcome not in {AnswerClass.NOT_SENT, AnswerClass.REFUSES_US}:
        ledger.mark_target(ports.crm.system, up=True, reason=None)
    if answer.outcome in {AnswerClass.ACCEPTED, AnswerClass.UNCERTAIN} and number == 1:
        # all that there is to know of a first attempt is known here: the next look reads the row anyway
        known = mutation.model_copy(update={"acceptance_receipt": answer})
        return Submission(result=Result.SENT, mutation=known, attempts=(attempt,))
    return _after(ports, rules, mutation_key, answer)


def _not_won(ports: Ports, rules: Rules, claim: Claim) -> Submission:
    """Nothing was claimed and nothing is sent; what stands in the row decides."""
    mutation, result = claim.mutation, claim.result
    attempts = ports.ledger.attempts_of(mutation.mutation_key)
    if result is ClaimResult.NOT_YET and mutation.status is not Status.RESERVED:
        at = ports.clock.now() + timedelta(seconds=rules.target.read_spacing_seconds)
        return Submission(result=Result.LOOK_FIRST, mutation=mutation, attempts=attempts, at=at)
    moved = Result.WAITS if result is ClaimResult.WAITS else Result.MOVED
    return Submission(result=moved, mutation=mutation, attempts=attempts, wake=claim.wake)


def _parked(ports: Ports, rules: Rules, mutation_key: str, version: int, row: TargetRow) -> Submission | None:
    """Nothing is claimed while the target refuses us. When its time has come one waiting write probes: it looks, and
    where it may look it goes on, since only the answer to a write says that writes are taken again."""
    ledger, system, target = ports.ledger, ports.crm.system, rules.target
    mutation, now = ledger.mutation(mutation_key), ports.clock.now()
    if mutation is None or mutation.version != version:
        return None  # the claim says so
    if now >= row.checked_at + timedelta(seconds=target.probe_seconds):
        row = ledger.mark_target(system, up=False, reason=row.reason)  # the others wait for what this one finds
        found = find_record(ports, mutation, history=False).found
        if not found.refuses_us:
            return None
        row = ledger.mark_target(system, up=False, reason=found.detail)
    attempts = ledger.attempts_of(mutation_key)
    # patience is each write's own: one that came a moment ago does not pay for how long the target was down before
    if now >= max(row.since, mutation.updated_at) + timedelta(seconds=target.patience_seconds):
        return _give_up(ports, rules, mutation, attempts)
    due = row.checked_at + timedelta(seconds=target.probe_seconds)
    return Submission(result=Result.PARKED, mutation=mutation, attempts=attempts, at=due)


def _give_up(ports: Ports, rules: Rules, mutation: Mutation, attempts: tuple[Attempt, ...]) -> Submission:
    """Out of patience: whatever was sent before was shown to have changed nothing, and a person is asked."""
    asked = question(rules, Reason.TARGET_REFUSES_US, ports.clock.now())
    step = Settlement(status=Status.REJECTED, reason=Reason.TARGET_REFUSES_US, question=asked)
    settled = ports.ledger.settle(mutation.mutation_key, version=mutation.version, step=step)
    result = Result.GAVE_UP if settled.won else Result.MOVED
    return Submission(result=result, mutation=settled.mutation, attempts=attempts, wake=settled.wake)


def _check(ports: Ports, rules: Rules, mutation: Mutation, attempt: Attempt, claim: Claim) -> WriteRequest | Submission:
    """Between claim and send: is the record still what the intent stands on?

    Args:
        mutation: with the ids of the records that it refers to.

    Returns:
        The request to send, or what was stored instead of sending.
    """
    intent = mutation.intent
    if references_in(intent.fields):  # nobody knows what is to be written
        unknown = Finding(next=Next.ASK, status=Status.REJECTED, reason=Reason.DEPENDENCY)
        return _settle_unsent(ports, rules, mutation, attempt, unknown, read=None)
    newer = claim.newer
    alone = not claim.shared and not overtaken_in(intent.fields, newer, rules.specs)
    skips = alone and _may_skip(ports, rules, mutation, attempt)
    if skips and compare(intent.fields, mutation.base_state or {}, rules.specs):
        return _request(mutation, record=None)
    read = find_record(ports, mutation, history=True)
    found = read.found
    if found.refuses_us:
        ports.ledger.mark_target(ports.crm.system, up=False, reason=found.detail)
    before = missed(ports, mutation) if found.presence is Presence.ABSENT else ()
    look_ = Look(
        mutation=mutation,
        attempts=(),  # judged as it stands now: what earlier attempts left was settled before this claim could win
        found=found,
        asked_id=asked_id(mutation),
        looked_at=before,
        seen_at=before,
        now=read.at,
    )
    finding = reconciliation.find(look_, rules.target, rules.specs, effects_on(ports, mutation, found.record))
    if finding.next is Next.SEND_AGAIN:
        lost = overtaken(intent.fields, newer, found.record, rules.specs) if found.record is not None else ()
        if not lost:
            return _request(mutation, record=found.record)
        finding = Finding(
            next=Next.ASK,
            status=Status.DIVERGENT,
            reason=Reason.CHANGED_BEFORE_WRITE,
            differences=lost,
            verdict=Presence.ONE,
        )
    if found.presence is not Presence.UNKNOWN and finding.status not in {None, Status.UNCERTAIN}:
        return _settle_unsent(ports, rules, mutation, attempt, finding, read=read)
    if found.presence is Presence.ABSENT:  # it may only not show yet: the next attempt looks for it again
        return _settle_unsent(ports, rules, mutation, attempt, finding, read=read)
    answer = Answer(
        outcome=AnswerClass.NOT_SENT,
        detail="the record could not be read before the write",
        retry_after_seconds=found.retry_after_seconds,
    )
    ports.ledger.store_answer(mutation.mutation_key, attempt.number, answer, request_digest=None)
    return _after(ports, rules, mutation.mutation_key, answer)


def _may_skip(ports: Ports, rules: Rules, mutation: Mutation, attempt: Attempt) -> bool:
    """Whether the base may stand for the check.

    Only while it is young and the target keeps history of every field; only on a first attempt that neither waited nor
    was held for a person (the claim is then the row's first change); never for a create, which needs its look-up. Where
    another mutation of ours was at the record meanwhile, it may carry that one's external id by now.
    """
    intent = mutation.intent
    first = attempt.number == 1 and mutation.version == _VERSION_AFTER_FIRST_CLAIM
    if intent.creates or not first or intent.base_read_at is None or mutation.base_state is None:
        return False
    age = ports.clock.now() - intent.base_read_at
    young = timedelta(0) <= age < timedelta(seconds=rules.target.base_age_seconds)
    return young and ports.crm.keeps_history(mutation.target_object, tuple(intent.fields))


def _request(mutation: Mutation, *, record: FoundRecord | None) -> WriteRequest:
    intent = mutation.intent
    provider_id = (
        record.record_id if record is not None else mutation.provider_record_id or intent.record.provider_record_id
    )
    linked = record.external_id is not None if record is not None else intent.record.linked
    return WriteRequest(
        record=intent.record.model_copy(update={"provider_record_id": provider_id}),
        creates=intent.creates and provider_id is None,
        fields=intent.fields,
        marker=mutation.mutation_key,
        sets_external_id=not linked,
        # of the two the later: whatever moved until then is in what was just read
        unmodified_since=record.moved_at or record.changed_at if record is not None else None,
    )


def _settle_unsent(
    ports: Ports, rules: Rules, mutation: Mutation, attempt: Attempt, finding: Finding, *, read: Read | None
) -> Submission:
    """The check answered the question, or found nothing that it could be asked of: the attempt is completed as *not
    sent*, and the finding is stored."""
    answer = Answer(outcome=AnswerClass.NOT_SENT, detail="nothing was sent: the check before the write answered")
    ports.ledger.store_answer(mutation.mutation_key, attempt.number, answer, request_digest=None)
    settled = store_finding(ports, rules, mutation, finding, read)
    result = Result.AGAIN if finding.next is Next.READ_AGAIN else Result.SETTLED
    attempts = ports.ledger.attempts_of(mutation.mutation_key)
    return Submission(
        result=result if settled.won else Result.MOVED,
        mutation=settled.mutation,
        attempts=attempts,
        at=finding.at,
        wake=settled.wake,
    )


def _after(ports: Ports, rules: Rules, mutation_key: str, answer: Answer) -> Submission:
    """What follows from a stored answer."""
    mutation, attempts = ports.ledger.mutation(mutation_key), ports.ledger.attempts_of(mutation_key)
    if mutation is None:
        raise NotFound("no mutation stands under this key")
    if answer.outcome is AnswerClass.REFUSES_US:
        ports.ledger.mark_target(ports.crm.system, up=False, reason=answer.code)
    if answer.outcome not in {AnswerClass.NOT_SENT, AnswerClass.NOT_APPLIED}:
        return Submission(result=Result.SENT, mutation=mutation, attempts=attempts)
    if progress.out_of_patience(attempts, rules.target, ports.clock.now()):
        return _give_up(ports, rules, mutation, attempts)
    return Submission(
        result=Result.AGAIN, mutation=mutation, attempts=attempts, at=progress.again_at(attempts, rules.target)
    )


def look(ports: Ports, rules: Rules, mutation_key: str, *, receipts: Receipts | None = None) -> Looked:
    """Read the record back, draw the finding, and store both.

    Args:
        receipts: of the mutation, where the caller has just read them.

    Raises:
        NotFound: no mutation stands under the key.
    """
    receipts = receipts or ports.ledger.receipts(mutation_key)
    if receipts is None:
        raise NotFound("no mutation stands under this key")
    mutation, attempts = resolved(ports, receipts.mutation), receipts.attempts
    if mutation.status not in {Status.SUBMITTED, Status.UNCERTAIN}:
        return Looked(next=Next.SETTLED, mutation=mutation, attempts=attempts)
    read = find_record(ports, mutation, history=True)
    found = read.found
    row = ports.ledger.target(ports.crm.system)
    if found.refuses_us:
        row = ports.ledger.mark_target(ports.crm.system, up=False, reason=found.detail)
    elif row is not None and row.state != "up" and _shows_it_up(found, attempts):
        row = ports.ledger.mark_target(ports.crm.system, up=True, reason=None)
    look_ = Look(
        mutation=mutation,
        attempts=attempts,
        found=found,
        asked_id=asked_id(mutation),
        looked_at=tuple(one.read_at for one in receipts.observations),
        seen_at=tuple(one.read_at for one in receipts.observations if presence(one) is not Presence.UNKNOWN),
        refused_since=row.since if row is not None and row.state != "up" else None,
        now=read.at,
    )
    finding = reconciliation.find(look_, rules.target, rules.specs, effects_on(ports, mutation, found.record))
    review = receipts.review
    asked = review is not None and review.state is ReviewState.OPEN
    settled = store_finding(ports, rules, mutation, finding, read, asked=asked)
    if not settled.won:
        at = look_.now + timedelta(seconds=rules.target.read_spacing_seconds)
        return Looked(next=Next.READ_AGAIN, mutation=settled.mutation, attempts=attempts, at=at)
    return Looked(
        next=finding.next,
        mutation=settled.mutation,
        attempts=attempts,
        at=finding.at,
        wake=settled.wake,
        outcome=settled.outcome,
    )


def _shows_it_up(found: LookUp, attempts: tuple[Attempt, ...]) -> bool:
    """Whether a read shows that the target takes us again; not where it answered this mutation's write with a refusal,
    since a missing scope lets us read and not write."""
    refused = bool(attempts) and attempts[-1].outcome is AnswerClass.REFUSES_US
    return found.presence is not Presence.UNKNOWN and not refused
