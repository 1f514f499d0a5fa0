from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leadproof.domain.differing import Way, differences_of
from leadproof.domain.mutation import Difference, Reason, Status
from tests.domain.looks import a_mutation

SECRET = "dana@lead.example"


@pytest.mark.parametrize(
    ("difference", "reason", "way"),
    [
        (Difference(field="email", intended=SECRET, observed=f"x{SECRET}"), None, Way.OTHER),
        (Difference(field="email", intended=SECRET, observed=None), None, Way.EMPTY),
        (Difference(field="email", intended=SECRET, observed=""), None, Way.EMPTY),
        (Difference(field="email", intended=SECRET, observed=None, returned=False), None, Way.NOT_RETURNED),
        (Difference(field="email", intended=SECRET, observed=None), Reason.CHANGED_BEFORE_WRITE, Way.MOVED),
        (Difference(field="email", intended=SECRET, observed=SECRET, lost="x"), Reason.OVERWROTE_UNSEEN_EDIT, Way.LOST),
        (Difference(field="email", intended=SECRET, observed=SECRET), Reason.OVERWROTE_UNSEEN_EDIT, Way.LOST),
        (Difference(field="email", intended=SECRET, observed="x"), Reason.OVERWROTE_UNSEEN_EDIT, Way.OTHER),
    ],
)
def test_how_a_field_differs_is_told_without_its_values(
    difference: Difference, reason: Reason | None, way: Way
) -> None:
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    known = difference.model_copy(update={"changed_by": "person:9003", "changed_at": moment})
    (told,) = differences_of(a_mutation(status=Status.DIVERGENT, reason=reason, differences=(known,)))
    assert (told.field, told.way, told.changed_by, told.changed_at) == ("email", way, "person:9003", moment)
    assert SECRET not in told.model_dump_json()
