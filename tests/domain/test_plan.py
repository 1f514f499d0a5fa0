from __future__ import annotations

import pytest
from pydantic import ValidationError

from leadproof.domain.plan import MOST_ACTIONS, Action, ActionKind, Plan


def action(*depends_on: int) -> Action:
    return Action(
        kind=ActionKind.UPDATE, target_system="hubspot", fields={"title": "CEO"}, reason="r", depends_on=depends_on
    )


def test_dependencies_point_back() -> None:
    assert Plan(summary="s", actions=(action(), action(0), action(0, 1))).actions[2].depends_on == (0, 1)


@pytest.mark.parametrize("depends_on", [0, 1, -1])
def test_a_dependency_on_itself_or_a_later_action_is_refused(depends_on: int) -> None:
    with pytest.raises(ValidationError, match="does not come before it"):
        Plan(summary="s", actions=(action(depends_on), action()))


def test_a_plan_has_at_most_twenty_actions() -> None:
    assert len(Plan(summary="s", actions=(action(),) * MOST_ACTIONS).actions) == 20
    with pytest.raises(ValidationError):
        Plan(summary="s", actions=(action(),) * 21)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "delete"},
        {"target_object": "account"},
        {"confidence": 1.1},
        {"workflow": "x"},
        {"reason": "x" * 2001},
        {"evidence": ({"source": "s"},)},
    ],
)
def test_an_action_of_another_shape_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Action.model_validate({**action().model_dump(), **wrong})
