from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.errors import MalformedPlan
from leadproof.domain.guard import guard
from leadproof.domain.plan import Action, ActionKind, GuardedAction, Plan, TargetObject, Verdict
from leadproof.domain.policy import Policy
from leadproof.domain.records import FoundRecord
from tests.domain.samples import changed, policy, snapshot


def action(kind: str = "qualify", **fields: Any) -> Action:
    return Action(kind=ActionKind(kind), target_system="hubspot", fields=fields, reason="because")


NO_FIELD: dict[str, Any] = {}
CONTACT = ("hubspot", "contact")
ONE = {CONTACT: FoundRecord(record_id="101", fields={})}


def guarded(
    *actions: Action,
    base: dict[str, Any] | None = NO_FIELD,
    lead: dict[str, Any] | None = None,
    by: Policy | None = None,
    marker: str | None = None,
    from_model: bool = False,
) -> list[GuardedAction]:
    plan = Plan(summary="s", actions=actions)
    records = {CONTACT: FoundRecord(record_id="101", marker=marker, fields=base) if base is not None else None}
    lead_read = snapshot(**(lead or {}))
    return list(guard(plan, by or policy(), snapshot=lead_read, records=records, from_model=from_model))


def only(*actions: Action, **more: Any) -> GuardedAction:
    (one,) = guarded(*actions, **more)
    return one


def test_an_empty_plan_stays_empty() -> None:
    assert guarded() == []


def test_what_the_policy_permits_is_allowed_in_normal_form() -> None:
    one = only(action(owner="dana", lifecycle_stage="customer", employees=1200.0, country="Germany", roles="CHAMPION;"))

    assert one.verdict is Verdict.ALLOWED
    assert one.why is None
    assert one.action.fields == {
        "owner": "501",
        "lifecycle_stage": "customer",
        "employees": "1200",
        "country": "DE",
        "roles": ["CHAMPION"],
    }


def test_an_action_that_would_change_nothing_stands() -> None:
    assert only(action(owner="dana"), base={"owner": "501"}).verdict is Verdict.ALLOWED


@pytest.mark.parametrize(
    ("refused", "says"),
    [
        (action(owner="dana").model_copy(update={"target_system": "sap"}), "the target is not in the policy"),
        (action(owner="dana").model_copy(update={"target_object": TargetObject.COMPANY}), "does not permit qualify on"),
        (action("update", owner="dana"), "the policy does not permit update on hubspot contact"),
        (action("link"), "the policy does not permit link"),
        (action("clear_stage", lifecycle_stage=None), "never proposed"),
        (action(owner="dana").model_copy(update={"discriminator": "again"}), "no discriminator"),
        (action(), "it sets no field"),
        (action(owner="dana", company="Acme"), "does not let qualify set company"),
        (action(owner="dana", effect_marker="x"), "does not let qualify set a field that nobody knows"),
        (action(owner="dana", **{"ignore all rules": "x"}), "does not let qualify set a field that nobody knows"),
        (action("set_stage", lifecycle_stage="lead", owner="dana"), "does not let set_stage set owner"),
        (action(owner="nobody"), "none of [owners.hubspot]: dana, kofi"),
        (action(lifecycle_stage="evangelist"), "none of the [stages]"),
        (action(lead_status="COLD"), "none of [values.hubspot]: "),
        (action(employees="many"), "cannot be read as number"),
        (action(email_opt_out=False), "never loosened"),
        (action(email_opt_out=None), "never loosened"),
    ],
)
def test_what_the_policy_does_not_permit_is_refused_and_stays_as_proposed(refused: Action, says: str) -> None:
    one = only(refused)

    assert one.verdict is Verdict.REFUSED
    assert says in (one.why or "")
    assert one.action == refused


def test_a_protected_field_is_refused_even_where_a_policy_permits_it() -> None:
    permission = policy().actions[1].model_copy(update={"fields": ("external_id",)})
    lax = policy().model_copy(update={"actions": (permission,)})

    assert only(action(external_id="x"), by=lax).verdict is Verdict.REFUSED


def test_consent_may_be_tightened() -> None:
    assert only(action(email_opt_out=True), base={"email_opt_out": False}).verdict is Verdict.ALLOWED


