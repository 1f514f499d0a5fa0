"""What the page says of decisions that were applied: what they wrote, and where they came to nothing."""

from __future__ import annotations

from typing import Any

from leadproof.domain.mutation import AnswerClass, Difference, Mutation, Reason, Status
from leadproof.domain.review import Decision, ReviewItem
from tests.ledger import steps
from tests.starter.door import Door
from tests.starter.review.people import Person, Read
from tests.starter.review.questions import approval, asked, edited, replaced
from tests.support.ledgers import an_observation


def answered_by(door: Door, item: ReviewItem, decision: Decision) -> Mutation:
    """The effect that carries a decision out."""
    steps.decide(door.ledger, item, decision)
    (derived,) = [row for row in door.ledger.mutations_of(item.event_key) if row.parent_key]
    return derived


async def told(dana: Person, item: ReviewItem) -> Read:
    """The question as whoever decided it is shown it."""
    return await dana.reads(f"/review/{item.review_id}", decision="d1")


async def test_what_was_put_back_stands_in_the_table_and_on_the_time_line(door: Door, dana: Person) -> None:
    item = replaced(door)
    before = await dana.opens(item.review_id)
    derived = answered_by(door, item, Decision.RESTORE)
    steps.answered(door.ledger, steps.won(door.ledger, derived))
    door.clock.forward(5)
    seen = an_observation(derived, door.clock.now(), fields={"owner": "501", "lead_status": "OPEN"}, ours=True)
    steps.settled(door.ledger, derived, Status.OBSERVED, observation=seen)
    live = await dana.looks_again(before)
    assert live is not None
    for page in (live, await told(dana, item)):
        assert "In HubSpot now dana Replaced value dana Difference ✓ as decided" in page.text
        assert (
            "What restore writes (owner = dana) is now: written and read back, since 2026-03-02 09:00:05" in page.text
        )
        assert "Write 1 (restore) accepted" in page.text
        assert "Look 1 (restore) the record was found, with our write in it" in page.text
        assert page.offered() == []


async def test_a_decision_that_wrote_nothing_is_not_told_as_if_it_had(door: Door, dana: Person) -> None:
    item = edited(door)
    derived = answered_by(door, item, Decision.OVERWRITE)
    assert "Decision of ann Applied: overwrite." in (await told(dana, item)).text
    moved: dict[str, Any] = {"intended": "502", "observed": "503", "changed_by": "person:9001"}
    differences = (Difference(field="owner", changed_at=door.clock.now(), **moved),)
    again = steps.divergent(door.ledger, door.clock, derived, differences=differences, fields={"owner": "503"})
    page = await told(dana, item)
    taken = "Overwrite was taken, but nothing was written: person 9001 changed owner to"
    assert f"{taken} mira at 2026-03-02 09:00:05 UTC. Please answer the new question." in page.text
    assert "Applied: overwrite." not in page.text
    assert [one for one in page.all("div") if one.get("class") == "outcome unwritten"]
    assert f"/review/{again.review_id}" in page.links


async def test_a_decision_to_which_nothing_was_left_to_write_says_so(door: Door, dana: Person) -> None:
    item = edited(door)
    derived = answered_by(door, item, Decision.OVERWRITE)
    steps.answered(door.ledger, steps.won(door.ledger, derived), AnswerClass.NOT_SENT)
    seen = an_observation(derived, door.clock.now())
    steps.settled(door.ledger, derived, Status.OBSERVED, Reason.ALREADY_SO, observation=seen)
    page = await told(dana, item)
    assert "Overwrite was taken, but nothing was written: the record is so already." in page.text


async def test_an_approval_of_what_is_deleted_meanwhile_says_that_nothing_was_written(door: Door, dana: Person) -> None:
    item = approval(door)
    steps.decide(door.ledger, item, Decision.APPROVE)
    row = door.ledger.mutation(item.subject)
    assert row is not None
    steps.answered(door.ledger, steps.won(door.ledger, row), AnswerClass.NOT_SENT)
    seen = an_observation(row, door.clock.now(), "removed")
    steps.settled(door.ledger, row, Status.DIVERGENT, Reason.REMOVED, observation=seen, question=asked(door, "removed"))
    page = await told(dana, item)
    why = (
        "Approve was taken, but nothing was written: the record is archived or deleted. Please answer the new question."
    )
    assert why in page.text
