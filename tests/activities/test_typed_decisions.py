"""A decision that was typed by hand and could not be taken, and the same words when it can."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.mutation import AnswerClass, Reason, Status
from leadproof.domain.reconciliation import Next
from leadproof.domain.review import DecisionVerdict, ReviewItem
from tests.activities.room import Room
from tests.activities.test_review import Reviews, approve, verdict
from tests.boundary.target import UNREADABLE, is_lost
from tests.boundary.world import World

APPLIED, IMPOSSIBLE = DecisionVerdict.APPLIED, DecisionVerdict.IMPOSSIBLE


@pytest.fixture
def reviews(room: Room) -> Reviews:
    """A write of which nothing is known, since the target tells nothing: a person is asked."""
    made = Reviews(room)
    made.send(approve(made.ask()))
    made.world.target.replies.append(is_lost)
    made.world.target.always = lambda _, found: UNREADABLE if made.world.target.sent else found
    assert made.world.run().status is Status.UNCERTAIN
    return made


def asked(world: World) -> ReviewItem:
    item = world.receipts.review
    assert item is not None
    return item


def retry(reviews: Reviews, **more: Any) -> dict[str, Any]:
    item = asked(reviews.world)
    return {"review_id": item.review_id, "version": item.version, "decision": "retry", "reason": "again"} | more


def tells_again(world: World) -> None:
    """The target shows the record, and that nothing of ours is there."""
    world.target.always = None
    while (looked := world.look()).next is not Next.SEND_AGAIN:
        assert looked.at is not None
        world.clock.forward((looked.at - world.clock.now()).total_seconds())


def test_the_same_words_count_when_what_they_are_about_has_moved_and_only_once(reviews: Reviews) -> None:
    words = retry(reviews)
    assert [verdict(reviews.send(words)) for _ in range(2)] == [IMPOSSIBLE] * 2
    tells_again(reviews.world)
    assert verdict(reviews.send(words)) is APPLIED
    assert reviews.world.mutation.reason is Reason.RETRY
    assert verdict(reviews.send(words)) is DecisionVerdict.REPEATED
    assert reviews.world.run().status is Status.OBSERVED
    assert reviews.world.outcomes == [AnswerClass.UNCERTAIN, AnswerClass.ACCEPTED]
    decided = [row.verdict for row in reviews.world.receipts.decisions if row.decision == "retry"]
    assert sorted(decided) == sorted([IMPOSSIBLE, IMPOSSIBLE, APPLIED, DecisionVerdict.REPEATED])


def test_while_nothing_has_moved_the_same_words_are_kept_no_oftener_than_twice(reviews: Reviews) -> None:
    words = retry(reviews)
    assert [verdict(reviews.send(words)) for _ in range(5)] == [IMPOSSIBLE] * 5
    assert len([row for row in reviews.world.receipts.decisions if row.decision == "retry"]) == 2


def test_a_decision_with_an_id_of_its_own_keeps_its_verdict(reviews: Reviews) -> None:
    words = retry(reviews, decision_id="d-1")
    assert verdict(reviews.send(words)) is IMPOSSIBLE
    tells_again(reviews.world)
    assert verdict(reviews.send(words)) is IMPOSSIBLE
    assert verdict(reviews.send(retry(reviews))) is APPLIED