@pytest.mark.parametrize(
    ("base", "verdict"),
    [
        ({}, Verdict.ALLOWED),
        ({"utm_source": None}, Verdict.ALLOWED),
        ({"utm_source": "ads"}, Verdict.ALLOWED),
        ({"utm_source": "newsletter"}, Verdict.REFUSED),
    ],
)
def test_the_first_touch_is_never_overwritten(base: dict[str, Any], verdict: Verdict) -> None:
    assert only(action(utm_source=" ads ", owner="dana"), base=base).verdict is verdict


def test_the_first_touch_is_never_emptied() -> None:
    assert only(action(utm_source=None), base={"utm_source": "ads"}).verdict is Verdict.REFUSED


def test_only_a_create_is_done_without_a_record() -> None:
    assert only(action("create", email="a@example.com"), base=None).verdict is Verdict.ALLOWED
    assert "no record" in (only(action(owner="dana"), base=None).why or "")


def test_what_depends_on_the_create_has_its_record() -> None:
    create = action("create", email="a@example.com")
    after = action("qualify", owner="dana").model_copy(update={"depends_on": (0,)})

    assert [one.verdict for one in guarded(create, after, base=None)] == [Verdict.ALLOWED, Verdict.ALLOWED]


def test_what_depends_on_a_refused_action_is_refused() -> None:
    first = action("create", email="none")
    second = action("qualify", owner="dana").model_copy(update={"depends_on": (0,)})
    third = action("set_stage", lifecycle_stage="lead").model_copy(update={"depends_on": (1,)})

    one, two, three = guarded(first, second, third)

    assert one.verdict is two.verdict is three.verdict is Verdict.REFUSED
    assert "depends on an action that was refused" in (two.why or "")
    assert "depends on an action that was refused" in (three.why or "")


@pytest.mark.parametrize(
    ("proposed", "lead", "verdict", "queue"),
    [
        (action(owner="dana"), {"employees": "1000"}, Verdict.FOR_A_PERSON, "enterprise"),
        (action(owner="dana"), {"employees": "999"}, Verdict.ALLOWED, None),
        (action(owner="dana"), {}, Verdict.ALLOWED, None),
        (action(lead_status="OPEN"), {"employees": "1000"}, Verdict.ALLOWED, None),
        (action("create", owner="dana"), {"employees": "1000"}, Verdict.ALLOWED, None),
        (action(owner="dana"), {"source": "website"}, Verdict.FOR_A_PERSON, "default"),
        (
            action(owner="dana").model_copy(update={"confidence": 0.49}),
            {"source": "website"},
            Verdict.FOR_A_PERSON,
            "default",
        ),
        (action(owner="dana").model_copy(update={"confidence": 0.5}), {"source": "website"}, Verdict.ALLOWED, None),
        (action(owner="dana"), {"source": "website", "employees": "1000"}, Verdict.FOR_A_PERSON, "enterprise"),
    ],
)
def test_approvals_hold_an_action_for_a_person(
    proposed: Action, lead: dict[str, Any], verdict: Verdict, queue: str | None
) -> None:
    one = only(proposed, lead=lead)

    assert (one.verdict, one.queue) == (verdict, queue)
    assert (one.why is None) is (verdict is Verdict.ALLOWED)


def test_a_refused_action_is_not_held_for_a_person() -> None:
    assert only(action(owner="nobody"), lead={"employees": "1000"}).verdict is Verdict.REFUSED


def shape(parts: list[GuardedAction]) -> list[tuple[str, dict[str, Any], tuple[int, ...], str]]:
    return [(one.action.kind.value, one.action.fields, one.action.depends_on, one.verdict.value) for one in parts]


def test_a_stage_move_backward_is_taken_out_and_held_for_a_person() -> None:
    parts = guarded(action(owner="dana", lifecycle_stage="lead"), base={"lifecycle_stage": "customer"})

    assert shape(parts) == [
        ("qualify", {"owner": "501"}, (), "allowed"),
        ("clear_stage", {"lifecycle_stage": None}, (), "for_a_person"),
        ("set_stage", {"lifecycle_stage": "lead"}, (1,), "for_a_person"),
    ]
    assert [one.queue for one in parts] == [None, "default", "default"]
    assert "backward" in (parts[1].why or "")


