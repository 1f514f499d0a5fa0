"""What a run does next, read from the row."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from leadproof.domain.mutation import AnswerClass, Attempt, Difference, Mutation, Reason, Status
from leadproof.domain.progress import Step, StepKind, again_at, out_of_patience, step_of, view_of
from leadproof.domain.review import ReviewItem, ReviewState
from tests.domain.looks import KEY, START, TARGET, a_mutation, an_attempt, at

OPEN_ITEM = ReviewItem(
    review_id="r" * 64,
    subject=KEY,
    event_key="e" * 64,
    mutation_key=KEY,
    round=1,
    reason="divergent",
    queue="default",
    state=ReviewState.OPEN,
    opened_at=START,
    due_at=START,
)
NOT_SENT, NOT_APPLIED = AnswerClass.NOT_SENT, AnswerClass.NOT_APPLIED


def step(status: Status, reason: Reason | None = None, *attempts: Attempt, review: bool = False, **more: Any) -> Step:
    mutation = a_mutation(status=status, reason=reason, **more)
    return step_of(mutation, attempts, TARGET, OPEN_ITEM if review else None)


# -- the next step, by status ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("status", [Status.OBSERVED, Status.SUPERSEDED, Status.ABANDONED])
def test_what_is_final_is_done(status: Status) -> None:
    assert step(status) == Step(kind=StepKind.DONE)


@pytest.mark.parametrize("reason", [None, Reason.APPROVED, Reason.WAITS])
def test_a_reserved_mutation_is_written(reason: Reason | None) -> None:
    assert step(Status.RESERVED, reason) == Step(kind=StepKind.WRITE)


def test_a_mutation_that_depends_on_another_waits_for_it() -> None:
    assert step(Status.RESERVED, Reason.DEPENDS, depends_on=("d" * 64,)) == Step(kind=StepKind.DEPENDS)


@pytest.mark.parametrize("depends_on", [(), ("d" * 64,)])
def test_an_approval_comes_first_and_is_asked_for_once(depends_on: tuple[str, ...]) -> None:
    needed = Reason.NEEDS_APPROVAL
    assert step(Status.RESERVED, needed, depends_on=depends_on) == Step(kind=StepKind.PERSON, asks=needed)
    assert step(Status.RESERVED, needed, review=True, depends_on=depends_on) == Step(kind=StepKind.PERSON)


@pytest.mark.parametrize("reason", [None, Reason.APPROVED, Reason.WAITS, Reason.DEPENDS, Reason.NEEDS_APPROVAL])
@pytest.mark.parametrize("review", [False, True])
def test_in_shadow_mode_whatever_is_reserved_is_looked_at_later(reason: Reason | None, review: bool) -> None:
    mutation = a_mutation(
        status=Status.RESERVED, reason=reason, environment="test-shadow", depends_on=("d" * 64,) if reason else ()
    )
    item = OPEN_ITEM if review else None
    assert step_of(mutation, (), TARGET, item, timedelta(hours=1)) == Step(kind=StepKind.LOOK, at=at(3600))
    assert view_of(mutation, (), TARGET, item, shadow_after=timedelta(hours=1)).step.at == at(3600)


@pytest.mark.parametrize("status", [Status.SUBMITTED, Status.UNCERTAIN])
@pytest.mark.parametrize(
    "outcome", [None, AnswerClass.ACCEPTED, AnswerClass.UNCERTAIN, AnswerClass.REFUSES_THIS, AnswerClass.REFUSES_US]
)
def test_a_request_that_may_have_left_is_read_back(status: Status, outcome: AnswerClass | None) -> None:
    assert step(status, None, an_attempt(outcome)) == Step(kind=StepKind.LOOK)


def test_an_uncertain_mutation_is_read_back_even_while_a_person_is_asked_or_has_decided() -> None:
    unanswered = an_attempt(AnswerClass.UNCERTAIN)
    assert step(Status.UNCERTAIN, None, unanswered, review=True) == Step(kind=StepKind.LOOK)
    assert step(Status.UNCERTAIN, Reason.RETRY, unanswered) == Step(kind=StepKind.LOOK)


@pytest.mark.parametrize("status", [Status.SUBMITTED, Status.UNCERTAIN])
@pytest.mark.parametrize("outcome", [NOT_SENT, NOT_APPLIED])
def test_a_request_that_was_not_applied_is_made_again_after_a_wait(status: Status, outcome: AnswerClass) -> None:
    assert step(status, None, an_attempt(outcome)) == Step(kind=StepKind.WRITE, at=at(1 + TARGET.read_spacing_seconds))


@pytest.mark.parametrize(
    ("status", "reason", "asks"),
    [
        (Status.DIVERGENT, Reason.MERGED, Reason.MERGED),
        (Status.DIVERGENT, None, Reason.CHANGED_BEFORE_WRITE),
        (Status.REJECTED, Reason.TARGET_REFUSES_US, Reason.TARGET_REFUSES_US),
        (Status.REJECTED, None, Reason.REFUSES_THIS),
    ],
)
def test_what_a_person_must_decide_is_asked_once(status: Status, reason: Reason | None, asks: Reason) -> None:
    refused = an_attempt(AnswerClass.REFUSES_THIS)
    assert step(status, reason, refused) == Step(kind=StepKind.PERSON, asks=asks)
    assert step(status, reason, refused, review=True) == Step(kind=StepKind.PERSON)


def test_a_rejected_mutation_that_is_to_be_retried_is_written() -> None:
    assert step(Status.REJECTED, Reason.RETRY, an_attempt(AnswerClass.REFUSES_THIS)) == Step(kind=StepKind.WRITE)


# -- when a further attempt may be made --------------------------------------------------------------------------------
def row(outcome: AnswerClass, times: int, apart: float = 10, **answer: Any) -> list[Attempt]:
    return [an_attempt(outcome, number + 1, number * apart, **answer) for number in range(times)]


@pytest.mark.parametrize(("times", "wait"), [(1, 2), (2, 4), (3, 8), (5, 32), (6, 45), (2000, 45)])
def test_the_wait_doubles_up_to_the_probe_interval(times: int, wait: float) -> None:
    attempts = row(NOT_SENT, times)
    assert again_at(attempts, TARGET) == at((times - 1) * 10 + 1 + wait)


def test_the_doubling_begins_anew_after_any_other_answer() -> None:
    attempts = [*row(NOT_SENT, 4), an_attempt(AnswerClass.UNCERTAIN, 5, 40), an_attempt(NOT_APPLIED, 6, 100)]
    assert again_at(attempts, TARGET) == at(101 + TARGET.read_spacing_seconds)


@pytest.mark.parametrize("told", [0.5, 7.0, 86_400.0])
def test_a_target_that_names_a_wait_is_given_it(told: float) -> None:
    assert again_at(row(NOT_APPLIED, 3, retry_after_seconds=told), TARGET) == at(21 + told)


@pytest.mark.parametrize(
    ("times", "told", "wait"), [(3, 1.5, 1.5), (4, 1.5, 3), (5, 1.5, 6), (9, 1.5, 45), (2000, 1.5, 45), (9, 600, 600)]
)
def test_a_wait_that_did_not_help_grows_up_to_a_probe_and_is_never_shorter_than_told(
    times: int, told: float, wait: float
) -> None:
    """A record that stays locked would else cost an account two calls a second."""
    assert again_at(row(NOT_APPLIED, times, retry_after_seconds=told), TARGET) == at((times - 1) * 10 + 1 + wait)


def test_a_target_that_asks_for_no_wait_is_not_asked_in_a_tight_loop() -> None:
    assert again_at(row(NOT_APPLIED, 3, retry_after_seconds=0.0), TARGET) == at(21 + 8)


@pytest.mark.parametrize(
    "outcome", [None, AnswerClass.ACCEPTED, AnswerClass.UNCERTAIN, AnswerClass.REFUSES_US, AnswerClass.REFUSES_THIS]
)
def test_after_any_other_answer_time_alone_decides_nothing(outcome: AnswerClass | None) -> None:
    assert again_at([an_attempt(NOT_SENT), an_attempt(outcome, 2, 5)], TARGET) is None
    assert again_at([], TARGET) is None


# -- patience ----------------------------------------------------------------------------------------------------------
PATIENCE = TARGET.patience_seconds


@pytest.mark.parametrize("outcome", [NOT_SENT, NOT_APPLIED, AnswerClass.REFUSES_US])
def test_a_row_of_attempts_that_were_not_taken_lasts_as_long_as_the_policy_is_patient(outcome: AnswerClass) -> None:
    attempts = row(outcome, 3)
    assert not out_of_patience(attempts, TARGET, at(PATIENCE) - timedelta(milliseconds=1))
    assert out_of_patience(attempts, TARGET, at(PATIENCE))


def test_patience_counts_from_the_first_attempt_of_the_row() -> None:
    attempts = [an_attempt(NOT_SENT), an_attempt(AnswerClass.UNCERTAIN, 2, 10), an_attempt(NOT_SENT, 3, 100)]
    assert not out_of_patience(attempts, TARGET, at(PATIENCE + 99))
    assert out_of_patience(attempts, TARGET, at(PATIENCE + 100))


@pytest.mark.parametrize("outcome", [None, AnswerClass.ACCEPTED, AnswerClass.UNCERTAIN, AnswerClass.REFUSES_THIS])
def test_what_was_taken_or_may_have_been_is_no_matter_of_patience(outcome: AnswerClass | None) -> None:
    assert not out_of_patience([an_attempt(NOT_SENT), an_attempt(outcome, 2, 10)], TARGET, at(10 * PATIENCE))
    assert not out_of_patience([], TARGET, at(10 * PATIENCE))


# -- the view ----------------------------------------------------------------------------------------------------------
def shown(mutation: Mutation) -> str:
    return view_of(mutation, [an_attempt(AnswerClass.ACCEPTED)], TARGET, None).model_dump_json()


def test_a_view_names_fields_and_shows_no_value() -> None:
    secret = "dana@example.com"
    mutation = a_mutation(
        fields={"email": secret},
        base={"email": f"old-{secret}"},
        status=Status.DIVERGENT,
        differences=(Difference(field="email", intended=secret, observed=f"other-{secret}"),),
        observed_state={"fields": {"email": secret}},
    )
    view = view_of(mutation, [an_attempt(AnswerClass.ACCEPTED)], TARGET, None)
    assert (view.fields, view.differing, view.attempts) == (("email",), ("email",), 1)
    assert secret not in shown(mutation)


def test_a_tombstone_has_a_view() -> None:
    purged = a_mutation(status=Status.OBSERVED, intended_state=None, base_state=None)
    assert view_of(purged, (), TARGET, None).fields == ()


def test_a_finding_knows_better_than_the_row_when_to_go_on() -> None:
    later = Step(kind=StepKind.LOOK, at=at(60))
    assert view_of(a_mutation(), (), TARGET, None, later).step == later
