"""The policies in the package are read without a fault and say what the README and the demo rely on."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import check_against, parse_policy
from tests.domain.samples import shipped
from tests.domain.seed import described_org, described_seed

ROOT = Path(__file__).parents[2]
NAMES = ["default_policy.toml", "embedded_policy.toml"]


@pytest.fixture(params=NAMES)
def shipped_policy(request: pytest.FixtureRequest) -> Policy:
    return parse_policy(shipped(request.param))


def test_the_policy_at_the_root_is_the_default_one() -> None:
    assert (ROOT / "policy.toml").read_text(encoding="utf-8") == shipped("default_policy.toml")


def test_versions() -> None:
    assert [parse_policy(shipped(name)).version for name in NAMES] == ["2026-11-30.3", "embedded-2"]


def test_of_hubspot_the_embedded_policy_differs_in_nothing_but_its_times() -> None:
    default, embedded = (_without_times(_of_hubspot_alone(tomllib.loads(shipped(name)))) for name in NAMES)

    assert embedded == default
    assert len(default["rule"]) > 5


def _of_hubspot_alone(document: dict[str, Any]) -> dict[str, Any]:
    """The document without whatever names Salesforce."""
    alone: dict[str, Any] = _unnamed(document)
    kinds = {action["kind"] for action in alone["action"]}
    days = {kind: days for kind, days in alone["retention"]["keys_days"].items() if kind in kinds}
    return {**alone, "retention": {**alone["retention"], "keys_days": days}}


def _unnamed(value: Any) -> Any:
    if isinstance(value, list):
        return [one for one in value if "salesforce" not in str(one).lower()]
    if not isinstance(value, dict):
        return value
    kept = {name: _unnamed(one) for name, one in value.items() if "salesforce" not in name}
    return {name: one for name, one in kept.items() if one not in ({}, [])}


def _without_times(document: dict[str, Any]) -> dict[str, Any]:
    target = document["target"]["hubspot"]
    kept = {name: value for name, value in target.items() if not name.endswith(("_seconds", "_source"))}
    return {**document, "version": None, "target": {"hubspot": kept}}


def test_it_fits_the_seed_of_the_local_hubspot(shipped_policy: Policy) -> None:
    check_against(shipped_policy, described_seed(shipped_policy))


def test_it_fits_the_seed_of_the_local_org(shipped_policy: Policy) -> None:
    check_against(shipped_policy, described_org(shipped_policy))


def test_claude_can_be_let_in_by_taking_the_comment_away() -> None:
    before, claude, after = re.split(r"(?=# \[claude\])|(?=# ---- How long)", shipped("default_policy.toml"))
    taken_away = re.sub(r"^# ?", "", claude, flags=re.MULTILINE)
    text = f"{before}{taken_away}{after}".replace('"form.submitted"', '"form.submitted"\nplanner = "claude"')

    policy = parse_policy(text)

    assert policy.planner_of("website", "form.submitted") == "claude"
    assert [approval.name for approval in policy.approvals] == ["big-account", "unsure"]
    assert not {"email", "phone", "first_name", "last_name"} & set(policy.claude.shows if policy.claude else ["email"])


def test_every_event_of_a_source_meets_a_rule(shipped_policy: Policy) -> None:
    for source in {event.source for event in shipped_policy.events}:
        last = [rule for rule in shipped_policy.rules if source in rule.when.source][-1]

        assert last.when.model_dump(exclude_defaults=True) == {"source": (source,)}


def test_the_embedded_stack_answers_within_seconds() -> None:
    target = parse_policy(shipped("embedded_policy.toml")).targets["hubspot"]

    assert target.apply_lag_seconds == 3
    assert target.observation_window_seconds == 20
    assert target.quiescence.total_seconds() + target.send_within_seconds <= 10


def test_the_default_lag_is_hubspots() -> None:
    target = parse_policy(shipped("default_policy.toml")).targets["hubspot"]

    assert target.apply_lag_seconds == 120
    assert "524" in target.apply_lag_source
