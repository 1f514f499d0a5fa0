"""Configurations under examination: a sound one, and what a test spoils of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from leadproof.clock import SystemClock
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from leadproof.settings import Settings, load, variable
from tests.sandbox.control import AUTHORIZED, Control
from workers.doctor.report import Finding, Report, State

PROPERTIES = "/hubspot/crm/v3/properties/contacts"
SHIPPED = Path("leadproof/default_policy.toml")

SOUND: Mapping[str, str] = {
    "public_url": "https://leads.example.com",
    "api_tokens": "all:events+read+decide:token-of-the-tests",
    "decision_key": "a-decision-key-of-the-tests",
    "review_key": "a-review-key-of-the-tests",
    "hubspot_token": "token-of-the-tests",
    "hubspot_portal_id": "62515",
    "hubspot_app_id": "54321",
    "hubspot_webhook_secrets": "a-webhook-secret-of-the-tests",
}


class AheadOfTime(SystemClock):
    """A clock that is wrong by some seconds."""

    def __init__(self, seconds: float) -> None:
        self._ahead = timedelta(seconds=seconds)

    def now(self) -> datetime:
        return super().now() + self._ahead


class Clinic:
    """Args:
    folder: of one test, for its policy and its ledger.
    address: of a sandbox.
    browser: the same sandbox without a client library.
    """

    def __init__(self, folder: Path, address: str, browser: httpx.Client) -> None:
        self.folder = folder
        self.control = Control(browser)
        self._browser = browser
        self.environment = {
            **SOUND,
            "policy": str(folder / "policy.toml"),
            "ledger_url": f"sqlite:///{folder / 'ledger.db'}",
            "hubspot_base_url": f"{address}/hubspot",
            "anthropic_base_url": f"{address}/anthropic",
            "temporal_address": "127.0.0.1:1",
        }
        self.write_policy()

    def write_policy(self, **replace: str) -> None:
        """The shipped policy, which has HubSpot as its only target, with some of its text replaced."""
        text = SHIPPED.read_text(encoding="utf-8")
        for old, new in replace.items():
            if old not in text:
                raise LookupError(f"the shipped policy does not say {old!r}")
            text = text.replace(old, new)
        (self.folder / "policy.toml").write_text(text, encoding="utf-8")

    def archive_property(self, name: str) -> None:
        self._browser.delete(f"{PROPERTIES}/{name}", headers=AUTHORIZED).raise_for_status()

    def redefine_property(self, name: str, **more: Any) -> None:
        """A property in another's place: by itself a line of text that is not unique."""
        self.archive_property(name)
        base = {"label": name, "type": "string", "fieldType": "text", "groupName": "contactinformation"}
        made = self._browser.post(PROPERTIES, json={"name": name, **base, **more}, headers=AUTHORIZED)
        made.raise_for_status()

    def policy(self) -> Policy:
        return parse_policy((self.folder / "policy.toml").read_text(encoding="utf-8"))

    def variables(self, **other: str | None) -> dict[str, str]:
        """The environment, some of it set otherwise; `None` takes a variable away."""
        return {variable(name): value for name, value in {**self.environment, **other}.items() if value is not None}

    def settings(self, **other: str | None) -> Settings:
        return load(self.variables(**other), dotenv=None)


def found(report: Report, check: str) -> Finding:
    """The only finding of a check."""
    (only,) = (finding for finding in report.findings if finding.check == check)
    return only


def states(report: Report) -> dict[str, State]:
    return {finding.check: finding.state for finding in report.findings}


def not_ok(report: Report) -> dict[str, str]:
    return {finding.check: finding.says for finding in report.findings if finding.state is not State.OK}


def said(finding: Finding) -> tuple[State, str]:
    """State, and everything that a person reads."""
    return finding.state, f"{finding.says}; {finding.do}"
