"""The answers with which HubSpot turns a request away before looking at it."""

from typing import Any
from uuid import uuid4

from sandbox.faults import Fault
from sandbox.hubspot.errors import HubSpotError, missing_scopes, no_authentication
from sandbox.wire import Answer

POLICIES = {
    "TEN_SECONDLY_ROLLING": "You have reached your ten_secondly_rolling limit.",
    "SECONDLY": "You have reached your secondly limit.",
    "DAILY": "You have reached your daily limit.",
}
CATEGORIES = {400: "VALIDATION_ERROR", 404: "OBJECT_NOT_FOUND", 409: "CONFLICT", 423: "LOCKED", 429: "RATE_LIMITS"}


def refusal(fault: Fault) -> Answer:
    args = fault.args
    if fault.kind == "rate_limit":
        answer = _rate_limit(str(args.get("policy", "TEN_SECONDLY_ROLLING")))
    elif fault.kind == "reject_auth":
        answer = (missing_scopes() if args.get("status") == 403 else no_authentication()).answer()
    else:
        answer = _status(423 if fault.kind == "lock" else int(args["status"]), args.get("body"))
    if "retry_after" in args:
        answer.headers["retry-after"] = str(args["retry_after"])
    for name, value in dict(args.get("headers", {})).items():
        answer.headers[str(name)] = str(value)
    return answer


def _rate_limit(policy: str) -> Answer:
    return Answer(
        429,
        {
            "status": "error",
            "message": POLICIES.get(policy, "You have reached your limit."),
            "errorType": "RATE_LIMIT",
            "correlationId": str(uuid4()),
            "policyName": policy,
            "requestId": str(uuid4()),
        },
    )


def _status(status: int, body: Any) -> Answer:
    if body is not None:
        return Answer(status, body)
    message = "The record is locked" if status == 423 else f"The request was answered {status}"
    return HubSpotError(status, message, CATEGORIES.get(status, "INTERNAL_ERROR")).answer()
