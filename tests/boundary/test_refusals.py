"""Targets that say no: to this write, to us, or not now."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from leadproof.boundary import Result
from leadproof.domain.mutation import AnswerClass, Reason, Status
from leadproof.domain.records import LookUp, Presence
from tests.boundary.target import REFUSED, answers, sees
from tests.boundary.world import TARGET, World

PROBE = TARGET.probe_seconds
NOT_SENT, NOT_APPLIED = AnswerClass.NOT_SENT, AnswerClass.NOT_APPLIED
REFUSES_US, REFUSES_THIS = AnswerClass.REFUSES_US, AnswerClass.REFUSES_THIS


def state(world: World) -> str | None:
    row = world.ledger.target("hubspot")
    return row.state if row is not None else None


# -- not now -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("outcome", [NOT_SENT, NOT_APPLIED])
def test_what_was_not_applied_is_tried_again_with_growing_waits(world: World, outcome: AnswerClass) -> None:
    world.update()
    world.target.replies += [answers(outcome)] * 3
    assert world.run().status is Status.OBSERVED
    moments = [sent.at for sent in world.target.sent]
    assert [(b - a).total_seconds() for a, b in pairwise(moments)] == [2, 4, 8]
    assert (world.outcomes, len(world.effects)) == ([outcome] * 3 + [AnswerClass.ACCEPTED], 1)


def test_the_wait_that_the_target_names_is_kept(world: World) -> None:
    world.update()
    world.target.replies.append(answers(NOT_APPLIED, retry_after_seconds=33))
    world.run()
    first, second = world.target.sent
    assert (second.at - first.at).total_seconds() == 33


@pytest.mark.parametrize("outcome", [NOT_SENT, NOT_APPLIED])
def test_after_the_policys_patience_it_is_rejected_and_a_person_is_asked(world: World, outcome: AnswerClass) -> None:
    world.update()
    world.target.replies += [answers(outcome, retry_after_seconds=0)] * 1000
    began = world.clock.now()
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.REJECTED, Reason.TARGET_REFUSES_US)
    review = world.receipts.review
    assert review is not None
    assert review.reason == Reason.TARGET_REFUSES_US
    assert TARGET.patience_seconds <= (world.clock.now() - began).total_seconds() < TARGET.patience_seconds + PROBE
    assert world.effects == []


# -- to this write -----------------------------------------------------------------------------------------------------
def test_a_refusal_is_rejected_after_the_record_was_seen_unchanged(world: World) -> None:
    world.update()
    world.target.replies.append(answers(REFUSES_THIS, http_status=400, code="INVALID_OWNER"))
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.REJECTED, Reason.REFUSES_THIS)
    assert world.target.calls == ["read", "write", "read"]
    assert mutation.acceptance_receipt is not None
    assert mutation.acceptance_receipt.code == "INVALID_OWNER"
    assert [o.verdict for o in world.receipts.observations] == ["absent"]


def test_already_exists_is_answered_by_reading(world: World) -> None:
    world.create()
    world.target.replies.append(answers(REFUSES_THIS, http_status=409, read_first=True))
    world.target.on_send.append(lambda: world.target.stands("800", external_id=None, email="dana@example.com"))
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.DIVERGENT, Reason.CHANGED_BEFORE_WRITE)


# -- to us -------------------------------------------------------------------------------------------------------------
def test_a_target_that_refuses_reads_and_writes_parks_until_it_takes_us_again(world: World) -> None:
    world.update()
    world.target.always = sees(REFUSED)
    done = world.submit()
    assert (done.result, state(world), world.target.sent) == (Result.AGAIN, "down", [])
    parked = world.submit()
    assert (parked.result, parked.at) == (Result.PARKED, world.clock.now() + timedelta(seconds=PROBE))
    world.clock.forward(3 * PROBE)
    assert world.submit().result is Result.PARKED
    world.target.always = None
    assert world.run().status is Status.OBSERVED
    assert (len(world.effects), state(world)) == (1, "up")


def test_a_parked_write_claims_nothing_and_asks_the_target_nothing_before_its_time(world: World) -> None:
    world.ledger.mark_target("hubspot", up=False, reason="401")
    world.update()
    world.clock.forward(PROBE - 0.001)
    done = world.submit()
    assert (done.result, done.mutation.status, world.target.calls, world.attempts) == (
        Result.PARKED,
        Status.RESERVED,
        [],
        (),
    )


def test_one_of_the_waiting_writes_probes_and_the_others_wait_for_what_it_finds(world: World) -> None:
    world.ledger.mark_target("hubspot", up=False, reason="401")
    first, second = world.update().mutation_key, world.create().mutation_key
    world.clock.forward(PROBE)
    world.target.always = sees(REFUSED)
    for key in (first, second):
        world.key = key
        assert world.submit().result is Result.PARKED
    assert world.target.calls == ["read"]


def test_a_probe_that_may_look_writes_and_only_its_answer_says_that_writes_are_taken(world: World) -> None:
    world.ledger.mark_target("hubspot", up=False, reason="MISSING_SCOPES")
    first, second = world.update().mutation_key, world.create().mutation_key
    world.clock.forward(PROBE)
    world.key = first
    world.target.replies.append(answers(REFUSES_US, http_status=403, code="MISSING_SCOPES"))
    assert world.submit().result is Result.SENT
    world.look()
    assert state(world) == "down"
    world.key = second
    assert world.submit().result is Result.PARKED
    assert len(world.target.sent) == 1
    world.key = first
    assert world.run().status is Status.OBSERVED
    assert state(world) == "up"


@pytest.mark.parametrize(
    ("outcome", "after"),
    [
        (AnswerClass.ACCEPTED, "up"),
        (AnswerClass.UNCERTAIN, "up"),
        (REFUSES_THIS, "up"),
        (NOT_APPLIED, "up"),
        (NOT_SENT, "down"),
        (REFUSES_US, "down"),
    ],
)
def test_what_the_answer_to_a_probe_says_of_the_target(world: World, outcome: AnswerClass, after: str) -> None:
    world.ledger.mark_target("hubspot", up=False, reason="401")
    world.update()
    world.clock.forward(PROBE)
    world.target.replies.append(answers(outcome))
    world.submit()
    assert state(world) == after


def test_while_one_write_probes_the_others_stay_parked(world: World) -> None:
    world.ledger.mark_target("hubspot", up=False, reason="401")
    first, second = world.update().mutation_key, world.create().mutation_key
    world.clock.forward(PROBE)

    def another_asks() -> None:
        world.target.on_send.clear()
        world.key = second
        assert world.submit().result is Result.PARKED

    world.key = first
    world.target.on_send.append(another_asks)
    assert world.submit().result is Result.SENT
    assert len(world.target.sent) == 1


def test_a_write_that_waited_long_before_the_target_went_down_is_parked_like_any_other(world: World) -> None:
    world.update()
    world.clock.forward(10 * TARGET.patience_seconds)
    world.ledger.mark_target("hubspot", up=False, reason="401")
    assert world.submit().result is Result.PARKED


def test_a_target_that_lets_us_read_and_refuses_every_write_is_given_up_with_the_policys_patience(world: World) -> None:
    world.update()
    world.target.replies += [answers(REFUSES_US, http_status=403, code="MISSING_SCOPES")] * 1000
    began = world.clock.now()
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.REJECTED, Reason.TARGET_REFUSES_US)
    assert TARGET.patience_seconds <= (world.clock.now() - began).total_seconds() < TARGET.patience_seconds + 2 * PROBE
    assert 2 < len(world.target.sent) < 20
    assert state(world) == "down"


@pytest.mark.parametrize("claimed", [False, True])
def test_a_parked_write_is_given_up_after_the_policys_patience_whether_it_was_claimed_or_not(
    world: World, claimed: bool
) -> None:
    if not claimed:
        world.ledger.mark_target("hubspot", up=False, reason="401")
    world.update()
    world.target.always = sees(REFUSED)
    began = world.clock.now()
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.REJECTED, Reason.TARGET_REFUSES_US)
    assert world.outcomes == ([NOT_SENT] if claimed else [])
    assert world.receipts.review is not None
    assert TARGET.patience_seconds <= (world.clock.now() - began).total_seconds() <= TARGET.patience_seconds + 2 * PROBE


def test_patience_is_each_writes_own(world: World) -> None:
    world.ledger.mark_target("hubspot", up=False, reason="401")
    world.clock.forward(10 * TARGET.patience_seconds)
    world.update()
    world.target.always = sees(REFUSED)
    assert world.submit().result is Result.PARKED
    world.target.always = None
    assert world.run().status is Status.OBSERVED


def test_what_may_have_landed_when_the_target_refuses_us_is_uncertain_and_never_rejected(world: World) -> None:
    world.update()
    world.submit()
    world.target.always = sees(REFUSED)
    mutation = world.run()
    assert (mutation.status, mutation.reason) == (Status.UNCERTAIN, Reason.TARGET_REFUSES_US)
    assert state(world) == "down"
    world.target.always = None
    assert world.look().mutation.status is Status.OBSERVED
    assert (len(world.target.sent), state(world)) == (1, "up")


def test_a_target_that_is_down_does_not_hide_that_the_row_has_moved(world: World) -> None:
    reserved = world.update()
    world.submit()
    world.ledger.mark_target("hubspot", up=False, reason="401")
    assert world.submit(version=reserved.version, number=1).result is Result.MOVED


def test_a_refused_look_up_names_the_reason_in_the_targets_row(world: World) -> None:
    world.update()
    world.target.sights.append(sees(LookUp(presence=Presence.UNKNOWN, detail="EXPIRED", refuses_us=True)))
    world.submit()
    row = world.ledger.target("hubspot")
    assert row is not None
    assert (row.state, row.reason) == ("down", "EXPIRED")
