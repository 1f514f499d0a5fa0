"""The policy that the cases run under: what a deployment would write, for one target."""

from __future__ import annotations

from functools import cache
from typing import Final, Literal

from leadproof.domain.policy import Policy
from leadproof.domain.policy_text import parse_policy
from tests.conformance.systems import System

BASE_AGE: Final = 60.0
SOURCE: Final = "website"

_TEXT = """\
version = "{version}"

[sources]
{name} = 24
{source} = 75

[[event]]
source = "{name}"
kind = "{system.event_kind}"
scopes = [{{ from = 2026-01-01T00:00:00Z, scope = "event" }}]

[[event]]
source = "{source}"
kind = "form.submitted"
scopes = [{{ from = 2026-01-01T00:00:00Z, scope = "event" }}]

[target.{name}]
apply_lag_seconds = 120
apply_lag_source = "as the policy that is shipped"
connect_timeout_seconds = 5
call_timeout_seconds = 15
send_within_seconds = 10
clock_margin_seconds = 2
observation_window_seconds = 300
read_spacing_seconds = 2
base_age_seconds = {base_age}
max_attempts = 3
patience_seconds = 240
probe_seconds = 60
found_unlinked = "{found_unlinked}"

[owners.{name}]
{owners}

[[action]]
kind = "create"
target = "{name}"
object = "{system.target_object}"
fields = ["email", "first_name", "last_name", "company", "title", "owner", "lead_status", "disqualification_reason"]

[[action]]
kind = "qualify"
target = "{name}"
object = "{system.target_object}"
fields = ["owner", "lead_status", "disqualification_reason", "first_name", "title"]
compare_also = ["email"]
without_history = true

[queue.default]

[retention.keys_days]
create = 60
qualify = 60
"""

Unlinked = Literal["review", "link"]


@cache
def policy(system: System, found_unlinked: Unlinked = "review", base_age: float = BASE_AGE) -> Policy:
    """The policy for one target.

    Args:
        found_unlinked: what is done with a record that is found and not yet ours.
        base_age: how many seconds the read before the plan may stand for the check before the write.
    """
    version = f"conformance-{found_unlinked}-{base_age:g}"
    owners = {"dana": system.owner, "kofi": system.other_owner, "tom": system.inactive_owner}
    text = _TEXT.format(
        version=version,
        name=system.name,
        source=SOURCE,
        system=system,
        owners="\n".join(f'{who} = "{owner}"' for who, owner in owners.items() if owner is not None),
        base_age=base_age,
        found_unlinked=found_unlinked,
    )
    return parse_policy(text)
