"""What every case has to leave behind: one key, one effect, and the whole of the evidence."""

from __future__ import annotations

from leadproof.domain.mutation import AnswerClass, Attempt, Mutation, Reason, Status
from tests.conformance.stage import Stage

_NO_RECORD = frozenset({Reason.MERGED, Reason.REMOVED, Reason.SEVERAL})


def proves(
    stage: Stage,
    status: Status,
    reason: Reason | None = None,
    *,
    answers: tuple[AnswerClass, ...],
    effects: int,
    differs: bool = True,
) -> Mutation:
    """Hold the ledger and the witness against what a case must end in.

    Args:
        answers: the class of each attempt's answer, in order.
        effects: how often the target carried our write out: once or never.
        differs: a record that is not as intended differs in a field, and not only in whose it is.

    Returns:
        The mutation as it stands.
    """
    receipts = stage.receipts
    mutation = receipts.mutation
    assert (mutation.status, mutation.reason) == (status, reason)
    assert tuple(attempt.outcome for attempt in receipts.attempts) == answers
    _one_key(stage, mutation)
    _one_effect(stage, effects)
    for attempt in receipts.attempts:
        _complete(attempt)
    _acceptance(mutation, receipts.attempts)
    _state(stage, mutation, effects, differs)
    _asked(stage, status)
    return mutation


def _one_key(stage: Stage, mutation: Mutation) -> None:
    assert stage.event is not None
    assert [row.mutation_key for row in stage.ledger.mutations_of(stage.event.event_key)] == [mutation.mutation_key]


def _one_effect(stage: Stage, effects: int) -> None:
    """By the witness alone: the requests that it carried out, and how often the record came to carry our marker."""
    sent = stage.hands.sent()
    if sent is not None:
        assert sum(one.applied for one in sent if stage.key in one.body) == effects
    marked = [mark for one in stage.hands.records() for mark in one.marks if mark == stage.key]
    assert len(marked) == effects


def _complete(attempt: Attempt) -> None:
    """Each attempt is completed, and says what was answered or how the answer was lost."""
    assert attempt.outcome is not None
    assert attempt.ended_at is not None
    assert attempt.ended_at >= attempt.started_at
    assert attempt.answer is not None
    assert attempt.answer.outcome is attempt.outcome
    assert attempt.answer.detail or attempt.answer.code or attempt.outcome is AnswerClass.ACCEPTED
    assert (attempt.request_digest is None) or len(attempt.request_digest) == 64


def _acceptance(mutation: Mutation, attempts: tuple[Attempt, ...]) -> None:
    if not attempts:
        assert mutation.acceptance_receipt is None
        return
    assert mutation.acceptance_receipt == attempts[-1].answer
    if attempts[-1].outcome is AnswerClass.ACCEPTED:
        assert attempts[-1].answer is not None
        assert attempts[-1].answer.provider_record_id == mutation.provider_record_id


def _state(stage: Stage, mutation: Mutation, effects: int, differs: bool) -> None:
    """The latest read-back, with who changed what where something differs."""
    observations = stage.receipts.observations
    if mutation.status is Status.RESERVED:
        assert observations == ()
        return
    if mutation.reason is Reason.TARGET_REFUSES_US:
        return  # nothing could be read; the attempts say so
    latest = observations[-1]
    assert latest.identity
    assert latest.state is not None
    if mutation.reason in _NO_RECORD:
        return
    if mutation.status in {Status.OBSERVED, Status.DIVERGENT}:
        assert latest.state["ours"] is (effects > 0)
        assert latest.state["record_id"] in {one.record_id for one in stage.hands.records() if one.live}
        assert set(mutation.intent.fields) <= set(latest.state["fields"])
    if mutation.status is Status.OBSERVED:
        assert mutation.differences == ()
        assert stage.holds(**{name: value for name, value in mutation.intent.fields.items() if name != "email"})
    if mutation.status is Status.DIVERGENT:
        assert bool(mutation.differences) is differs
        assert latest.differences == mutation.differences


def _asked(stage: Stage, status: Status) -> None:
    """A person is asked where nothing else goes on, and never where the question is answered."""
    asked = stage.ledger.review_of(stage.key)
    assert (asked is not None) is (status is not Status.OBSERVED)
