"""Claim, check, send, store: what one attempt does and what it leaves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from leadproof.boundary import Result
from leadproof.domain.errors import NotFound
from leadproof.domain.mutation import AnswerClass, Mutation, Reason, Status
from leadproof.domain.records import LookUp, Presence
from tests.boundary.target import UNREADABLE, Target, answers, sees
from tests.boundary.world import INTENT, TARGET, World
from tests.support.ledgers import START

Reserve = Callable[[World], Mutation]


# -- an undisturbed attempt --------------------------------------------------------------------------------------------
def test_an_update_is_checked_sent_and_read_back(world: World) -> None:
    world.update()
    assert world.run().status is Status.OBSERVED
    assert world.target.calls == ["read", "write", "read"]
    (effect,) = world.effects
    assert effect.fields == INTENT
    assert (world.record.marker, world.record.fields["owner"]) == (world.key, "501")


def test_the_three_receipts_are_complete(world: World) -> None:
    reserved = world.update()
    world.target.replies.append(answers_as_hubspot)
    world.run()
    receipts = world.receipts
    assert receipts.mutation.intent == reserved.intent
    (attempt,) = receipts.attempts
    assert (attempt.outcome, attempt.http_status, attempt.correlation_id) == (AnswerClass.ACCEPTED, 200, "c-1")
    assert attempt.request_digest is not None
    assert receipts.mutation.acceptance_receipt == attempt.answer
    (observation,) = receipts.observations
    assert (observation.verdict, observation.identity) == ("one", "app:42")
    assert observation.state is not None
    assert (observation.state["marker"], observation.state["ours"]) == (world.key, True)
    assert observation.state["fields"] == INTENT
    assert observation.state["changes"]["owner"][0]["by"] == "us"


def answers_as_hubspot(target: Target, request: Any) -> Any:
    target.apply(request)
    return answers(AnswerClass.ACCEPTED, http_status=200, provider_record_id="601", correlation_id="c-1")(
        target, request
    )


def test_a_create_looks_by_external_id_and_by_what_the_target_keeps_unique_and_then_upserts(world: World) -> None:
    world.create()
    assert world.run().status is Status.OBSERVED
    assert world.target.calls == ["find", "write", "read"]
    (sent,) = world.target.sent
    assert sent.request.creates
    assert sent.request.sets_external_id
    assert world.record.external_id == world.mutation.target_record
    assert world.mutation.provider_record_id == world.record.record_id


def test_an_update_can_never_create(world: World) -> None:
    world.update()
    world.run()
    (sent,) = world.target.sent
    assert (sent.request.creates, sent.request.record.provider_record_id) == (False, "601")


@pytest.mark.parametrize("linked", [True, False])
def test_a_record_without_an_external_id_gets_one_with_our_first_write(world: World, linked: bool) -> None:
    reserved = world.update(linked=linked)
    world.run()
    assert world.target.sent[0].request.sets_external_id is not linked
    assert world.record.external_id == reserved.target_record


# -- the check may be left out -----------------------------------------------------------------------------------------
def test_the_read_is_left_out_while_the_base_is_young_and_the_target_keeps_history(world: World) -> None:
    world.update(base_age=TARGET.base_age_seconds - 1)
    assert world.run().status is Status.OBSERVED
    assert world.target.calls == ["write", "read"]


def test_a_record_that_another_lead_of_ours_has_linked_since_the_base_was_read_keeps_its_external_id(
    world: World,
) -> None:
    first = world.of_another_lead()
    world.update(linked=False, base_age=0)
    world.clock.forward(1)
    second, world.key = world.key, first.mutation_key
    assert world.run().status is Status.OBSERVED
    world.key = second
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE)
    assert world.record.external_id == first.target_record


def test_an_old_base_is_read_again(world: World) -> None:
    world.update(base_age=TARGET.base_age_seconds)
    world.run()
    assert world.target.calls[0] == "read"


def test_a_base_from_the_future_is_read_again(world: World) -> None:
    world.update(base_age=-1)
    world.run()
    assert world.target.calls[0] == "read"


def test_without_history_the_read_is_never_left_out(world: World) -> None:
    world.target.keeps = False
    world.update(base_age=0)
    world.run()
    assert world.target.calls[0] == "read"


def test_a_row_that_was_touched_since_it_was_planned_is_read_again(world: World) -> None:
    reserved = world.update(base_age=0)
    world.ledger.rename_reason(world.key, version=reserved.version, reason=Reason.WAITS)
    world.run()
    assert world.target.calls[0] == "read"


def test_a_further_attempt_is_read_again(world: World) -> None:
    world.update(base_age=0)
    world.target.replies.append(answers(AnswerClass.NOT_APPLIED))
    world.run()
    assert world.target.calls == ["write", "read", "write", "read"]


def test_a_base_that_is_as_intended_already_is_read_again_before_that_is_said(world: World) -> None:
    world.target.stands("601", external_id=None, **INTENT)
    world.update(base_age=0, linked=False, base_state=dict(INTENT))
    assert world.run().reason is Reason.ALREADY_SO
    assert world.target.calls == ["read"]


# -- what the check finds ----------------------------------------------------------------------------------------------
def stands_so(world: World) -> None:
    world.target.edit(**INTENT)


def was_changed(world: World) -> None:
    world.target.edit(owner="777")


def was_merged(world: World) -> None:
    world.target.stands("900", external_id="x" * 64, **INTENT)
    world.target.merged["601"] = "900"


def was_removed(world: World) -> None:
    world.target.removed.add("601")


def was_linked_elsewhere(world: World) -> None:
    world.target.records["601"] = world.target.records["601"]._replace(external_id="x" * 64)


@pytest.mark.parametrize(
    ("happens", "status", "reason"),
    [
        (stands_so, Status.OBSERVED, Reason.ALREADY_SO),
        (was_changed, Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE),
        (was_merged, Status.DIVERGENT, Reason.MERGED),
        (was_removed, Status.DIVERGENT, Reason.REMOVED),
        (was_linked_elsewhere, Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE),
    ],
)
def test_an_update_is_not_sent_when_the_check_answers(
    world: World, happens: Callable[[World], None], status: Status, reason: Reason
) -> None:
    world.update()
    happens(world)
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (status, reason)
    assert world.target.sent == []
    assert world.outcomes == [AnswerClass.NOT_SENT]
    (observation,) = world.receipts.observations
    assert observation.state is not None
    review = world.receipts.review
    assert (review is not None) is (status is Status.DIVERGENT)
    if review is not None:
        assert review.reason == reason


def test_a_record_that_does_not_show_yet_is_looked_for_and_then_written_once(world: World) -> None:
    world.update()
    world.target.sights += [sees(LookUp(presence=Presence.ABSENT))] * 3
    assert world.run().status is Status.OBSERVED
    assert world.outcomes == [AnswerClass.NOT_SENT] * 3 + [AnswerClass.ACCEPTED]
    assert [one.verdict for one in world.receipts.observations] == ["unknown"] * 3 + ["one"]
    assert (len(world.target.sent), len(world.effects)) == (1, 1)


def test_a_record_that_is_nowhere_is_removed_once_it_was_looked_for_all_along(world: World) -> None:
    world.update()
    del world.target.records["601"]
    mutation = world.run()
    assert (mutation.status, mutation.reason, world.target.sent) == (Status.DIVERGENT, Reason.REMOVED, [])
    first, *_, last = world.receipts.observations
    assert (last.read_at - first.read_at, last.verdict) >= (TARGET.observation_window, "removed")
    assert set(world.outcomes) == {AnswerClass.NOT_SENT}


def test_a_long_sleep_between_two_looks_for_a_record_does_not_remove_it(world: World) -> None:
    world.update()
    world.target.sights += [sees(LookUp(presence=Presence.ABSENT))] * 2
    assert world.submit().result is Result.AGAIN
    world.clock.forward(20 * TARGET.observation_window_seconds)
    assert world.submit().result is Result.AGAIN
    assert world.run().status is Status.OBSERVED
    assert len(world.effects) == 1


def test_what_changed_and_who_changed_it_is_in_the_row(world: World) -> None:
    world.update()
    was_changed(world)
    differences = {difference.field: difference for difference in world.run().differences}
    assert (differences["owner"].observed, differences["owner"].changed_by) == ("777", "person:9")


def stranger_with_the_same_email(world: World) -> None:
    world.target.stands("800", external_id=None, email="dana@example.com")


def stranger_that_is_as_intended(world: World) -> None:
    world.target.stands("800", external_id="x" * 64, email="dana@example.com", **INTENT)


def two_of_them(world: World) -> None:
    world.target.stands("800", external_id=world.mutation.target_record)
    world.target.stands("801", external_id=None, email="dana@example.com")


def archived(world: World) -> None:
    world.target.stands("800", external_id=world.mutation.target_record)
    world.target.removed.add("800")


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (stranger_with_the_same_email, Reason.CHANGED_BEFORE_WRITE),
        (stranger_that_is_as_intended, Reason.CHANGED_BEFORE_WRITE),
        (two_of_them, Reason.SEVERAL),
        (archived, Reason.REMOVED),
    ],
)
def test_a_create_is_not_sent_where_there_is_a_record_that_is_not_its_own(
    world: World, happens: Callable[[World], None], reason: Reason
) -> None:
    world.create()
    happens(world)
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, reason)
    assert world.target.sent == []


def test_the_check_finds_what_an_earlier_attempt_of_ours_left(world: World) -> None:
    world.update()
    world.target.replies.append(answers(AnswerClass.NOT_APPLIED))
    world.submit()
    request = world.target.sent[0].request
    world.target.apply(request)
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.OBSERVED, None)
    assert len(world.target.sent) == 1


# -- the clock ---------------------------------------------------------------------------------------------------------
def test_past_its_time_nothing_is_sent(world: World) -> None:
    world.update()
    world.target.sights.append(lambda target, found: (target.clock.forward(TARGET.send_within_seconds), found)[1])
    done = world.submit()
    assert (done.result, world.outcomes, world.target.sent) == (Result.AGAIN, [AnswerClass.NOT_SENT], [])
    assert world.run().status is Status.OBSERVED
    assert len(world.effects) == 1


def test_just_within_its_time_it_is_sent(world: World) -> None:
    world.update()
    world.target.sights.append(
        lambda target, found: (target.clock.forward(TARGET.send_within_seconds - 0.01), found)[1]
    )
    assert world.submit().result is Result.SENT
    assert world.target.sent[0].at < world.attempts[0].send_before


# -- the claim ---------------------------------------------------------------------------------------------------------
def test_who_reads_an_old_row_sends_nothing(world: World) -> None:
    reserved = world.update()
    world.submit()
    for version, number in [(reserved.version, 1), (reserved.version, 2), (world.mutation.version, 1)]:
        done = world.submit(version=version, number=number)
        assert (done.result, done.mutation) == (Result.MOVED, world.mutation)
    assert len(world.target.sent) == 1


def test_two_runs_that_read_the_same_row_send_once(world: World) -> None:
    reserved = world.update()
    results = []
    world.target.on_send.append(lambda: results.append(world.submit(version=reserved.version, number=1).result))
    world.submit(version=reserved.version, number=1)
    assert results == [Result.MOVED]
    assert len(world.target.sent) == 1


def test_an_attempt_that_may_have_landed_is_looked_at_before_another(world: World) -> None:
    world.update()
    world.target.replies.append(answers(AnswerClass.UNCERTAIN))
    world.submit()
    done = world.submit()
    assert (done.result, len(world.target.sent)) == (Result.LOOK_FIRST, 1)
    assert done.at is not None
    assert done.at > world.clock.now()


def test_a_mutation_that_needs_an_approval_is_not_sent(world: World) -> None:
    world.update(reason=Reason.NEEDS_APPROVAL)
    assert (world.submit().result, world.target.calls) == (Result.MOVED, [])


def test_what_does_not_stand_is_not_found(world: World) -> None:
    world.key = "0" * 64
    with pytest.raises(NotFound):
        world.submit(version=1, number=1)
    with pytest.raises(NotFound):
        world.look()


# -- what a precondition holds the record against ----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("told", "since"),
    [
        ({}, None),
        ({"changed_at": 1}, 1),
        ({"changed_at": 1, "moved_at": 2}, 2),  # software moved it since, and that is in what was read
    ],
)
def test_a_write_is_for_the_record_as_it_was_read(world: World, told: dict[str, int], since: int | None) -> None:
    def at(seconds: int) -> datetime:
        return START + timedelta(seconds=seconds)

    world.update()
    times = {name: at(seconds) for name, seconds in told.items()}
    world.target.sights.append(
        lambda _, found: found.model_copy(update={"record": found.record.model_copy(update=times)})  # type: ignore[union-attr]
    )
    world.submit()
    assert world.target.sent[0].request.unmodified_since == (None if since is None else at(since))


# -- a read that says nothing ------------------------------------------------------------------------------------------
NOT_ALL_RETURNED = [sees(UNREADABLE), lambda _, found: _without(found, "owner")]


def _without(found: LookUp, name: str) -> LookUp:
    assert found.record is not None
    fields = {key: value for key, value in found.record.fields.items() if key != name}
    return found.model_copy(update={"record": found.record.model_copy(update={"fields": fields})})


@pytest.mark.parametrize("sight", NOT_ALL_RETURNED)
def test_nothing_is_sent_on_a_check_that_could_not_see(world: World, sight: Any) -> None:
    world.update()
    world.target.sights.append(sight)
    done = world.submit()
    assert (done.result, done.mutation.status, world.target.sent) == (Result.AGAIN, Status.SUBMITTED, [])
    assert world.receipts.review is None
    assert world.run().status is Status.OBSERVED
    assert len(world.effects) == 1


@pytest.mark.parametrize("sight", NOT_ALL_RETURNED)
def test_a_check_that_never_sees_ends_with_the_policys_patience(world: World, sight: Any) -> None:
    world.update()
    world.target.always = sight
    began = world.clock.now()
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.REJECTED, Reason.TARGET_REFUSES_US)
    assert world.target.sent == []
    assert world.receipts.review is not None
    assert TARGET.patience_seconds <= (world.clock.now() - began).total_seconds() < TARGET.patience_seconds + 90


def test_a_read_that_names_a_wait_is_given_it(world: World) -> None:
    world.update()
    world.target.sights.append(sees(LookUp(presence=Presence.UNKNOWN, retry_after_seconds=77)))
    done = world.submit()
    assert done.at is not None
    assert (done.at - world.clock.now()).total_seconds() == 77
