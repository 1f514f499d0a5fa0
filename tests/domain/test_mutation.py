from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain.errors import IllegalTransition
from leadproof.domain.mutation import FINAL, TRANSITIONS, Mutation, Reason, Status, check_transition, legal

R, S, O, U = Status.RESERVED, Status.SUBMITTED, Status.OBSERVED, Status.UNCERTAIN  # noqa: E741
D, X, P, A = Status.DIVERGENT, Status.REJECTED, Status.SUPERSEDED, Status.ABANDONED

ALLOWED = {
    R: {S, X, A, P},
    S: {S, O, U, D, X, A},
    U: {O, D, X, S, A},
    D: {O, P, A},
    X: {S, P, A},
    O: set(),
    P: set(),
    A: set(),
}
"""The table of the design, written down a second time."""


@pytest.mark.parametrize("before", Status)
@pytest.mark.parametrize("after", Status)
def test_the_table_leads_where_it_should(before: Status, after: Status) -> None:
    reachable = any(legal(before, after, reason) for reason in (None, *Reason))

    assert reachable is (after in ALLOWED[before])


@pytest.mark.parametrize(
    ("before", "after", "allowed"),
    [
        (R, A, {Reason.DECLINED, Reason.DEPENDENCY, Reason.ERASED, Reason.SHADOW}),
        (R, P, {Reason.NEWER_EVENT}),
        (S, A, {Reason.ERASED}),
        (X, S, {Reason.RETRY}),
        (X, P, {Reason.NEWER_EVENT}),
    ],
)
def test_some_moves_need_their_reason(before: Status, after: Status, allowed: set[Reason]) -> None:
    assert {reason for reason in Reason if legal(before, after, reason)} == allowed
    assert not legal(before, after, None)


def test_a_move_that_the_table_does_not_know_is_refused() -> None:
    check_transition(R, S, None)
    with pytest.raises(IllegalTransition, match="observed never becomes submitted because of retry"):
        check_transition(O, S, Reason.RETRY)
    with pytest.raises(IllegalTransition, match=r"rejected never becomes submitted$"):
        check_transition(X, S, None)


STEPS = st.lists(st.tuples(st.sampled_from(Status), st.none() | st.sampled_from(Reason)), max_size=30)


@given(STEPS)
def test_no_sequence_of_legal_moves_leaves_a_final_status(steps: list[tuple[Status, Reason | None]]) -> None:
    status, ended = Status.RESERVED, None
    for after, reason in steps:
        if legal(status, after, reason):
            status = after
        if ended is not None:
            assert status is ended
        elif status.final:
            ended = status


def test_every_status_can_still_end() -> None:
    for status in Status:
        reached = {status}
        while not reached & FINAL and (more := {after for one in reached for after in TRANSITIONS[one]} - reached):
            reached |= more
        assert reached & FINAL, f"{status} never ends"


def test_what_is_final_and_what_holds_its_record() -> None:
    assert {status for status in Status if status.final} == {O, P, A}
    assert {status for status in Status if status.holds} == {S, U, D}


def mutation(**fields: object) -> Mutation:
    moment = datetime(2026, 11, 30, tzinfo=UTC)
    given_fields = {
        "mutation_key": "m",
        "event_key": "e",
        "ordinal": 0,
        "tenant": "t",
        "environment": "dev",
        "source_system": "website",
        "source_record_id": "1",
        "policy_version": "1",
        "action_kind": "create",
        "target_system": "hubspot",
        "target_object": "contact",
        "target_record": "x",
        "fingerprint": "f",
        "base_state": None,
        "intended_state": None,
        "created_at": moment,
        "updated_at": moment,
        **fields,
    }
    return Mutation.model_validate(given_fields)


def test_only_a_create_of_an_unknown_record_creates() -> None:
    assert mutation().creates
    assert not mutation(provider_record_id="6001").creates
    assert not mutation(action_kind="qualify").creates


def test_a_tombstone_has_no_intent_to_write() -> None:
    with pytest.raises(IllegalTransition, match="purged"):
        assert mutation().intent
