"""A value that only another effect's outcome gives: proposed, guarded, reserved, and known in the end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain.guard import guard
from leadproof.domain.mutation import Mutation, Reason
from leadproof.domain.plan import Action, ActionKind, GuardedAction, Plan, TargetObject, Verdict
from leadproof.domain.planning import TargetState, mutations_from, settle_verdicts
from leadproof.domain.records import FoundRecord, LookUp, Presence
from leadproof.domain.references import reference, references_in, referred, resolved
from tests.domain.looks import a_mutation
from tests.domain.samples import policy, snapshot
from tests.domain.test_planning import ABSENT, LEAD, NOW, READ_AT
from tests.domain.two_targets import TWO_TARGETS

POLICY = policy(TWO_TARGETS)
CONTACT, LEAD_OF = ("hubspot", "contact"), ("salesforce", "lead")
STANDS = FoundRecord(record_id="101", fields={"owner": None, "salesforce_id": None, "lifecycle_stage": "customer"})


def creates(**changes: Any) -> Action:
    fields = {"email": "dana@example.com", "last_name": "Kim", "owner": "inbound"}
    given = {"kind": "create", "target_system": "salesforce", "target_object": "lead", "fields": fields}
    return Action(**(given | {"reason": "because"} | changes))


def marks(to: object = 0, depends_on: tuple[int, ...] = (0,), **changes: Any) -> Action:
    fields = {"salesforce_id": to if isinstance(to, dict | str) else {"record_id_of": to}}
    given = {"kind": "update", "target_system": "hubspot", "fields": fields, "depends_on": depends_on}
    return Action(**(given | {"reason": "because"} | changes))


def guarded(*actions: Action, from_model: bool = False) -> list[GuardedAction]:
    plan = Plan(summary="s", actions=actions)
    records = {CONTACT: STANDS, LEAD_OF: None}
    return list(guard(plan, POLICY, snapshot=snapshot(), records=records, from_model=from_model))


def reserved(*actions: Action) -> tuple[Mutation, ...]:
    found = {CONTACT: LookUp(presence=Presence.ONE, record=STANDS), LEAD_OF: ABSENT}
    targets = {
        where: TargetState(found=one, read_at=READ_AT, of_the_event=where == CONTACT) for where, one in found.items()
    }
    settled = settle_verdicts(guarded(*actions), targets, LEAD.external_id, POLICY)
    return mutations_from(LEAD, settled, POLICY, targets, NOW)


# -- the guard ---------------------------------------------------------------------------------------------------------
def test_the_record_of_an_action_that_comes_first_is_referred_to() -> None:
    first, second = guarded(creates(), marks())

    assert (first.verdict, second.verdict) == (Verdict.ALLOWED, Verdict.ALLOWED)
    assert second.action.fields == {"salesforce_id": reference(0)}


@pytest.mark.parametrize(
    ("refused", "says"),
    [
        (marks(depends_on=()), "refers to the record of an action that it does not depend on"),
        (marks(to=1), "refers to the record of an action that it does not depend on"),
        (marks(to=7), "refers to the record of an action that it does not depend on"),
        (marks(to={"record_id_of": "salesforce lead"}), "of an action that it does not depend on"),
        (marks(to={"record_id_of": True}), "cannot be read as record_id"),
        (marks(to={"record_id_of": 0, "or": 1}), "cannot be read as record_id"),
        (marks(fields={"company": reference(0)}), "company cannot be the id of a record"),
    ],
)
def test_any_other_reference_is_refused(refused: Action, says: str) -> None:
    _, second = guarded(creates(), refused)

    assert second.verdict is Verdict.REFUSED
    assert says in (second.why or "")


@pytest.mark.parametrize("to", [0, "00Qxx0000000001AAA"])
def test_a_model_proposes_no_id_of_a_record(to: object) -> None:
    first, action = creates(fields={"owner": "inbound"}), marks(to=to)

    assert guarded(first, action)[1].verdict is Verdict.ALLOWED
    refused = guarded(first, action, from_model=True)[1]
    assert (refused.verdict, refused.why) == (
        Verdict.REFUSED,
        "salesforce_id is the id of a record, which no model proposes",
    )


def test_a_reference_is_counted_as_the_actions_are_after_a_stage_move_was_taken_apart() -> None:
    back = Action(kind=ActionKind.QUALIFY, target_system="hubspot", fields={"lifecycle_stage": "lead"}, reason="r")
    *moves, create, mark = guarded(back, creates(), marks(to=1, depends_on=(1,)))

    assert [one.action.kind for one in moves] == [ActionKind.CLEAR_STAGE, ActionKind.SET_STAGE]
    assert create.action.kind is ActionKind.CREATE
    assert (mark.action.depends_on, mark.action.fields) == ((2,), {"salesforce_id": reference(2)})


def test_an_ordinal_that_is_none_of_the_proposal_is_refused_although_it_is_one_afterwards() -> None:
    back = Action(kind=ActionKind.QUALIFY, target_system="hubspot", fields={"lifecycle_stage": "lead"}, reason="r")

    assert guarded(back, marks(to=1, depends_on=(0,)))[-1].verdict is Verdict.REFUSED


# -- the mutations -----------------------------------------------------------------------------------------------------
def test_intent_and_fingerprint_hold_the_key_of_the_mutation_and_no_id() -> None:
    create, mark = reserved(creates(), marks())

    assert mark.intent.fields == {"salesforce_id": reference(create.mutation_key)}
    assert (mark.depends_on, mark.reason) == ((create.mutation_key,), Reason.DEPENDS)
    assert mark.base_state == {"salesforce_id": None}
    (constant,) = reserved(marks(to="00Qxx0000000001AAA", depends_on=()))
    assert constant.mutation_key == mark.mutation_key
    assert constant.fingerprint != mark.fingerprint


def test_what_is_reserved_survives_the_ledgers_json() -> None:
    _, mark = reserved(creates(), marks())

    assert Mutation.model_validate_json(mark.model_dump_json()) == mark
    assert GuardedAction.model_validate_json(guarded(creates(), marks())[1].model_dump_json()).action.fields == {
        "salesforce_id": reference(0)
    }


def test_what_refers_to_a_refused_action_is_refused_with_it() -> None:
    second = guarded(creates(target_object=TargetObject.COMPANY), marks())[1]

    assert (second.verdict, second.why) == (Verdict.REFUSED, "it depends on an action that was refused")


# -- the record's id ---------------------------------------------------------------------------------------------------
def effect(key: str, record_id: str | None = None, parent: str | None = None) -> Mutation:
    return a_mutation(mutation_key=key, parent_key=parent, record_id=record_id)


FIELDS = {"salesforce_id": reference("a"), "owner": "501"}


@pytest.mark.parametrize(
    ("effects", "record_id"),
    [
        ([effect("a", "00Q1")], "00Q1"),
        ([effect("b", "003"), effect("a", "00Q1")], "00Q1"),
        ([effect("a", "00Q1"), effect("b", "00Q1", parent="a")], "00Q1"),
        ([effect("a", "00Q1"), effect("b", "00Q2", parent="a")], "00Q2"),  # decided about the record it was merged into
        ([effect("a", "00Q1"), effect("b", parent="a")], "00Q1"),
        ([effect("a"), effect("b", "00Q2", parent="a")], "00Q2"),
        ([effect("a"), effect("b", parent="a"), effect("c", "00Q3", parent="b")], "00Q3"),
    ],
)
def test_a_reference_becomes_the_id_of_the_mutations_record(effects: list[Mutation], record_id: str) -> None:
    assert resolved(FIELDS, effects) == {"salesforce_id": record_id, "owner": "501"}


@pytest.mark.parametrize("effects", [[], [effect("a")], [effect("b", "003")], [effect("a"), effect("b", parent="a")]])
def test_a_record_that_is_not_known_leaves_the_reference_and_never_an_empty_value(effects: list[Mutation]) -> None:
    assert resolved(FIELDS, effects) == FIELDS


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("record_id_of"), inner),
    max_leaves=5,
)


@given(VALUES)
def test_only_one_form_is_a_reference(value: object) -> None:
    to = referred(value)

    assert (to is None) == (references_in({"field": value}) == {})
    if to is not None:
        assert value == reference(to)
