"""A record that is to be made, and what may stand there already."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from leadproof.boundary import Result
from leadproof.domain.mutation import AnswerClass, Reason, Status
from leadproof.domain.review import Decision
from tests.conformance.cases.registry import case
from tests.conformance.evidence import proves
from tests.conformance.stage import Stage

_ACCEPTED, _NOT_SENT = AnswerClass.ACCEPTED, AnswerClass.NOT_SENT


def _made(stage: Stage) -> list[str | None]:
    return [one.external_id for one in stage.hands.records() if one.live]


@case()
def a_record_that_is_not_there_is_made(stage: Stage) -> None:
    mutation = stage.create()
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)
    assert _made(stage) == [mutation.target_record]


@case()
def a_record_that_is_found_and_not_linked_is_put_to_a_person(stage: Stage) -> None:
    stage.record_id = stage.person()
    stage.create(found_unlinked="review")
    stage.run()
    proves(stage, Status.RESERVED, Reason.NEEDS_APPROVAL, answers=(), effects=0)
    assert _made(stage) == [None]


@case()
def a_record_that_a_person_lets_us_have_is_linked(stage: Stage) -> None:
    stage.record_id = stage.person()
    mutation = stage.create(found_unlinked="review")
    stage.run()
    stage.decide(Decision.APPROVE)
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)
    assert _made(stage) == [mutation.target_record]


@case()
def a_record_that_is_found_and_not_linked_is_linked_where_the_policy_says_so(stage: Stage) -> None:
    stage.record_id = stage.person()
    mutation = stage.create(found_unlinked="link")
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)
    assert _made(stage) == [mutation.target_record]


@case()
def a_record_that_a_person_made_meanwhile_is_never_doubled(stage: Stage) -> None:
    stage.create()
    stage.record_id = stage.person()
    stage.run()
    proves(stage, Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE, answers=(_NOT_SENT,), effects=0)
    assert _made(stage) == [None]


@case()
def a_record_that_a_person_made_meanwhile_just_as_intended_is_not_ours(stage: Stage) -> None:
    stage.create()
    stage.record_id = stage.person(**stage.lead, **stage.qualified)
    stage.run()
    reason = Reason.CHANGED_BEFORE_WRITE
    proves(stage, Status.DIVERGENT, reason, answers=(_NOT_SENT,), effects=0, differs=False)
    assert _made(stage) == [None]


@case()
def a_record_that_was_deleted_is_not_made_again(stage: Stage) -> None:
    mutation = stage.create()
    gone = stage.person(external_id=mutation.target_record, email=stage.address())
    stage.hands.archive(gone)
    stage.run()
    proves(stage, Status.DIVERGENT, Reason.REMOVED, answers=(_NOT_SENT,), effects=0)
    assert _made(stage) == []


@case()
def two_records_of_one_lead_are_a_persons_question(stage: Stage) -> None:
    mutation = stage.create()
    stage.person()
    stage.person(external_id=mutation.target_record, email=stage.address())
    stage.run()
    proves(stage, Status.DIVERGENT, Reason.SEVERAL, answers=(_NOT_SENT,), effects=0)
    assert len(_made(stage)) == 2


@case()
def a_lead_that_is_planned_twice_is_made_once(stage: Stage) -> None:
    first = stage.create()
    assert stage.create().mutation_key == first.mutation_key
    stage.run()
    again = stage.create()
    assert (again.mutation_key, again.status) == (first.mutation_key, Status.OBSERVED)
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)
    assert _made(stage) == [first.target_record]


@case()
def of_two_runs_at_once_one_sends(stage: Stage) -> None:
    mutation = stage.create()
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(stage.submit, version=mutation.version, number=1) for _ in range(2)]
        results = {run.result().result for run in runs}
    assert results == {Result.SENT, Result.MOVED}
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)
    assert len(_made(stage)) == 1
