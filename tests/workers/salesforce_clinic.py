"""A sound configuration with Salesforce as the only CRM, over a sandbox's org."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.workers.clinic import Clinic

ORG, US = "00Dxx0000001gPLEAY", "005xx000001Sv6AAAS"

POLICY = """\
version = "1"

[sources]
website = 75
salesforce = 24

[[event]]
source = "website"
kind = "form.submitted"
scopes = [{ from = 2026-01-01T00:00:00Z, scope = "record" }]

[target.salesforce]
apply_lag_seconds = 10
apply_lag_source = "of the tests"
clock_margin_seconds = 5

[owners.salesforce]
dana = "005xx000001Sv6BAAS"
inbound = "00Gxx000000Qu1AEAS"

[values.salesforce]
lead_status = ["Open - Not Contacted", "Closed - Not Converted"]
disqualification_reason = ["no_budget", "spam"]

[[action]]
kind = "create"
target = "salesforce"
object = "lead"
fields = ["email", "last_name", "company", "owner", "lead_status"]

[[action]]
kind = "qualify"
target = "salesforce"
object = "lead"
fields = ["owner", "lead_status", "disqualification_reason"]

[[rule]]
name = "all"
when = { present = ["last_name", "company"] }
action = "create"
target = "salesforce"
object = "lead"
fields = { owner = "inbound", lead_status = "Open - Not Contacted" }

[queue.default]

[retention]
human_rerun_days = 30

[retention.keys_days]
create = 60
qualify = 60
update = 60
"""
CONTACTS_TOO = """\
[[action]]
kind = "update"
target = "salesforce"
object = "contact"
fields = ["title"]

[queue.default]
"""
SAVED_LEADS = """\
[[event]]
source = "salesforce"
kind = "lead.saved"
scopes = [{ from = 2026-01-01T00:00:00Z, scope = "event" }]

[target.salesforce]
"""


class SalesforceClinic:
    """A clinic whose policy names Salesforce alone."""

    def __init__(self, clinic: Clinic, address: str) -> None:
        self.clinic = clinic
        self.control = clinic.control
        clinic.environment |= {
            "salesforce_url": address,
            "salesforce_org_id": ORG,
            "salesforce_client_id": "leadproof-of-the-tests",
            "salesforce_client_secret": "a-client-secret-of-the-tests",
            "salesforce_path_secrets": "a-path-secret-of-the-tests-0123456789",
        }
        self.write_policy()

    def write_policy(self, **replace: str) -> None:
        """The policy of the tests, with some of its text replaced."""
        text = POLICY
        for old, new in replace.items():
            if old not in text:
                raise LookupError(f"the policy does not say {old!r}")
            text = text.replace(old, new)
        (self.clinic.folder / "policy.toml").write_text(text, encoding="utf-8")

    def define(self, name: str, changed: Mapping[str, Any] | None, kind: str = "Lead") -> None:
        """Define a field of the org otherwise, or take it away."""
        self.control.post("/salesforce", {"fields": {kind: {name: changed}}})

    def fault(self, kind: str, operation: str, **fault: Any) -> None:
        self.control.post("/faults", {"provider": "salesforce", "operation": operation, "kind": kind, **fault})

    def requests(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.control.get("/requests", provider="salesforce")
        return rows
