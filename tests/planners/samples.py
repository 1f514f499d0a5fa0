"""A policy that has Claude plan, and leads for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from leadproof.domain.events import Lead, Outcome
from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from tests.domain.samples import POLICY

CLAUDE_POLICY = (
    POLICY.replace('version = "1"', 'version = "1"\nplanner = "claude"').replace(
        '"email_opt_out", "budget",', '"email_opt_out",'
    )
    + """
[claude]
call_timeout_seconds = 5
shows = ["company", "country", "message", "owner"]
instructions = "Give German companies to dana."
"""
)


def claude_policy(text: str = CLAUDE_POLICY, **claude: Any) -> Policy:
    """The policy; with keys of `[claude]` changed, where they are given."""
    policy = parse_policy(text)
    assert policy.claude is not None
    return policy.model_copy(update={"claude": policy.claude.model_copy(update=claude)})


def a_lead(source: str = "hubspot", kind: str = "contact.creation") -> Lead:
    moment = datetime(2026, 11, 30, tzinfo=UTC)
    return Lead(
        event_key="e",
        tenant="t",
        environment="dev",
        source_system=source,
        source_record_id="123",
        event_kind=kind,
        occurrence=None,
        occurred_at=moment,
        fingerprint="f",
        lead={"lead": {}, "extra": {}},
        policy_version="1",
        outcome=Outcome.WORKING,
        workflow_id="lead:e",
        first_seen_at=moment,
        last_seen_at=moment,
    )
