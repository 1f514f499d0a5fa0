"""What every case has to leave behind: one key, one effect, and the whole of the evidence."""

from __future__ import annotations

from leadproof.domain.mutation import AnswerClass, Attempt, Mutation, Reason, Status
from leadproof.domain.review import ReviewState
from leadproof.domain.steps import Receipts
from tests.conformance.hands import Standing
from tests.conformance.stage import Stage

Records = tuple[Standing, ...]

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
    records = stage.hands.records()
    _one_effect(stage, records, effects)
    for attempt in receipts.attempts:
        _complete(attempt)
    _acceptance(mutation, receipts.attempts)
    _state(stage, receipts, records, effects, differs)
    # a person is asked where nothing else goes on, and never where the question is answered
    asked = receipts.review is not None and receipts.review.state is ReviewState.OPEN
    assert asked is (status is not Status.OBSERVED)
    return mutation


def _one_key(stage: Stage, mutation: Mutation) -> None:
    assert stage.event is not None
    assert [row.mutation_key for row in stage.ledger.mutations_of(stage.event.event_key)] == [mutation.mutation_key]


def _one_effect(stage: Stage, records: Records, effects: int) -> None:
    """By the witness alone: the requests that it carried out, and how often the record came to carry our marker."""
    sent = stage.hands.sent()
    if sent is not None:
        assert sum(one.applied for one in sent if stage.key in one.body) == effects
    marked = [mark for one in records for mark in one.marks if mark == stage.key]
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


def _state(stage: Stage, receipts: Receipts, records: Records, effects: int, differs: bool) -> None:
    """The latest read-back, with who changed what where something differs."""
    mutation, observations = receipts.mutation, receipts.observations
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
        assert latest.state["record_id"] in {one.record_id for one in records if one.live}
        assert set(mutation.intent.fields) <= set(latest.state["fields"])
    if mutation.status is Status.OBSERVED:
        assert mutation.differences == ()
        (standing,) = [one for one in records if one.record_id == latest.state["record_id"]]
        intended = {name: value for name, value in mutation.intent.fields.items() if name != "email"}
        assert stage.system.shows(standing.values, intended)
    if mutation.status is Status.DIVERGENT:
        assert bool(mutation.differences) is differs
        assert latest.differences == mutation.differences
