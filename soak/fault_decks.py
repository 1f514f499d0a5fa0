"""The faults that a lead of each kind can meet. Which of them a lead meets is the schedule's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

By = Literal["record", "email"]

CALL_SECONDS = 2.5
"""After this our client gives up a call; `soak.policy` says so to the house."""

LATEST_APPLY_SECONDS = 0.8
"""What is applied later is applied within this; the policy's apply lag is above it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of the sandbox's, before the lead that it is meant for is there.

    Attributes:
        by: how the request is known: by the record's id, or, where there is no record yet, by the address.
    """

    provider: str
    operation: str
    kind: str
    by: By = "record"
    times: int = 1
    after: int = 0
    args: Mapping[str, Any] = field(default_factory=dict)


_VALIDATION = {
    "status": "error",
    "message": "Property values were not valid",
    "category": "VALIDATION_ERROR",
    "correlationId": "soak",
}
_SALESPERSON = "005xx000001Sv6BAAS"

_ANSWERS: Sequence[tuple[str, dict[str, Any]]] = (
    ("drop_before_apply", {}),
    ("drop_after_apply", {}),
    ("delay", {"seconds": 0.6}),
    ("delay", {"seconds": CALL_SECONDS + 1}),
    ("apply_later", {"seconds": LATEST_APPLY_SECONDS}),
    ("apply_later", {"seconds": LATEST_APPLY_SECONDS / 2, "status": 502}),
    ("trickle", {"seconds": 0.4}),
    ("status", {"status": 500}),
    ("status", {"status": 503, "retry_after": 1}),
    ("status_after_apply", {"status": 500}),
    ("status_after_apply", {"status": 504}),
    ("garbage_after_apply", {}),
    ("lock", {}),
    ("reject_auth", {}),
)


def _answers(provider: str, operation: str, by: By) -> list[Fault]:
    return [Fault(provider, operation, kind, by, args=args) for kind, args in _ANSWERS]


def _reads(provider: str, operation: str, by: By) -> list[Fault]:
    """Of the reads of a lead: the source's, the check's, the read-backs."""
    return [
        Fault(provider, operation, "drop_before_apply", by, after=1),
        Fault(provider, operation, "status", by, times=2, args={"status": 500}),
        Fault(provider, operation, "delay", by, after=1, args={"seconds": CALL_SECONDS + 1}),
        Fault(provider, operation, "garbage_after_apply", by, after=1),
        Fault(provider, operation, "trickle", by, after=1, args={"seconds": 0.4}),
        # one look's, so that the next look, which the window leaves time for, sees what stands
        Fault(provider, operation, "stale_read", by, after=1, times=2),
        Fault(provider, operation, "rate_limit", by, after=1, args={"policy": "SECONDLY", "retry_after": 1}),
        Fault(provider, operation, "reject_auth", by, after=1),
    ]


def _edited(provider: str, operation: str, by: By, user: str, fields: Mapping[str, str]) -> list[Fault]:
    edit = {"user": user, "fields": dict(fields)}
    return [
        Fault(provider, operation, "human_edit", by, args={**edit, "moment": "before_write"}),
        Fault(provider, operation, "human_edit", by, args={**edit, "moment": "after_write"}),
        Fault(provider, operation, "rewrite", by, args={"fields": dict(fields)}),
    ]


def _hubspot(by: By) -> list[Fault]:
    write = ("hubspot", "contacts.write", by)
    return [
        *_answers(*write),
        Fault(*write[:2], "status", by, args={"status": 400, "body": _VALIDATION}),
        Fault(*write[:2], "rate_limit", by, times=2, args={"policy": "TEN_SECONDLY_ROLLING"}),
        *_edited(*write, "9002", {"hs_lead_status": "IN_PROGRESS"}),
        *_reads("hubspot", "contacts.read", by),
    ]


def _salesforce(by: By) -> list[Fault]:
    write = ("salesforce", "leads.write", by)
    return [
        *_answers(*write),
        Fault(*write[:2], "status", by, args={"status": 400, "code": "FIELD_CUSTOM_VALIDATION_EXCEPTION"}),
        *_reads("salesforce", "leads.read", by),
    ]


_CLAUDE: Sequence[tuple[str, dict[str, Any]]] = (
    ("drop_before_apply", {}),
    ("drop_after_apply", {}),
    ("status", {"status": 529, "retry_after": 1}),
    ("rate_limit", {}),
    ("garbage_after_apply", {}),
)

DECKS: Mapping[str, Sequence[Fault]] = {
    "hubspot": [*_hubspot("record"), Fault("hubspot", "contacts.write", "reject_auth", args={"status": 403})],
    "routed": [
        *_salesforce("email"),
        *_edited("salesforce", "leads.write", "email", _SALESPERSON, {"Title": "Director"})[1:],
        *(fault for fault in _hubspot("record") if fault.kind not in {"human_edit", "rewrite"}),
    ],
    "form": [
        *_hubspot("email"),
        Fault("hubspot", "contacts.write", "partial_batch", "email"),
        *(Fault("anthropic", "messages.create", kind, "email", args=args) for kind, args in _CLAUDE),
    ],
    "salesforce": [
        *_salesforce("record"),
        *_edited("salesforce", "leads.write", "record", _SALESPERSON, {"Status": "Working - Contacted"}),
    ],
}
