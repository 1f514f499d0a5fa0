"""What a decision would write, and when that takes a stage backward."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.derivation import derived_fields, empties_the_stage_first, why_not
from leadproof.domain.mutation import Difference, Mutation, Reason, Status
from leadproof.domain.policy import Policy
from leadproof.domain.review import Decision
from tests.domain import samples
from tests.domain.looks import a_mutation

STAGE = "lifecycle_stage"
NOT_PERMITTED = "the stage would move backward, and the policy does not permit clear_stage and set_stage"


def divergent(shown: Any, intended: str = "marketingqualifiedlead", lost: Any = None) -> Mutation:
    differences = (Difference(field=STAGE, intended=intended, observed=intended, lost=lost),)
    return a_mutation(
        fields={STAGE: intended, "owner": "501"},
        status=Status.DIVERGENT,
        reason=Reason.OVERWROTE_UNSEEN_EDIT,
        observed_state={"fields": {STAGE: shown, "owner": "501"}},
        differences=differences,
    )


def of(policy: Policy | None = None) -> Any:
    return lambda version: policy


KNOWN = of(samples.policy())
WITHOUT = of(
    samples.policy(
        samples.changed('kind = "clear_stage"\ntarget', 'kind = "update"\ntarget').replace(
            "\nclear_stage = 60", "\nupdate = 60"
        )
    )
)


@pytest.mark.parametrize(
    ("shown", "backward"),
    [("customer", True), ("marketingqualifiedlead", False), ("lead", False), (None, False), ("of_their_own", True)],
)
def test_an_overwrite_moves_the_stage_backward_where_a_higher_one_stands(shown: str | None, backward: bool) -> None:
    assert empties_the_stage_first(divergent(shown), Decision.OVERWRITE, KNOWN) is backward
    assert why_not(divergent(shown), Decision.OVERWRITE, KNOWN) is None
    assert why_not(divergent(shown), Decision.OVERWRITE, WITHOUT) == (NOT_PERMITTED if backward else None)


@pytest.mark.parametrize(("lost", "backward"), [("lead", True), ("customer", False), (None, False)])
def test_a_restore_does_where_a_lower_one_was_replaced(lost: str | None, backward: bool) -> None:
    parent = divergent("marketingqualifiedlead", lost=lost)
    assert derived_fields(parent, Decision.RESTORE) == {STAGE: lost}
    assert empties_the_stage_first(parent, Decision.RESTORE, KNOWN) is backward
    assert why_not(parent, Decision.RESTORE, WITHOUT) == (NOT_PERMITTED if backward else None)


def test_without_its_policy_any_other_stage_may_be_a_move_backward() -> None:
    assert why_not(divergent("lead"), Decision.OVERWRITE, of()) == NOT_PERMITTED
    assert why_not(divergent("marketingqualifiedlead"), Decision.OVERWRITE, of()) is None
    assert why_not(divergent(None), Decision.OVERWRITE, of()) is None


def test_what_writes_nothing_is_not_hindered() -> None:
    for decision in (Decision.ACCEPT, Decision.ABANDON):
        assert why_not(divergent("customer"), decision, WITHOUT) is None
    nothing = divergent("customer").model_copy(update={"differences": ()})
    assert why_not(nothing, Decision.RESTORE, KNOWN) == "there is nothing to put back"
