"""Targets that refuse us, refuse this, or ask us to wait."""

from __future__ import annotations

from leadproof.domain.mutation import AnswerClass, Reason, Status
from tests.conformance.cases.registry import both, case
from tests.conformance.evidence import proves
from tests.conformance.stage import Planning, Stage

_ACCEPTED, _NOT_APPLIED, _REFUSES_US = AnswerClass.ACCEPTED, AnswerClass.NOT_APPLIED, AnswerClass.REFUSES_US


@both(faults=True)
def a_record_that_is_locked_is_tried_again(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("lock", times=2)
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_NOT_APPLIED, _NOT_APPLIED, _ACCEPTED), effects=1)


@both(faults=True)
def too_many_requests_are_waited_for(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("rate_limit")
    stage.run()
    proves(stage, Status.OBSERVED, answers=(stage.system.rate_limited, _ACCEPTED), effects=1)


@both(faults=True)
def authorisation_that_is_lost_and_comes_back(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("reject_auth", times=stage.system.refusals)
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_REFUSES_US, _ACCEPTED), effects=1)
    target = stage.ledger.target(stage.system.name)
    assert target is not None
    assert target.state == "up"


@both(faults=True)
def authorisation_that_is_lost_for_good(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("reject_auth", times=10_000)
    stage.run()
    attempts = stage.receipts.attempts
    assert len(attempts) > 1
    answers = (_REFUSES_US,) * len(attempts)
    proves(stage, Status.REJECTED, Reason.TARGET_REFUSES_US, answers=answers, effects=0)
    lasted = stage.clock.now() - attempts[0].started_at
    assert lasted.total_seconds() >= stage.rules.target.patience_seconds


@both(faults=True)
def authorisation_that_is_lost_for_reads_too(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("reject_auth", times=10_000)
    stage.fails_to_read("reject_auth", times=10_000)
    stage.run()
    answers = tuple(attempt.outcome for attempt in stage.receipts.attempts if attempt.outcome is not None)
    assert set(answers) <= {_REFUSES_US, AnswerClass.NOT_SENT}
    proves(stage, Status.REJECTED, Reason.TARGET_REFUSES_US, answers=answers, effects=0)
    lasted = stage.clock.now() - stage.receipts.attempts[0].started_at
    assert lasted.total_seconds() >= stage.rules.target.patience_seconds


@case()
def a_value_that_the_target_does_not_have_is_refused(stage: Stage) -> None:
    stage.update(**{"owner": stage.system.owner, **stage.unusable})
    stage.run()
    _refused(stage)


@case()
def an_owner_who_has_left_is_refused(stage: Stage) -> None:
    stage.update(owner=stage.inactive_owner, lead_status=stage.system.status)
    stage.run()
    _refused(stage)


def _refused(stage: Stage) -> None:
    """Nothing was changed, and what was wrong is kept."""
    mutation = proves(stage, Status.REJECTED, Reason.REFUSES_THIS, answers=(AnswerClass.REFUSES_THIS,), effects=0)
    assert mutation.acceptance_receipt is not None
    assert mutation.acceptance_receipt.code
    sent = stage.hands.sent()
    assert sent is None or len(sent) == (0 if stage.system.refuses_unsent else 1)
