from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadproof.domain.errors import MalformedPlan
from leadproof.domain.guard import guard
from leadproof.domain.plan import ActionKind, Plan, Verdict
from leadproof.domain.planning import TargetState, mutations_from
from leadproof.domain.records import FoundRecord, LookUp, Presence
from leadproof.planners.proposal import plan_of
from tests.domain.samples import snapshot
from tests.planners.samples import a_lead, claude_policy

POLICY = claude_policy()
LEAD = snapshot(email="ana@acme.example", phone="+4930123456", first_name="Ana", company="Acme", country="DE")


def an_action(action: str = "qualify hubspot contact", **sets: Any) -> dict[str, Any]:
    return {
        "action": action,
        "sets": [{"field": field, "value": value} for field, value in sets.items()],
        "reason": "a German company",
        "evidence": [{"field": "country", "says": "DE"}],
    }


def an_answer(*actions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"summary": "give it to dana", "confidence": 0.8, "actions": list(actions)} | more


def read(answer: Any, lead: Any = LEAD) -> Plan:
    return plan_of(answer if isinstance(answer, str) else json.dumps(answer), lead, POLICY)


def test_an_answer_becomes_a_plan() -> None:
    plan = read(an_answer(an_action(owner="dana", roles=["CHAMPION"], email_opt_out=True)))
    (action,) = plan.actions
    assert (plan.summary, action.kind, action.target_system, action.target_object) == (
        "give it to dana", "qualify", "hubspot", "contact",
    )  # fmt: skip
    assert action.fields == {"owner": "dana", "roles": ["CHAMPION"], "email_opt_out": True}
    assert (action.reason, action.confidence, action.depends_on) == ("a German company", 0.8, ())
    assert [(one.source, one.says) for one in action.evidence] == [("hubspot contact 123, country", "DE")]


@pytest.mark.parametrize("confidence", [0, 1, 0.5])
def test_confidence_is_any_number_from_0_to_1(confidence: float) -> None:
    assert [one.confidence for one in read(an_answer(an_action(owner="dana"), confidence=confidence)).actions] == [
        confidence
    ]


def test_nothing_to_do_is_a_plan() -> None:
    assert read(an_answer()) == Plan(summary="give it to dana")


def test_long_prose_is_cut() -> None:
    plan = read(an_answer({**an_action(owner="dana"), "reason": "r" * 5000}, summary="s" * 5000))
    assert (len(plan.summary), len(plan.actions[0].reason)) == (2000, 2000)


def test_a_create_gets_what_the_lead_says_of_the_person() -> None:
    (action,) = read(an_answer(an_action("create hubspot contact", owner="dana"))).actions
    assert action.fields == {"email": "ana@acme.example", "phone": "+4930123456", "owner": "dana"}


def test_a_contact_detail_that_the_model_made_up_is_refused_by_the_guard() -> None:
    plan = read(an_answer(an_action("create hubspot contact", owner="dana", email="eve@evil.example")))
    (judged,) = guard(plan, POLICY, snapshot=LEAD, records={("hubspot", "contact"): None}, from_model=True)
    assert judged.verdict is Verdict.REFUSED
    assert "never made up" in str(judged.why)


@pytest.mark.parametrize(
    "action",
    [
        an_action(owner="mallory"),
        an_action(lifecycle_stage="evangelist"),
        an_action(hs_secret="1"),
        an_action(owner=None),
        an_action("update hubspot contact", owner="dana"),
        an_action("qualify salesforce contact", owner="dana"),
        an_action("qualify hubspot company", owner="dana"),
        an_action("clear_stage hubspot contact", lifecycle_stage="lead"),
        an_action("set_stage hubspot contact", lifecycle_stage="nowhere"),
        an_action(),
    ],
    ids=lambda action: f"{action['action']} {[one['field'] for one in action['sets']]}",
)
def test_what_the_schema_does_not_offer_stays_to_be_refused_by_name(action: dict[str, Any]) -> None:
    record = FoundRecord(record_id="123", fields={"owner": None})
    plan = read(an_answer(action))
    (judged,) = guard(plan, POLICY, snapshot=LEAD, records={("hubspot", "contact"): record}, from_model=True)
    assert judged.verdict is Verdict.REFUSED
    assert judged.why


