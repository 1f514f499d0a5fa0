"""The policy of a soak: the embedded stack's, with shorter times that still cover the faults of the schedule."""

from __future__ import annotations

from console.embedded_policy import policy_text
from soak.fault_decks import CALL_SECONDS

CONNECT_SECONDS, APPLY_LAG_SECONDS, MARGIN_SECONDS = 0.5, 1.5, 0.2
BASE_AGE_SECONDS = 10.0
QUIESCENCE_SECONDS = CONNECT_SECONDS + APPLY_LAG_SECONDS + MARGIN_SECONDS

_SHORTER = {
    'version = "embedded-2-forms"': 'version = "soak-1"',
    "apply_lag_seconds = 3": f"apply_lag_seconds = {APPLY_LAG_SECONDS}",
    "connect_timeout_seconds = 1": f"connect_timeout_seconds = {CONNECT_SECONDS}",
    "call_timeout_seconds = 4": f"call_timeout_seconds = {CALL_SECONDS}",
    "send_within_seconds = 5": "send_within_seconds = 2",
    "clock_margin_seconds = 1": f"clock_margin_seconds = {MARGIN_SECONDS}",
    "observation_window_seconds = 20": "observation_window_seconds = 8",
    "read_spacing_seconds = 0.5": "read_spacing_seconds = 0.2",
    "base_age_seconds = 10": f"base_age_seconds = {BASE_AGE_SECONDS:g}",
    "patience_seconds = 60": "patience_seconds = 10",
    "probe_seconds = 2": "probe_seconds = 0.5",
}


def text() -> str:
    """The text of the policy.

    Raises:
        LookupError: the embedded policy says something else by now.
    """
    said = policy_text("forms")
    for old, new in _SHORTER.items():
        if old not in said:
            raise LookupError(f"the embedded policy no longer says {old!r}")
        said = said.replace(old, new)
    return said
