"""The intended fields beside what stood later, and how often they agree."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.agreement import Agreement, FieldAgreement, beside, chosen_otherwise, per_field
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


@pytest.mark.parametrize(
    ("observed", "by", "seconds", "agreement"),
    [
        ("777", "person:9", 60, Agreement.PERSON),
        ("500", "person:9", 60, Agreement.PERSON),  # set once more to what stood there: a choice, too
        ("777", "automation:3", 60, Agreement.SOFTWARE),
        ("777", "integration:42", 60, Agreement.SOFTWARE),
        ("777", "us", 60, Agreement.SOFTWARE),
        ("777", None, 60, Agreement.UNKNOWN),
        ("777", "person:9", -1, Agreement.PERSON),  # its clock is behind ours: the value has moved all the same
        ("500", "person:9", -60, Agreement.UNTOUCHED),
        ("500", None, 60, Agreement.UNTOUCHED),
    ],
)
def test_what_differs_was_set_otherwise_by_somebody_or_nobody_has_touched_it(
    observed: str, by: str | None, seconds: float, agreement: Agreement
) -> None:
    mutation = looked_at({"owner": observed, "lead_status": "NEW"}, differs("owner", observed, by, seconds))
    assert agreements(mutation) == {"owner": agreement, "lead_status": Agreement.EQUAL}


def test_a_record_that_was_made_meanwhile_and_left_empty_is_untouched() -> None:
    seen = {"owner": None, "lead_status": "OPEN"}
    mutation = looked_at(seen, differs("owner", None), differs("lead_status", "OPEN", "person:9"), base_state=None)
    assert agreements(mutation) == {"owner": Agreement.UNTOUCHED, "lead_status": Agreement.PERSON}


def test_what_was_not_seen_neither_agrees_nor_differs() -> None:
    missing = Difference(field="owner", intended="501", observed=None, returned=False)
    assert agreements(looked_at({"lead_status": "NEW"}, missing))["owner"] is Agreement.UNSEEN
    absent = looked_at({}, missing, observed_state={"presence": "absent"})
    assert set(agreements(absent).values()) == {Agreement.UNSEEN}
    assert set(agreements(looked_at(None)).values()) == {Agreement.UNSEEN}


def test_a_field_that_stands_empty_was_seen() -> None:
    emptied = looked_at({"owner": None, "lead_status": "NEW"}, differs("owner", None, "person:9"))
    assert agreements(emptied)["owner"] is Agreement.PERSON


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
            looked_at(seen | {"owner": "500"}, differs("owner", "500"), provider_record_id="604"),
        ]
    )
    assert counted == (
        FieldAgreement(field="lead_status", equal=4),
        FieldAgreement(field="owner", equal=1, person=1, unknown=1, untouched=1),
    )
    assert per_field([]) == ()


def test_what_nobody_has_touched_is_in_no_share() -> None:
    assert FieldAgreement(field="owner", equal=1, person=1, software=1, unknown=1).equal_share == 0.25
    assert FieldAgreement(field="owner", equal=1, untouched=9, unseen=9).equal_share == 1
    assert FieldAgreement(field="owner", untouched=9, unseen=9).equal_share is None


def test_what_was_set_instead_is_counted_by_value_and_by_whom() -> None:
    def found(record_id: str, owner: str, by: str) -> Mutation:
        seen = {"owner": owner, "lead_status": "OPEN"}
        otherwise = differs("owner", owner, by), differs("lead_status", "OPEN", "person:9")
        return looked_at(seen, *otherwise, provider_record_id=record_id)

    untouched = looked_at({"owner": "500", "lead_status": "NEW"}, differs("owner", "500"), provider_record_id="605")
    looks = [
        found("601", "777", "person:9"),
        found("602", "778", "person:9"),
        found("603", "778", "person:8"),
        found("604", "778", "automation:3"),
        untouched,
        found("601", "779", "person:9"),  # an older look at what was counted already
    ]
    chosen = chosen_otherwise(looks, lambda system, field: (system, field) == ("hubspot", "owner"))
    assert [(one.field, one.intended, one.observed, one.by, one.times) for one in chosen] == [
        ("owner", "501", "778", Agreement.PERSON, 2),
        ("owner", "501", "777", Agreement.PERSON, 1),
        ("owner", "501", "778", Agreement.SOFTWARE, 1),
    ]


def test_what_several_leads_of_one_record_would_have_set_counts_once_as_it_was_seen_last() -> None:
    seen = {"owner": "501", "lead_status": "NEW"}
    latest, first = looked_at(seen), looked_at(seen | {"owner": "500"}, differs("owner", "500"))
    otherwise = looked_at(seen, fields={"owner": "502"})
    assert per_field([latest, first, otherwise]) == (
        FieldAgreement(field="lead_status", equal=1),
        FieldAgreement(field="owner", equal=2),
    )
