"""The lead fields that every part of the project calls by the same name, and how their values are read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from leadproof.domain.fields import FieldSpec, FieldType
from leadproof.domain.policy import Policy
from leadproof.domain.records import MARKER

EMAIL: Final = "email"
OWNER: Final = "owner"
LIFECYCLE_STAGE: Final = "lifecycle_stage"
LEAD_STATUS: Final = "lead_status"
DISQUALIFICATION_REASON: Final = "disqualification_reason"

_TEXT = FieldSpec()
_FREE = FieldSpec(free=True)
_PICKLIST = FieldSpec(type=FieldType.PICKLIST)
_BOOLEAN = FieldSpec(type=FieldType.BOOLEAN)

CATALOG: Final[Mapping[str, FieldSpec]] = MappingProxyType(
    {
        EMAIL: FieldSpec(type=FieldType.EMAIL),
        "phone": FieldSpec(type=FieldType.PHONE),
        "first_name": _TEXT,
        "last_name": _TEXT,
        "company": _TEXT,
        "website": _TEXT,
        "title": _TEXT,
        "country": FieldSpec(type=FieldType.COUNTRY),
        "region": _TEXT,
        # where a system keeps ranges ("100-500"), its adapter reads the lower bound
        "employees": FieldSpec(type=FieldType.NUMBER),
        "message": _FREE,
        "utm_source": _TEXT,
        "utm_medium": _TEXT,
        "utm_campaign": _TEXT,
        "utm_term": _TEXT,
        "utm_content": _TEXT,
        "email_opt_out": _BOOLEAN,
        "do_not_call": _BOOLEAN,
        OWNER: FieldSpec(type=FieldType.OWNER),
        LIFECYCLE_STAGE: _PICKLIST,
        LEAD_STATUS: _PICKLIST,
        DISQUALIFICATION_REASON: _PICKLIST,
        "qualification_summary": _FREE,
    }
)
"""The built-in fields: our name and its declaration."""

ABOUT_THE_LEAD: Final[tuple[str, ...]] = (
    EMAIL,
    "phone",
    "first_name",
    "last_name",
    "company",
    "website",
    "title",
    "country",
    "region",
    "employees",
    "message",
    "utm_source",
    "utm_medium",
    "utm_campaign",
    "utm_term",
    "utm_content",
)
"""What a lead says of itself, as opposed to what we decide about it."""

WAYS_TO_REACH: Final = frozenset({EMAIL, "phone"})
"""A lead has at least one of them."""

FIRST_TOUCH: Final = frozenset({"utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"})
"""Written once: a value that stands there came first and is never overwritten."""

CONSENT: Final = frozenset({"email_opt_out", "do_not_call"})
"""True means that the person said no. We may tighten consent and never loosen it."""

PROTECTED: Final = frozenset({MARKER, "external_id", "record_id"})
"""Names that stand for identity and marker; no policy and no plan sets them."""


def specs_for(policy: Policy, target_system: str) -> dict[str, FieldSpec]:
    """The built-in fields with those that the policy adds, or declares otherwise, for one target.

    Args:
        target_system: a target of the policy; for any other name the built-in fields are answered.
    """
    target = policy.targets.get(target_system)
    further = {name: field.spec for name, field in target.fields.items()} if target is not None else {}
    return {**CATALOG, **further}


def specs_of_lead(policy: Policy, source_system: str, target_system: str) -> dict[str, FieldSpec]:
    """The declarations by which the conditions of an action read a lead: of its own source, where that is a target of
    the policy, else of the action's target."""
    return specs_for(policy, source_system if source_system in policy.targets else target_system)
