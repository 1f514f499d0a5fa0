"""The intended fields beside what stood later, and how often they agree."""

from __future__ import annotations

from typing import Any

from leadproof.domain.agreement import Agreement, FieldAgreement, beside, per_field
from leadproof.domain.mutation import Difference, Mutation, Reason, Status
from tests.domain.looks import a_mutation, at


def looked_at(seen: dict[str, Any] | None, *differences: Difference, **more: Any) -> Mutation:
    """An effect of shadow mode that was settled with these fields seen; `None`: nothing could be read."""
    changes = {
        one.field: [{"value": one.observed, "at": at(60).isoformat(), "by": one.changed_by}] for one in differences
    }
    state = {"presence": "one", "fields": seen, "changes": changes} if seen is not None else None
    return a_mutation(
        **{
            "status": Status.ABANDONED,
            "reason": Reason.SHADOW,
            "base": {"owner": "500", "lead_status": None},
            "observed_state": state,
            "differences": differences,
        }
        | more
    )


def differs(field: str, observed: Any, by: str | None = None, seconds: float = 60) -> Difference:
    return Difference(
        field=field, intended="-", observed=observed, changed_by=by, changed_at=at(seconds) if by else None
    )


def agreements(mutation: Mutation) -> dict[str, Agreement]:
    return {row.field: row.agreement for row in beside(mutation)}


def test_a_row_says_what_stood_what_was_intended_what_stands_and_whose_it_is() -> None:
    status, owner = beside(looked_at({"owner": "777", "lead_status": "NEW"}, differs("owner", "777", "person:9")))
    assert (owner.field, owner.stood, owner.intended, owner.observed) == ("owner", "500", "501", "777")
    assert (owner.agreement, owner.changed_by, owner.changed_at) == (Agreement.PERSON, "person:9", at(60))
    assert (status.field, status.stood, status.observed) == ("lead_status", None, "NEW")
    assert (status.agreement, status.changed_by) == (Agreement.EQUAL, None)


def test_only_a_person_who_acted_after_the_plan_chose_otherwise() -> None:
    seen = {"owner": "777", "lead_status": "NEW"}
    assert agreements(looked_at(seen, differs("owner", "777", "automation:3")))["owner"] is Agreement.DIFFERENT
    assert agreements(looked_at(seen, differs("owner", "777", "person:9", -60)))["owner"] is Agreement.DIFFERENT
    assert agreements(looked_at(seen, differs("owner", "777")))["owner"] is Agreement.DIFFERENT


def test_what_was_not_seen_neither_agrees_nor_differs() -> None:
    missing = Difference(field="owner", intended="501", observed=None, returned=False)
    assert agreements(looked_at({"lead_status": "NEW"}, missing))["owner"] is Agreement.UNSEEN
    absent = looked_at({}, missing, observed_state={"presence": "absent"})
    assert set(agreements(absent).values()) == {Agreement.UNSEEN}
    assert set(agreements(looked_at(None)).values()) == {Agreement.UNSEEN}


def test_a_field_that_stands_empty_was_seen() -> None:
    assert agreements(looked_at({"owner": None, "lead_status": "NEW"}, differs("owner", None)))["owner"] is (
        Agreement.DIFFERENT
    )


def test_a_tombstone_says_nothing() -> None:
    assert beside(looked_at(None, intended_state=None)) == ()


def test_many_are_counted_per_field() -> None:
    seen = {"owner": "501", "lead_status": "NEW"}
    other = seen | {"owner": "777"}
    counted = per_field(
        [
            looked_at(seen, provider_record_id="601"),
            looked_at(other, differs("owner", "777", "person:9"), provider_record_id="602"),
            looked_at(other, differs("owner", "777"), provider_record_id="603"),
        ]
    )
    assert counted == (
        FieldAgreement(field="lead_status", equal=3),
        FieldAgreement(field="owner", equal=1, person=1, different=1),
    )
    assert per_field([]) == ()


def test_what_several_leads_of_one_record_would_have_set_counts_once_as_it_was_seen_last() -> None:
    seen = {"owner": "501", "lead_status": "NEW"}
    latest, first = looked_at(seen), looked_at(seen | {"owner": "500"}, differs("owner", "500"))
    otherwise = looked_at(seen, fields={"owner": "502"})
    assert per_field([latest, first, otherwise]) == (
        FieldAgreement(field="lead_status", equal=1),
        FieldAgreement(field="owner", equal=2),
    )
