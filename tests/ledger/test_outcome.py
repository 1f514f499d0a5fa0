"""The outcome of an event, by the first rule that holds."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain.events import Outcome
from leadproof.domain.mutation import FINAL, Reason, Status
from leadproof.domain.outcome import outcome_of


class Row(NamedTuple):
    mutation_key: str
    status: Status
    parent_key: str | None = None
    reason: Reason | None = None


def fell(mutation_key: str) -> Row:
    """What was given up because what it depends on did not come about."""
    return Row(mutation_key, ABANDONED, reason=Reason.DEPENDENCY)


OBSERVED, SUPERSEDED, ABANDONED = Status.OBSERVED, Status.SUPERSEDED, Status.ABANDONED


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [
        ([], Outcome.WORKING),
        ([Row("a", OBSERVED)], Outcome.DONE),
        ([Row("a", OBSERVED), Row("b", OBSERVED)], Outcome.DONE),
        ([Row("a", OBSERVED), Row("b", Status.REJECTED)], Outcome.WORKING),
        ([Row("a", OBSERVED), Row("b", Status.RESERVED)], Outcome.WORKING),
        ([Row("a", OBSERVED), Row("b", ABANDONED)], Outcome.PARTLY),
        ([Row("a", OBSERVED), Row("b", SUPERSEDED)], Outcome.PARTLY),
        ([Row("a", SUPERSEDED), Row("b", SUPERSEDED)], Outcome.SUPERSEDED),
        ([Row("a", SUPERSEDED), Row("b", ABANDONED)], Outcome.ABANDONED),
        ([Row("a", ABANDONED)], Outcome.ABANDONED),
        ([Row("a", SUPERSEDED), fell("b"), fell("c")], Outcome.SUPERSEDED),  # nobody gave anything up
        ([Row("a", SUPERSEDED), Row("d", SUPERSEDED, "a"), fell("b")], Outcome.SUPERSEDED),
        ([Row("a", ABANDONED), fell("b")], Outcome.ABANDONED),
        ([Row("a", SUPERSEDED), Row("d", ABANDONED, "a"), fell("b")], Outcome.ABANDONED),
        ([Row("a", SUPERSEDED), fell("b"), Row("c", ABANDONED, reason=Reason.DECLINED)], Outcome.ABANDONED),
        ([Row("a", SUPERSEDED), fell("b"), Row("c", OBSERVED)], Outcome.PARTLY),
        ([Row("a", SUPERSEDED), Row("d", OBSERVED, "a")], Outcome.DONE),
        ([Row("a", SUPERSEDED), Row("d", SUPERSEDED, "a"), Row("e", OBSERVED, "d")], Outcome.DONE),
        ([Row("a", SUPERSEDED), Row("d", Status.RESERVED, "a")], Outcome.WORKING),
        ([Row("a", SUPERSEDED), Row("d", ABANDONED, "a")], Outcome.ABANDONED),
        ([Row("a", SUPERSEDED), Row("d", OBSERVED, "a"), Row("b", SUPERSEDED)], Outcome.PARTLY),
        ([Row("a", ABANDONED), Row("d", OBSERVED, "a")], Outcome.PARTLY),  # only what is superseded is answered
        ([Row("a", OBSERVED), Row("r", OBSERVED, "a")], Outcome.DONE),
    ],
)
def test_the_rules(rows: list[Row], outcome: Outcome) -> None:
    assert outcome_of(rows, open_item=False) is outcome
    assert outcome_of(rows, open_item=True) is Outcome.REVIEW


@given(st.lists(st.sampled_from(Status), max_size=6))
def test_an_event_is_over_exactly_when_all_of_its_mutations_are(statuses: list[Status]) -> None:
    rows = [Row(str(number), status) for number, status in enumerate(statuses)]
    outcome = outcome_of(rows, open_item=False)
    assert outcome.final is (bool(rows) and FINAL.issuperset(statuses))
    if outcome is Outcome.DONE:
        assert set(statuses) == {OBSERVED}
