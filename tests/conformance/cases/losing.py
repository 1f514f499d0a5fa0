"""Answers that are lost, late or unusable: the effect is made once, and the evidence says what was not known when."""

from __future__ import annotations

from leadproof.domain.mutation import AnswerClass, Status
from tests.conformance.cases.registry import both
from tests.conformance.evidence import proves
from tests.conformance.stage import Planning, Stage

_ACCEPTED, _UNCERTAIN = AnswerClass.ACCEPTED, AnswerClass.UNCERTAIN


def _landed(stage: Stage) -> None:
    """The one request whose answer was lost had landed, and no other was sent."""
    proves(stage, Status.OBSERVED, answers=(_UNCERTAIN,), effects=1)
    sent = stage.hands.sent()
    assert sent is not None
    assert len(sent) == 1


@both(faults=True)
def a_connection_that_breaks_before_the_write_is_applied(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("drop_before_apply")
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_UNCERTAIN, _ACCEPTED), effects=1)
    first, second = stage.receipts.attempts
    assert second.started_at >= first.send_before + stage.rules.target.quiescence


@both(faults=True)
def a_connection_that_breaks_after_the_write_was_applied(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("drop_after_apply")
    stage.run()
    _landed(stage)


@both(faults=True)
def a_write_that_is_applied_long_after_its_connection_broke(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("apply_later", args={"seconds": 90})
    stage.run()
    _landed(stage)
    assert any(observation.verdict == "unknown" for observation in stage.receipts.observations)


@both(faults=True)
def a_write_that_is_applied_later_than_any_lag_is_the_same_effect(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("apply_later", args={"seconds": 1000})
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_UNCERTAIN, _ACCEPTED), effects=1)
    before = stage.hands.records()
    stage.clock.wait(1000)
    sent = stage.hands.sent()
    assert sent is not None
    assert [one.applied for one in sent] == [True, True]
    assert [(one.record_id, one.marks) for one in stage.hands.records()] == [
        (one.record_id, one.marks) for one in before
    ]


@both(faults=True)
def a_page_of_html_in_place_of_an_answer(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("garbage_after_apply")
    stage.run()
    _landed(stage)


@both(faults=True)
def an_answer_that_trickles_past_the_deadline(stage: Stage, plan: Planning) -> None:
    updates = plan().provider_record_id is not None
    stage.hurries()
    stage.fails("trickle", args={"seconds": 0.2})
    stage.run()
    if updates and stage.system.silent_updates:
        proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)
    else:
        _landed(stage)


@both(faults=True)
def an_answer_that_comes_after_the_deadline(stage: Stage, plan: Planning) -> None:
    plan()
    stage.hurries()
    stage.fails("delay", args={"seconds": 30})
    stage.run()
    _landed(stage)


@both(faults=True)
def a_server_that_fails_after_it_applied(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("status_after_apply", args={"status": 502})
    stage.run()
    _landed(stage)


@both(faults=True)
def a_server_that_fails_before_it_applied(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("status", args={"status": 503})
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_UNCERTAIN, _ACCEPTED), effects=1)


@both(faults=True)
def a_write_that_never_gets_through_is_put_to_a_person(stage: Stage, plan: Planning) -> None:
    plan()
    stage.fails("drop_before_apply", times=3)
    stage.run()
    proves(stage, Status.UNCERTAIN, answers=(_UNCERTAIN,) * 3, effects=0)
    assert stage.receipts.observations[-1].verdict == "absent"


@both(faults=True)
def a_read_back_that_is_lost_is_read_again(stage: Stage, plan: Planning) -> None:
    plan()
    stage.attempt()
    stage.fails_to_read("drop_before_apply", times=2)
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)
    assert {observation.verdict for observation in stage.receipts.observations[:-1]} == {"unknown"}
