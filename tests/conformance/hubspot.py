"""HubSpot's contacts, for the cases of conformance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from leadproof.crm.hubspot import HubSpotCrm
from leadproof.crm.hubspot_fields import HubSpotFields
from leadproof.domain.mutation import AnswerClass
from leadproof.domain.plan import TargetObject
from tests.conformance.hands import Standing
from tests.conformance.systems import System

EXTERNAL_ID, MARKER = "leadproof_external_id", "leadproof_effect"


def _adapter(address: str, connect: float, call: float) -> HubSpotCrm:
    return HubSpotCrm(
        base_url=f"{address}/hubspot",
        token=lambda: "any",
        app_id="54321",
        fields=HubSpotFields(),
        external_id_property=EXTERNAL_ID,
        marker_property=MARKER,
        connect_timeout=connect,
        call_timeout=call,
    )


def _standing(row: Mapping[str, Any]) -> Standing:
    marks = [version["value"] for version in row["history"].get(MARKER, ()) if version["value"]]
    return Standing(
        record_id=row["id"],
        external_id=row["properties"].get(EXTERNAL_ID) or None,
        marks=tuple(reversed(marks)),
        values=row["properties"],
        live=not row["archived"] and row["mergedInto"] is None,
    )


HUBSPOT: Final = System(
    name="hubspot",
    target_object=TargetObject.CONTACT,
    kind="contacts",
    properties={
        "email": "email",
        "first_name": "firstname",
        "last_name": "lastname",
        "company": "company",
        "title": "jobtitle",
        "owner": "hubspot_owner_id",
        "lead_status": "hs_lead_status",
        "disqualification_reason": "disqualification_reason",
    },
    external_id=EXTERNAL_ID,
    marker=MARKER,
    required=(),
    person="9002",
    owner="501",
    other_owner="502",
    inactive_owner="504",
    status="NEW",
    other_status="OPEN",
    unusable={"lead_status": "Brand new"},
    missing_id="999999999999999",
    rate_limited=AnswerClass.NOT_APPLIED,
    refusals=1,
    silent_updates=False,
    precondition=False,
    rewriter="automation:",
    refuses_unsent=False,
    standing=_standing,
    adapter=_adapter,
)
