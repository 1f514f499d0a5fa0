"""What earlier attempts can still do, and whether a further one may be made."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from leadproof.domain.mutation import AnswerClass, Attempt, Observation, Status
from leadproof.domain.unanswered import may_attempt_again, open_until
from tests.support.ledgers import START

QUIET = timedelta(seconds=100)
KEY = "k" * 64


def attempt(number: int, outcome: AnswerClass | None, at: int = 0) -> Attempt:
    started = START + timedelta(seconds=at)
    return Attempt(
        mutation_key=KEY,
        number=number,
        send_before=started + timedelta(seconds=10),
        started_at=started,
        outcome=outcome,
    )


def seen(at: int, verdict: str = "absent", **state: object) -> Observation:
    return Observation(
        mutation_key=KEY,
        number=1,
        read_at=START + timedelta(seconds=at),
        identity="app",
        verdict=verdict,
        state=dict(state),
    )


def may(
    attempts: list[Attempt],
    observations: list[Observation],
    at: int,
    status: Status = Status.UNCERTAIN,
    creates: bool = False,
) -> bool:
    now: datetime = START + timedelta(seconds=at)
    return may_attempt_again(attempts, observations, status=status, creates=creates, quiescence=QUIET, now=now)


NOT_SENT, UNCERTAIN, REFUSES = AnswerClass.NOT_SENT, AnswerClass.UNCERTAIN, AnswerClass.REFUSES_THIS


def test_without_attempts_nothing_stands_in_the_way() -> None:
    assert may([], [], 0)
    assert open_until([], [], mutation_key=KEY, quiescence=QUIET, now=START) is None


def test_every_attempt_counts_and_not_only_the_last() -> None:
    attempts = [attempt(1, None), attempt(2, NOT_SENT, at=200)]
    assert not may(attempts, [], 300)
    assert may(attempts, [seen(110)], 300)
    assert not may(attempts, [seen(110), seen(200, "unknown")], 300)
    assert not may([*attempts, attempt(3, UNCERTAIN, at=290)], [seen(110)], 300)


def test_a_read_that_says_to_come_from_the_future_establishes_nothing() -> None:
    assert not may([attempt(1, None)], [seen(110)], 109)
    assert may([attempt(1, None)], [seen(110)], 110)


def test_a_refusal_is_enough_only_in_rejected() -> None:
    attempts = [attempt(1, UNCERTAIN), attempt(2, REFUSES, at=200)]
    observations = [seen(110), seen(210, "one")]
    assert may(attempts, observations, 220, Status.REJECTED)
    assert not may(attempts, observations, 220, Status.UNCERTAIN)
    assert not may([attempt(1, UNCERTAIN)], [seen(109)], 220, Status.REJECTED)


@pytest.mark.parametrize("status", [Status.UNCERTAIN, Status.REJECTED])
def test_an_answered_create_is_never_absent(status: Status) -> None:
    attempts = [attempt(1, AnswerClass.ACCEPTED)]
    assert not may(attempts, [seen(500)], 600, status, creates=True)
    assert may(attempts, [seen(500)], 600, status, creates=False)


def until(attempts: list[Attempt], observations: list[Observation], at: int) -> int | None:
    now = START + timedelta(seconds=at)
    moment = open_until(attempts, observations, mutation_key=KEY, quiescence=QUIET, now=now)
    return None if moment is None else int((moment - START).total_seconds())


def test_an_unanswered_attempt_is_open_until_its_quiescence() -> None:
    assert until([attempt(1, None)], [], 109) == 110
    assert until([attempt(1, None)], [], 110) is None
    assert until([attempt(1, UNCERTAIN), attempt(2, None, at=50)], [], 60) == 160


@pytest.mark.parametrize("outcome", [NOT_SENT, REFUSES, AnswerClass.ACCEPTED, AnswerClass.NOT_APPLIED])
def test_an_answered_one_is_not(outcome: AnswerClass) -> None:
    assert until([attempt(1, outcome)], [], 1) is None


def test_one_that_a_read_back_showed_to_have_landed_is_not() -> None:
    assert until([attempt(1, None)], [seen(5, "one", marker=KEY)], 6) is None
    assert until([attempt(1, None)], [seen(5, "one", marker="another", ours=True)], 6) is None
    assert until([attempt(1, None)], [seen(5, "one", marker="another", ours=False)], 6) == 110
    assert until([attempt(1, None, at=10)], [seen(5, "one", marker=KEY)], 11) == 120  # it was read before