GOOD = an_answer(an_action(owner="dana"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "JSON"),
        ("I would give it to dana", "JSON"),
        (f"```json\n{json.dumps(GOOD)}\n```", "JSON"),
        (json.dumps(GOOD)[:40], "JSON"),
        (json.dumps(GOOD) * 2, "JSON"),
        ('{"summary": "a", "summary": "b", "confidence": 1, "actions": []}', "JSON"),
        ('{"summary": "a", "confidence": NaN, "actions": []}', "JSON"),
        ('{"summary": "a", "confidence": 1e999, "actions": []}', "JSON"),
        (f'{{"summary": "a", "confidence": {"9" * 2000}, "actions": []}}', "JSON"),
        ('{"summary": "\\ud800", "confidence": 1, "actions": []}', "JSON"),
        ('{"summary": "\\u0000", "confidence": 1, "actions": []}', "JSON"),
        ("[" * 100_000, "JSON"),
        ([GOOD], "the top"),
        (None, "the top"),
        ({key: value for key, value in GOOD.items() if key != "actions"}, "actions"),
        (an_answer(note="not asked for"), "the top"),
        (an_answer(confidence="high"), "confidence"),
        (an_answer(confidence=True), "confidence"),
        (an_answer(confidence=1.5), "confidence"),
        (an_answer(confidence=-0.1), "confidence"),
        (an_answer(confidence=None), "confidence"),
        (an_answer(summary=7), "summary"),
        (an_answer(*[an_action(owner="dana")] * 21), "actions"),
        (an_answer({**an_action(), "sets": {"owner": "dana"}}), "actions.0.sets"),
        (an_answer({**an_action(), "note": "n"}), "actions.0"),
        (an_answer({**an_action(), "sets": [{"field": "owner"}]}), "actions.0.sets.0.value"),
        (an_answer({**an_action(), "sets": [{"field": "owner", "value": {"a": 1}}]}), "actions.0.sets.0.value"),
        (an_answer(an_action(**{"Owner Name": "dana"})), "actions.0.sets.0.field"),
        (an_answer({**an_action(owner="dana"), "sets": an_action(owner="dana")["sets"] * 2}), "twice"),
        (an_answer({**an_action(), "evidence": ["DE"]}), "actions.0.evidence.0"),
        (an_answer(an_action("send linq message", to="+49")), "kind of action"),
        (an_answer(an_action("qualify")), "kind of action"),
        (an_answer(an_action("qualify hubspot contact now")), "kind of action"),
        (an_answer(an_action("qualify  contact")), "kind of action"),
    ],
)
def test_an_answer_of_another_form_is_malformed(answer: Any, why: str) -> None:
    with pytest.raises(MalformedPlan, match=why):
        read(answer)


def test_of_a_malformed_answer_nothing_is_repeated() -> None:
    with pytest.raises(MalformedPlan) as refused:
        read(an_answer({**an_action(), "ana@acme.example": "secret"}, secret_name=1))
    assert "secret" not in str(refused.value)
    assert "acme" not in str(refused.value)


def reserved(plan: Plan) -> list[tuple[str, str]]:
    """Keys and fingerprints of what a plan reserves."""
    record = FoundRecord(record_id="123", fields={"owner": None})
    target = TargetState(found=LookUp(presence=Presence.ONE, record=record), read_at=LEAD.read_at)
    judged = guard(plan, POLICY, snapshot=LEAD, records={("hubspot", "contact"): record}, from_model=True)
    made = mutations_from(a_lead(), judged, POLICY, {("hubspot", "contact"): target}, LEAD.read_at)
    return [(one.mutation_key, one.fingerprint) for one in made]


PROSE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200)


@given(summary=PROSE, reason=PROSE, says=PROSE, confidence=st.floats(0.5, 1), turned=st.booleans())
def test_no_prose_of_a_model_moves_a_key(summary: str, reason: str, says: str, confidence: float, turned: bool) -> None:
    action = an_action(owner="dana", lead_status="NEW")
    told = {**action, "reason": reason, "evidence": [{"field": "company", "says": says}]}
    told["sets"] = action["sets"][::-1] if turned else action["sets"]
    plan = read(an_answer(told, summary=summary, confidence=confidence))
    assert reserved(plan) == reserved(read(an_answer(action)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["owner", "lifecycle_stage", "email", "hubspot_owner_id", "record_id"]) | st.text(max_size=12)
ACTIONS = st.fixed_dictionaries(
    {
        "action": st.sampled_from([f"{kind} hubspot contact" for kind in ActionKind]) | st.text(max_size=30),
        "sets": st.lists(st.fixed_dictionaries({"field": NAMES, "value": JSON}), max_size=3) | JSON,
        "reason": st.text(max_size=30),
        "evidence": st.just([]) | JSON,
    }
)
ANSWERS = st.fixed_dictionaries(
    {"summary": st.text(max_size=30), "confidence": st.floats(0, 1) | JSON, "actions": st.lists(ACTIONS, max_size=3)}
)


@given(ANSWERS | JSON)
def test_any_answer_is_a_plan_or_malformed_and_what_is_allowed_is_permitted(answer: Any) -> None:
    try:
        plan = read(json.dumps(answer))
        judged = guard(
            plan,
            POLICY,
            snapshot=LEAD,
            records={("hubspot", "contact"): FoundRecord(record_id="123", fields={"owner": None})},
            from_model=True,
        )
    except MalformedPlan:
        return
    for one in judged:
        if one.verdict is Verdict.ALLOWED:
            permission = POLICY.permission(one.action.kind, one.action.target_system, one.action.target_object)
            assert permission is not None
            assert set(one.action.fields) <= set(permission.fields)
