"""A policy that writes to two targets."""

from __future__ import annotations

from tests.domain.samples import POLICY

TWO_TARGETS = (
    POLICY.replace(
        "[target.hubspot.fields]\n",
        '[target.hubspot.fields]\nsalesforce_id = { property = "salesforce_lead_id", spec = { type = "record_id" } }\n',
    )
    .replace(
        "[[approval]]\n",
        """[[action]]
kind = "update"
target = "hubspot"
fields = ["salesforce_id", "company"]

[[action]]
kind = "create"
target = "salesforce"
object = "lead"
fields = ["email", "last_name", "owner", "company"]

[[approval]]
""",
        1,
    )
    .replace("[retention.keys_days]\n", "[retention.keys_days]\nupdate = 60\n")
    + """
[target.salesforce]
apply_lag_seconds = 120
apply_lag_source = "documented"

[owners.salesforce]
inbound = "00Gxx0000000001AAA"
"""
)
"""The sample policy, with leads in Salesforce as a second target and HubSpot's field for their ids."""
