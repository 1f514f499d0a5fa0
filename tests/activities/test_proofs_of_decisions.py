"""A proof counts for the decision that it was made for, word for word, in the deployment that made it."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.proofs import sign_decision
from leadproof.domain.review import DecisionVerdict, ReviewItem, ReviewState, parse_decision
from tests.activities.room import Room
from tests.activities.test_review import KEY, Reviews, approve, verdict

PERSON = "person:dana"


@pytest.fixture
def reviews(room: Room) -> Reviews:
    return Reviews(room)


def as_the_starter_sends_it(item: ReviewItem, *, key: str = KEY, **more: Any) -> dict[str, Any]:
    """Dana's approval on the page, signed; anybody with access to Temporal can read it in the run's history."""
    sent = approve(item, decision_id="d-1", reviewer=PERSON, **more)
    signed = parse_decision([sent]).model_dump(mode="json")
    return {**signed, "proof": sign_decision(signed, key)}


@pytest.mark.parametrize(
    "change",
    [
        {"decision": "abandon"},
        {"reason": "something that Dana never said"},
        {"reviewer": "person:kofi"},
        {"version": 2},
        {"decision_id": "d-2"},
        {"shown_digest": "another state"},
        {"reason": ""},
    ],
    ids=str,
)
def test_a_copied_proof_under_other_words_speaks_for_nobody(reviews: Reviews, change: dict[str, Any]) -> None:
    item = reviews.ask()
    (answer,) = reviews.send(as_the_starter_sends_it(item) | change, sender="mallory").answers
    assert (answer.verdict, answer.why) == (DecisionVerdict.MALFORMED, "its proof does not fit")
    (row,) = reviews.room.ledger.decisions_of(reviews.event_key)
    assert (row.reviewer, row.verdict) == ("temporal:mallory", DecisionVerdict.MALFORMED)
    assert reviews.ask() == item
    assert verdict(reviews.send(as_the_starter_sends_it(item))) is DecisionVerdict.APPLIED


def test_a_proof_of_another_deployment_speaks_for_nobody(reviews: Reviews) -> None:
    item = reviews.ask()
    foreign = as_the_starter_sends_it(item, key="the decision key of another deployment")
    assert verdict(reviews.send(foreign)) is DecisionVerdict.MALFORMED
    assert reviews.ask() == item


def test_a_proved_decision_about_another_lead_decides_nothing_here(reviews: Reviews, room: Room) -> None:
    item = reviews.ask()
    elsewhere = item.model_copy(update={"review_id": "f" * 64})
    (answer,) = reviews.send(as_the_starter_sends_it(elsewhere), sender="mallory").answers
    assert (answer.verdict, answer.why) == (DecisionVerdict.MALFORMED, "it answers no question of this lead")
    assert all(row.reviewer == "temporal:mallory" for row in room.ledger.decisions_of(reviews.event_key))
    assert reviews.ask() == item


def test_a_proved_decision_that_is_sent_again_decides_nothing_twice(reviews: Reviews, room: Room) -> None:
    item = reviews.ask()
    sent = as_the_starter_sends_it(item)
    answers = [reviews.send(sent, sender=sender).answers for sender in ("starter", "mallory", "mallory")]
    assert answers[0] == answers[1] == answers[2]
    (row,) = room.ledger.decisions_of(reviews.event_key)
    assert (row.reviewer, row.verdict) == (PERSON, DecisionVerdict.APPLIED)
    closed = room.ledger.review(item.review_id)
    assert closed is not None
    assert closed.state is ReviewState.DECIDED


def test_a_bare_decision_under_somebodys_id_keeps_neither_their_name_nor_their_words(
    reviews: Reviews, room: Room
) -> None:
    item = reviews.ask()
    kept = parse_decision([{name: said for name, said in as_the_starter_sends_it(item).items() if name != "proof"}])
    room.ledger.record_decision(kept, reviewer=PERSON, via="page")
    bare = approve(item, decision_id="d-1", reason="other words", reviewer="person:kofi")
    assert verdict(reviews.send(bare, sender="mallory")) is DecisionVerdict.APPLIED  # it is Dana's that is applied
    (row,) = room.ledger.decisions_of(reviews.event_key)
    assert (row.reviewer, row.via, row.reason) == (PERSON, "page", "fine")
