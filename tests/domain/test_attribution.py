"""Whose write a record shows, and what a write of ours replaced without having seen it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from leadproof.domain.attribution import explained_base, overwritten_unseen
from leadproof.domain.derivation import derived_fields
from leadproof.domain.field_catalog import CATALOG
from leadproof.domain.mutation import AnswerClass, Difference, Mutation, Reason, Status
from leadproof.domain.reconciliation import Next
from leadproof.domain.records import MARKER, Change
from leadproof.domain.review import Decision
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
History = Mapping[str, tuple[Change, ...]]


def on_top(older: History, newer: History) -> dict[str, tuple[Change, ...]]:
    """One write's history after another's."""
    return {name: (*newer.get(name, ()), *older.get(name, ())) for name in {**older, **newer}}


def effect(seconds: float, **fields: Any) -> dict[str, tuple[Change, ...]]:
    """What the earlier effect leaves in a record's history."""
    return written(seconds, fields, marker=OTHER_KEY)


def lost(history: History, mutation: Mutation = UPDATE, **effects: Any) -> tuple[Difference, ...]:
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
    history = on_top(effect(4, owner="777"), written(5))
    assert lost(history, owner="777") == ()
    assert lost(history, owner="778") != ()
    assert lost(history, lead_status="777") != ()
    assert lost(history) != ()


@pytest.mark.parametrize("by", ["person:9", "automation:flow", "integration:7", None])
def test_what_an_earlier_effect_wrote_is_an_edit_where_somebody_else_set_it_again(by: str | None) -> None:
    again = Change(value="777", at=at(4), by=by)
    history = on_top(on_top(effect(3, owner="777"), {"owner": (again,)}), written(5))
    (difference,) = lost(history, owner="777")
    assert (difference.lost, difference.changed_by, difference.changed_at) == ("777", by, at(4))


def test_a_write_that_stood_before_the_base_was_read_explains_nothing() -> None:
    read = a_mutation(created_at=at(4))
    assert lost(on_top(effect(4.5, owner="777"), written(5)), read, owner="777") == ()
    assert lost(on_top(effect(3, owner="777"), written(5)), read, owner="777") != ()


def test_our_own_entry_a_moment_before_its_marker_is_not_what_it_replaced() -> None:
    """A target need not give all fields of one request the same moment."""
    ours = written(5)
    early = {**ours, "owner": (Change(value="501", at=at(4.9), by="us"),)}
    assert lost(early) == ()
    assert [d.lost for d in lost(before(early, "owner", "777", 4, "person:9"))] == ["777"]


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


@pytest.mark.parametrize("edit", ["777", None])
def test_an_edit_is_lost_too_where_the_same_write_landed_once_more(
    edit: str | None,
) -> None:
    once_more = {"owner": (Change(value="501", at=at(9), by="us"),)}
    history = on_top(on_top(written(1), {"owner": (Change(value=edit, at=at(5), by="person:9"),)}), once_more)
    (difference,) = lost(history)
    assert (difference.field, difference.lost) == ("owner", edit)
    assert (difference.changed_by, difference.changed_at) == ("person:9", at(5))


def test_what_another_effect_of_ours_or_anybody_else_wrote_afterwards_is_no_loss_of_this_one() -> None:
    edited = on_top(written(1), {"owner": (Change(value="777", at=at(5), by="person:9"),)})
    assert lost(on_top(edited, effect(9, owner="501"))) == ()
    assert lost(on_top(edited, {"owner": (Change(value="501", at=at(9), by="person:8"),)})) == ()
    assert lost(on_top(edited, {"owner": (Change(value="600", at=at(9), by="us"),)})) == ()


def test_what_differs_beside_a_lost_value_is_told_with_it_and_not_put_back() -> None:
    history = before(written(5), "owner", "777", 4, "person:9")
    later = on_top(history, {"lead_status": (Change(value="OPEN", at=at(8), by="person:8"),)})
    found = finding(
        one(a_record({**INTENT, "lead_status": "OPEN"}, marker=KEY, history=later)), an_attempt(AnswerClass.ACCEPTED)
    )
    assert found.reason is Reason.OVERWROTE_UNSEEN_EDIT
    told = {one.field: (one.lost, one.observed, one.changed_by) for one in found.differences}
    assert told == {"owner": ("777", "501", "person:9"), "lead_status": (None, "OPEN", "person:8")}
    parent = UPDATE.model_copy(update={"differences": found.differences})
    assert derived_fields(parent, Decision.RESTORE) == {"owner": "777"}


def test_a_record_that_stood_before_a_create_can_lose_a_value_too() -> None:
    create = a_mutation(creates=True)
    assert lost(written(5), create) == ()
    assert lost(before(written(5), "owner", None, 4, "us"), create) == ()
    assert [d.lost for d in lost(before(written(5), "owner", "777", 4, "person:9"), create)] == ["777"]
    assert lost(on_top(effect(4, owner="777"), written(5)), create, owner="777") == ()


