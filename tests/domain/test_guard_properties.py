"""Whatever a planner proposes: what comes out allowed keeps to the policy."""

from __future__ import annotations

from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from leadproof.domain.errors import MalformedPlan
from leadproof.domain.field_catalog import CATALOG, CONSENT, FIRST_TOUCH, PROTECTED, specs_for
from leadproof.domain.fields import FieldType, normal
from leadproof.domain.guard import guard
from leadproof.domain.plan import MOST_ACTIONS, Action, ActionKind, GuardedAction, Plan, TargetObject, Verdict
from leadproof.domain.records import FoundRecord
from tests.domain.samples import policy, snapshot

POLICY = policy()
STAGES = POLICY.stages["hubspot"]
PERMITTED = sorted({name for permission in POLICY.actions for name in permission.fields})
LIKELY: dict[str, st.SearchStrategy[Any]] = {
    "owner": st.sampled_from(["dana", "kofi", "501", "502"]),
    "second_owner": st.sampled_from(["dana", "502"]),
    "lifecycle_stage": st.sampled_from(STAGES),
    "lead_status": st.sampled_from(["NEW", " OPEN", None]),
    "utm_source": st.sampled_from(["ads", " ads ", "newsletter"]),
    "email_opt_out": st.sampled_from([True, False]),
    "email": st.sampled_from(["a@example.com", "A@Example.com "]),
    "phone": st.sampled_from(["+49 30 123456", "030 123456"]),
    "employees": st.integers(-9, 9999),
    "budget": st.sampled_from(["1e3", 12.5, 7]),
    "roles": st.sampled_from(["CHAMPION", ["BUDGET_HOLDER", "CHAMPION"]]),
    "country": st.sampled_from(["Germany", "DE", "Atlantis"]),
    "qualification_summary": st.text(max_size=8),
}
BAD = st.sampled_from(
    ["503", "Dana", "evangelist", "lead ", "COLD", "KING", "nobody", False, None, "no", "\x00", "customer", "dana"]
)
ANYTHING = BAD | st.integers(-9, 99) | st.text(max_size=6) | st.lists(st.text(max_size=3), max_size=2)
ANY_NAME = st.sampled_from([*PERMITTED, *CATALOG, *sorted(PROTECTED)]) | st.text(max_size=8)
USUAL = [ActionKind.QUALIFY, ActionKind.CREATE, ActionKind.SET_STAGE]


@st.composite
def honest(draw: st.DrawFn, kind: ActionKind) -> dict[str, Any]:
    permission = POLICY.permission(kind, "hubspot", "contact")
    assert permission is not None
    names = draw(st.permutations(permission.fields))[: draw(st.integers(1, 3))]
    return {"kind": kind, "target_system": "hubspot", "fields": {name: draw(LIKELY[name]) for name in names}}


@st.composite
def hostile(draw: st.DrawFn, kind: ActionKind) -> dict[str, Any]:
    proposed = draw(honest(kind))
    fields = {**proposed["fields"], **draw(st.dictionaries(ANY_NAME, ANYTHING, max_size=2))}
    spoiled = {
        "kind": st.sampled_from(ActionKind),
        "target_system": st.just("salesforce"),
        "target_object": st.sampled_from(TargetObject),
        "discriminator": st.text(max_size=3),
        "fields": st.dictionaries(ANY_NAME, ANYTHING, max_size=3),
    }
    at = draw(st.sampled_from([None, *spoiled]))
    return {**proposed, "fields": fields, **({at: draw(spoiled[at])} if at else {})}


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    actions = []
    for ordinal, kind in enumerate(draw(st.permutations(USUAL))[: draw(st.integers(1, 3))]):
        proposed = draw(honest(kind) | honest(kind) | hostile(kind))
        earlier = [draw(st.integers(0, ordinal - 1))] if ordinal and draw(st.booleans()) else []
        actions.append(
            Action(
                **proposed, reason="r", confidence=draw(st.sampled_from([None, 0.2, 0.9])), depends_on=tuple(earlier)
            )
        )
    return Plan(summary="s", actions=tuple(actions))


RECORDS = st.fixed_dictionaries(
    {"lifecycle_stage": st.sampled_from([None, *STAGES, "1234567"])},
    optional={"utm_source": st.sampled_from(["ads", None]), "owner": st.sampled_from(["501", "777", None])},
)
BASES = RECORDS | RECORDS | st.none()


def records_of(base: dict[str, Any] | None) -> dict[tuple[str, str], FoundRecord | None]:
    return {("hubspot", "contact"): FoundRecord(record_id="101", fields=base) if base is not None else None}


def kept(plan: Plan, base: dict[str, Any] | None, employees: str | None) -> tuple[GuardedAction, ...] | None:
    lead = snapshot(employees=employees) if employees else snapshot("website")
    try:
        return guard(plan, POLICY, snapshot=lead, records=records_of(base))
    except MalformedPlan:
        return None


@settings(deadline=None, max_examples=50)
@given(plans(), BASES, st.sampled_from([None, "10", "5000"]))
def test_what_may_be_written_keeps_to_the_policy(
    plan: Plan, base: dict[str, Any] | None, employees: str | None
) -> None:
    guarded = kept(plan, base, employees)
    event("malformed" if guarded is None else ", ".join(sorted({one.verdict.value for one in guarded})) or "empty")
    for one in guarded or ():
        if one.verdict is not Verdict.REFUSED:
            _keeps_to_the_policy(one, base or {})


def _keeps_to_the_policy(one: GuardedAction, base: dict[str, Any]) -> None:
    action = one.action
    permission = POLICY.permission(action.kind, action.target_system, action.target_object)
    assert permission is not None
    assert action.fields.keys() <= set(permission.fields) - PROTECTED
    assert action.discriminator is None
    specs = specs_for(POLICY, action.target_system)
    for name, value in action.fields.items():
        assert normal(specs[name], value) == value
        if specs[name].type is FieldType.OWNER:
            assert value in POLICY.owners["hubspot"].values()
        if name == "lifecycle_stage":
            assert value in STAGES or (value is None and action.kind is ActionKind.CLEAR_STAGE)
        if name == "lead_status":
            assert value in ("NEW", "OPEN", None)
        if name in CONSENT:
            assert value is True
        if name in FIRST_TOUCH and base.get(name) is not None:
            assert value == base[name]
    if one.verdict is Verdict.ALLOWED:
        assert one.why is None
        assert action.kind is not ActionKind.CLEAR_STAGE
        stage, present = action.fields.get("lifecycle_stage"), base.get("lifecycle_stage")
        if stage is not None and present is not None and stage != present:
            assert STAGES.index(stage) > STAGES.index(present)
    else:
        assert one.why
        assert one.queue in POLICY.queues


@settings(deadline=None, max_examples=30)
@given(plans(), BASES, st.sampled_from([None, "10", "5000"]))
def test_what_is_recorded_is_a_plan_again(plan: Plan, base: dict[str, Any] | None, employees: str | None) -> None:
    guarded = kept(plan, base, employees)
    if guarded is None:
        return
    again = Plan(summary=plan.summary, actions=tuple(one.action for one in guarded))
    keys = {(one.kind, one.target_system, one.target_object, one.discriminator) for one in again.actions}

    assert len(keys) == len(again.actions) <= MOST_ACTIONS
    assert len(guarded) >= len(plan.actions)
    for one in guarded:
        if one.verdict is not Verdict.REFUSED:
            assert all(guarded[needed].verdict is not Verdict.REFUSED for needed in one.action.depends_on)
    assert kept(plan, base, employees) == guarded
