"""Whose write a record shows, and what a write of ours replaced without having seen it."""

from __future__ import annotations

from leadproof.domain.attribution import explained_base, overwritten_unseen
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.mutation import AnswerClass, Difference, Mutation, Reason, Status
from leadproof.domain.reconciliation import Next
from leadproof.domain.records import MARKER, Change
from tests.domain.looks import (
    BASE,
    INTENT,
    KEY,
    OTHER_KEY,
    a_mutation,
    a_record,
    an_attempt,
    at,
    before,
    finding,
    one,
    written,
)

UPDATE = a_mutation()


def lost(history: dict[str, tuple[Change, ...]], mutation: Mutation = UPDATE, **effects: str) -> tuple[Difference, ...]:
    record = a_record(marker=KEY, history=history)
    return overwritten_unseen(mutation, record, CATALOG, {OTHER_KEY: effects} if effects else {})


def test_a_value_that_was_never_seen_is_kept_with_who_had_made_it() -> None:
    history = before(written(5), "owner", "777", 4, "person:9")
    (difference,) = lost(history)
    assert (difference.field, difference.lost, difference.intended) == ("owner", "777", "501")
    assert (difference.changed_by, difference.changed_at) == ("person:9", at(4))


def test_it_makes_the_mutation_divergent_although_every_field_is_as_intended() -> None:
    record = a_record(marker=KEY, history=before(written(5), "owner", "777", 4, "person:9"))
    found = finding(one(record), an_attempt(AnswerClass.ACCEPTED))
    assert (found.next, found.status, found.reason) == (Next.ASK, Status.DIVERGENT, Reason.OVERWROTE_UNSEEN_EDIT)
    assert [difference.lost for difference in found.differences] == ["777"]


def test_nothing_is_lost_where_the_base_stood_or_the_intent_or_nothing() -> None:
    assert lost(written(5)) == ()
    assert lost(before(written(5), "owner", None, 4, "person:9")) == ()
    assert lost(before(written(5), "owner", " 501", 4, "person:9")) == ()
    assert lost(before(written(5), "company", "Acme", 4, "person:9")) == ()


def test_a_value_that_a_person_cleared_unseen_is_lost_as_empty() -> None:
    based = a_mutation(base={"owner": "1", "lead_status": None})
    (difference,) = lost(before(written(5), "owner", None, 4, "person:9"), based)
    assert (difference.field, difference.lost) == ("owner", None)


def test_an_earlier_effect_of_ours_is_no_edit_by_someone() -> None:
    history = before(written(5), "owner", "777", 4, "us")
    assert lost(history, owner="777") == ()
    assert lost(history, owner="778") != ()


def test_what_stood_before_the_value_that_was_replaced_does_not_matter() -> None:
    history = before(before(written(5), "owner", None, 4, "person:9"), "owner", "777", 3, "person:9")
    assert lost(history) == ()


def test_an_edit_after_our_write_is_not_lost() -> None:
    ours = written(5)
    history = {**ours, "owner": (Change(value="777", at=at(6), by="person:9"), *ours["owner"])}
    assert lost(history) == ()


def test_an_edit_between_two_writes_of_ours_is_lost() -> None:
    first, second = written(5), written(9)
    history = {name: (*second[name], *first[name]) for name in second}
    assert lost(history) == ()
    edit = Change(value="777", at=at(7), by="person:9")
    assert [d.lost for d in lost({**history, "owner": (*second["owner"], edit, *first["owner"])})] == ["777"]


def test_a_record_that_stood_before_a_create_can_lose_a_value_too() -> None:
    create = a_mutation(creates=True)
    assert lost(written(5), create) == ()
    assert lost(before(written(5), "owner", None, 4, "us"), create) == ()
    assert [d.lost for d in lost(before(written(5), "owner", "777", 4, "person:9"), create)] == ["777"]
    assert lost(before(written(5), "owner", "777", 4, "us"), create, owner="777") == ()


def test_without_the_markers_history_nothing_can_be_said() -> None:
    history = before(written(5), "owner", "777", 4, "person:9")
    del history[MARKER]
    assert lost(history) == ()


def test_the_base_moves_on_with_an_effect_that_stands_on_the_record() -> None:
    record = a_record({"owner": 777, "lead_status": "OPEN"})
    effects = {OTHER_KEY: {"owner": "777", "lead_status": "NEW"}}
    assert explained_base(UPDATE, record, CATALOG, effects) == {"owner": 777, "lead_status": None}
    assert explained_base(UPDATE, record, CATALOG, {}) == BASE


def test_a_create_stands_on_no_record_unless_an_effect_of_ours_made_one() -> None:
    create = a_mutation(creates=True, compare_also=("email",))
    assert explained_base(create, a_record(INTENT), CATALOG, {}) is None
    effects = {OTHER_KEY: {"owner": "501"}}
    assert explained_base(create, a_record(INTENT), CATALOG, effects) == {
        "owner": "501",
        "lead_status": None,
        "email": None,
    }
