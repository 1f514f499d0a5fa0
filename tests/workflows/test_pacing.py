"""Nothing goes round without a pause: two effects of one lead that are both looked for."""

from __future__ import annotations

from datetime import timedelta

import pytest

from leadproof.domain.events import Lead, Outcome
from leadproof.domain.mutation import Answer, AnswerClass, Reason, Status
from leadproof.domain.progress import Step, StepKind, Unstored
from leadproof.domain.steps import Arrival
from tests.support.house import House
from tests.support.ledgers import a_mutation, a_plan
from tests.workflows.test_telling import NOW, a_view
from workflows.pacing import at_their_own_pace

LATE = Unstored(number=1, answer=Answer(outcome=AnswerClass.ACCEPTED, provider_record_id="102"))
KNOWN = a_view(status=Status.SUBMITTED, step=Step(kind=StepKind.LOOK, at=NOW + timedelta(hours=1), unstored=LATE))
ROW = KNOWN.model_copy(update={"step": Step(kind=StepKind.LOOK)})


async def _looks(house: House, key: str) -> int:
    """How often the lead's run has read back."""
    history = await house.handle(key).fetch_history()
    scheduled = [event.activity_task_scheduled_event_attributes.activity_type.name for event in history.events]
    return scheduled.count("reconcile")


async def test_two_effects_that_are_looked_for_each_keep_their_own_pace(house: House) -> None:
    """A step of the one must not make the other's due: the two would look by turns for as long as nobody answers."""
    one, other = house.contact(), house.contact()
    event = house.admitted(one)
    house.ledger.admit([Arrival(event=event)])
    first = a_mutation(event, provider_record_id=one)
    second = a_mutation(event, ordinal=1, discriminator="2", target_record="f" * 64, provider_record_id=other)
    house.ledger.record_plan(a_plan(event, [first, second]), [first, second])
    for record_id in (one, other):
        house.control.fault("drop_before_apply", match=record_id)
        down = {"match": record_id, "times": 1000, "after": 1, "args": {"status": 503}}
        house.control.post("/faults", {"provider": "hubspot", "operation": "contacts.read", "kind": "status", **down})
    await house.deliver(house.creation(one))

    def both_are_asked_about(_: Lead) -> bool:  # each when it was looked for throughout its window
        return all(house.ledger.review_of(mutation.mutation_key) for mutation in (first, second))

    key = event.event_key
    lead = await house.until(key, both_are_asked_about)
    assert lead.outcome is Outcome.REVIEW
    assert {mutation.status for mutation in house.mutations(key)} == {Status.UNCERTAIN}
    # doubling from a tenth of a second up to a fifth of the window of four: nine looks each, were none late
    assert await _looks(house, key) <= 2 * 10


def test_what_has_not_moved_keeps_its_time_and_the_answer_that_the_ledger_was_not_there_for() -> None:
    kept = at_their_own_pace([ROW], {KNOWN.mutation_key: KNOWN}, "another")
    assert kept[KNOWN.mutation_key].step == KNOWN.step


@pytest.mark.parametrize("moved", [{"version": 4}, {"attempts": 2}, {"reason": Reason.RETRY}, {"depends_on": ("c",)}])
def test_what_has_moved_goes_by_its_row(moved: dict[str, object]) -> None:
    row = ROW.model_copy(update=moved)
    assert at_their_own_pace([row], {KNOWN.mutation_key: KNOWN}, "another") == {}


def test_of_the_mutation_whose_step_it_was_the_step_says_what_is_next() -> None:
    assert at_their_own_pace([ROW], {KNOWN.mutation_key: KNOWN}, KNOWN.mutation_key) == {}
