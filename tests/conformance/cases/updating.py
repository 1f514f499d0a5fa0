"""An update of a record that stands, stood, or never did."""

from __future__ import annotations

from leadproof.domain.mutation import AnswerClass, Reason, Status
from tests.conformance.cases.registry import both, case
from tests.conformance.evidence import proves
from tests.conformance.stage import Planning, Stage

_ACCEPTED, _NOT_SENT = AnswerClass.ACCEPTED, AnswerClass.NOT_SENT


@case()
def an_update_is_made_and_read_back(stage: Stage) -> None:
    mutation = stage.update()
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)
    assert stage.record.external_id == mutation.target_record


@case()
def an_update_on_an_old_base_is_checked_first(stage: Stage) -> None:
    stage.update()
    stage.the_base_grows_old()
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)


@case()
def a_field_is_emptied(stage: Stage) -> None:
    stage.update(stage.person(title="Head of sales"), title=None)
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)


@case()
def what_is_so_already_is_not_written(stage: Stage) -> None:
    stage.update(stage.person(**stage.qualified))
    stage.run()
    proves(stage, Status.OBSERVED, Reason.ALREADY_SO, answers=(_NOT_SENT,), effects=0)


@case()
def what_somebody_has_made_so_meanwhile_is_not_written(stage: Stage) -> None:
    stage.update()
    stage.the_base_grows_old()
    stage.edited(**stage.qualified)
    stage.run()
    proves(stage, Status.OBSERVED, Reason.ALREADY_SO, answers=(_NOT_SENT,), effects=0)


@both(faults=True)
def a_stale_read_is_read_again(stage: Stage, plan: Planning) -> None:
    plan()
    stage.attempt()
    stage.fails_to_read("stale_read", times=2)
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)
    assert len(stage.receipts.observations) > 1


@case()
def a_record_that_was_archived_is_not_written_to(stage: Stage) -> None:
    stage.update()
    stage.the_base_grows_old()
    stage.hands.archive(str(stage.record_id))
    stage.run()
    proves(stage, Status.DIVERGENT, Reason.REMOVED, answers=(_NOT_SENT,), effects=0)


@case()
def a_record_that_is_archived_at_the_write_is_a_refusal_of_it(stage: Stage) -> None:
    stage.update()
    stage.hands.archive(str(stage.record_id))
    stage.run()
    proves(stage, Status.DIVERGENT, Reason.REMOVED, answers=(AnswerClass.REFUSES_THIS,), effects=0)


@case()
def a_record_that_was_merged_away_is_a_persons_question(stage: Stage) -> None:
    winner = stage.person(email=stage.address())
    stage.update()
    stage.the_base_grows_old()
    stage.hands.merge(winner, str(stage.record_id))
    stage.run()
    proves(stage, Status.DIVERGENT, Reason.MERGED, answers=(_NOT_SENT,), effects=0)


@case()
def a_record_that_never_was_is_not_made(stage: Stage) -> None:
    stage.update(stage.system.missing_id)
    stage.the_base_grows_old()
    stage.run()
    looks = stage.receipts.observations
    proves(stage, Status.DIVERGENT, Reason.REMOVED, answers=(_NOT_SENT,) * len(looks), effects=0)
    assert looks[-1].read_at - looks[0].read_at >= stage.rules.target.observation_window
    assert stage.hands.records() == ()
