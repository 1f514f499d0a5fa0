"""Who plans, what a model may be let near, and when a stronger one is asked."""

from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.errors import PolicyRefused
from leadproof.domain.escalation import asks_stronger, begins_stronger
from leadproof.domain.plan import Action, ActionKind, GuardedAction, Verdict
from leadproof.domain.policy_text import parse_policy
from tests.domain.samples import POLICY, changed, line_of, snapshot

CLAUDE = """\
version = "1"
planner = "claude"

[claude]
instructions = "Owners by country."

[claude.escalation]
model = "claude-sonnet-5-5"
when = { at_least = { employees = 5000 } }
below_confidence = 0.5
after_refusal = true
"""
MODEL = changed('version = "1"\n', CLAUDE).replace('"email_opt_out", "budget", "roles"', '"email_opt_out", "roles"')
"""The sample policy with Claude planning; a sum of money is nothing that it may write."""


def test_the_policy_plans_what_no_event_kind_gives_to_another() -> None:
    policy = parse_policy(MODEL.replace('kind = "contact.creation"', 'kind = "contact.creation"\nplanner = "rules"'))
    assert policy.planner_of("hubspot", "contact.creation") == "rules"
    assert policy.planner_of("hubspot", "contact.propertyChange") == "claude"
    assert (policy.plans_with("rules"), policy.plans_with("claude")) == (True, False)
    assert parse_policy(POLICY).plans_with("rules")


@pytest.mark.parametrize(
    ("text", "where", "why"),
    [
        (
            POLICY.replace('version = "1"', 'version = "1"\nplanner = "claude"'),
            "planner =",
            "needs a \\[claude\\] table",
        ),
        (
            POLICY.replace('kind = "contact.creation"', 'kind = "contact.creation"\nplanner = "claude"'),
            "planner =",
            "needs a \\[claude\\] table",
        ),
        (MODEL.replace("[claude]\n", '[claude]\nshows = ["salary"]\n'), "shows =", "the field 'salary' is unknown"),
        (MODEL.replace("[claude]\n", '[claude]\nmodel = "a model"\n'), 'model = "a model', "'model' in claude"),
        (
            MODEL.replace("[claude]\n", "[claude]\ntemperature = 0\n"),
            "temperature",
            "a key that the policy does not know",
        ),
        (
            MODEL.replace("employees = 5000", "owner = 5000"),
            "when = { at_least = { owner",
            "the field 'owner' is no number",
        ),
        (
            MODEL.partition("when = { at_least = { employees = 5000")[0] + POLICY.partition('version = "1"\n')[2],
            "[claude.escalation]",
            "says no occasion",
        ),
        (
            MODEL.replace('"roles", "employees"', '"roles", "budget", "employees"'),
            '"lead_status", "utm_source", "email_opt_out", "roles"',
            "Claude may write 'budget'",
        ),
        (
            MODEL.replace('roles = ["BUDGET_HOLDER", "CHAMPION"]\n', ""),
            '"lead_status", "utm_source", "email_opt_out", "roles"',
            "Claude may write 'roles'",
        ),
    ],
)
def test_what_cannot_work_or_cannot_be_checked_is_refused(text: str, where: str, why: str) -> None:
    with pytest.raises(PolicyRefused, match=why) as refused:
        parse_policy(text)
    assert refused.value.line == line_of(text, where)


def test_the_sample_with_claude_is_accepted() -> None:
    claude = parse_policy(MODEL).claude
    assert claude is not None
    assert (claude.model, claude.effort) == ("claude-haiku-5-5", "low")
    assert "email" not in claude.shows, "who it is does not leave unless the policy says so"


def judged(verdict: Verdict = Verdict.ALLOWED, confidence: float | None = 0.9) -> GuardedAction:
    action = Action(
        kind=ActionKind.QUALIFY, target_system="hubspot", fields={"owner": "501"}, reason="r", confidence=confidence
    )
    return GuardedAction(action=action, verdict=verdict)


@pytest.mark.parametrize(
    ("guarded", "asks"),
    [
        ([judged()], False),
        ([judged(confidence=0.5)], False),
        ([judged(confidence=0.4)], True),
        ([judged(confidence=None)], True),
        ([judged(), judged(Verdict.REFUSED)], True),
        ([judged(Verdict.FOR_A_PERSON)], False),
        ([], False),
    ],
)
def test_a_stronger_model_is_asked_where_the_policy_says_so(guarded: list[GuardedAction], asks: bool) -> None:
    assert asks_stronger(parse_policy(MODEL), guarded) is asks
    assert asks_stronger(parse_policy(POLICY), guarded) is False


@pytest.mark.parametrize(
    ("fields", "begins"), [({"employees": "5000"}, True), ({"employees": "10"}, False), ({}, False)]
)
def test_a_lead_can_be_the_stronger_models_from_the_beginning(fields: dict[str, Any], begins: bool) -> None:
    assert begins_stronger(parse_policy(MODEL), snapshot(**fields)) is begins
    assert begins_stronger(parse_policy(POLICY), snapshot(**fields)) is False