def test_without_the_markers_history_nothing_can_be_said() -> None:
    history = before(written(5), "owner", "777", 4, "person:9")
    del history[MARKER]
    assert lost(history) == ()


def based(history: History, *, mutation: Mutation = UPDATE, margin: float = 0, **effects: Any) -> dict[str, Any] | None:
    """The base where the record stands as its history says and the earlier effect is known to have set `effects`."""
    fields = {**BASE, **{name: changes[0].value for name, changes in history.items() if name != MARKER}}
    record = a_record(fields, marker=OTHER_KEY, history=history)
    return explained_base(mutation, record, CATALOG, {OTHER_KEY: effects} if effects else {}, timedelta(seconds=margin))


def test_the_base_moves_on_with_an_effect_that_stands_on_the_record() -> None:
    history = effect(4, owner="777", lead_status="OPEN")
    assert based(history, owner="777", lead_status="NEW") == {"owner": "777", "lead_status": None}
    assert based(history) == BASE


def test_it_does_not_move_on_with_the_same_value_that_somebody_else_set() -> None:
    edited = on_top(effect(3, owner="777"), {"owner": (Change(value="777", at=at(4), by="person:9"),)})
    assert based(edited, owner="777") == BASE
    back = on_top(edited, effect(5, owner="777"))
    assert based(back, owner="777") == {**BASE, "owner": "777"}


def test_a_version_that_we_did_not_write_with_that_marker_explains_nothing() -> None:
    unmarked = {"owner": (Change(value="777", at=at(4), by="us"),)}
    assert based(unmarked, owner="777") == BASE
    assert based({**unmarked, MARKER: (Change(value=OTHER_KEY, at=at(6), by="us"),)}, owner="777") == BASE
    assert based({**unmarked, MARKER: (Change(value=OTHER_KEY, at=at(4), by="person:9"),)}, owner="777") == BASE
    assert based({**unmarked, MARKER: (Change(value=OTHER_KEY, at=at(4.2), by="us"),)}, owner="777") != BASE


def test_of_two_writes_of_one_second_the_nearer_is_the_versions_own() -> None:
    history = {
        "owner": (Change(value="777", at=at(4.5), by="us"),),
        MARKER: (Change(value="c" * 64, at=at(4.5), by="us"), Change(value=OTHER_KEY, at=at(4), by="us")),
    }
    assert based(history, owner="777") == BASE


def test_only_a_version_later_than_the_base_moves_it_on_give_or_take_what_clocks_may_differ() -> None:
    read = a_mutation(created_at=at(4))
    assert based(effect(3, owner="777"), mutation=read, owner="777") == BASE
    assert based(effect(3, owner="777"), mutation=read, owner="777", margin=2) == {**BASE, "owner": "777"}
    intent = UPDATE.intent.model_copy(update={"base_read_at": at(2)})
    earlier = read.model_copy(update={"intended_state": intent})
    assert based(effect(3, owner="777"), mutation=earlier, owner="777") == {**BASE, "owner": "777"}


def test_a_history_that_does_not_end_in_what_stands_explains_nothing() -> None:
    record = a_record({"owner": "888"}, marker=OTHER_KEY, history=effect(4, owner="777"))
    assert explained_base(UPDATE, record, CATALOG, {OTHER_KEY: {"owner": "777"}}) == BASE
    cleared = a_record({"owner": "777"}, marker=OTHER_KEY, history={**effect(4), "owner": ()})
    assert explained_base(UPDATE, cleared, CATALOG, {OTHER_KEY: {"owner": "777"}}) == BASE


@pytest.mark.parametrize(
    ("marker", "by", "changed", "moves"),
    [
        (OTHER_KEY, "us", 5.0, True),
        (OTHER_KEY, "us", None, True),
        (OTHER_KEY, "us", -5.0, False),
        (OTHER_KEY, "person:9", 5.0, False),
        (OTHER_KEY, None, None, False),
        ("c" * 64, "us", 5.0, False),
        (None, "us", 5.0, False),
    ],
)
def test_without_history_the_record_itself_must_say_that_nobody_came_after_the_effect(
    marker: str | None, by: str | None, changed: float | None, moves: bool
) -> None:
    at_ = at(changed) if changed is not None else None
    record = a_record({**BASE, "owner": 777}, marker=marker, changed_by=by, changed_at=at_)
    effects = {OTHER_KEY: {"owner": "777"}}
    expected = {**BASE, "owner": 777} if moves else BASE
    assert explained_base(UPDATE, record, CATALOG, effects) == expected


def test_a_create_stands_on_no_record_unless_an_effect_of_ours_made_one() -> None:
    create = a_mutation(creates=True, compare_also=("email",))
    assert explained_base(create, a_record(INTENT), CATALOG, {}) is None
    made = a_record(INTENT, history=effect(-900, owner="501"))
    assert explained_base(create, made, CATALOG, {OTHER_KEY: {"owner": "501"}}) == {
        "owner": "501",
        "lead_status": None,
        "email": None,
    }
