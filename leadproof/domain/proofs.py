"""The proof on a decision that came through the starter: whoever holds the deployment's key named its reviewer."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, Final

import rfc8785

from leadproof.domain.review import ReviewDecision

PROOF: Final = "proof"
"""Name of the proof in a decision as it is sent."""


def sign_decision(decision: Mapping[str, Any], key: str) -> str:
    """Lower-case hex HMAC-SHA256 over the RFC 8785 JSON of a decision without its proof.

    Args:
        decision: as it is sent to a run.
        key: the deployment's decision key.

    Raises:
        ValueError: the key is empty, or the decision is no JSON.
    """
    if not key:
        raise ValueError("a decision is not signed with an empty key")
    signed = {name: value for name, value in decision.items() if name != PROOF}
    return hmac.new(key.encode("utf-8"), rfc8785.dumps(signed), hashlib.sha256).hexdigest()


def as_sent(decision: ReviewDecision, key: str | None) -> dict[str, Any]:
    """A decision as it is sent to its run, with its proof where there is a key."""
    sent = decision.model_dump(mode="json")
    return {**sent, PROOF: sign_decision(sent, key)} if key else sent


def verify_decision(decision: object, key: str) -> bool:
    """Whether a decision carries the proof that this key gives; whatever was sent, it never raises."""
    if not key or not isinstance(decision, Mapping):
        return False
    given = decision.get(PROOF)
    if not isinstance(given, str):
        return False
    try:
        expected = sign_decision(decision, key)
    except (ValueError, TypeError, RecursionError):
        return False
    return hmac.compare_digest(given.encode("utf-8", "backslashreplace"), expected.encode("ascii"))
