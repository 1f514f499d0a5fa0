"""What people and automation do to the record before, during and after the write."""

from __future__ import annotations

from leadproof.domain.mutation import AnswerClass, Difference, Reason, Status
from tests.conformance.cases.registry import case
from tests.conformance.evidence import proves
from tests.conformance.stage import Stage

_ACCEPTED, _NOT_SENT = AnswerClass.ACCEPTED, AnswerClass.NOT_SENT


def _blamed(stage: Stage, difference: Difference) -> None:
    """The difference says who made it and when."""
    assert difference.changed_by is not None
    assert not stage.hands.editors or difference.changed_by in stage.hands.editors
    assert difference.changed_at is not None


@case()
def an_edit_since_the_base_is_found_before_the_write(stage: Stage) -> None:
    stage.update()
    stage.the_base_grows_old()
    stage.edited(owner=stage.other_owner)
    stage.run()
    mutation = proves(stage, Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE, answers=(_NOT_SENT,), effects=0)
    owner = next(difference for difference in mutation.differences if difference.field == "owner")
    assert (owner.intended, owner.observed) == (stage.system.owner, stage.other_owner)
    _blamed(stage, owner)


@case()
def an_edit_of_a_field_that_is_compared_too_is_found_before_the_write(stage: Stage) -> None:
    stage.update()
    stage.the_base_grows_old()
    stage.edited(email=stage.address())
    stage.run()
    proves(stage, Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE, answers=(_NOT_SENT,), effects=0)


@case()
def an_edit_of_another_field_changes_nothing(stage: Stage) -> None:
    stage.update()
    stage.the_base_grows_old()
    stage.edited(company="Edited meanwhile")
    stage.run()
    proves(stage, Status.OBSERVED, answers=(_ACCEPTED,), effects=1)
    assert stage.holds(company="Edited meanwhile")


@case()
def an_edit_that_the_write_replaced_unseen_is_found_and_kept(stage: Stage) -> None:
    stage.update()
    stage.edited(owner=stage.other_owner)  # the base is young: the write is not preceded by another read
    stage.run()
    mutation = proves(stage, Status.DIVERGENT, Reason.OVERWROTE_UNSEEN_EDIT, answers=(_ACCEPTED,), effects=1)
    (owner,) = mutation.differences
    assert (owner.field, owner.lost) == ("owner", stage.other_owner)
    _blamed(stage, owner)


@case(faults=True)
def an_edit_between_the_check_and_the_write(stage: Stage) -> None:
    stage.update()
    stage.the_base_grows_old()
    stage.edited_at_the_write(before=True, owner=stage.other_owner)
    stage.run()
    if stage.system.precondition:
        answers = (AnswerClass.NOT_APPLIED, _NOT_SENT)
        proves(stage, Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE, answers=answers, effects=0)
        assert stage.holds(owner=stage.other_owner)
    else:
        mutation = proves(stage, Status.DIVERGENT, Reason.OVERWROTE_UNSEEN_EDIT, answers=(_ACCEPTED,), effects=1)
        (owner,) = mutation.differences
        assert owner.lost == stage.other_owner
        _blamed(stage, owner)


@case(faults=True)
def an_edit_right_after_the_write_is_told_from_ours(stage: Stage) -> None:
    stage.update()
    stage.edited_at_the_write(before=False, lead_status=stage.system.other_status)
    stage.run()
    mutation = proves(stage, Status.DIVERGENT, answers=(_ACCEPTED,), effects=1)
    (status,) = mutation.differences
    assert (status.field, status.observed) == ("lead_status", stage.system.other_status)
    _blamed(stage, status)


@case(faults=True)
def an_edit_before_and_another_after_the_write(stage: Stage) -> None:
    stage.update()
    stage.edited(owner=stage.other_owner)
    stage.edited_at_the_write(before=False, lead_status=stage.system.other_status)
    stage.run()
    mutation = proves(stage, Status.DIVERGENT, Reason.OVERWROTE_UNSEEN_EDIT, answers=(_ACCEPTED,), effects=1)
    lost, after = mutation.differences
    assert (lost.field, lost.lost) == ("owner", stage.other_owner)
    assert (after.field, after.observed, after.lost) == ("lead_status", stage.system.other_status, None)
    assert (after.changed_by or "").startswith("person:")


@case(faults=True)
def a_flow_that_rewrites_a_value_in_our_own_transaction(stage: Stage) -> None:
    stage.update()
    stage.fails("rewrite", args={"fields": stage.system.raw({"lead_status": stage.system.other_status})})
    stage.run()
    mutation = proves(stage, Status.DIVERGENT, answers=(_ACCEPTED,), effects=1)
    (status,) = mutation.differences
    assert (status.field, status.observed) == ("lead_status", stage.system.other_status)
    assert (status.changed_by or "").startswith(stage.system.rewriter)
