"""From a guarded plan to the mutations that it reserves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from leadproof.domain import keys
from leadproof.domain.errors import MalformedPlan
from leadproof.domain.events import Lead, Outcome
from leadproof.domain.field_catalog import specs_for
from leadproof.domain.mutation import Mutation, Reason, Status
from leadproof.domain.plan import Action, ActionKind, GuardedAction, Verdict
from leadproof.domain.planning import TargetState, mutations_from, settle_verdicts
from leadproof.domain.policy import Policy
from leadproof.domain.records import FoundRecord, LookUp, Presence
from tests.domain.samples import changed, policy

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
READ_AT = datetime(2026, 3, 2, 8, 59, 58, tzinfo=UTC)
LEAD = Lead(
    event_key="e" * 64,
    tenant="acme",
    environment="test",
    source_system="website",
    source_record_id="7",
    event_kind="form.submitted",
    occurrence="7",
    occurred_at=NOW,
    fingerprint="f" * 64,
    lead=None,
    policy_version="1",
    outcome=Outcome.WORKING,
    workflow_id="lead:e",
    first_seen_at=NOW,
    last_seen_at=NOW,
)
OURS = LEAD.external_id
ABSENT = LookUp(presence=Presence.ABSENT)
LINKING = changed('apply_lag_source = "documented"', 'apply_lag_source = "documented"\nfound_unlinked = "link"')


def guarded(
    kind: ActionKind, verdict: Verdict = Verdict.ALLOWED, *, depends_on: tuple[int, ...] = (), **more: Any
) -> GuardedAction:
    fields = more.pop("fields", {"owner": "501", "email": "dana@example.com"})
    action = Action(
        kind=kind, target_system="hubspot", fields=fields, reason="because", depends_on=depends_on, confidence=None
    )
    return GuardedAction(action=action, verdict=verdict, **more)


def found(external_id: str | None = OURS, **fields: Any) -> LookUp:
    record = FoundRecord(record_id="601", external_id=external_id, fields={"owner": None, **fields})
    return LookUp(presence=Presence.ONE, record=record, record_ids=("601",))


def state(look_up: LookUp) -> dict[tuple[str, str], TargetState]:
    return {("hubspot", "contact"): TargetState(found=look_up, read_at=READ_AT)}


def settled(look_up: LookUp, *actions: GuardedAction, by: Policy | None = None) -> list[GuardedAction]:
    return list(settle_verdicts(actions, state(look_up), OURS, by or policy()))


def reserved(look_up: LookUp, *actions: GuardedAction) -> tuple[Mutation, ...]:
    return mutations_from(LEAD, actions, policy(), state(look_up), NOW)


CREATE, QUALIFY = guarded(ActionKind.CREATE), guarded(ActionKind.QUALIFY)


# -- verdicts against the record ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("look_up", [ABSENT, found()])
def test_a_create_of_no_record_or_of_our_own_stands(look_up: LookUp) -> None:
    assert settled(look_up, CREATE) == [CREATE]


@pytest.mark.parametrize(
    ("external_id", "says"), [(None, "does not carry our external id"), ("x" * 64, "another source record")]
)
def test_a_create_that_meets_a_stranger_is_for_a_person(external_id: str | None, says: str) -> None:
    (one,) = settled(found(external_id), CREATE)
    assert (one.verdict, one.queue) == (Verdict.FOR_A_PERSON, "default")
    assert one.why is not None
    assert says in one.why


def test_who_approves_for_another_reason_is_told_that_the_record_is_a_strangers() -> None:
    held = guarded(ActionKind.CREATE, Verdict.FOR_A_PERSON, why="a big account", queue="enterprise")
    (one,) = settled(found("x" * 64), held)
    assert (one.verdict, one.queue) == (Verdict.FOR_A_PERSON, "enterprise")
    assert one.why == "a big account; the record that was found carries our external id of another source record"


def test_a_policy_can_link_a_record_that_nobody_has_linked() -> None:
    linking = policy(LINKING)
    assert settled(found(None), CREATE, by=linking) == [CREATE]
    assert settled(found("x" * 64), CREATE, by=linking)[0].verdict is Verdict.FOR_A_PERSON


def test_any_other_action_needs_a_record() -> None:
    assert settled(ABSENT, QUALIFY)[0].verdict is Verdict.REFUSED
    assert settled(found(), QUALIFY) == [QUALIFY]


@pytest.mark.parametrize("kind", [ActionKind.QUALIFY, ActionKind.UPDATE, ActionKind.LINK])
def test_any_action_on_a_strangers_record_that_was_found_is_for_a_person(kind: ActionKind) -> None:
    (one,) = settled(found("x" * 64), guarded(kind))
    assert (one.verdict, one.why) == (
        Verdict.FOR_A_PERSON,
        "the record that was found carries our external id of another source record",
    )
    (one,) = settled(found(None), guarded(kind))
    assert one.verdict is Verdict.FOR_A_PERSON
    assert settled(found(None), guarded(kind), by=policy(LINKING))[0].verdict is Verdict.ALLOWED


def test_the_record_that_an_event_is_about_is_no_strangers() -> None:
    for external_id in (None, "x" * 64):
        of_the_event = {
            where: one.model_copy(update={"of_the_event": True}) for where, one in state(found(external_id)).items()
        }
        assert settle_verdicts([QUALIFY], of_the_event, OURS, policy()) == (QUALIFY,)


def test_what_waits_for_an_action_on_the_same_record_is_no_question_of_its_own() -> None:
    after = guarded(ActionKind.UPDATE, depends_on=(0,))
    assert settled(found("x" * 64), QUALIFY, after)[1] == after


def test_a_record_that_is_created_before_is_one() -> None:
    after = guarded(ActionKind.QUALIFY, depends_on=(0,))
    assert [one.verdict for one in settled(ABSENT, CREATE, after)] == [Verdict.ALLOWED, Verdict.ALLOWED]
    assert [one.verdict for one in settled(ABSENT, CREATE, QUALIFY)] == [Verdict.ALLOWED, Verdict.REFUSED]


def test_what_depends_on_a_refused_action_is_refused_with_it_and_so_on() -> None:
    chain = [QUALIFY, guarded(ActionKind.SET_STAGE, depends_on=(0,)), guarded(ActionKind.UPDATE, depends_on=(1,))]
    assert [one.verdict for one in settled(ABSENT, *chain)] == [Verdict.REFUSED] * 3


def test_what_the_guard_refused_keeps_its_reason() -> None:
    refused = guarded(ActionKind.CREATE, Verdict.REFUSED, why="not in the policy")
    assert settled(found("x" * 64), refused) == [refused]


def test_a_target_that_nothing_here_can_write_to_is_refused() -> None:
    (one,) = settle_verdicts([CREATE], {}, OURS, policy())
    assert one.verdict is Verdict.REFUSED


@pytest.mark.parametrize("presence", [Presence.REMOVED, Presence.SEVERAL])
def test_a_removed_record_or_several_are_left_to_the_check_before_the_write(presence: Presence) -> None:
    look_up = LookUp(presence=presence)
    assert settled(look_up, QUALIFY) == [QUALIFY]
    assert settled(look_up, CREATE) == [CREATE]


def blind_state(look_up: LookUp) -> dict[tuple[str, str], TargetState]:
    state = TargetState(found=look_up, read_at=READ_AT, without_history=frozenset({"owner", "country"}))
    return {("hubspot", "contact"): state}


def test_a_field_without_history_is_written_only_where_the_policy_allows_it() -> None:
    (refused,) = settle_verdicts([QUALIFY], blind_state(found()), OURS, policy())
    assert refused.verdict is Verdict.REFUSED
    assert refused.why == "the target keeps no history of owner, and the policy does not allow that"
    allowing = policy(changed('compare_also = ["email"]', 'compare_also = ["email"]\nwithout_history = true'))
    assert settle_verdicts([QUALIFY], blind_state(found()), OURS, allowing) == (QUALIFY,)
    (mutation,) = mutations_from(LEAD, [QUALIFY], allowing, blind_state(found()), NOW)
    assert mutation.intent.without_history == ("owner",)


def test_a_record_that_does_not_exist_has_no_edit_to_lose() -> None:
    assert settle_verdicts([CREATE], blind_state(ABSENT), OURS, policy()) == (CREATE,)
    (mutation,) = mutations_from(LEAD, [CREATE], policy(), blind_state(ABSENT), NOW)
    assert mutation.intent.without_history == ()


# -- mutations ---------------------------------------------------------------------------------------------------------
def test_a_create_of_no_record_stands_on_nothing_and_is_addressed_by_its_external_id() -> None:
    (mutation,) = reserved(ABSENT, CREATE)
    intent = mutation.intent
    assert (intent.creates, mutation.base_state, intent.base_read_at) == (True, None, None)
    assert (mutation.target_record, intent.record.external_id, intent.record.linked) == (OURS, OURS, False)
    assert (mutation.provider_record_id, intent.record.provider_record_id) == (None, None)
    assert intent.record.unique_fields == {"email": "dana@example.com"}
    assert (mutation.status, mutation.reason, mutation.version) == (Status.RESERVED, None, 1)


def test_a_create_that_found_its_record_creates_nothing() -> None:
    (mutation,) = reserved(found(email=None), CREATE)
    assert mutation.intent.creates is False
    assert (mutation.provider_record_id, mutation.base_state) == ("601", {"owner": None, "email": None})


def test_a_record_that_carries_an_external_id_keeps_it() -> None:
    (mutation,) = reserved(found("x" * 64), QUALIFY)
    assert (mutation.target_record, mutation.intent.record.linked) == ("x" * 64, True)


def test_a_record_without_one_gets_ours_with_the_first_write() -> None:
    (mutation,) = reserved(found(None), QUALIFY)
    assert (mutation.target_record, mutation.intent.record.linked) == (OURS, False)


def test_the_base_holds_the_fields_of_the_intent_and_those_that_the_policy_compares() -> None:
    update = guarded(ActionKind.QUALIFY, fields={"owner": "501"})
    (mutation,) = reserved(found(email="dana@example.com", company="Acme", lead_status="NEW"), update)
    assert mutation.base_state == {"owner": None, "email": "dana@example.com"}
    assert mutation.intent.compare_also == ("email",)
    assert mutation.intent.base_read_at == READ_AT


def test_a_field_that_was_not_returned_is_not_in_the_base() -> None:
    (mutation,) = reserved(found(), QUALIFY)
    assert mutation.base_state == {"owner": None}


def test_a_refused_action_reserves_nothing_and_the_others_keep_their_places() -> None:
    refused = guarded(ActionKind.SET_STAGE, Verdict.REFUSED, why="no")
    qualify, clear = QUALIFY, guarded(ActionKind.CLEAR_STAGE, depends_on=(1,))
    first, second = reserved(found(), refused, qualify, clear)
    assert [first.ordinal, second.ordinal] == [1, 2]
    assert second.depends_on == (first.mutation_key,)
    assert (first.reason, second.reason) == (None, Reason.DEPENDS)


def test_what_is_held_for_a_person_needs_approval_although_it_depends_on_something() -> None:
    held = guarded(ActionKind.SET_STAGE, Verdict.FOR_A_PERSON, depends_on=(0,), why="backward")
    first, second = reserved(found(), QUALIFY, held)
    assert (second.reason, second.depends_on) == (Reason.NEEDS_APPROVAL, (first.mutation_key,))


def test_key_and_fingerprint_are_made_from_what_is_intended_and_not_from_prose_or_record() -> None:
    (mutation,) = reserved(found(), QUALIFY)
    assert mutation.mutation_key == keys.mutation_key(
        event_key=LEAD.event_key,
        policy_version="1",
        action_kind="qualify",
        target_system="hubspot",
        target_object="contact",
        discriminator=None,
    )
    assert mutation.fingerprint == keys.fingerprint(QUALIFY.action.fields, specs_for(policy(), "hubspot"))
    prose = QUALIFY.model_copy(update={"action": QUALIFY.action.model_copy(update={"reason": "in other words"})})
    (other,) = reserved(found("x" * 64, owner="9"), prose)
    assert (other.mutation_key, other.fingerprint) == (mutation.mutation_key, mutation.fingerprint)
    assert other.intent.mutation_key == other.mutation_key


def test_two_actions_with_one_key_make_the_plan_malformed() -> None:
    with pytest.raises(MalformedPlan):
        reserved(found(), QUALIFY, QUALIFY)
