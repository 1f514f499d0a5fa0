"""A value that another mutation's outcome gives: known in the attempt, and nothing is sent without it."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof import shadow
from leadproof.boundary import Result
from leadproof.domain.agreement import Agreement, beside
from leadproof.domain.mutation import AnswerClass, Mutation, Reason, Status
from leadproof.domain.plan import ActionKind
from leadproof.domain.references import reference
from leadproof.domain.review import Decision
from leadproof.domain.steps import WriteRequest
from tests.boundary.target import Stop, is_lost, late
from tests.boundary.test_read_back import decide
from tests.boundary.world import EMAIL, POLICY, RULES, World
from tests.support.ledgers import a_lead_event, a_mutation, planned


class Two:
    """A create, and an update of record 601 that is to hold the created record's id."""

    def __init__(self, world: World, *, environment: str = "test", **changes: Any) -> None:
        self.world = world
        event = a_lead_event(policy_version=POLICY.version, environment=environment)
        world.target.stands("601", external_id="of-another-kind")
        create = a_mutation(event, action=ActionKind.CREATE, fields={"email": EMAIL})
        record = create.intent.record.model_copy(update={"unique_fields": {"email": EMAIL}})
        intent = create.intent.model_copy(update={"record": record})
        create = create.model_copy(update={"intended_state": intent})
        given: dict[str, Any] = {"depends_on": (create.mutation_key,), "reason": Reason.DEPENDS, "ordinal": 1}
        mark = a_mutation(
            event,
            action=ActionKind.UPDATE,
            fields={"twin": reference(create.mutation_key), "owner": "501"},
            target_record="of-another-kind",
            provider_record_id="601",
            **(given | changes),
        )
        self.create, self.mark = (row.mutation_key for row in planned(world.ledger, event, create, mark))

    def creates(self) -> Mutation:
        self.world.key = self.create
        return self.world.run()

    def marks(self) -> Mutation:
        """Go on with the update as a run does whose need is met."""
        self.world.key = self.mark
        if self.world.mutation.status is Status.RESERVED:
            self.world.submit()
        return self.world.run()

    @property
    def sent(self) -> list[WriteRequest]:
        return [one.request for one in self.world.target.sent if one.request.marker == self.mark]


def test_the_attempt_knows_the_id_and_the_row_keeps_the_reference(world: World) -> None:
    two = Two(world)
    assert two.creates().status is Status.OBSERVED
    mutation = two.marks()

    assert (mutation.status, mutation.differences) == (Status.OBSERVED, ())
    assert [request.fields for request in two.sent] == [{"twin": "701", "owner": "501"}]
    assert world.target.records["601"].fields["twin"] == "701"
    assert mutation.intent.fields["twin"] == reference(two.create)
    assert {row.field: row.intended for row in beside(mutation)} == {"twin": "701", "owner": "501"}


def test_before_its_need_is_observed_nothing_is_claimed(world: World) -> None:
    two = Two(world)
    world.key = two.mark
    assert world.submit().result is Result.MOVED
    assert (two.sent, world.attempts) == ([], ())


def test_a_record_that_holds_the_id_already_is_left_as_it_is(world: World) -> None:
    two = Two(world)
    two.creates()
    world.target.edit(twin="701", owner="501")
    world.key = two.mark
    world.submit()

    assert (world.mutation.status, world.mutation.reason, two.sent) == (Status.OBSERVED, Reason.ALREADY_SO, [])


def test_without_the_records_id_nothing_is_sent_and_a_person_is_asked(world: World) -> None:
    two = Two(world, depends_on=(), reason=None)
    mutation = two.marks()

    assert (mutation.status, mutation.reason, two.sent) == (Status.REJECTED, Reason.DEPENDENCY, [])
    assert world.outcomes == [AnswerClass.NOT_SENT]
    assert world.target.calls == []
    two.creates()
    world.key = two.mark
    decide(world, Decision.RETRY)
    assert two.marks().status is Status.OBSERVED
    assert [request.fields["twin"] for request in two.sent] == ["701"]


def test_a_run_that_stops_before_it_knows_the_id_leaves_nothing_sent(world: World) -> None:
    two = Two(world, depends_on=(), reason=None)
    world.key = two.mark
    assert world.stopped("after claim") is not None
    mutation = two.marks()

    assert (mutation.status, mutation.reason, two.sent) == (Status.REJECTED, Reason.DEPENDENCY, [])


def test_what_somebody_sets_afterwards_is_shown_beside_the_id_and_an_overwrite_writes_the_id(world: World) -> None:
    two = Two(world)
    two.creates()
    world.key = two.mark
    world.submit()
    world.clock.forward(1)
    world.target.edit(twin="999")
    mutation = two.marks()

    (difference,) = mutation.differences
    assert (difference.field, difference.intended, difference.observed) == ("twin", "701", "999")
    derived = decide(world, Decision.OVERWRITE).derived
    assert derived is not None
    assert derived.intent.fields["twin"] == reference(two.create)
    world.key = derived.mutation_key
    assert world.run().status is Status.OBSERVED
    assert world.target.records["601"].fields["twin"] == "701"


def test_what_replaced_an_unseen_value_can_put_it_back(world: World) -> None:
    two = Two(world)
    two.creates()
    world.target.on_send.append(lambda: world.target.edit(twin="999"))
    world.target.replies.append(late(1))
    world.clock.forward(1)
    mutation = two.marks()
    world.target.on_send.clear()

    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.OVERWROTE_UNSEEN_EDIT)
    world.clock.forward(60)
    derived = decide(world, Decision.RESTORE).derived
    assert derived is not None
    assert derived.intent.fields == {"twin": "999"}


def test_the_record_of_a_create_that_a_derived_mutation_answered_is_still_its_record(world: World) -> None:
    two = Two(world)
    world.key = two.create
    world.submit()
    world.clock.forward(1)
    world.target.edit(record_id="701", email="kim@example.com")
    assert world.run().status is Status.DIVERGENT
    derived = decide(world, Decision.OVERWRITE).derived
    assert derived is not None
    world.key = derived.mutation_key
    assert world.run().status is Status.OBSERVED
    world.key = two.mark
    world.submit()

    assert [request.fields["twin"] for request in two.sent] == ["701"]


@pytest.mark.parametrize("at", ["after claim", "after mutations_of", "before write", "during write", "before settle"])
def test_wherever_a_run_stops_the_next_one_writes_the_id_once(world: World, at: str) -> None:
    two = Two(world)
    two.creates()
    world.target.replies.append(is_lost)
    world.key, world.stops.at = two.mark, at
    with pytest.raises(Stop):
        _write_and_look(world)
    assert two.marks().status is Status.OBSERVED
    assert [one.fields["twin"] for one in world.target.effects if one.marker == two.mark] == ["701"]


def _write_and_look(world: World) -> None:
    world.submit()
    world.look()


@pytest.mark.parametrize("made_by_a_person", [True, False])
def test_in_shadow_mode_the_id_is_compared_with_where_somebody_made_the_record(
    world: World, made_by_a_person: bool
) -> None:
    two = Two(world, environment="test-shadow")
    if made_by_a_person:
        world.target.stands("777", email=EMAIL)
    world.target.edit(twin="777")
    for key in (two.create, two.mark):
        shadow.look(world.ports, RULES, key)
    world.key = two.mark

    (row,) = [row for row in beside(world.mutation) if row.field == "twin"]
    if made_by_a_person:
        assert (row.intended, row.observed, row.agreement) == ("777", "777", Agreement.EQUAL)
    else:
        assert (row.intended, row.agreement) == (reference(two.create), Agreement.UNSEEN)
