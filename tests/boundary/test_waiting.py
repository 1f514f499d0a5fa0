"""One record at a time: who waits for whom, and what an earlier effect explains."""

from __future__ import annotations

from leadproof.boundary import Result
from leadproof.domain.mutation import AnswerClass, Reason, Status
from leadproof.domain.records import LookUp
from leadproof.domain.review import Decision
from tests.boundary.target import Target, is_lost
from tests.boundary.test_read_back import decide
from tests.boundary.world import INTENT, TARGET, World


def test_a_mutation_waits_while_another_holds_the_record_and_is_woken_by_whoever_frees_it(world: World) -> None:
    first = world.update().mutation_key
    world.submit()
    second = world.update(later=60)
    done = world.submit()
    assert (done.result, done.mutation.status, done.mutation.reason) == (Result.WAITS, Status.RESERVED, Reason.WAITS)
    assert (done.attempts, len(world.target.sent)) == ((), 1)
    world.key = first
    assert world.look().wake == second.event_key


def test_a_check_that_frees_the_record_wakes_who_waits(world: World) -> None:
    first = world.update().mutation_key
    waiting = []

    def somebody_asks_and_a_person_does_the_same(target: Target, _: LookUp) -> LookUp:
        waiting.append(world.update(later=60, fields={"owner": "502"}).event_key)
        assert world.submit().result is Result.WAITS
        world.key = first
        target.edit(**INTENT)
        return target.read("contact", "601", tuple(INTENT), history=True)

    world.target.sights.append(somebody_asks_and_a_person_does_the_same)
    done = world.submit()
    assert (done.result, done.mutation.reason, [done.wake]) == (Result.SETTLED, Reason.ALREADY_SO, waiting)


def test_an_effect_of_an_older_event_is_no_change_by_someone(world: World) -> None:
    stale = {"owner": None, "lead_status": None}
    world.update(fields={"owner": "777", "lead_status": "OPEN"})
    world.run()
    world.update(later=60, base_state=stale)
    assert world.run().status is Status.OBSERVED
    assert [effect.fields["owner"] for effect in world.target.effects] == ["777", "501"]


def test_a_persons_edit_on_top_of_an_older_effect_is_one(world: World) -> None:
    stale = {"owner": None, "lead_status": None}
    world.update(fields={"owner": "777", "lead_status": "OPEN"})
    world.run()
    world.target.edit(owner="888")
    world.update(later=60, base_state=stale)
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE)
    assert world.record.fields["owner"] == "888"


def test_a_person_who_sets_again_what_an_older_effect_wrote_has_made_an_edit(world: World) -> None:
    """The value is ours, the version is not: we wrote OPEN, the plan saw NEW, and somebody went back to OPEN."""
    world.update(fields={"lead_status": "OPEN"})
    world.run()
    world.clock.forward(5)
    world.target.edit(lead_status="NEW")
    world.clock.forward(5)
    world.update(later=60, base_age=0, base_state={"lead_status": "NEW"}, fields={"lead_status": "BAD_TIMING"})
    world.clock.forward(5)
    world.target.edit(lead_status="OPEN")
    world.clock.forward(TARGET.base_age_seconds)
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE)
    assert [(d.observed, d.changed_by) for d in mutation.differences] == [("OPEN", "person:9")]
    assert world.record.fields["lead_status"] == "OPEN"


def test_a_person_who_does_so_between_check_and_write_is_found_in_the_history(world: World) -> None:
    world.update(fields={"lead_status": "OPEN"})
    world.run()
    world.clock.forward(5)
    world.target.edit(lead_status="NEW")
    world.clock.forward(5)
    world.update(later=60, base_state={"lead_status": "NEW"}, fields={"lead_status": "BAD_TIMING"})

    def somebody_goes_back() -> None:
        world.clock.forward(0.5)
        world.target.edit(lead_status="OPEN")
        world.clock.forward(0.5)

    world.target.on_send.append(somebody_goes_back)
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.OVERWROTE_UNSEEN_EDIT)
    assert [(d.lost, d.changed_by) for d in mutation.differences] == [("OPEN", "person:9")]


def test_an_older_event_yields_to_a_newer_one_that_set_the_same(world: World) -> None:
    older = world.update()
    world.update(later=60)
    assert world.run().status is Status.OBSERVED
    world.key = older.mutation_key
    done = world.submit()
    assert (done.result, done.mutation.status, done.mutation.reason) == (
        Result.MOVED,
        Status.SUPERSEDED,
        Reason.NEWER_EVENT,
    )
    assert len(world.target.sent) == 1


def test_an_older_event_that_yields_in_its_turn_wakes_the_next_in_line(world: World) -> None:
    older = world.update()
    holder = world.update(later=60)
    world.submit()
    newest = world.update(later=120, fields={"owner": "502"})
    for key in (older.mutation_key, newest.mutation_key):
        world.key = key
        assert world.submit().result is Result.WAITS
    world.key = holder.mutation_key
    assert world.look().wake == older.event_key
    world.key = older.mutation_key
    done = world.submit()
    assert (done.mutation.reason, done.wake) == (Reason.NEWER_EVENT, newest.event_key)


def test_a_create_that_finds_the_record_which_an_earlier_effect_made_goes_on_as_an_update(world: World) -> None:
    world.create()
    world.run()
    made = world.record.record_id
    world.create(later=60, fields={"owner": "777"})
    assert world.run().status is Status.OBSERVED
    assert list(world.target.records) == [made]
    request = world.target.sent[1].request
    assert (request.creates, request.record.provider_record_id) == (False, made)
    assert world.record.fields["owner"] == "777"


def test_a_create_that_finds_it_edited_by_a_person_asks(world: World) -> None:
    world.create()
    world.run()
    world.target.edit(owner="888", record_id=world.record.record_id)
    world.create(later=60, fields={"owner": "777"})
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE)
    assert world.record.fields["owner"] == "888"


def test_the_record_is_free_again_once_a_lost_write_is_made_good(world: World) -> None:
    first = world.update().mutation_key
    world.target.replies.append(is_lost)
    world.submit()
    world.update(later=60)
    assert world.submit().result is Result.WAITS
    second, world.key = world.key, first
    assert world.run().status is Status.OBSERVED
    world.key = second
    world.clock.forward(TARGET.probe_seconds)
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.OBSERVED, Reason.ALREADY_SO)
    assert world.outcomes == [AnswerClass.NOT_SENT]


def test_a_restore_that_a_person_decided_is_not_answered_by_what_a_newer_event_set_before(world: World) -> None:
    """The newer effect stood on the record when the person's edit replaced it, and is what the decision was shown."""
    world.update(later=60, fields={"owner": "501"})
    assert world.run().status is Status.OBSERVED
    world.update(base_state={"owner": "501", "lead_status": None})  # planned on what the newer one left

    def edit() -> None:
        world.clock.forward(0.5)
        world.target.edit(owner="777")
        world.clock.forward(0.5)

    world.target.on_send.append(edit)
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.OVERWROTE_UNSEEN_EDIT)
    applied = decide(world, Decision.RESTORE)
    assert applied.derived is not None
    world.key = applied.derived.mutation_key
    assert world.run().status is Status.OBSERVED
    assert world.record.fields["owner"] == "777"