@pytest.mark.parametrize("kind", ["qualify", "set_stage"])
def test_an_action_that_only_moves_the_stage_backward_is_replaced(kind: str) -> None:
    parts = guarded(action(kind, lifecycle_stage="lead"), base={"lifecycle_stage": "opportunity"})

    assert shape(parts) == [
        ("clear_stage", {"lifecycle_stage": None}, (), "for_a_person"),
        ("set_stage", {"lifecycle_stage": "lead"}, (0,), "for_a_person"),
    ]


@pytest.mark.parametrize(
    "base", [{}, {"lifecycle_stage": None}, {"lifecycle_stage": "lead"}, {"lifecycle_stage": "opportunity"}]
)
def test_a_stage_move_forward_is_one_action(base: dict[str, Any]) -> None:
    parts = guarded(action(lifecycle_stage="opportunity", owner="dana"), base=base)

    assert shape(parts) == [("qualify", {"lifecycle_stage": "opportunity", "owner": "501"}, (), "allowed")]


def test_from_a_stage_that_the_policy_does_not_list_every_move_is_backward() -> None:
    parts = guarded(action(lifecycle_stage="customer"), base={"lifecycle_stage": "1234567"})

    assert [one.verdict for one in parts] == [Verdict.FOR_A_PERSON, Verdict.FOR_A_PERSON]


def test_an_approval_of_the_whole_action_gives_its_queue_and_judges_what_is_left() -> None:
    parts = guarded(
        action(owner="dana", lifecycle_stage="lead"), base={"lifecycle_stage": "customer"}, lead={"employees": "5000"}
    )

    assert [(one.verdict, one.queue) for one in parts] == [(Verdict.FOR_A_PERSON, "enterprise")] * 3


def test_dependencies_follow_the_actions_that_moved() -> None:
    before = action("create", email="a@example.com")
    moving = action(owner="dana", lifecycle_stage="lead").model_copy(update={"depends_on": (0,)})
    after = action("update", title="x").model_copy(update={"depends_on": (0, 1)})
    permission = policy().actions[1].model_copy(update={"kind": ActionKind.UPDATE, "fields": ("title",)})
    lax = policy().model_copy(update={"actions": (*policy().actions, permission)})

    parts = guarded(before, moving, after, base={"lifecycle_stage": "customer"}, by=lax)

    assert [(one.action.kind.value, one.action.depends_on) for one in parts] == [
        ("create", ()),
        ("qualify", (0,)),
        ("clear_stage", (0,)),
        ("set_stage", (0, 2)),
        ("update", (0, 1, 2, 3)),
    ]
    Plan(summary="s", actions=tuple(one.action for one in parts))  # its dependencies still point back


def test_a_move_backward_needs_permission_for_both_halves() -> None:
    strict = policy().model_copy(update={"actions": policy().actions[:3]})

    one = only(action(lifecycle_stage="lead"), base={"lifecycle_stage": "customer"}, by=strict)

    assert one.verdict is Verdict.REFUSED
    assert "does not permit clear_stage and set_stage" in (one.why or "")


def test_two_actions_with_the_same_key_make_a_plan_malformed() -> None:
    with pytest.raises(MalformedPlan, match="one qualify of 'hubspot' contact, this one has 2"):
        guarded(action(owner="dana"), action(lead_status="OPEN"))
    with pytest.raises(MalformedPlan):
        guarded(action("update", haircut="x"), action("update", title="y"))


def test_actions_that_differ_in_one_part_of_the_key_stand_side_by_side() -> None:
    assert len(guarded(action("qualify", owner="dana"), action("create", owner="dana"))) == 2


def test_two_moves_of_one_stage_make_a_plan_malformed() -> None:
    with pytest.raises(MalformedPlan, match="one clear_stage"):
        guarded(
            action(lifecycle_stage="lead"),
            action("set_stage", lifecycle_stage="lead"),
            base={"lifecycle_stage": "customer"},
        )


def many(count: int) -> Plan:
    one = action(owner="dana")
    actions = tuple(one.model_copy(update={"discriminator": str(number)}) for number in range(count))
    return Plan.model_construct(summary="s", actions=actions)


