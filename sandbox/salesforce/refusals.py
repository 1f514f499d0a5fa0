"""The answers with which Salesforce turns a request away before looking at it."""

from typing import Any

from sandbox.faults import Fault
from sandbox.salesforce.errors import SalesforceError, invalid_session, limit_exceeded
from sandbox.wire import Answer

CODES = {
    401: ("INVALID_SESSION_ID", "Session expired or invalid"),
    403: ("INSUFFICIENT_ACCESS_OR_READONLY", "insufficient access rights on object id"),
    404: ("NOT_FOUND", "The requested resource does not exist"),
    500: ("UNKNOWN_EXCEPTION", "An unexpected error occurred."),
    503: ("SERVER_UNAVAILABLE", "The server is temporarily unavailable."),
}
LOCKED = "unable to obtain exclusive access to this record or 1 records"
SIGN_IN = "token.create"


def refusal(fault: Fault) -> Answer:
    args = fault.args
    if fault.operation == SIGN_IN and "body" not in args:
        answer = _sign_in(fault)
    elif fault.kind == "rate_limit":
        answer = limit_exceeded().answer()
    elif fault.kind == "reject_auth":
        answer = _status(403, args) if args.get("status") == 403 else invalid_session().answer()
    elif fault.kind == "lock":
        answer = SalesforceError(400, "UNABLE_TO_LOCK_ROW", LOCKED, []).answer()
    else:
        answer = _status(int(args["status"]), args)
    if "retry_after" in args:
        answer.headers["retry-after"] = str(args["retry_after"])
    for name, value in dict(args.get("headers", {})).items():
        answer.headers[str(name)] = str(value)
    return answer


def _status(status: int, args: dict[str, Any]) -> Answer:
    if args.get("body") is not None:
        return Answer(status, args["body"])
    code, message = CODES.get(status, ("UNKNOWN_EXCEPTION", f"The request was answered {status}"))
    code, message = str(args.get("code", code)), str(args.get("message", message))
    return SalesforceError(status, code, message, args.get("fields", [] if "code" in args else None)).answer()


def _sign_in(fault: Fault) -> Answer:
    error, description = "invalid_grant", "authentication failure"
    if fault.kind == "reject_auth":
        error, description = "invalid_client", "invalid client credentials"
    status = int(fault.args.get("status", 400))
    return Answer(status, {"error": fault.args.get("code", error), "error_description": description})
