from __future__ import annotations

from typing import Any

import pytest

from leadproof.domain.proofs import sign_decision, verify_decision

DECISION: dict[str, Any] = {
    "decision_id": "d1",
    "review_id": "r1",
    "version": 3,
    "decision": "approve",
    "reason": "größer",
    "reviewer": "api:ops",
    "shown_digest": None,
}
KEY = "a deployment's key"


def test_a_proof_is_an_hmac_over_canonical_json() -> None:
    # printf '%s' '{"decision":"approve","decision_id":"d1","reason":"größer","review_id":"r1","reviewer":"api:ops",
    # "shown_digest":null,"version":3}' | openssl dgst -sha256 -hmac "a deployment's key"
    assert sign_decision(DECISION, KEY) == "9c76ebd5a1e4c8f67c3998f55d6ab972d15ecbe28d3f443b35a372417384bf91"


def test_a_signed_decision_is_proved_whatever_its_order() -> None:
    signed = {"proof": sign_decision(DECISION, KEY), **dict(reversed(DECISION.items()))}
    assert verify_decision(signed, KEY)


@pytest.mark.parametrize(
    "change",
    [
        {"decision": "abandon"},
        {"reviewer": "api:someone"},
        {"version": 4},
        {"more": 1},
        {"proof": None},
        {"proof": 5},
        {"proof": ""},
        {"proof": "☂"},
        {"proof": "\ud800"},
        {"version": 2**60},
        {"reason": "\ud800"},
        {"reason": float("nan")},
        {5: "x"},
    ],
)
def test_what_was_changed_or_garbled_is_not_proved(change: dict[Any, Any]) -> None:
    assert not verify_decision({**DECISION, "proof": sign_decision(DECISION, KEY), **change}, KEY)


@pytest.mark.parametrize("sent", [None, "x", [], [DECISION], 5, {}])
def test_what_is_no_decision_is_not_proved(sent: object) -> None:
    assert not verify_decision(sent, KEY)


def test_another_key_and_no_key_prove_nothing() -> None:
    signed = {**DECISION, "proof": sign_decision(DECISION, KEY)}
    assert not verify_decision(signed, "another key")
    assert not verify_decision(signed, "")
    with pytest.raises(ValueError, match="empty key"):
        sign_decision(DECISION, "")
