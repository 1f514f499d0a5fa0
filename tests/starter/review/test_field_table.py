"""The table of a question: what of an effect stands in the record, whatever is stored as different."""

from __future__ import annotations

from leadproof.domain.mutation import AnswerClass, Difference, Reason, Status
from leadproof.domain.review import ReviewItem
from tests.ledger import steps
from tests.starter.door import Door
from tests.starter.review.people import Person
from tests.starter.review.questions import asked, planned, refused
from tests.support.ledgers import an_observation


def changed_before_write(door: Door) -> ReviewItem:
    """Somebody gave it an owner between plan and write, so nothing was sent; the status is as it was."""
    row = steps.won(door.ledger, planned(door))
    steps.answered(door.ledger, row, AnswerClass.NOT_SENT)
    fields = {"owner": "501", "lead_status": None}
    differences = (
        Difference(field="lead_status", intended="OPEN", observed=None),
        Difference(field="owner", intended="502", observed="501", changed_by="person:501"),
    )
    settled = steps.settled(
        door.ledger,
        row,
        Status.DIVERGENT,
        Reason.CHANGED_BEFORE_WRITE,
        observation=an_observation(row, door.clock.now(), fields=fields, marker=None, ours=False),
        differences=differences,
        question=asked(door, Reason.CHANGED_BEFORE_WRITE),
    )
    assert settled.review is not None
    return settled.review


async def test_what_was_refused_is_not_told_as_if_it_stood_there(door: Door, dana: Person) -> None:
    page = await dana.opens(refused(door).review_id)
    row = "Before (empty) We want kofi In HubSpot now (empty) Difference ≠ not written Changed by –"
    assert f"owner {row}" in page.text
    assert "= same" not in page.text


async def test_of_what_moved_before_the_write_only_what_somebody_changed_is_told_as_changed(
    door: Door, dana: Person
) -> None:
    page = await dana.opens(changed_before_write(door).review_id)
    assert "Dana changed owner before we wrote. Nothing was written." in page.text
    assert "owner Before (empty) We want kofi In HubSpot now dana Difference ≠ differs Changed by Dana" in page.text
    status = "lead status Before (empty) We want OPEN In HubSpot now (empty) Difference ≠ not written Changed by –"
    assert status in page.text
