"""Who plans in an embedded stack, and whom it asks."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from console import embedded
from console.cli import app
from console.data_dir import DataDir
from console.embedded import Addresses, Ports, Secrets
from console.embedded_policy import Planning, policy_path, policy_text
from console.processes import planning_of
from console.stack import Stack
from leadproof.domain.errors import ConfigurationRefused
from leadproof.domain.policy_text import parse_policy
from leadproof.settings import Settings, load
from tests.domain.samples import shipped

SECRETS = Secrets(
    hubspot="h",
    api_token="t",
    decision_key="d",
    review_key="a-key-of-the-review-page",
    standard={"website": "whsec_"},
    salesforce_path="path-secret-of-stack",
)


def variables(tmp_path: Path, sandbox: int | None, **environment: str) -> Settings:
    """The settings of a process of a stack."""
    given = {f"LEADPROOF_{name}": value for name, value in environment.items()}
    settings = load(given, dotenv=None)
    ports = Ports(temporal=1, ui=2, starter=3, sandbox=sandbox)
    addresses = Addresses.of(ports, DataDir(tmp_path), settings)
    return load(given | embedded.variables(settings, addresses, ports, SECRETS, policy="p.toml"), dotenv=None)


@pytest.mark.parametrize(
    ("planning", "of_hubspot", "of_forms"),
    [("rules", "rules", "rules"), ("claude", "claude", "claude"), ("forms", "rules", "claude")],
)
def test_each_choice_is_a_policy_and_a_version_of_its_own(planning: Planning, of_hubspot: str, of_forms: str) -> None:
    policy = parse_policy(policy_text(planning))
    assert policy.planner_of("hubspot", "contact.creation") == of_hubspot
    assert policy.planner_of("website", "form.submitted") == of_forms
    assert len({parse_policy(policy_text(one)).version for one in get_args(Planning)}) == 3
    packaged = parse_policy(shipped("embedded_policy.toml"))
    assert (policy.targets, policy.actions, policy.approvals) == (
        packaged.targets, packaged.actions, packaged.approvals,
    )  # fmt: skip
    scopes = [(event.source, event.kind, event.scopes) for event in policy.events]
    assert scopes == [(event.source, event.kind, event.scopes) for event in packaged.events]


def test_a_policy_that_is_not_in_the_package_stands_in_the_data_directory(tmp_path: Path) -> None:
    written = Path(policy_path("claude", DataDir(tmp_path)))
    assert written.parent == tmp_path
    assert written.read_text(encoding="utf-8") == policy_text("claude")
    assert Path(policy_path("rules", DataDir(tmp_path))).name == "embedded_policy.toml"


def test_a_stack_with_a_sandbox_asks_nobody_else(tmp_path: Path) -> None:
    real = {
        "ANTHROPIC_API_KEY": "a-real-key",
        "ANTHROPIC_PROVIDER": "bedrock",
        "ANTHROPIC_BASE_URL": "https://elsewhere.example",
    }
    settings = variables(tmp_path, 8090, **real)
    assert settings.anthropic_api_key is not None
    assert settings.anthropic_api_key.get_secret_value() == "sandbox"
    asked = (settings.anthropic_provider, settings.anthropic_base_url)
    assert asked == ("anthropic", "http://127.0.0.1:8090/anthropic")


def test_a_stack_with_a_sandbox_writes_to_no_org_of_the_environment(tmp_path: Path) -> None:
    real = {
        "SALESFORCE_URL": "https://acme.my.salesforce.com",
        "SALESFORCE_ORG_ID": "00Dxx0000001gPMEAY",
        "SALESFORCE_CLIENT_SECRET": "a-real-secret",
        "SALESFORCE_USERNAME": "integration@acme.example",
    }
    settings = variables(tmp_path, 8090, **real)
    assert (settings.salesforce_url, settings.salesforce_org_id) == ("http://127.0.0.1:8090", "00Dxx0000001gPLEAY")
    assert settings.salesforce_client_secret is not None
    assert settings.salesforce_client_secret.get_secret_value() == "sandbox"
    assert settings.salesforce_username is None
    assert variables(tmp_path, None, **real).salesforce_url == "https://acme.my.salesforce.com"


def test_a_stack_without_a_sandbox_asks_whom_the_environment_names(tmp_path: Path) -> None:
    settings = variables(tmp_path, None, ANTHROPIC_API_KEY="a-real-key")
    assert settings.anthropic_api_key is not None
    assert (settings.anthropic_api_key.get_secret_value(), settings.anthropic_base_url) == ("a-real-key", None)


def test_a_policy_of_the_environment_counts_and_says_itself_who_plans(tmp_path: Path) -> None:
    assert variables(tmp_path, 8090, POLICY="mine.toml").policy == Path.cwd() / "mine.toml"
    assert variables(tmp_path, 8090).policy == Path("p.toml")
    refused = CliRunner().invoke(app, ["up", "--planner", "claude"], env={"LEADPROOF_POLICY": "mine.toml"})
    assert isinstance(refused.exception, ConfigurationRefused)
    assert "leave --planner out" in str(refused.exception)


def test_a_planner_that_there_is_not_is_refused() -> None:
    refused = CliRunner().invoke(app, ["up", "--planner", "oracle"])
    assert refused.exit_code == 2
    assert "oracle" in refused.output


def planning(tmp_path: Path, choice: Planning, sandbox: int | None, **environment: str) -> list[str]:
    """What `up` says of a stack."""
    settings = load({f"LEADPROOF_{name}": value for name, value in environment.items()}, dotenv=None)
    ports, data_dir = Ports(temporal=1, ui=2, starter=3, sandbox=sandbox), DataDir(tmp_path)
    stack = Stack(settings, tmp_path, ports, planning=choice)
    stack.addresses = Addresses.of(ports, data_dir, settings)
    policy = policy_path(choice, data_dir)
    stack.variables = embedded.variables(settings, stack.addresses, ports, SECRETS, policy=policy)
    return planning_of(stack)


def test_up_says_who_plans_and_that_a_stand_in_understands_nothing(tmp_path: Path) -> None:
    assert planning(tmp_path, "rules", 8090) == ["Planner      rules"]
    (line,) = planning(tmp_path, "claude", 8090)
    assert line.startswith("Planner      claude (a stand-in: it takes the first value of each list")
    assert planning(tmp_path, "claude", None) == ["Planner      claude"]
    (line,) = planning(tmp_path, "forms", 8090)
    assert line.startswith("Planner      rules, claude (a stand-in: ")
    assert line.endswith(" for website form.submitted")


def test_up_says_that_nothing_is_written_in_shadow_mode(tmp_path: Path) -> None:
    lines = planning(tmp_path, "rules", 8090, MODE="shadow", ENVIRONMENT="try-shadow")
    assert lines[1].startswith("Shadow       nothing is written")


def test_who_may_look_at_the_review_page_is_the_environments_only_with_its_proxy(tmp_path: Path) -> None:
    proxy = {
        "REVIEWERS": "dana:reviewer",
        "REVIEW_KEY": "the-key-of-the-environment",
        "REVIEW_PROXY_HEADER": "X-Forwarded-User",
        "REVIEW_PROXY_ADDRESSES": "127.0.0.2",
    }
    assert variables(tmp_path, 8090).review_key is not None
    assert variables(tmp_path, 8090, REVIEWERS="dana:reviewer:west").reviewers == ()
    kept = variables(tmp_path, 8090, **proxy)
    assert ([person.name for person in kept.reviewers], kept.review_proxy_header) == (["dana"], "X-Forwarded-User")
