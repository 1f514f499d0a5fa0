"""Policies and leads that the tests of the domain share."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any

from leadproof.domain.events import LeadSnapshot
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy

POLICY = """\
version = "1"

[sources]
hubspot = 24
website = 75

[[event]]
source = "hubspot"
kind = "contact.creation"
scopes = [
    { from = 2026-01-01T00:00:00Z, scope = "record" },
    { from = 2026-06-01T00:00:00Z, scope = "event" },
]

[target.hubspot]
apply_lag_seconds = 120
apply_lag_source = "documented"

[target.hubspot.fields]
budget = { property = "budget", spec = { type = "money" } }
roles = { property = "roles", spec = { type = "multi_picklist" } }
second_owner = { property = "second_owner", spec = { type = "owner" } }

[owners.hubspot]
dana = "501"
kofi = "502"

[stages]
hubspot = ["lead", "marketingqualifiedlead", "opportunity", "customer"]

[values.hubspot]
lead_status = ["NEW", "OPEN"]
roles = ["BUDGET_HOLDER", "CHAMPION"]

[[action]]
kind = "create"
target = "hubspot"
fields = ["email", "phone", "owner", "lifecycle_stage", "lead_status", "utm_source", "email_opt_out"]

[[action]]
kind = "qualify"
target = "hubspot"
fields = [
    "owner", "lifecycle_stage", "lead_status", "utm_source", "email_opt_out", "budget", "roles", "employees",
    "second_owner", "email", "phone", "qualification_summary", "country",
]
compare_also = ["email"]

[[action]]
kind = "clear_stage"
target = "hubspot"
fields = ["lifecycle_stage"]

[[action]]
kind = "set_stage"
target = "hubspot"
fields = ["lifecycle_stage"]

[[approval]]
name = "big"
action = "qualify"
sets = "owner"
when = { at_least = { employees = 1000 } }
why = "a big account is given by a person"
queue = "enterprise"

[[approval]]
name = "unsure"
below_confidence = 0.5
when = { source = "website" }
why = "the planner is not sure"

[[rule]]
name = "named"
when = { source = "hubspot", present = "company" }
fields = { owner = "dana", lead_status = "NEW" }

[[rule]]
name = "rest"
action = "none"

[queue.default]

[queue.enterprise]
due_hours = 4

[retention]
human_rerun_days = 30

[retention.keys_days]
create = 60
qualify = 60
clear_stage = 60
set_stage = 60
"""


@cache
def policy(text: str = POLICY) -> Policy:
    return parse_policy(text)


def changed(old: str, new: str) -> str:
    """The text of the sample policy with one place changed."""
    assert POLICY.count(old) == 1, f"{old!r} stands {POLICY.count(old)} times in the sample"
    return POLICY.replace(old, new)


def line_of(text: str, part: str) -> int:
    """The line on which the only occurrence of `part` begins."""
    assert text.count(part) == 1, f"{part!r} stands {text.count(part)} times in the text"
    return text[: text.index(part)].count("\n") + 1


def shipped(name: str) -> str:
    """The text of a policy in the package."""
    return resources.files("leadproof").joinpath(name).read_text(encoding="utf-8")


def snapshot(source: str = "hubspot", **fields: Any) -> LeadSnapshot:
    return LeadSnapshot(
        source_system=source,
        source_object="contact",
        source_record_id="123",
        fields=fields,
        read_at=datetime(2026, 11, 30, tzinfo=UTC),
    )