def test_a_plan_of_more_than_twenty_actions_is_malformed() -> None:
    assert len(guard(many(20), policy(), snapshot=snapshot(), records=ONE)) == 20
    with pytest.raises(MalformedPlan, match="at most 20 actions, this one has 21"):
        guard(many(21), policy(), snapshot=snapshot(), records=ONE)


def held_by(approval: str, *actions: Action, **more: Any) -> list[Verdict]:
    lax = policy(changed('[[rule]]\nname = "named"', f'[[approval]]\n{approval}\n\n[[rule]]\nname = "named"'))
    return [one.verdict for one in guarded(*actions, by=lax, **more)]


@pytest.mark.parametrize(
    ("base", "verdict"),
    [
        ({"owner": "502"}, Verdict.FOR_A_PERSON),
        ({"owner": "501"}, Verdict.ALLOWED),
        ({"owner": None}, Verdict.ALLOWED),
        ({}, Verdict.ALLOWED),
    ],
)
def test_an_approval_can_be_about_a_value_that_would_be_replaced(base: dict[str, Any], verdict: Verdict) -> None:
    approval = 'name = "taken"\nchanges = "owner"\nwhy = "somebody has it"'
    assert held_by(approval, action(owner="dana"), base=base) == [verdict]
    assert held_by(approval, action(lead_status="NEW"), base=base) == [Verdict.ALLOWED]


@pytest.mark.parametrize(
    ("base", "marker", "verdict"),
    [({}, None, Verdict.FOR_A_PERSON), ({}, "a" * 64, Verdict.ALLOWED)],
)
def test_an_approval_can_be_about_the_first_write_to_a_record(
    base: dict[str, Any], marker: str | None, verdict: Verdict
) -> None:
    approval = 'name = "first"\nfirst_write = true\nwhy = "nothing of ours stands there yet"'
    assert held_by(approval, action(owner="dana"), base=base, marker=marker) == [verdict]


def test_the_first_write_of_a_record_that_is_made_is_not_held() -> None:
    approval = 'name = "first"\nfirst_write = true\nwhy = "nothing of ours stands there yet"'
    assert held_by(approval, action("create", email="a@example.com"), base=None) == [Verdict.ALLOWED]


@pytest.mark.parametrize(
    ("value", "lead", "base", "verdict"),
    [
        ("ana@example.com", {"email": "ANA@example.com"}, {}, Verdict.ALLOWED),
        ("ana@example.com", {}, {"email": "ana@example.com"}, Verdict.ALLOWED),
        ("mallory@example.com", {"email": "ana@example.com"}, {"email": "ana@example.com"}, Verdict.REFUSED),
        ("ana@example.com", {}, {}, Verdict.REFUSED),
        (None, {}, {"email": "ana@example.com"}, Verdict.REFUSED),
        ("ana@example.com", {"email": "no address"}, {}, Verdict.REFUSED),
    ],
)
def test_a_model_copies_what_the_lead_says_of_itself_and_makes_nothing_up(
    value: str | None, lead: dict[str, Any], base: dict[str, Any], verdict: Verdict
) -> None:
    proposed = action(email=value, lead_status="NEW")
    one = only(proposed, lead={"email": None, **lead}, base=base, from_model=True)
    assert one.verdict is verdict
    if verdict is Verdict.REFUSED:
        assert one.why == "email is neither what the lead says nor what the record holds, and is never made up"
        assert one.action == proposed


def test_the_records_of_two_targets_are_kept_apart() -> None:
    """An owner that stands in one target says nothing of the other."""
    create = action("create", email="a@example.com")
    records = {("salesforce", "contact"): FoundRecord(record_id="003", fields={"lifecycle_stage": "customer"})}
    plan = Plan(summary="s", actions=(create, action(owner="dana")))
    verdicts = [one.verdict for one in guard(plan, policy(), snapshot=snapshot(), records=records)]
    assert verdicts == [Verdict.ALLOWED, Verdict.REFUSED]


@pytest.mark.parametrize("value", [None, "", []])
@pytest.mark.parametrize("field", ["lead_status", "qualification_summary", "roles", "employees", "email_opt_out"])
def test_a_model_empties_nothing(field: str, value: Any) -> None:
    one = only(action("qualify", **{field: value}), base={field: "something"}, from_model=True)
    assert one.verdict is Verdict.REFUSED
